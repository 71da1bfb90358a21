"""The table of originals on the HEROS page: its pages, the chosen one, and files to take home."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core.diagnostics.heros import browsing
from core.diagnostics.heros.browsing import Filter, Sentences
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.page.sentence_filters import TABLE, clear, in_words
from core.diagnostics.heros.page.shown import Shown
from core.ui.markdown import as_text
from core.ui.widgets import downloads
from core.ui.widgets.downloads import Holds
from core.ui.widgets.two_variants import Sides


def headline(found: pd.DataFrame, total: int, wish: Filter, chosen: Sides) -> None:
    """How many originals pass, and what the conditions are."""
    conditions = in_words(wish, chosen)
    if not conditions:
        st.markdown(f"All **{total:,}** originals.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{len(found):,} of {total:,} originals ({len(found) / total:.1%})**: {'; '.join(conditions)}.",
            width="stretch",
        )
        st.button("Clear filters", key="sent_clear", on_click=clear, icon=":material/filter_alt_off:")


def show(found: pd.DataFrame, shown: Shown, chosen: Sides, columns: Sequence[str]) -> None:
    """A page of the table."""
    names = [browsing.NUMBER, browsing.ORIGINAL, *columns]
    config = _config(names, chosen, shown.subsets)
    TABLE.show(
        found, shown.dataset, config, hint="Choose a row to read its rewrites.", view=partial(_view, names=names)
    )


def _view(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    out = rows[list(names)].copy()
    if browsing.DIFFERS_IN in out:
        out[browsing.DIFFERS_IN] = out[browsing.DIFFERS_IN].map(label)
    return out


def _config(names: Sequence[str], chosen: Sides, subsets: Sequence[str]) -> dict[str, ColumnConfig | str | None]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    whose = {"A": chosen.a} | ({} if chosen.b is None else {"B": chosen.b})
    out: dict[str, ColumnConfig | str | None] = {
        browsing.NUMBER: number(width="small", help="Number of the original in the dataset"),
        browsing.ORIGINAL: text(width=280),
        browsing.LARGEST: number(format="%.3f", help="Of a rewrite's similarities in A and B, over all rewrites"),
        browsing.DIFFERS_IN: text(help="The rewrite with the largest difference"),
        browsing.TURNED: number(
            format="%g",
            help="Pairs of rewrites that A and B put in a different order; a tie in one of them counts half",
        ),
    }
    for side, run in whose.items():
        about = as_text(run.plan.variant.label)
        out[browsing.lead(side)] = number(
            format="%.3f",
            help=f"{side}, {about}: by how much the nearer rewrite is above the other one; of several, the least",
        )
        for subset in subsets:
            title = label(subset) if chosen.b is None else f"{side}: {label(subset)}"
            out[browsing.in_run(side, subset)] = number(
                title, format="%.3f", help=f"{side}, {about}: normalised similarity"
            )
    for subset in subsets:
        name = browsing.in_run("A − B", subset)
        out[name] = number("A − B", format="%+.3f", help="Similarity in A minus similarity in B")
    return {name: config for name, config in out.items() if name in names}


def columns(wish: Filter, order: str, subsets: Sequence[str], *, b: bool) -> list[str]:
    """The columns that are shown beside number and text, in their order: what is asked about comes first."""
    leads = [browsing.lead(side) for side in ("A", "B")[: 1 + b]] if wish.above else []
    if not b:
        return [*leads, *(browsing.in_run("A", subset) for subset in subsets)]
    asked = [wish.subset] if wish.subset else []
    pairs = [browsing.in_run(side, subset) for subset in asked for side in ("A", "B", "A − B")]
    largest = [] if wish.subset else [browsing.LARGEST, browsing.DIFFERS_IN]  # of one rewrite it is A − B
    usual = [*leads, *pairs, *largest, browsing.TURNED]
    return [*([order] if order not in {*usual, browsing.LARGEST, browsing.NUMBER, browsing.ORIGINAL} else []), *usual]


# --- the chosen original


def chosen_original(sentences: Sentences, found: pd.DataFrame, dataset: str) -> int | None:
    """The row of ``sentences`` that is chosen."""
    numbers = set(sentences.numbers.tolist())
    number = TABLE.chosen(found, dataset, numbers, "is not among the originals that all shown variants have")
    return None if number is None else sentences.place(number)


# --- files


def files(found: pd.DataFrame, sentences: Sentences, shown: Shown) -> None:
    """Files with all originals of the table and their rewrites; made when they are asked for."""
    variants = {run.run_id: run.plan.variant for run in shown.runs}

    downloads.tables(
        lambda: browsing.for_export(sentences, found[browsing.NUMBER].tolist(), variants),
        Holds(shown.dataset, tuple(variants)),
        stem=downloads.stem_of("heros", shown.dataset, "sentences"),
        key="sent_download",
        help=f"All {len(found):,} originals of the table in its order, a row per rewrite, with its similarity "
        "and cosine in every shown variant.",
    )
