"""Chosen text of the maps, searched or clicked, and its true neighbors in the full space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.numerics.statistics.written import SCORE
from blindspot.policy import MOST_SEARCHED
from blindspot.space.maps.figures import Tie
from blindspot.space.maps.maps import Map
from blindspot.space.maps.page.drawn import Drawn
from blindspot.space.neighbors.lists import of_item
from blindspot.space.page import Opened, offer_found, short_text
from blindspot.types import Bool, Float64, Int64
from blindspot.ui.page_state import ITEM, link
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import number_named

K_AT_FIRST, MOST_K = 10, 50


@dataclass(frozen=True, eq=False)
class Around:
    """An item's true neighbors in one space, ``[k]`` each, most similar first.

    Attributes:
        is_shown: whether the neighbor is in the map: a sample leaves items out.
        is_kept: whether it is among the k nearest in the picture too.
        tie: None if the item itself is not in the map.
    """

    numbers: Int64
    similarity: Float64
    is_shown: Bool
    is_kept: Bool
    tie: Tie | None


def choose(opened: Opened, places: Sequence[DeltaGenerator]) -> tuple[int | None, int]:
    """The chosen item, or None, and the number of neighbors; the three widgets go into their places."""
    dataset = opened.dataset
    search, number, neighbors = places
    wanted = search.text_input(
        "Find a text",
        key="map_find",
        max_chars=MOST_SEARCHED,
        placeholder="Part of a text, or click a dot",
        persist_state="session",
        help="Small spelling mistakes are fine.",
    )
    value = number_named(
        "Number of the text",
        key=ITEM,
        container=number,
        placeholder=f"0 to {len(dataset.items) - 1}",
        help="Its true neighbors are marked in every map.",
    )
    k = neighbors.number_input(
        "Neighbors to mark", min_value=1, max_value=MOST_K, value=K_AT_FIRST, step=1, key="map_k", bind="query-params"
    )
    offer_found(dataset, wanted or "", lambda item: st.session_state.update(item=item))
    if value is None:
        return None, int(k)
    if value >= len(dataset.items):
        st.warning(f"No text {value}: they are numbered 0 to {len(dataset.items) - 1:,}.")
        return None, int(k)
    if opened.spaces[0].place_of(int(value)) is None:
        st.warning("This text is not in the maps: not every shown model has a vector for it.")
        st.text(short_text(dataset.items[int(value)]))
        return None, int(k)
    return int(value), int(k)


def around(opened: Opened, drawn: Drawn, item: int, k: int) -> Around | None:
    """An item's true neighbors and what the picture did to them; None without a map."""
    space, made = drawn.space, drawn.map
    row = space.place_of(item)
    if made is None or row is None:
        return None
    k = min(k, len(space.items) - 1)
    nearest = of_item(space, opened.metric, item, k)
    numbers = nearest.items
    rows = np.searchsorted(space.items, numbers)
    where, is_shown = _places(made, rows)
    places_here, has_place = _places(made, np.array([row]))
    is_kept = np.zeros(k, dtype=np.bool_)
    tie = None
    if has_place[0]:
        is_kept = is_shown & np.isin(rows, _nearest_in_picture(made, places_here[0], k))
        texts = [opened.dataset.items[i] for i in [item, *numbers[is_shown].tolist()]]
        at = made.coordinates[places_here[0]]
        tie = Tie(item, at, numbers[is_shown], made.coordinates[where[is_shown]], is_kept[is_shown], texts)
    return Around(numbers, nearest.similarity, is_shown, is_kept, tie)


def _places(made: Map, rows: Int64) -> tuple[Int64, Bool]:
    """Positions of rows of the space in the map, and whether they are in it with finite coordinates."""
    where = np.minimum(np.searchsorted(made.rows, rows), len(made.rows) - 1)
    return where, (made.rows[where] == rows) & np.isfinite(made.coordinates[where]).all(axis=1)


def _nearest_in_picture(made: Map, dot: int, k: int) -> Int64:
    """The k rows of the space that are nearest to an item in the picture, without the item itself."""
    distances = ((made.coordinates - made.coordinates[dot]) ** 2).sum(axis=1)
    distances[dot] = np.inf
    distances[np.isnan(distances)] = np.inf
    return made.rows[np.argsort(distances, kind="stable")[:k]]


def show(opened: Opened, item: int, arounds: Sequence[tuple[Drawn, Around | None]]) -> None:
    """Show the chosen item and, per map, its true neighbors, marked by whether the picture keeps them."""
    with st.container(border=True, key="map_query"):
        st.text(short_text(opened.dataset.items[item]))
        columns = st.columns(len(arounds))
        for column, (drawn, nearest) in zip(columns, arounds, strict=True):
            with column:
                st.text(drawn.variant.label)
                if nearest is None:
                    st.caption("No map.")
                    continue
                k = len(nearest.numbers)
                st.caption(f"{np.count_nonzero(nearest.is_kept)} of {k} are among its {k} nearest in the picture.")
                marks = np.where(nearest.is_kept, "● near", np.where(nearest.is_shown, "◇ far away", "not drawn"))
                tables.draw(
                    {
                        "similarity": nearest.similarity,
                        "in the picture": marks,
                        "text": [short_text(opened.dataset.items[i]) for i in nearest.numbers],
                    },
                    key=f"map_neighbors_{drawn.variant}",
                    height=230,
                    column_config={"similarity": st.column_config.NumberColumn(format=f"%{SCORE}", width="small")},
                )
        if any(around is not None and around.tie is None for _, around in arounds):
            st.caption("A map without lines does not contain this text (not in the sample, or unconnected).")
        with st.container(horizontal=True):
            asked = opened.picks.state.with_(models=[drawn.variant for drawn, _ in arounds], item=item)
            link("neighbors", asked, label="Compare its neighbors by model", icon=":material/hub:")
            st.button("Clear", key="map_clear_item", on_click=lambda: st.session_state.update(item=None))
