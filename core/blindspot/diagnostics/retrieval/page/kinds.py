"""The view *kinds* of the page Retrieval: which kinds of query are hard, and on which B gains and loses most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval import kinds
from blindspot.diagnostics.retrieval.definition import TITLES
from blindspot.diagnostics.retrieval.figures import KEYWORDS, keyword_style
from blindspot.diagnostics.retrieval.kinds import AXES, MEASURES, UNIT, Features, Kind
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.diagnostics.retrieval.page.queries import compared_sides
from blindspot.diagnostics.retrieval.page.retrieval_view import BY_RUNS, RetrievalView
from blindspot.diagnostics.retrieval.view import HEAD, gains_view, kinds_view
from blindspot.figures.groups import group_lines
from blindspot.numerics.statistics.groups import FEW, Gains, Grouping
from blindspot.ui.resources import cached, load
from blindspot.ui.widgets import kinds as widget
from blindspot.ui.widgets import own_columns

NOTES = {
    Kind.LENGTH: "Stop words count, too.",
    Kind.OVERLAP: "Of several relevant documents, the one with most of the words; without stop words. Where a model is "
    "good only on the right, it matches words rather than meanings, as keyword search does.",
    Kind.RARE: "Rare words are often names, codes and terms that a model has not learned. Without stop words; 0: no "
    "document has the word.",
    Kind.RELEVANT: "Of many relevant documents, one is easy to find and all are not.",
    Kind.NEGATION: "English words such as not, no, never, without, isn't.",
}
OWN = "A column of your file. A query without a value counts as (empty)."


def show(shown: RetrievalView) -> None:
    """Each ranking's score by kind of query, and where B gains and loses most against A."""
    dataset = load(shown.picks.dataset.entry())
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{shown.picks.dataset} is no retrieval dataset")
    features, user_columns = partial(_features, dataset), kinds.choices_of(own_columns.columns_of(shown.runs[0]))
    scores = {name: TITLES[name] for name in MEASURES}
    kind, measure = widget.choose("queries", AXES, user_columns, scores, keys=("query_kind", "kind_score"))
    groups = kinds.grouping_by(kind, user_columns, features, shown.table.numbers)
    if not widget.are_alike(groups, UNIT):
        _scores(shown, kind, measure, groups, user_columns)
    st.subheader("A against B by kind", anchor=False)
    _most_changed(shown, features, user_columns)


def _scores(
    shown: RetrievalView, kind: str, measure: str, groups: Grouping, user_columns: Mapping[str, OwnColumn]
) -> None:
    """Each ranking's score on each kind, as a figure and as a table."""
    view = _view(shown.table, kind, user_columns[kind].digest if kind in user_columns else "", groups)
    named = {run.plan.variant: pd.DataFrame(view[Side(run.run_id)]) for run in shown.runs}
    named |= {} if shown.has_bm25 else {KEYWORDS: pd.DataFrame(view[Side(shown.table.run_ids[0], is_bm25=True)])}
    styles = dict(shown.styles) | {KEYWORDS: replace(keyword_style(shown.scheme), symbol="diamond")}
    figure = group_lines(
        named, groups.axis, measure, TITLES[measure], UNIT, styles, shown.scheme, joined=groups.ordered
    )
    st.plotly_chart(figure, key="retrieval_kinds")
    st.caption(
        f"{NOTES[Kind(kind)] if kind not in user_columns else OWN} Bars: 95% CI, near-duplicate queries counted "
        f"together; none where too few are independent. Hollow: fewer than {FEW} queries. "
        "Below each kind, its number of queries."
    )
    with st.expander("The numbers", icon=":material/table:"):
        widget.table(named, measure, UNIT, key="kind_numbers")


@cached(4, "Counting words …", shared=True)
def _features(dataset: RetrievalDataset) -> Features:
    return Features.of(dataset)


@cached(32, "Scoring kinds of query …", keys=BY_RUNS)
def _view(
    table: QueryTable,
    kind: str,  # noqa: ARG001 - of the key
    of_column: str,  # noqa: ARG001 - of the key
    _groups: Grouping,
) -> dict[Side, list[dict[str, object]]]:
    return kinds_view(table, _groups)


# --- A against B


def _most_changed(
    shown: RetrievalView, features: Callable[[], Features], user_columns: Mapping[str, OwnColumn]
) -> None:
    """A sentence with the kinds of query on which B gains most and loses most against A, and a table of all kinds."""
    compared = compared_sides(shown)
    digests = tuple(column.digest for column in user_columns.values())
    group_gains = _gains(shown.table, compared.sides["A"], compared.sides["B"], digests, features, user_columns)
    names = compared.names
    widget.say_gains(group_gains, names["A"], names["B"], "query", UNIT, TITLES[HEAD], key="retrieval_kind_gains")


@cached(32, "Comparing kinds of query …", keys=BY_RUNS)
def _gains(
    table: QueryTable,
    a: Side,
    b: Side,
    digests: tuple[str, ...],  # noqa: ARG001 - of the key
    _features: Callable[[], Features],
    _own: Mapping[str, OwnColumn],
) -> Gains:
    names = [*map(str, Kind), *_own]
    groupings = {name: kinds.grouping_by(name, _own, _features, table.numbers) for name in names}
    return gains_view(table, groupings, a, b)
