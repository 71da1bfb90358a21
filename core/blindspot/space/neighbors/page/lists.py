"""Lists of the page Neighbors: the nearest texts to the query in every shown model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.errors import BlindspotError
from blindspot.figures.html_tables import ranks_table
from blindspot.numerics.neighbors.approximate import Quality
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.spaces import Space, open_spaces
from blindspot.runs.why_similar import PairOfTexts
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.free_text import Placed
from blindspot.space.neighbors.lists import RANKS
from blindspot.space.neighbors.page.query import Query, choose
from blindspot.space.neighbors.view import NeighborsView, view_of_item, view_of_text
from blindspot.space.page import Opened, short_text
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.turns import turn
from blindspot.ui.widgets.addressed import names_of_variants
from blindspot.ui.widgets.browse_table import choose_cell
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.texts import why_similar
from blindspot.variants import Variant

RANKS_LISTED = (5, 10, 20, 50)
APPROXIMATE_FROM = 20_000  # items: with fewer, the index gains nothing
LINE = 100  # characters in a line of the table, in all of its columns
ROW, WRAPPED, LINE_HEIGHT = 35, 66, 20  # pixels: of a row of one line, of two (Streamlit wraps from 65), of each more
MOST_LINES = 4
MOST_HEIGHT = 900


def depth_picker(opened: Opened) -> int:
    """How many neighbors to list: no more than the dataset has."""
    most = neighbors.depth(opened.spaces)
    offered = [count for count in RANKS_LISTED if count < most]
    return one_of("Ranks", [*offered, most] if len(offered) < len(RANKS_LISTED) else offered, "k")


def answer(opened: Opened, query: Query, k: int) -> NeighborsView | None:
    """Show the lists; None, with the reason shown, if no variant has a vector for the query."""
    approximate = _approximate(opened, k)
    if query.item is not None and opened.spaces[0].place_of(query.item) is None:
        _say_who_lacks(opened, query.item)
        return None
    try:
        view = _view(opened, query, k, approximate)
    except BlindspotError as error:
        st.warning(as_text(explained(error)), icon=":material/report:")
        return None
    _notes(view.placed)
    if not view.lists:
        return None
    _by_rank(opened, query, view)
    _why(opened, query, view)
    return view


def _view(opened: Opened, query: Query, k: int, approximate: bool) -> NeighborsView:
    if query.item is not None:
        return view_of_item(query.item, opened.spaces, opened.metric, k=k, approximate=approximate)
    with st.spinner("Encoding the text. The first time, models are loaded …", show_time=True), turn() as cancel:
        return view_of_text(
            query.text, opened.spaces, opened.metric, settings(), k=k, approximate=approximate, cancel=cancel
        )


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
            f"{as_text(space.variant.label)}: recall@{k} **{number(quality.recall, SCORE)}** "
            f"(share of the exact {k} nearest that it finds, over {quality.queries} random texts), "
            f"{quality.seconds * 1e3:.1f} ms per query instead of {quality.exact_seconds * 1e3:.1f} ms."
        )
    return True


@cached(64)
def _quality(space: Space, metric: Similarity, k: int) -> Quality:
    return neighbors.measured(space, metric, k)


def _say_who_lacks(opened: Opened, item: int) -> None:
    """Name the models that have no vector for an item."""
    raw = {space.variant: Variant(space.variant.encoder, "none") for space in opened.spaces}
    alone = {variant: open_spaces([raw[variant]], opened.dataset, settings())[0] for variant in raw}
    lacking = ", ".join(as_text(variant.label) for variant, space in alone.items() if space.place_of(item) is None)
    st.info(
        f"No vector: {lacking} does not know this text. Choose another one, or leave that model out.",
        icon=":material/info:",
    )


def _notes(placed: Sequence[Placed]) -> None:
    """Name the parts of the text that a model cut off or does not know."""
    if cut := [as_text(placed_text.variant.label) for placed_text in placed if placed_text.truncated]:
        st.caption(f"Cut off: the text is longer than {', '.join(cut)} can read. The rest is ignored.")
    for placed_text in placed:
        words = ", ".join(as_text(f"“{word[:60]}”") for word in placed_text.unknown)
        if placed_text.vector is None:
            which = f": none of its words is known ({words})" if words else ""
            st.info(
                f"No vector: {as_text(placed_text.variant.label)} does not know this text{which}.",
                icon=":material/info:",
            )
        elif words:
            st.caption(
                f"{as_text(placed_text.variant.label)} has no vector for {words} and uses the mean of the other words."
            )


def _by_rank(opened: Opened, query: Query, answer: NeighborsView) -> None:
    """A row per rank, a column per model; marks texts that another model has too, and related texts of the dataset."""
    items, found_by = answer.items, answer.found_by
    related = _related(opened, query)
    several = len(set(related.values())) > 1
    dots = {item: f"● {name}: " if several else "● " for item, name in related.items()}
    names = names_of_variants([str(listed.variant) for listed in answer.lists])
    columns = {names(str(listed.variant)): row.tolist() for listed, row in zip(answer.lists, items, strict=True)}
    frame = pd.DataFrame({"rank": range(1, answer.k + 1)})
    for (name, numbers), listed, counts in zip(columns.items(), answer.lists, found_by.tolist(), strict=True):
        frame[name] = [
            f"{number(similarity, '.3f')} {_mark(count, len(items))}{dots.get(item, '')}{opened.dataset.items[item]}"
            for item, similarity, count in zip(numbers, listed.similarity[: answer.k].tolist(), counts, strict=True)
        ]
    longest = max(len(text) for name in columns for text in frame[name])
    lines = min(MOST_LINES, -(-longest * len(columns) // LINE))
    row = ROW if lines == 1 else WRAPPED + LINE_HEIGHT * (lines - 2)
    column = st.column_config
    choose_cell(  # the item of a chosen cell is the next query
        frame,
        columns,
        choose,
        table="near",
        row_height=row,
        height=min(ROW + 3 + row * answer.k, MOST_HEIGHT),
        column_config={"rank": column.NumberColumn(width=44)}
        | {name: column.TextColumn(width=680 // len(columns)) for name in columns},
    )
    marks = [
        "✓ found by all of these models" + (" (✓2: by two)" if len(items) > 2 else "") if len(items) > 1 else "",
        f"● {'related to the query' if several else related[next(iter(related))]} in the dataset" if related else "",
        "similarities of different models cannot be compared" if len(items) > 1 else "",
        "select a text to make it the query",
    ]
    notes = "; ".join(filter(None, marks))
    st.caption(f"{notes[0].upper()}{notes[1:]}.")
    _missed(answer, related)
    if alike := ", ".join(as_text(listed.variant.label) for listed in answer.lists if listed.are_alike(answer.k)):
        st.caption(f"In {alike} these are all equally similar to the query, so their order means nothing.")


def _mark(count: int, models: int) -> str:
    if count == 1:
        return ""
    return "✓ " if count == models else f"✓{count} "


def _related(opened: Opened, query: Query) -> dict[int, str]:
    """How the dataset relates other texts to the query, in words."""
    relations = {} if query.item is None else opened.dataset.related(query.item)
    return {item: ", ".join(map(subset_in_words, name.split(", "))) for item, name in relations.items()}


def _missed(view: NeighborsView, related: Mapping[int, str]) -> None:
    """Name the models with no related text among the k nearest."""
    if not related:
        return
    within = {listed.variant: set(listed.items[: view.k].tolist()) for listed in view.lists}
    without = [as_text(variant.label) for variant, items in within.items() if items.isdisjoint(related)]
    if without:
        named = ", ".join(dict.fromkeys(related.values()))
        st.caption(f"Not among the {view.k} nearest in {', '.join(without)}: {as_text(named)}.")


def _why(opened: Opened, query: Query, view: NeighborsView) -> None:
    """Contributions of the words of the query and of one neighbor, in the first two variants."""
    if not why_similar.is_open():
        return
    rank = int(
        st.number_input(
            "Neighbor of rank", 1, view.k, key="why_rank", bind="query-params", width=200, help="In each list."
        )
    )
    spaces = {space.variant: space for space in opened.spaces}
    asked = []
    for listed in view.lists:
        item = int(listed.items[rank - 1])
        pair = PairOfTexts((query.text, opened.dataset.items[item]), (query.item, item))
        heading = f"**{as_text(listed.variant.label)}**: {as_text(short_text(pair.texts[1]))}"
        note = why_similar.note_of(opened.metric)
        asked.append(why_similar.of_space(spaces[listed.variant], pair, heading, note))
    why_similar.show(asked, ("query", "neighbor"))


def at_ranks(opened: Opened, view: NeighborsView) -> None:
    deepest = min(len(listed.items) for listed in view.lists)
    ranks = [rank for rank in RANKS if rank <= deepest]
    if len(ranks) < 2:
        return
    st.markdown(f"**This query at ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}**")
    columns = {
        f"{listed.variant.label}": [opened.dataset.items[listed.items[r - 1]] for r in ranks] for listed in view.lists
    }
    st.html(ranks_table(columns, ranks, opened.scheme, "Neighbors at chosen ranks"))
    st.caption(
        "How quickly do results drift from the query? A model that is better at rank 1 may be worse at rank 50 (ranks "
        "as in Schnabel et al. 2015, section 3.3)."
    )
