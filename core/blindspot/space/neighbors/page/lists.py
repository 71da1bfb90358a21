"""Lists of the page Neighbors: the nearest texts to the query in every shown model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.errors import BlindspotError
from blindspot.figures.html_tables import ranks_table
from blindspot.numerics.neighbors.approximate import Quality
from blindspot.numerics.neighbors.overlap import in_how_many
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space, open_spaces
from blindspot.runs.why_similar import PairOfTexts
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.free_text import Placed
from blindspot.space.neighbors.lists import RANKS, Neighbors
from blindspot.space.neighbors.page.query import Query, choose
from blindspot.space.page import Opened, short_text
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.turns import turn
from blindspot.ui.widgets.browse_table import choose_row
from blindspot.ui.widgets.texts import why_similar
from blindspot.variants import Variant

FEWEST, DEFAULT_K = 5, 10
APPROXIMATE_FROM = 20_000  # items: with fewer, the index gains nothing
SHORT = 20  # characters on average: three lists fit side by side
LINE = 34  # characters that fit beside a bar, about
ROW, WRAPPED = 35, 82  # pixels of a row with one line, and of one with wrapped text
MOST_HEIGHT = 900


@dataclass(frozen=True, eq=False)
class Answer:
    """The query's neighbors in the variants that have a vector for it; ``k`` of each list are shown."""

    k: int
    lists: Sequence[Neighbors]


def depth_picker(opened: Opened) -> int:
    """How many neighbors to list: no more than the dataset has."""
    asked = options().slider(
        "Neighbors (k)",
        min_value=FEWEST,
        max_value=neighbors.LONGEST,
        value=DEFAULT_K,
        key="k",
        bind="query-params",
        help="How many neighbors are listed and compared.",
    )
    most = len(opened.spaces[0].items) - 1
    if most < asked:
        st.caption(f"With {most + 1} texts, each has only {most} neighbors.")
    return min(int(asked), most)


def answer(opened: Opened, query: Query, k: int) -> Answer | None:
    """Show the lists; None, with the reason shown, if no variant has a vector for the query."""
    approximate = _approximate(opened, k)
    try:
        if query.item is None:
            lists = _of_text(opened, query.text, approximate)
        else:
            lists = _of_item(opened, query.item, approximate)
    except BlindspotError as error:
        st.warning(as_text(explained(error)), icon=":material/report:")
        return None
    if not lists:
        return None
    found = Answer(k, lists)
    _side_by_side(opened, query, found)
    _why(opened, query, found)
    _at_ranks(opened, found)
    return found


def _approximate(opened: Opened, k: int) -> bool:
    """Whether the reader chooses an approximate index, offered with many items."""
    items = len(opened.spaces[0].items)
    if items < APPROXIMATE_FROM:
        return False
    wanted = options().toggle(
        "Approximate index",
        key="approx",
        bind="query-params",
        help=f"Search only an eighth of the {items:,} texts (faiss IVF). Off: every text is compared, exactly. "
        "Building the index takes some seconds, once.",
    )
    if not wanted:
        return False
    with st.spinner("Building the approximate indexes and measuring their recall …", show_time=True):
        measured = [(space, _quality(space, opened.metric, k)) for space in opened.spaces]
    for space, quality in measured:
        st.caption(
            f"{as_text(space.variant.label)}: recall@{k} **{quality.recall:.3f}** "
            f"(share of the exact {k} nearest that it finds, over {quality.queries} random texts), "
            f"{quality.seconds * 1e3:.1f} ms per query instead of {quality.exact_seconds * 1e3:.1f} ms."
        )
    return True


@cached(64)
def _quality(space: Space, metric: Similarity, k: int) -> Quality:
    return neighbors.measured(space, metric, k)


def _of_item(opened: Opened, item: int, approximate: bool) -> list[Neighbors]:
    if opened.spaces[0].place_of(item) is None:
        raw = {space.variant: Variant(space.variant.encoder, "none") for space in opened.spaces}
        alone = {variant: open_spaces([raw[variant]], opened.dataset, settings())[0] for variant in raw}
        lacking = ", ".join(as_text(variant.label) for variant, space in alone.items() if space.place_of(item) is None)
        st.info(
            f"No vector: {lacking} does not know this text. Choose another one, or leave that model out.",
            icon=":material/info:",
        )
        return []
    most = neighbors.depth(opened.spaces)
    return [neighbors.of_item(s, opened.metric, item, most, approximate=approximate) for s in opened.spaces]


def _of_text(opened: Opened, text: str, approximate: bool) -> list[Neighbors]:
    with st.spinner("Encoding the text. The first time, models are loaded …", show_time=True), turn() as cancel:
        placed = free_text.place(text, opened.spaces, settings(), cancel)
    _notes(placed)
    most = neighbors.depth(opened.spaces, is_item=False)
    return [
        neighbors.of_vector(space, opened.metric, one.vector, most, approximate=approximate)
        for space, one in zip(opened.spaces, placed, strict=True)
        if one.vector is not None
    ]


