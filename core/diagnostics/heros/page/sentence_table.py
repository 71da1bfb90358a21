"""The table of originals on the HEROS page: its pages, the chosen one, and files to take home."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from core.diagnostics.heros import browsing
from core.diagnostics.heros.browsing import Filter, Sentences
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.page.sentence_filters import Sides, clear, in_words
from core.diagnostics.heros.page.shown import Shown
from core.files.export import as_file
from core.ui.markdown import as_text
from core.ui.widgets import downloads, tables
from core.ui.widgets.downloads import Holds

PER_PAGE = 10
_TURNED_TO = "_sent_turned_to"  # the original that the table was last turned to
_TURNS = "_sent_turns"
_DATASET = "_sent_dataset"  # whose original was chosen


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
    """A page of the table, and the buttons that turn the pages."""
    pages = -(-len(found) // PER_PAGE)
    wanted = wanted_original(shown.dataset)
    _turn_to_chosen(found, wanted)
    number = min(int(st.session_state.get("sent_page", 1)), pages)
    rows = found.iloc[(number - 1) * PER_PAGE : number * PER_PAGE]
    numbers = rows[browsing.NUMBER].tolist()
    names = [browsing.NUMBER, browsing.ORIGINAL, *columns]
    drawn = zlib.crc32(str((numbers, names)).encode())
    key = f"sentences_{number}_{st.session_state.get(_TURNS, 0)}_{drawn}"
    tables.put_on_screen("sentences", key)
    page = rows[names].copy()
    if browsing.DIFFERS_IN in page:
        page[browsing.DIFFERS_IN] = page[browsing.DIFFERS_IN].map(label)
    st.dataframe(
        page,
        hide_index=True,
        key=key,
        on_select=lambda: _choose(key, numbers),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [numbers.index(wanted)]}} if wanted in numbers else None,
        column_config=_config(names, chosen, shown.subsets),
    )
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.pagination(pages, key="sent_page")
    right.caption("Choose a row to read its rewrites.")


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


def wanted_original(dataset: str) -> int | None:
    """The chosen original before its box stands: of this session, or of the address; none of another dataset's."""
    before = st.session_state.get(_DATASET)
    if before is not None and before != dataset:
        st.session_state["original_no"] = None
    st.session_state[_DATASET] = dataset
    value = st.session_state.get("original_no", st.query_params.get("original_no"))
    return int(value) if value is not None and str(value).isdecimal() else None


def _turn_to_chosen(found: pd.DataFrame, wanted: int | None) -> None:
    """Turn the table to the page of an original that was chosen elsewhere: by a link, a button, by typing."""
    if wanted == st.session_state.get(_TURNED_TO):
        return
    st.session_state[_TURNED_TO] = wanted
    st.session_state[_TURNS] = st.session_state.get(_TURNS, 0) + 1
    if (place := _place(found, wanted)) is not None:
        st.session_state["sent_page"] = place // PER_PAGE + 1


def _place(found: pd.DataFrame, number: int | None) -> int | None:
    """At which row of the table an original stands; None where it is not there."""
    places = (found[browsing.NUMBER] == number).to_numpy().nonzero()[0]
    return int(places[0]) if len(places) else None


def _choose(key: str, numbers: Sequence[int]) -> None:
    """A row of the table was chosen. Only then: a number that is typed later wins over the row."""
    if (row := tables.chosen_row("sentences", key, numbers)) is not None:
        st.session_state["original_no"] = st.session_state[_TURNED_TO] = int(row)


def chosen_original(sentences: Sentences, found: pd.DataFrame, dataset: str) -> int | None:
    """The row of ``sentences`` that is chosen; its number is in the address. Buttons lead to its neighbours."""
    last = int(sentences.numbers.max())
    at = _place(found, wanted_original(dataset))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        value = st.number_input(
            "Original",
            min_value=0,
            value=None,
            step=1,
            key="original_no",
            bind="query-params",
            placeholder=f"0 to {last}",
            help="Number of the original that is looked into below; chosen by a row of the table, or typed.",
            width=220,
        )
        _step("Previous", "previous_original", found, None if at is None else at - 1)
        _step("Next", "next_original", found, 0 if at is None else at + 1)
        if at is not None:
            st.caption(f"{at + 1:,} of {len(found):,} in the table", width="content")
    if value is None:
        st.caption("No original is chosen yet.")
        return None
    place = sentences.place(int(value))
    if place is None:
        st.warning(f"There is no original {value} here: they are 0 to {last}.")
    elif at is None:
        st.caption("It is not in the table: the filters leave it out.")
    return place


def _step(title: str, key: str, found: pd.DataFrame, to: int | None) -> None:
    """A button that chooses the original at another row of the table."""
    number = int(found[browsing.NUMBER].iloc[to]) if to is not None and 0 <= to < len(found) else None
    st.button(title, key=key, disabled=number is None, on_click=lambda: st.session_state.update(original_no=number))


# --- files


def files(found: pd.DataFrame, sentences: Sentences, shown: Shown) -> None:
    """Files with all originals of the table and their rewrites; made when they are asked for."""
    variants = {run.run_id: run.plan.variant for run in shown.runs}

    def content(ending: str) -> bytes:
        rows = browsing.for_export(sentences, found[browsing.NUMBER].tolist(), variants)
        return as_file(rows, ending)

    downloads.tables(
        content,
        Holds(shown.dataset, tuple(variants)),
        stem=downloads.stem_of("heros", shown.dataset, "sentences"),
        key="sent_download",
        help=f"All {len(found):,} originals of the table in its order, a row per rewrite, with its similarity "
        "and cosine in every shown variant.",
    )
