"""Query of the page Neighbors: a text of the dataset, or the reader's own."""

from __future__ import annotations

import random
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.policy import MOST_SEARCHED
from blindspot.space.page import Opened, offer_found
from blindspot.ui.options import options
from blindspot.ui.page_state import ITEM
from blindspot.ui.resources import allowed
from blindspot.ui.widgets.addressed import number_named
from blindspot.ui.widgets.texts import long_texts

_NOW = "_neighbors_query"  # the dataset and query of the last run
_WALK = "_neighbors_walk"  # earlier queries
_BACK = "_neighbors_went_back"
MOST_STEPS = 200


@dataclass(frozen=True)
class Query:
    """A text, with its number in the dataset if it is an item."""

    item: int | None
    text: str


def choose(item: int) -> None:
    """Make an item the query; a callback."""
    st.session_state["item"] = int(item)
    st.session_state["q"] = ""


def pick(opened: Opened) -> Query | None:
    """Let the reader choose the query; None, with the reason shown, if there is none."""
    dataset = opened.dataset
    left, right, buttons = st.columns([4, 4, 3], vertical_alignment="bottom")
    with left:
        wanted = st.text_input(
            f"Find one of the {len(dataset.items):,} texts",
            key="find",
            max_chars=MOST_SEARCHED,
            persist_state="session",
            placeholder="Part of a text",
        )
        offer_found(dataset, wanted or "", choose)
    with right:
        text = st.text_input(
            "Or type your own text",
            key="q",
            bind="query-params",
            max_chars=allowed().text + 1,  # a longer one of a link is cut to this, and refused
            placeholder="Any word or sentence",
            help="Every shown model encodes it, with the same post-processing as the dataset's texts.",
        )
    with options():
        number = number_named(
            "Number of the text",
            key=ITEM,
            placeholder=f"0 to {len(dataset.items) - 1}",
            help="Number of the query in the dataset, from 0.",
            width=200,
            on_change=lambda: st.session_state.update(q=""),  # a typed number replaces the text
        )
    with buttons.container(horizontal=True):
        random_item = random.choice(opened.spaces[0].items)  # noqa: S311 - nothing depends on it
        st.button("Random", key="random_item", icon=":material/casino:", on_click=choose, args=(random_item,))
        back = st.empty()
    query = _asked(opened, text or "", number)
    _remember(query, dataset)
    walk = st.session_state.get(_WALK, [])
    with back:
        st.button("Back", key="walk_back", icon=":material/undo:", disabled=not walk, on_click=_go_back)
    return query


def _asked(opened: Opened, text: str, number: int | None) -> Query | None:
    items = opened.dataset.items
    if text.strip():
        return Query(None, text)
    if text:
        st.info("The text is empty. Type a word or a sentence, or find one of the dataset.", icon=":material/info:")
        return None
    if number is None:
        first = _first(opened)
        st.caption("Example: the first text of the dataset. Find another one, or type your own.")
        return Query(first, items[first])
    if number >= len(items):
        st.warning(f"No text {number} here: they are numbered 0 to {len(items) - 1}.")
        return None
    return Query(int(number), items[int(number)])


def _first(opened: Opened) -> int:
    """The first query of a pair set, else the first item, among those that have vectors."""
    if isinstance(opened.dataset, PairSet):
        for item in opened.dataset.queries[:100].tolist():
            if opened.spaces[0].place_of(item) is not None:
                return int(item)
    return int(opened.spaces[0].items[0])


def _remember(query: Query | None, dataset: Dataset) -> None:
    """Keep earlier queries for the button Back; another dataset starts afresh."""
    before: tuple[str, Query] | None = st.session_state.get(_NOW)
    if before is not None and before[0] != dataset.id:
        st.session_state[_WALK], before = [], None
    went_back = st.session_state.pop(_BACK, False)
    if query is None:
        return
    if before is not None and before[1] != query and not went_back:
        st.session_state[_WALK] = [*st.session_state.get(_WALK, []), before[1]][-MOST_STEPS:]
    st.session_state[_NOW] = (dataset.id, query)


def _go_back() -> None:
    walk: list[Query] = st.session_state.get(_WALK, [])
    if not walk:  # a second click
        return
    query = walk[-1]
    st.session_state[_WALK] = walk[:-1]
    st.session_state[_BACK] = True
    st.session_state["item"] = query.item
    st.session_state["q"] = query.text if query.item is None else ""


def show(query: Query) -> None:
    """Show the query, as plain text."""
    with st.container(horizontal=True, gap="small"):
        st.markdown("**Your text**" if query.item is None else f"**Text {query.item}**", width="content")
        long_texts.show(query.text)
