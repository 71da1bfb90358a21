"""Comparison of models on the page Neighbors: for this query, over many queries, and as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from blindspot.numerics.neighbors.overlap import P
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.space.neighbors import figures
from blindspot.space.neighbors import lists as neighbors
from blindspot.space.neighbors.lists import Agreement
from blindspot.space.neighbors.page.lists import at_ranks
from blindspot.space.neighbors.page.query import choose
from blindspot.space.neighbors.view import NeighborsView
from blindspot.space.page import Opened
from blindspot.texts import counted, from_change
from blindspot.types import Float64, Int64
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import names_of_variants
from blindspot.ui.widgets.browse_table import Pages, choose_row
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.two_variants import two_names
from blindspot.variants import Variant

WIDTH = 16  # characters of a model's name in figures
FEW, NOTABLE = 0.05, 0.3  # share of queries that may share fewer; share of neighbors from which on to say so


FROM_CHANGE = "A long text begins shortly before the word that differs from the query."


class Measure(StrEnum):
    JACCARD = "jaccard"
    RBO = "rbo"

    @property
    def in_words(self) -> str:
        return "Jaccard" if self is Measure.JACCARD else "rank-biased overlap"

    @property
    def meaning(self) -> str:
        return (
            "texts in both lists divided by texts in either" if self is Measure.JACCARD else "the top ranks count most"
        )

    def of(self, agreement: Agreement) -> Float64:
        return agreement.jaccard if self is Measure.JACCARD else agreement.rbo


def show(opened: Opened, answer: NeighborsView | None, k: int, headline: DeltaGenerator) -> None:
    """Show how far the models agree; the headline goes into its own place, above the query."""
    if len(opened.spaces) < 2:
        st.info(
            "Only one model is shown. Pick or encode another one to see where they disagree.", icon=":material/info:"
        )
    rows, agreements = neighbors.sample(opened.spaces[0]), list[Agreement]()
    if len(opened.spaces) > 1:
        with st.spinner(f"Looking up the neighbors of {len(rows):,} texts in every model …", show_time=True):
            agreements = _agreements(opened.spaces, opened.metric, k)
        with headline:
            _headline(opened, agreements)
        _disagreements(opened, rows, agreements, k)
    statistics = st.expander("Statistics", icon=":material/query_stats:", key="statistics", bind="query-params")
    if statistics.open:
        with statistics:
            _statistics(opened, answer, agreements, rows)


def _statistics(opened: Opened, answer: NeighborsView | None, agreements: Sequence[Agreement], rows: Int64) -> None:
    """Overlap for this query and over many, similarity of whole spaces, and how lists drift from the query."""
    if answer is not None:
        if agreements:
            _this_query(answer)
        at_ranks(opened, answer)
    if agreements:
        measure = one_of(
            "Overlap",
            Measure,
            "overlap",
            f"- **jaccard**: texts in both lists of {agreements[0].depth} divided by texts in either.\n- **rbo**: "
            f"rank-biased overlap, in which agreement at the top counts more (p = {P:g}: the first ten ranks have 86% "
            "of the weight).",
        )
        _distribution(opened, answer, agreements, measure, len(rows))
        _matrices(opened, agreements, measure)


def _headline(opened: Opened, agreements: Sequence[Agreement]) -> None:
    """How many neighbors the first variant shares with each other one. In many datasets queries are near-duplicates, so
    an interval over them would be too narrow; quartiles say how much they differ."""
    first = opened.spaces[0].variant
    parts = []
    for agreement in (agreement for agreement in agreements if first in {agreement.a, agreement.b}):
        other = agreement.b if agreement.a == first else agreement.a
        low, high = np.quantile(agreement.shared, (0.25, 0.75))
        parts.append(
            f"**{agreement.shared.mean():.1f}** with **{as_text(other.label)}** (middle half {low:g} to {high:g})"
        )
    depth, queries = agreements[0].depth, counted(len(agreements[0].shared), "query", "queries")
    st.markdown(
        f"Of its {depth} nearest neighbors, **{as_text(first.label)}** shares on average {', '.join(parts)}, over "
        f"{queries}."
    )
    _built_in(agreements)


def _built_in(agreements: Sequence[Agreement]) -> None:
    """Warn if nearly all queries share many neighbors in all models: any model finds the rewrites of a text."""
    depth = agreements[0].depth
    floor = int(min(np.quantile(agreement.shared, FEW) for agreement in agreements))
    if len(agreements) > 1 and floor >= depth * NOTABLE:
        st.caption(
            f"Any two of these models share {floor} or more neighbors of almost every query, as in data full of "
            f"rewrites or near-duplicates: only the other {depth - floor} of {depth} tell models apart."
        )


def _short(opened: Opened) -> dict[Variant, str]:
    """Labels that fit figures."""
    name = names_of_variants([str(variant) for variant in opened.names], WIDTH)
    return {variant: name(str(variant)) for variant in opened.names}


def _pair(opened: Opened, a: Variant, b: Variant) -> str:
    short = _short(opened)
    return f"{short[a]} · {short[b]}"


def _this_query(answer: NeighborsView) -> None:
    st.markdown("**For this query**")
    overlaps = answer.overlaps
    rows = [
        {
            "first": o.a.label,
            "second": o.b.label,
            "shared": f"{o.shared} of {o.k}",
            f"Jaccard@{o.k}": o.jaccard,
            "rank-biased overlap": o.rbo,
        }
        for o in overlaps
    ]
    config = {
        name: st.column_config.NumberColumn(format="%.3f", help=measure.meaning.capitalize())
        for name, measure in ((f"Jaccard@{answer.k}", Measure.JACCARD), ("rank-biased overlap", Measure.RBO))
    }
    tables.draw(rows, key="overlap_here", column_config=config)


@cached(24)
def _of_many(space: Space, metric: Similarity) -> Int64:
    """The neighbors of many queries, to the greatest depth, so that the slider costs nothing."""
    return neighbors.of_many(space, metric, neighbors.sample(space), neighbors.depth([space]))


@cached(64)
def _agreements(spaces: Sequence[Space], metric: Similarity, k: int) -> list[Agreement]:
    return neighbors.agreements({space.variant: _of_many(space, metric) for space in spaces}, k)


_cka = cached(64, "Comparing the spaces as a whole …")(neighbors.cka)


def _distribution(
    opened: Opened, answer: NeighborsView | None, agreements: Sequence[Agreement], measure: Measure, queries: int
) -> None:
    k = agreements[0].depth
    here = answer.overlaps if answer is not None else []
    values_here = {_pair(opened, o.a, o.b): o.jaccard if measure is Measure.JACCARD else o.rbo for o in here}
    st.markdown("**Over many queries**")
    values = {_pair(opened, f.a, f.b): measure.of(f) for f in agreements}
    figure = figures.overlap_boxes(values, values_here, f"{measure.in_words} of the {k} nearest", opened.scheme)
    st.plotly_chart(figure, key="overlap_boxes")
    which = _queries(opened, queries)
    st.caption(
        f"{measure.in_words.capitalize()}: {measure.meaning}. Queries: {which}. Box: the middle half, with "
        "median and (dashed) mean; whiskers: 5% to 95%. 1: the same neighbors; 0: none in common."
    )


def _queries(opened: Opened, queries: int) -> str:
    """Which texts were queries, and among which their neighbors are."""
    items, documents = len(opened.spaces[0].items), len(neighbors.candidates(opened.spaces[0]))
    if documents < items:
        return f"{counted(queries, 'query', 'queries')} of the dataset, among its {documents:,} documents"
    return f"all {items:,} texts" if queries == items else f"{queries:,} of {items:,} texts, always the same sample"


def _matrices(opened: Opened, agreements: Sequence[Agreement], measure: Measure) -> None:
    names = list(_short(opened).values())
    row_of = {variant: i for i, variant in enumerate(opened.names)}
    overlap, alike = np.ones((2, len(names), len(names)))
    for agreement in agreements:
        i, j = row_of[agreement.a], row_of[agreement.b]
        overlap[i, j] = overlap[j, i] = measure.of(agreement).mean()
        alike[i, j] = alike[j, i] = _cka(opened.spaces[i], opened.spaces[j])
    for i, space in enumerate(opened.spaces):
        if math.isnan(_cka(space, space)):  # else it is 1
            alike[i, i] = math.nan
    left, right = st.columns(2)
    with left:
        st.markdown(f"**Mean {measure.in_words}** of the {agreements[0].depth} nearest")
        figure = figures.encoder_matrix(overlap, names, opened.scheme, "share of neighbors")
        st.plotly_chart(figure, key="overlap_matrix")
    with right:
        st.markdown("**Linear CKA**: similarity of the whole spaces (1: same up to rotation)")
        st.plotly_chart(figures.encoder_matrix(alike, names, opened.scheme, "CKA"), key="cka_matrix")
    if np.isnan(alike).any():
        st.caption("– : CKA is not defined for fewer than four texts, nor for a space whose vectors are all the same.")
    items = len(opened.spaces[0].items)
    if items > neighbors.ITEMS_FOR_CKA:
        st.caption(f"CKA over {neighbors.ITEMS_FOR_CKA:,} of {items:,} texts, always the same sample.")


def _disagreements(opened: Opened, rows: Int64, agreements: Sequence[Agreement], k: int) -> None:
    st.subheader("Where do two models disagree most?", anchor=False)
    by_name = {str(variant): variant for variant in opened.names}
    one_name, other_name = two_names(list(by_name))
    if other_name is None:
        return
    a, b = by_name[one_name], by_name[other_name]
    agreement = next(f for f in agreements if {f.a, f.b} == {a, b})
    order = agreement.worst_first()
    pages = Pages.of("disagreements_page", len(order))
    shown = order[pages.rows]
    items = opened.spaces[0].items[rows[shown]].tolist()
    nearest = {v: _of_many(s, opened.metric) for s in opened.spaces if (v := s.variant) in {a, b}}
    texts = opened.dataset.items
    first = {
        v: [from_change(texts[lists[i, 0]], texts[item]) for i, item in zip(shown, items, strict=True)]
        for v, lists in nearest.items()
    }
    frame = pd.DataFrame(
        {
            "item": items,
            "query": [texts[item] for item in items],
            "shared": [f"{count} of {k}" for count in agreement.shared[shown]],
            "RBO": agreement.rbo[shown],
            "nearest in A": first[a],
            "nearest in B": first[b],
        }
    )
    column = st.column_config
    choose_row(
        frame,
        items,
        choose,
        table="disagree",
        page=pages.number,
        drawn=(str(a), str(b), k),
        column_config={
            "item": column.NumberColumn(width=60),
            "query": column.TextColumn(width=210),
            "shared": column.TextColumn(width=70, help="Decides the Jaccard index, too"),
            "RBO": column.NumberColumn(format="%.3f", width=60, help="Rank-biased overlap"),
            "nearest in A": column.TextColumn(width=195, help=f"{a.label}. {FROM_CHANGE}"),
            "nearest in B": column.TextColumn(width=195, help=f"{b.label}. {FROM_CHANGE}"),
        },
    )
    lowest = int(np.count_nonzero(agreement.shared == agreement.shared.min()))
    pages.turn(
        f"Fewest shared first, then lowest rank-biased overlap. {counted(lowest, 'query shares', 'queries share')} no "
        f"more than {agreement.shared.min()}. Select a row to make it the query."
    )