def _notes(placed: Sequence[Placed]) -> None:
    """Name the parts of the text that a model cut off or does not know."""
    if cut := [as_text(one.variant.label) for one in placed if one.truncated]:
        st.caption(f"Cut off: the text is longer than {', '.join(cut)} can read. The rest is ignored.")
    for one in placed:
        words = ", ".join(as_text(f"“{word[:60]}”") for word in one.unknown)
        if one.vector is None:
            which = f": none of its words is known ({words})" if words else ""
            st.info(f"No vector: {as_text(one.variant.label)} does not know this text{which}.", icon=":material/info:")
        elif words:
            st.caption(f"{as_text(one.variant.label)} has no vector for {words} and uses the mean of the other words.")


def _side_by_side(opened: Opened, query: Query, found: Answer) -> None:
    texts = opened.dataset.items
    shown = np.stack([one.items[: found.k] for one in found.lists])
    in_words = {len(shown): "all", 1: "this"}
    marks = [[in_words.get(n, f"{n} of {len(shown)}") for n in row] for row in in_how_many(shown).tolist()]
    found_related = opened.dataset.related(query.item) if query.item is not None else {}
    related = {
        item: "match" if name == "match" else ", ".join(map(subset_in_words, name.split(", ")))
        for item, name in found_related.items()
    }
    lengths = [len(texts[item]) for item in shown.ravel()]
    abreast = 3 if float(np.mean(lengths)) <= SHORT and len(found.lists) == 3 else min(len(found.lists), 2)
    for start in range(0, len(found.lists), abreast):
        for place, column in enumerate(st.columns(abreast), start):
            if place < len(found.lists):
                with column:
                    marked = marks[place] if len(shown) > 1 else []
                    _list(opened, found.lists[place], found.k, marked, related, max(lengths))
    relation = "● related to the query in the dataset (its match, or a rewrite). " if related else ""
    st.caption(
        f"{relation}Similarities of different models are not comparable, only the order of texts. Select a row to "
        "make it the query."
    )
    if related:
        _missed(found, related)


def _list(
    opened: Opened, one: Neighbors, k: int, marks: Sequence[str], related: Mapping[int, str], longest: int
) -> None:
    items = one.items[:k].tolist()
    frame = pd.DataFrame(
        {
            "rank": range(1, len(items) + 1),
            "text": [opened.dataset.items[item] for item in items],
            "similarity": one.similarity[:k],
        }
    )
    if marks:
        frame["found by"] = marks
    if related:
        frame["relation"] = [f"● {related[item]}" if item in related else "" for item in items]
    name = opened.names[one.variant]
    st.markdown(f"**{as_text(one.variant.label)}**")
    column = st.column_config
    row = WRAPPED if longest > LINE else ROW
    choose_row(  # the item of a chosen row is the next query
        frame,
        items,
        choose,
        table=f"near_{name}",
        drawn=str(one.variant),
        row_height=row,
        height=min(ROW + 3 + row * len(items), MOST_HEIGHT),
        column_config={
            # together no wider than half of a page
            "rank": column.NumberColumn(width=40),
            "text": column.TextColumn(width=100 if longest <= SHORT else 158),
            "similarity": column.ProgressColumn(
                min_value=min(0.0, float(one.similarity[:k].min())),
                max_value=max(1.0, float(one.similarity[0])),
                format="%.4f",
                width=88,
            ),
            "found by": column.TextColumn(
                width=72, help="Models that have it among their nearest k: all, only this one, or some"
            ),
            "relation": column.TextColumn(width=80),
        },
    )
    if one.are_alike(k):
        st.caption("These are all equally similar to the query, so their order means nothing.")


def _missed(found: Answer, related: Mapping[int, str]) -> None:
    """Name the models with no related text among the k nearest."""
    within = {one.variant: set(one.items[: found.k].tolist()) for one in found.lists}
    without = [as_text(variant.label) for variant, items in within.items() if items.isdisjoint(related)]
    if without:
        named = ", ".join(dict.fromkeys(related.values()))
        st.caption(f"Not among the {found.k} nearest in {', '.join(without)}: {as_text(named)}.")


def _why(opened: Opened, query: Query, found: Answer) -> None:
    """Contributions of the words of the query and of one neighbor, in the first two variants."""
    if not why_similar.is_open():
        return
    rank = int(
        st.number_input(
            "Neighbor of rank", 1, found.k, key="why_rank", bind="query-params", width=200, help="In each list."
        )
    )
    spaces = {space.variant: space for space in opened.spaces}
    asked = []
    for one in found.lists:
        item = int(one.items[rank - 1])
        pair = PairOfTexts((query.text, opened.dataset.items[item]), (query.item, item))
        heading = f"**{as_text(one.variant.label)}**: {as_text(short_text(pair.texts[1]))}"
        note = why_similar.note_of(opened.metric)
        asked.append(why_similar.of_space(spaces[one.variant], pair, heading, note))
    why_similar.show(asked, ("query", "neighbor"))


def _at_ranks(opened: Opened, found: Answer) -> None:
    deepest = min(len(one.items) for one in found.lists)
    ranks = [rank for rank in RANKS if rank <= deepest]
    if len(ranks) < 2:
        return
    st.markdown(f"**Results at ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}**")
    columns = {f"{one.variant.label}": [opened.dataset.items[one.items[r - 1]] for r in ranks] for one in found.lists}
    st.html(ranks_table(columns, ranks, opened.scheme, "Neighbors at chosen ranks"))
    st.caption(
        "How quickly do results drift from the query? A model that is better at rank 1 may be worse at rank 50 (ranks "
        "as in Schnabel et al. 2015, section 3.3)."
    )
