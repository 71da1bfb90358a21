"""View *items*: right by A and wrong by B, and the other way round, over all diagnostics."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.figures.html_tables import Column, html_table, quiet
from blindspot.studies.compare.changed import MOST_ITEMS, Item, in_words
from blindspot.studies.compare.page.compare_view import CompareView
from blindspot.studies.compare.page.reading import changed_items
from blindspot.ui.boundary import fragment
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import page_of
from blindspot.ui.page_state import link
from blindspot.ui.widgets.addressed import begin_with, tab_named
from blindspot.ui.widgets.browse_table import BrowseTable

TABLE = BrowseTable("changed", unit="item", number="no.")
WON_BY_A, WON_BY_B = "won-by-a", "won-by-b"


@fragment  # nothing above is drawn again
def show(shown: CompareView) -> None:
    """Draw the counts, the table of one side, and the selected item."""
    changed = changed_items(shown.found)
    if not changed.of_rows:
        st.caption("No diagnostic that scores single items has results of both models yet.")
        return
    a, b = shown.names
    with st.expander("What counts as a win, by diagnostic", icon=":material/list:"):
        st.markdown(
            "\n".join(
                f"- {as_text(f'{of_row.entry.title}, {title_of(of_row.row.dataset)}: {in_words(of_row, a, b)}')}"
                for of_row in changed.of_rows
            )
        )
    counts = {WON_BY_A: f"{a} wins {changed.won:,}", WON_BY_B: f"{b} wins {changed.lost:,}"}
    begin_with("changed_side", lambda: None if changed.won else WON_BY_B)
    side = tab_named(
        "Items", list(counts), key="changed_side", name=lambda option: counts[option], on_change=TABLE.to_first_page
    )
    listed = changed.items(won=side == WON_BY_A)
    if not listed:
        st.caption("None.")
        return
    frame = _frame(listed, shown)
    about = f"{shown.found.a} {shown.found.b} {side}"
    number = st.column_config.NumberColumn
    config = {
        "gain": number(format="%.2f", help="Difference in this item's score, as a share of the score's range."),
        "texts": st.column_config.TextColumn(width="large"),
        "no.": None,
    }
    TABLE.show(
        frame,
        about,
        config,
        hint=f"{len(listed):,} of {changed.won if side == WON_BY_A else changed.lost:,} listed: at most {MOST_ITEMS} "
        "of each diagnostic, its largest difference first. The diagnostics alternate.",
    )
    chosen = TABLE.chosen(frame, about, range(len(listed)), "is not in the table")
    if chosen is not None:
        _item(listed[chosen], shown)


def _frame(listed: list[Item], shown: CompareView) -> pd.DataFrame:
    a, b = shown.names
    return pd.DataFrame(
        {
            "no.": range(len(listed)),
            "diagnostic": [item.row.entry.title for item in listed],
            "dataset": [title_of(item.row.dataset) for item in listed],
            "texts": [" · ".join(text for _, text in item.change.texts) for item in listed],
            a: [item.change.a for item in listed],
            b: [item.change.b for item in listed],
            "gain": [abs(item.change.gain) for item in listed],
        }
    )


def _item(item: Item, shown: CompareView) -> None:
    """Draw an item's texts, both outcomes, and a link to its diagnostic."""
    change, entry = item.change, item.row.entry
    page, address = entry.place
    rows = [(quiet(role, shown.scheme), text) for role, text in change.texts]
    rows += [
        (quiet(name, shown.scheme), answer) for name, answer in zip(shown.names, (change.a, change.b), strict=True)
    ]
    wraps = "overflow-wrap:anywhere;white-space:pre-wrap"
    columns = (Column("", style="width:11rem", names_rows=True), Column("", style=wraps))
    st.html(html_table(columns, rows, shown.scheme, "The chosen item", has_head=False))
    link(
        page,
        shown.state(item.row.dataset, address, change.address),
        label=f"Open in {page_of(page).title}",
        icon=":material/arrow_forward:",
    )
