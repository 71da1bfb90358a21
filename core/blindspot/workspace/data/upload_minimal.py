"""Upload form for minimal pairs: columns of the original and its rewrites, and a preview."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from blindspot.datasets.published.minimal_pairs import ORIGINAL, SUBSETS
from blindspot.datasets.user_data.minimal_pairs import OwnMinimalPairs, subset_name
from blindspot.diagnostics.heros.figures.profile import label
from blindspot.files.tables import FileTable
from blindspot.ui.markdown import as_text
from blindspot.ui.widgets import tables

EXAMPLE_ORIGINALS = 3
NONE = -1  # the choice of no column
PER_LINE = 4


def columns(table: FileTable, guessed: Mapping[str, int], key: str) -> dict[str, int] | None:
    """Draw the pickers of the columns of the original and of its rewrites.

    Args:
        guessed: preselected column number by role.

    Returns:
        Chosen column number by role; None until an original and a rewrite are chosen.
    """
    names = [name or f"(no name, column {number})" for number, name in enumerate(table.names, 1)]  # all different
    options = [NONE, *range(len(names))]
    chosen: dict[str, int] = {}
    roles = (ORIGINAL, *SUBSETS)
    for start in range(0, len(roles), PER_LINE):
        for column, role in zip(st.columns(PER_LINE), roles[start : start + PER_LINE], strict=False):
            number = column.selectbox(
                label(role).capitalize(),
                options,
                index=options.index(guessed.get(role, NONE)),
                format_func=lambda option: "not in the file" if option == NONE else names[option],
                key=f"upload_{role}_{key}",
            )
            if number != NONE:
                chosen[role] = number
    taken = set(chosen.values())
    others = st.multiselect(
        "Other rewrites",
        range(len(names)),
        default=[number for role, number in guessed.items() if role not in roles],
        format_func=lambda number: names[number],
        key=f"upload_others_{key}",
        help="Columns with any other kind of rewrite. Each becomes a subset named after its column. Columns chosen "
        "above are ignored here.",
    )
    for number in (n for n in others if n not in taken):
        role = subset_name(table.names[number]) or f"column_{number + 1}"
        if role in chosen:
            both = f"{names[chosen[role]]} and {names[number]} would both be “{label(role)}”"
            st.error(as_text(f"{both}: leave one out, or rename it in the file."), icon=":material/error:")
            return None
        chosen[role] = number
    if ORIGINAL not in chosen or len(chosen) < 2:
        st.caption("Choose the column of the originals and at least one column of rewrites.")
        return None
    return chosen


def show(pairs: OwnMinimalPairs) -> None:
    """Draw the first rows and the counts."""
    st.markdown(f"**The first {min(EXAMPLE_ORIGINALS, pairs.rows)} of {pairs.rows:,} originals**")
    first = pairs.first_rows(EXAMPLE_ORIGINALS)
    rows = [(label(role), text) for texts in first.cells for role, text in zip(first.headings, texts, strict=True)]
    tables.draw(
        pd.DataFrame(rows, columns=["read as", "text"]),
        key="upload_rows",
        column_config={"read as": st.column_config.TextColumn(width=140)},
    )
    st.caption(" · ".join(pairs.notes))
    if pairs.could_be_pairs:
        st.caption(
            as_text(
                f"Columns {' and '.join(pairs.could_be_pairs)} could also be positive pairs. Choose above how to read "
                "the file."
            )
        )
