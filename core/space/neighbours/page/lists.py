"""The lists of the page Neighbours: what stands nearest to the query, in every shown variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from core.errors import BlindspotError
from core.figures.html_tables import ranks_table
from core.numerics.neighbours.approximate import Quality
from core.numerics.neighbours.overlap import in_how_many
from core.numerics.similarity import Metric
from core.runs.spaces import Space, open_spaces
from core.space.neighbours import free_text
from core.space.neighbours import lists as neighbours
from core.space.neighbours.free_text import Placed
from core.space.neighbours.lists import RANKS, Neighbours
from core.space.neighbours.page import query as neighbours_query
from core.space.neighbours.page.query import Query
from core.space.neighbours.page.shown import Inside
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached, settings
from core.ui.turns import turn
from core.ui.widgets.browse_table import choose_row

FEWEST, DEFAULT_K = 5, 10
APPROXIMATE_FROM = 20_000  # items, below which there is nothing to gain
SHORT = 20  # characters: lists of items of so many on average may stand three abreast
LINE = 34  # characters of text that fit beside a bar, about
# Pixels of a row of one line, and of one that wraps its text: Streamlit does so from 4rem on.
ROW, WRAPPED = 35, 66
MOST_HEIGHT = 780


@dataclass(frozen=True, eq=False)
class Answer:
    """The neighbours of the query in the variants that have a vector for it, in their order; ``k`` are shown."""

    k: int
    lists: Sequence[Neighbours]


def depth_picker(inside: Inside) -> int:
    """How many neighbours are looked at: fewer than asked for where the dataset is small."""
    asked = st.slider(
        "Neighbours (k)",
        min_value=FEWEST,
        max_value=neighbours.LONGEST,
        value=DEFAULT_K,
        key="k",
        bind="query-params",
        help="How many neighbours are listed, and how deep the overlaps below look.",
    )
    most = len(inside.spaces[0].items) - 1
    if most < asked:
        st.caption(f"With {most + 1} items there are only {most} neighbours.")
    return min(int(asked), most)


def answer(inside: Inside, query: Query, k: int) -> Answer | None:
    """The lists, on screen; None where no variant has a vector for the query, having said so."""
    approximate = _approximate(inside, k)
    try:
        lists = _of_item(inside, query.item, approximate) if query.item is not None else None
        if lists is None:
            lists = [] if query.item is not None else _of_text(inside, query.text, approximate)
    except BlindspotError as error:
        st.warning(as_text(str(error)), icon=":material/report:")
        return None
    if not lists:
        return None
    found = Answer(k, lists)
    _side_by_side(inside, query, found)
    _at_ranks(inside, found)
    return found


def _approximate(inside: Inside, k: int) -> bool:
    """Whether the reader wants an approximate index, which is offered where there are many items."""
    items = len(inside.spaces[0].items)
    if items < APPROXIMATE_FROM:
        return False
    wanted = st.toggle(
        "Approximate index",
        key="approx",
        bind="query-params",
        help=f"Of {items:,} items look only into an eighth (faiss IVF). Off: every item is compared, exactly. Building "
        "it takes some seconds, once.",
    )
    if not wanted:
        return False
    with st.spinner("Building the approximate indices and measuring what they miss …", show_time=True):
        measured = [(space, _quality(space, inside.metric, k)) for space in inside.spaces]
    for space, quality in measured:
        st.caption(
            f"{inside.names[space.variant]} {as_text(space.variant.label)}: recall@{k} **{quality.recall:.3f}** "
            f"(share of the exact {k} nearest that it finds, over {quality.queries} random items), "
            f"{quality.seconds * 1e3:.1f} ms per query instead of {quality.exact_seconds * 1e3:.1f} ms."
        )
    return True


@cached(64)
def _quality(space: Space, metric: Metric, k: int) -> Quality:
    return neighbours.measured(space, metric, k)


def _of_item(inside: Inside, item: int, approximate: bool) -> list[Neighbours] | None:
    if inside.spaces[0].place_of(item) is None:
        lacking = ", ".join(as_text(space.variant.label) for space in inside.spaces if not _covers(space, item))
        st.info(
            f"No vector: {lacking} does not know this item. Choose another one, or leave that variant out.",
            icon=":material/info:",
        )
        return None
    most = neighbours.depth(inside.spaces)
    return [neighbours.of_item(s, inside.metric, item, most, approximate=approximate) for s in inside.spaces]


def _covers(space: Space, item: int) -> bool:
    """Whether this variant on its own has a vector for an item."""
    (alone,) = open_spaces([Variant(space.variant.encoder, "none")], space.dataset, settings())
    return alone.place_of(item) is not None


def _of_text(inside: Inside, text: str, approximate: bool) -> list[Neighbours]:
    with st.spinner("Encoding the text. The first time, the encoders are loaded …", show_time=True), turn():
        placed = free_text.place(text, inside.spaces, settings())
    _notes(placed)
    most = neighbours.depth(inside.spaces, is_item=False)
    return [
        neighbours.of_vector(space, inside.metric, one.vector, most, approximate=approximate)
        for space, one in zip(inside.spaces, placed, strict=True)
        if one.vector is not None
    ]


def _notes(placed: Sequence[Placed]) -> None:
    """What of the text does not count, and for whom."""
    if cut := [as_text(one.variant.label) for one in placed if one.truncated]:
        st.caption(f"The text is longer than {', '.join(cut)} can read: the rest of it does not count.")
    for one in placed:
        words = ", ".join(as_text(f"“{word[:60]}”") for word in one.unknown)
        if one.vector is None:
            which = f": none of its words is known ({words})" if words else ""
            st.info(f"No vector: {as_text(one.variant.label)} does not know this text{which}.", icon=":material/info:")
        elif words:
            st.caption(f"{as_text(one.variant.label)} has no vector for {words}: the mean is of the other words.")


def _side_by_side(inside: Inside, query: Query, found: Answer) -> None:
    texts = inside.dataset.items
    shown = np.stack([one.items[: found.k] for one in found.lists])
    by_all, only_here = in_how_many(shown)
    related = inside.dataset.related(query.item) if query.item is not None else {}
    lengths = [len(texts[item]) for item in shown.ravel()]
    abreast = 3 if float(np.mean(lengths)) <= SHORT and len(found.lists) == 3 else min(len(found.lists), 2)
    for start in range(0, len(found.lists), abreast):
        for place, column in enumerate(st.columns(abreast), start):
            if place < len(found.lists):
                with column:
                    marks = _marks(shown, by_all[place], only_here[place], shown[place])
                    _list(inside, found.lists[place], found.k, marks, related, max(lengths))
    several = "**all**: every variant has it among its nearest; **only**: no other one; " if len(shown) > 1 else ""
    relation = "● what the dataset pairs the query with; " if related else ""
    st.caption(f"{several}{relation}choose a row to make it the query.")
    if related:
        _missed(found, related)


def _marks(shown: np.ndarray, by_all: np.ndarray, only_here: np.ndarray, own: np.ndarray) -> list[str]:
    if len(shown) < 2:
        return [""] * len(own)
    counts = (shown[:, :, None] == own[None, None, :]).any(axis=1).sum(axis=0)
    return [
        "all" if everywhere else "only" if alone else f"{count} of {len(shown)}"
        for everywhere, alone, count in zip(by_all, only_here, counts, strict=True)
    ]


def _list(
    inside: Inside, one: Neighbours, k: int, marks: Sequence[str], related: Mapping[int, str], longest: int
) -> None:
    items = one.items[:k].tolist()
    frame = pd.DataFrame(
        {
            "rank": range(1, len(items) + 1),
            "text": [inside.dataset.items[item] for item in items],
            "similarity": one.similarity[:k],
        }
    )
    if any(marks):
        frame["in"] = marks
    if related:
        frame["relation"] = [f"● {related[item]}" if item in related else "" for item in items]
    name = inside.names[one.variant]
    st.markdown(f"**{name} · {as_text(one.variant.label)}**")
    column = st.column_config
    row = WRAPPED if longest > LINE else ROW
    choose_row(  # the item of a chosen row is the next query
        frame,
        items,
        neighbours_query.choose,
        table=f"near_{name}",
        drawn=str(one.variant),
        row_height=row,
        height=min(ROW + 3 + row * len(items), MOST_HEIGHT),
        column_config={
            "rank": column.NumberColumn(width=44),
            "text": column.TextColumn(width=100 if longest <= SHORT else 240),
            "similarity": column.ProgressColumn(
                min_value=min(0.0, float(one.similarity[:k].min())),
                max_value=max(1.0, float(one.similarity[0])),
                format="%.4f",
                width=110,
            ),
            "in": column.TextColumn(width=56, help="Which variants have it among their nearest k"),
            "relation": column.TextColumn(width=80),
        },
    )
    if one.are_alike(k):
        st.caption("These are all equally similar to the query: their order is that of their numbers and says nothing.")


def _missed(found: Answer, related: Mapping[int, str]) -> None:
    """Which variants have none of the related items among the k nearest."""
    within = {one.variant: set(one.items[: found.k].tolist()) for one in found.lists}
    without = [as_text(variant.label) for variant, items in within.items() if items.isdisjoint(related)]
    if without:
        named = ", ".join(dict.fromkeys(related.values()))
        st.caption(f"Not among the {found.k} nearest of {', '.join(without)}: {as_text(named)}.")


def _at_ranks(inside: Inside, found: Answer) -> None:
    deepest = min(len(one.items) for one in found.lists)
    ranks = [rank for rank in RANKS if rank <= deepest]
    if len(ranks) < 2:
        return
    st.markdown(f"**At ranks {', '.join(map(str, ranks))}** How fast does it go astray?")
    columns = {
        f"{inside.names[one.variant]} · {one.variant.label}": [inside.dataset.items[one.items[r - 1]] for r in ranks]
        for one in found.lists
    }
    st.html(ranks_table(columns, ranks, inside.scheme, "Neighbours at chosen ranks"))
    st.caption(
        "The ranks at which people compared embeddings in Schnabel et al. (2015), section 3.3; there, too, an "
        "embedding that is better at rank 1 need not be so at rank 50."
    )
