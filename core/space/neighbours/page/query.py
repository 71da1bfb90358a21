"""The query of the page Neighbours: an item that is searched for, walked to or named by the address, or an own text."""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

import streamlit as st

from core.datasets.kinds.base import Dataset
from core.datasets.kinds.pairs import PairSet
from core.space.neighbours.page.shown import Inside
from core.ui.widgets import item_search

_NOW = "_neighbours_query"  # the query of the last run, with its dataset
_WALK = "_neighbours_walk"  # the queries before it
_BACK = "_neighbours_went_back"
_TURNS = "_neighbours_turns"
MOST_STEPS = 200


@dataclass(frozen=True)
class Query:
    """What is asked about: the number of an item (``text`` is its text), or None and a text of the reader's own."""

    item: int | None
    text: str


def choose(item: int) -> None:
    """Make an item the query; to be called in a callback."""
    st.session_state["item"] = int(item)
    st.session_state["q"] = ""


def pick(inside: Inside) -> Query | None:
    """Let the reader find the query; None where there is none to ask about, having said why."""
    dataset = inside.dataset
    left, right = st.columns(2)
    with left:
        _search(dataset)
    with right:
        text = st.text_input(
            "or a text of your own",
            key="q",
            bind="query-params",
            placeholder="Any word or sentence; Enter encodes it",
            help="Every shown variant encodes it now, and transforms it as it does the dataset's items. While it "
            "stands here it is the query.",
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.number_input(
            "Item",
            min_value=0,
            value=None,
            step=1,
            key="item",
            bind="query-params",
            placeholder=f"0 to {len(dataset.items) - 1}",
            help="Number of the item in the dataset: chosen by the search, by a neighbour, or typed.",
            width=200,
            on_change=_forget_text,
        )
        st.button("Random", key="random_item", icon=":material/casino:", on_click=_random, args=(inside,))
        back = st.empty()
    query = _asked(inside, text or "", number)
    _remember(query, dataset)
    walk = st.session_state.get(_WALK, [])
    with back:
        st.button("Back", key="walk_back", icon=":material/undo:", disabled=not walk, on_click=_go_back)
    return query


def _asked(inside: Inside, text: str, number: int | None) -> Query | None:
    items = inside.dataset.items
    if text.strip():
        return Query(None, text)
    if text:
        st.info("The text is empty. Type a word or a sentence, or choose an item.", icon=":material/info:")
        return None
    if number is None:
        first = _first(inside)
        st.caption("No query is chosen yet: this is the dataset's first.")
        return Query(first, items[first])
    if number >= len(items):
        st.warning(f"There is no item {number} here: they are 0 to {len(items) - 1}.")
        return None
    return Query(int(number), items[int(number)])


def _first(inside: Inside) -> int:
    """The first query of a pair set, whose mate can be looked for, else the first item; one that has vectors."""
    if isinstance(inside.dataset, PairSet):
        for item in inside.dataset.queries[:100].tolist():
            if inside.spaces[0].place_of(item) is not None:
                return int(item)
    return int(inside.spaces[0].items[0])


def _search(dataset: Dataset) -> None:
    """A box to search in the items, and below it what it finds: never more than a few go to the browser."""
    wanted = st.text_input(
        f"Search in the {len(dataset.items):,} items",
        key="find",
        persist_state="session",
        placeholder="Part of a text, also misspelt",
    )
    if not (wanted or "").strip():
        return
    found = item_search.found_items(dataset, str(wanted))
    if not found.numbers:
        st.caption(item_search.NOTHING)
        return
    key = f"found_{st.session_state.get(_TURNS, 0)}_{zlib.crc32(str(found.numbers).encode())}"
    st.selectbox(
        item_search.title_of(found),
        found.numbers,
        index=None,
        key=key,
        format_func=lambda item: dataset.items[item],
        placeholder="Choose one",
        on_change=_choose_found,
        args=(key,),
    )


def _choose_found(key: str) -> None:
    if (item := st.session_state[key]) is not None:
        choose(item)


def _forget_text() -> None:
    """A typed number is the query, whatever stood in the box of texts."""
    st.session_state["q"] = ""


def _random(inside: Inside) -> None:
    choose(int(random.choice(inside.spaces[0].items)))  # noqa: S311 - nothing depends on it


def _remember(query: Query | None, dataset: Dataset) -> None:
    """Note the way that the reader takes; another dataset begins anew."""
    before: tuple[str, Query] | None = st.session_state.get(_NOW)
    if before is not None and before[0] != dataset.id:
        st.session_state[_WALK], before = [], None
    went_back = st.session_state.pop(_BACK, False)
    if query is None:
        return
    if before is not None and before[1] != query:
        st.session_state[_TURNS] = st.session_state.get(_TURNS, 0) + 1
        if not went_back:
            st.session_state[_WALK] = [*st.session_state.get(_WALK, []), before[1]][-MOST_STEPS:]
    st.session_state[_NOW] = (dataset.id, query)


def _go_back() -> None:
    walk: list[Query] = st.session_state.get(_WALK, [])
    if not walk:
        return
    query = walk[-1]
    st.session_state[_WALK] = walk[:-1]
    st.session_state[_BACK] = True
    st.session_state["item"] = query.item
    st.session_state["q"] = query.text if query.item is None else ""


def show(query: Query) -> None:
    """The query itself, as text."""
    with st.container(horizontal=True, gap="small"):
        st.markdown("**Own text**" if query.item is None else f"**Item {query.item}**", width="content")
        st.text(query.text if len(query.text) <= 1_000 else f"{query.text[:1_000]} …")
