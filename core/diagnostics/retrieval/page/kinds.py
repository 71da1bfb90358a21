"""The view *kinds* of the page Retrieval: nDCG@10 by kind of query, beside keyword search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets.catalog import find_dataset
from core.datasets.kinds.retrieval import RetrievalDataset
from core.diagnostics.retrieval import figures, kinds
from core.diagnostics.retrieval.definition import ENTRY, TITLES
from core.diagnostics.retrieval.kinds import Kinds
from core.diagnostics.retrieval.outcomes import QueryTable, Side
from core.diagnostics.retrieval.page.shown import BY_RUNS, RetrievalView
from core.figures.dots import DOT, dot, dots
from core.numerics.statistics import pairs as statistics
from core.numerics.statistics.estimate import Estimate, Unit
from core.numerics.statistics.pairs import Dependence
from core.ui.resources import cached, load
from core.ui.widgets.addressed import tab_named


def show(shown: RetrievalView) -> None:
    """A row of dots per kind of query."""
    dataset = load(find_dataset(shown.picks.dataset))
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{shown.picks.dataset} is no retrieval dataset")
    found = _kinds(shown.table, dataset)
    if not found:
        st.info("Too few queries, or all of one kind: nothing to compare.")
        return
    way = tab_named("Group queries by", list(found), key="retrieval_by", name=str)
    rows = []
    for name, mask in found[way].items():
        label = f"{name} ({np.count_nonzero(mask):,})"
        for run in shown.runs:
            one = _estimate(shown.table, dataset, way, name, run.run_id, False)
            rows.append(dot(run.plan.variant, label, one.value, one.interval))
        one = _estimate(shown.table, dataset, way, name, shown.runs[0].run_id, True)
        rows.append(dot(figures.KEYWORDS, label, one.value, one.interval))
    styles = dict(shown.styles) | {figures.KEYWORDS: figures.keyword_style(shown.scheme)}
    title = f"{TITLES[ENTRY.headline]} (higher is better)"
    st.plotly_chart(dots(pd.DataFrame(rows, columns=DOT), styles, shown.scheme, axis=title), key="retrieval_kinds")
    st.caption(
        f"Bars: 95% CI over the queries of a kind, uncorrected. Kinds of fewer than {kinds.FEWEST} queries are left "
        "out. Words of negation are English ones."
    )


@cached(8, "Sorting queries …", keys=BY_RUNS)
def _kinds(table: QueryTable, dataset: RetrievalDataset) -> Kinds:
    return kinds.kinds_of(table, dataset)


@cached(256, keys=BY_RUNS)
def _estimate(
    table: QueryTable, dataset: RetrievalDataset, way: str, name: str, run_id: str, is_bm25: bool
) -> Estimate:
    mask = _kinds(table, dataset)[way][name]
    known = Dependence.of_groups(table.known.groups[mask], Unit.QUERIES)
    return statistics.share(table.scores(Side(run_id, is_bm25), ENTRY.headline)[mask], known)
