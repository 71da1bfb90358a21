"""The chosen item of the maps: found by its text or clicked, and its true neighbours in the full space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets.kinds.base import Dataset
from core.space.maps.figures import Tie
from core.space.maps.maps import Map
from core.space.maps.page.shown import Drawn, Ground, index_of
from core.types import Bool, Float64, Int64
from core.ui.pickers import link_to
from core.ui.widgets import item_search
from core.ui.widgets.browse_table import choose_row

K_AT_FIRST, MOST_K = 10, 50


@dataclass(frozen=True, eq=False)
class Around:
    """An item's true neighbours in one space.

    Attributes:
        numbers: ``[k]`` items, most similar first.
        similarity: ``[k] float64``.
        is_shown: ``[k]``, whether it has a place in the map: a sample leaves items out.
        is_kept: ``[k]``, whether it is among the k nearest in the picture too.
        tie: what is drawn; None where the item itself has no place.
    """

    numbers: Int64
    similarity: Float64
    is_shown: Bool
    is_kept: Bool
    tie: Tie | None


def choose(ground: Ground) -> tuple[int | None, int]:
    """The chosen item, None for none, and how many neighbours are wanted."""
    dataset = ground.dataset
    search, number, neighbours = st.columns([4, 2, 2], vertical_alignment="bottom")
    wanted = search.text_input(
        "Find an item",
        key="map_find",
        placeholder="part of its text, also misspelt",
        persist_state="session",
        help="Or click a dot. Boxes and lassos select several, for a table below the maps.",
    )
    value = number.number_input(
        "Item",
        min_value=0,
        value=None,
        step=1,
        key="item",
        bind="query-params",
        placeholder=f"0 to {len(dataset.items) - 1}",
        help="Number of the item whose true neighbours are marked in every map.",
    )
    k = neighbours.number_input(
        "Neighbours", min_value=1, max_value=MOST_K, value=K_AT_FIRST, step=1, key="map_k", bind="query-params"
    )
    _offer(dataset, wanted or "")
    if value is None:
        return None, int(k)
    if value >= len(dataset.items):
        st.warning(f"There is no item {value}: they are 0 to {len(dataset.items) - 1:,}.")
        return None, int(k)
    if ground.spaces[0].place_of(int(value)) is None:
        st.warning("This item is not in the maps: not every shown encoder has a vector for it.")
        st.text(_short(dataset.items[int(value)]))
        return None, int(k)
    return int(value), int(k)


def _offer(dataset: Dataset, wanted: str) -> None:
    """The items that a search finds, to choose from."""
    if not wanted.strip():
        return
    if len(wanted) > item_search.MOST_CHARACTERS:
        st.warning(f"Search for at most {item_search.MOST_CHARACTERS:,} characters.")
        return
    found = item_search.found_items(dataset, wanted)
    shown = found.numbers
    if not shown:
        st.info(item_search.NOTHING)
        return
    st.caption(f"{item_search.title_of(found)}. Choose one:")
    choose_row(
        pd.DataFrame({"item": shown, "text": [_short(dataset.items[i]) for i in shown]}),
        shown,
        lambda item: st.session_state.update(item=int(item)),
        table="map_found",
        height=min(38 * (len(shown) + 1), 220),
    )


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]} …"


def around(ground: Ground, drawn: Drawn, item: int, k: int) -> Around | None:
    """The true neighbours of an item in one space, and what became of them in the picture; None without a map."""
    space, made = drawn.space, drawn.map
    place = space.place_of(item)
    if made is None or place is None:
        return None
    k = min(k, len(space.items) - 1)
    nearest = index_of(space, ground.metric).of_rows(np.array([place]), k)
    rows = nearest.rows[0]
    numbers = space.items[rows]
    where, is_shown = _places(made, rows)
    own, has_place = _places(made, np.array([place]))
    is_kept = np.zeros(k, dtype=np.bool_)
    tie = None
    if has_place[0]:
        is_kept = is_shown & np.isin(rows, _nearest_in_picture(made, own[0], k))
        texts = [ground.dataset.items[i] for i in [item, *numbers[is_shown].tolist()]]
        at = made.coordinates[own[0]]
        tie = Tie(item, at, numbers[is_shown], made.coordinates[where[is_shown]], is_kept[is_shown], texts)
    return Around(numbers, nearest.similarity[0], is_shown, is_kept, tie)


def _places(made: Map, rows: Int64) -> tuple[Int64, Bool]:
    """Where rows of the space stand in the map, and whether they have a place there."""
    where = np.minimum(np.searchsorted(made.rows, rows), len(made.rows) - 1)
    return where, (made.rows[where] == rows) & np.isfinite(made.coordinates[where]).all(axis=1)


def _nearest_in_picture(made: Map, own: int, k: int) -> Int64:
    """Rows of the space that lie nearest to one in the picture, itself left out."""
    distances = ((made.coordinates - made.coordinates[own]) ** 2).sum(axis=1)
    distances[own] = np.inf
    distances[np.isnan(distances)] = np.inf
    return made.rows[np.argsort(distances, kind="stable")[:k]]


def show(ground: Ground, item: int, arounds: Sequence[tuple[Drawn, Around | None]]) -> None:
    """The chosen item and, side by side, its true neighbours; what the picture kept of them is marked."""
    with st.container(border=True, key="map_query"):
        st.text(_short(ground.dataset.items[item]))
        columns = st.columns(len(arounds))
        for column, (drawn, found) in zip(columns, arounds, strict=True):
            with column:
                st.text(drawn.variant.label)
                if found is None:
                    st.caption("No map.")
                    continue
                k = len(found.numbers)
                st.caption(f"{np.count_nonzero(found.is_kept)} of {k} are among its {k} nearest in the picture.")
                marks = np.where(found.is_kept, "● near", np.where(found.is_shown, "◇ torn away", "not drawn"))
                st.dataframe(
                    pd.DataFrame(
                        {
                            "similarity": found.similarity,
                            "in the picture": marks,
                            "text": [_short(ground.dataset.items[i]) for i in found.numbers],
                        }
                    ),
                    hide_index=True,
                    key=f"map_neighbours_{drawn.variant}",
                    height=230,
                    column_config={"similarity": st.column_config.NumberColumn(format="%.4f", width="small")},
                )
        if any(found is not None and found.tie is None for _, found in arounds):
            st.caption(
                "Where the item has no place in a map (it is not in the sample, or lies apart), nothing is tied."
            )
        with st.container(horizontal=True):
            query = link_to(ground.picks.dataset, ground.picks.metric, [drawn.variant for drawn, _ in arounds])
            st.page_link(
                "pages/neighbours.py",
                label="See its neighbours on the page Neighbours",
                icon=":material/hub:",
                query_params={**query, "item": str(item)},
            )
            st.button("Clear", key="map_clear_item", on_click=lambda: st.session_state.update(item=None))
