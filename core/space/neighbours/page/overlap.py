"""The page Neighbours' comparison of encoders: for this query, over many queries, and as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import pandas as pd
import streamlit as st

from core.numerics.neighbours.overlap import P
from core.numerics.similarity import Metric
from core.runs.spaces import Space
from core.space.neighbours import figures
from core.space.neighbours import lists as neighbours
from core.space.neighbours.lists import Agreement
from core.space.neighbours.page import query as neighbours_query
from core.space.neighbours.page.lists import Answer
from core.space.neighbours.page.shown import Inside
from core.types import Float64, Int64, Variant
from core.ui.markdown import as_text
from core.ui.resources import cached
from core.ui.widgets.browse_table import Pages, choose_row
from core.ui.widgets.two_variants import two_names

ROWS_PER_PAGE = 10


class Measure(StrEnum):
    """How alike two lists are."""

    JACCARD = "jaccard"
    RBO = "rbo"

    @property
    def in_words(self) -> str:
        return "Jaccard" if self is Measure.JACCARD else "rank-biased overlap"

    def of(self, found: Agreement) -> Float64:
        return found.jaccard if self is Measure.JACCARD else found.rbo


def show(inside: Inside, answer: Answer | None, k: int) -> None:
    """Everything that lays encoders beside each other."""
    st.subheader("Where do encoders disagree?", anchor=False)
    if len(inside.spaces) < 2:
        st.info(
            "There is one variant only. Pick or encode another one to see where they disagree.", icon=":material/info:"
        )
        return
    st.caption(" · ".join(f"**{n}** {as_text(variant.label)}" for variant, n in inside.names.items()))
    if answer is not None and len(answer.lists) > 1:
        _this_query(inside, answer)
    rows, found = _over_queries(inside, k)
    measure = Measure(
        st.segmented_control(
            "Overlap",
            [m.value for m in Measure],
            default=Measure.JACCARD.value,
            required=True,
            key="overlap",
            bind="query-params",
            help=f"- **jaccard**: items in both lists of {k} over items in either.\n- **rbo**: rank-biased overlap, in "
            f"which agreement at the top counts more (p = {P:g}: the first ten ranks carry 86% of the weight).",
        )
    )
    _distribution(inside, answer, found, measure, len(rows))
    _matrices(inside, found, measure)
    _disagreements(inside, rows, found, k)


def _pair(inside: Inside, a: Variant, b: Variant) -> str:
    return f"{inside.names[a]} · {inside.names[b]}"


def _this_query(inside: Inside, answer: Answer) -> None:
    st.markdown("**For this query**")
    found = neighbours.overlaps(answer.lists, answer.k)
    frame = pd.DataFrame(
        [
            {
                "variants": _pair(inside, o.a, o.b),
                "first": o.a.label,
                "second": o.b.label,
                "shared": f"{o.shared} of {o.k}",
                f"Jaccard@{o.k}": o.jaccard,
                "rank-biased overlap": o.rbo,
            }
            for o in found
        ]
    )
    number = st.column_config.NumberColumn(format="%.3f")
    config = {f"Jaccard@{answer.k}": number, "rank-biased overlap": number}
    st.dataframe(frame, hide_index=True, key="overlap_here", column_config=config)


def _over_queries(inside: Inside, k: int) -> tuple[Int64, list[Agreement]]:
    """The queries that were looked at, as rows of the spaces, and every two variants over them."""
    rows = neighbours.sample(inside.spaces[0])
    with st.spinner(f"Looking up the neighbours of {len(rows):,} items in every variant …", show_time=True):
        return rows, _agreements(inside.spaces, inside.metric, k)


@cached(24)
def _of_many(space: Space, metric: Metric) -> Int64:
    """Once per space, to the greatest depth: the slider then costs nothing."""
    return neighbours.of_many(space, metric, neighbours.sample(space), neighbours.depth([space]))


@cached(64)
def _agreements(spaces: Sequence[Space], metric: Metric, k: int) -> list[Agreement]:
    return neighbours.agreements({space.variant: _of_many(space, metric) for space in spaces}, k)


@cached(64, "Comparing the spaces as a whole …")
def _cka(a: Space, b: Space) -> float:
    return neighbours.cka(a, b)


def _distribution(
    inside: Inside, answer: Answer | None, found: Sequence[Agreement], measure: Measure, queries: int
) -> None:
    items = len(inside.spaces[0].items)
    k = found[0].depth
    own = {}
    if answer is not None and len(answer.lists) > 1:
        own = {
            _pair(inside, o.a, o.b): o.jaccard if measure is Measure.JACCARD else o.rbo
            for o in neighbours.overlaps(answer.lists, answer.k)
        }
    st.markdown("**Over many queries**")
    values = {_pair(inside, f.a, f.b): measure.of(f) for f in found}
    figure = figures.overlap_boxes(values, own, f"{measure.in_words} of the {k} nearest", inside.scheme)
    st.plotly_chart(figure, key="overlap_boxes")
    which = f"all {items:,} items" if queries == items else f"{queries:,} of {items:,} items, always the same sample"
    st.caption(
        f"Queries: {which}. Box: the middle half, with median and (dashed) mean; whiskers: 5% to 95%. 1: the same "
        "neighbours; 0: none in common."
    )


def _matrices(inside: Inside, found: Sequence[Agreement], measure: Measure) -> None:
    names = list(inside.names.values())
    overlap = [[1.0] * len(names) for _ in names]
    alike = [[1.0] * len(names) for _ in names]
    place = {variant: i for i, variant in enumerate(inside.names)}
    spaces = {space.variant: space for space in inside.spaces}
    for one in found:
        i, j = place[one.a], place[one.b]
        overlap[i][j] = overlap[j][i] = float(measure.of(one).mean())
        a, b = spaces[one.a], spaces[one.b]
        alike[i][j] = alike[j][i] = _cka(a, b)
    for i, space in enumerate(inside.spaces):  # not 1 where it is not defined
        if math.isnan(_cka(space, space)):
            alike[i][i] = math.nan
    left, right = st.columns(2)
    with left:
        st.markdown(f"**Mean {measure.in_words}** of the {found[0].depth} nearest")
        figure = figures.encoder_matrix(overlap, names, inside.scheme, "share of neighbours")
        st.plotly_chart(figure, key="overlap_matrix")
    with right:
        st.markdown("**Linear CKA** of the spaces as a whole")
        st.plotly_chart(figures.encoder_matrix(alike, names, inside.scheme, "CKA"), key="cka_matrix")
    if any(math.isnan(value) for row in alike for value in row):
        st.caption("– : CKA is not defined for fewer than four items, nor for a space whose vectors are all the same.")
    items = len(inside.spaces[0].items)
    if items > neighbours.ITEMS_FOR_CKA:
        st.caption(f"CKA over {neighbours.ITEMS_FOR_CKA:,} of {items:,} items, always the same sample.")


def _disagreements(inside: Inside, rows: Int64, found: Sequence[Agreement], k: int) -> None:
    st.markdown("**Queries on which two variants disagree most**")
    by_name = {str(variant): variant for variant in inside.names}
    one_name, other_name = two_names(list(by_name), ("a", "b"))
    if other_name is None:
        return
    a, b = by_name[one_name], by_name[other_name]
    one = next(f for f in found if {f.a, f.b} == {a, b})
    order = one.worst_first()
    pages = Pages.of("disagreements_page", len(order), ROWS_PER_PAGE)
    shown = order[pages.rows]
    items = inside.spaces[0].items[rows[shown]].tolist()
    nearest = {v: _of_many(s, inside.metric) for s in inside.spaces if (v := s.variant) in {a, b}}
    texts = inside.dataset.items
    first = {v: [texts[inside.spaces[0].items[lists[i, 0]]] for i in shown] for v, lists in nearest.items()}
    frame = pd.DataFrame(
        {
            "item": items,
            "query": [texts[item] for item in items],
            "shared": [f"{count} of {k}" for count in one.shared[shown]],
            "Jaccard": one.jaccard[shown],
            "RBO": one.rbo[shown],
            "nearest in A": first[a],
            "nearest in B": first[b],
        }
    )
    column = st.column_config
    choose_row(
        frame,
        items,
        neighbours_query.choose,
        table="disagree",
        page=pages.number,
        drawn=(str(a), str(b), k),
        column_config={
            "item": column.NumberColumn(width=60),
            "query": column.TextColumn(width=280),
            "Jaccard": column.NumberColumn(format="%.3f", width=70),
            "RBO": column.NumberColumn(format="%.3f", width=70, help="Rank-biased overlap"),
            "nearest in A": column.TextColumn(width=250, help=a.label),
            "nearest in B": column.TextColumn(width=250, help=b.label),
        },
    )
    pages.turn(
        "Lowest Jaccard first; among equals the lowest rank-biased overlap, then the lower number. Choose a row to "
        "make it the query."
    )
