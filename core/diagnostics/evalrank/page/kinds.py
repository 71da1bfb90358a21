"""The EvalRank page's view of kinds of pair: where the model does well, and where badly."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank.figures.kinds import TITLES, kind_lines
from core.diagnostics.evalrank.kinds import FEW_PAIRS, Grouping, Kind, grouping, scores_by_kind
from core.diagnostics.evalrank.page.shown import BY_RUNS, EvalRankView, sources_of
from core.diagnostics.evalrank.pairs import PairTable, rows_of_runs
from core.diagnostics.evalrank.sources import PairSources
from core.types import Variant
from core.ui.resources import cached, repository
from core.ui.widgets import dataset_offer
from core.ui.widgets.choices import one_of

QUESTIONS = {
    Kind.OVERLAP: "lexical overlap",
    Kind.LENGTH: "length",
    Kind.FREQUENCY: "frequency",
    Kind.SOURCE: "source",
}
NOTES = {
    Kind.OVERLAP: "Distinct words in both texts, divided by those in either. Where the score is high "
    "only on the right, the model matches words rather than meanings.",
    Kind.LENGTH: "Short texts have more neighbours that differ in one word.",
    Kind.FREQUENCY: "Occurrences per million words of English (wordfreq); of a text of several words the geometric "
    "mean. Words that wordfreq lacks count as rarest.",
    Kind.SOURCE: "The sets from whose best-scored quarters the pairs come. A pair in several sets counts in each "
    "of them. A model trained on a set has an advantage there; see the view *trust*.",
}


def show(shown: EvalRankView) -> None:
    kind, measure = _choose()
    sources = None
    if kind is Kind.SOURCE:
        sources = _sources(shown)
        if sources is None:
            return
    groups, scores = _scores(shown.entry, shown.pairs, kind, sources, shown.filtered)
    by_variant = {run.plan.variant: scores[run.run_id] for run in shown.runs}
    figure = kind_lines(by_variant, groups.axis, measure, FEW_PAIRS, shown.styles, shown.scheme, joined=groups.ordered)
    st.plotly_chart(figure, key="kinds")
    if len(groups.groups) == len(groups.axis):
        st.info("All pairs fall into one group. Choose another grouping.")
    st.caption(
        f"{NOTES[kind]} Bars: 95% CI that allow for pairs sharing texts; none where too few pairs are independent (see "
        f"*The numbers*). Hollow: fewer than {FEW_PAIRS} pairs. Below each group, its number of pairs."
    )
    with st.expander("The numbers", icon=":material/table:"):
        _table(by_variant, measure)


def _choose() -> tuple[Kind, str]:
    left, right = st.columns([3, 2])
    about = "\n".join(f"- **{kind.value}**: by {QUESTIONS[kind]}" for kind in Kind)
    kind = one_of("Group pairs by", Kind, "by", about, default=Kind.OVERLAP, place=left)
    measure = right.segmented_control(
        "Score",
        list(TITLES),
        format_func=lambda name: TITLES[name],
        default="mrr",
        required=True,
        key="kinds_measure",
        bind="query-params",
    )
    return kind, str(measure)


def _sources(shown: EvalRankView) -> PairSources | None:
    """Where each pair comes from; None, after saying why, where that is not known."""
    dataset = shown.picks.dataset
    entry = dataset_offer.entry_of(dataset)
    if entry is None:
        st.info("The sources of these pairs are not known. Choose another grouping.")
        return None
    if not dataset_offer.is_here(entry):
        dataset_offer.offer(entry, "The score on each of the sets that the pairs were taken from", key="fetch_kinds")
        return None
    return sources_of(shown.pairs, entry)


@cached(32, "Grouping the pairs …", keys=BY_RUNS)
def _scores(
    entry: DiagnosticEntry, pairs: PairTable, kind: Kind, _sources: PairSources | None, filtered: bool
) -> tuple[Grouping, dict[str, pd.DataFrame]]:
    """The groups of pairs, and a table of scores per run."""
    frame, rows = pairs.frame, rows_of_runs(entry, pairs.run_ids, repository())
    groups = _grouping(pairs, kind, _sources)
    numbers = (frame["item_no"].to_numpy(), frame["query_no"].to_numpy(), frame["mate_no"].to_numpy())
    return groups, {
        run_id: scores_by_kind(groups, rows[run_id], *numbers, filtered=filtered) for run_id in pairs.run_ids
    }


@cached(16, shared=True, keys=BY_RUNS)
def _grouping(pairs: PairTable, kind: Kind, _sources: PairSources | None) -> Grouping:
    return grouping(kind, pairs.frame["query"].tolist(), pairs.frame["mate"].tolist(), _sources)


def _table(scores: Mapping[Variant, pd.DataFrame], measure: str) -> None:
    first = next(iter(scores.values()))
    columns: dict[str, Sequence[object]] = {}
    if first["side"].nunique() > 1:
        columns["of"] = first["side"].tolist()
    columns["kind"] = first["label"].tolist()
    alike = len({tuple(rows["pairs"]) for rows in scores.values()}) == 1
    if alike:
        columns["pairs"] = first["pairs"].tolist()
        columns["independent"] = first["independent"].tolist()
    for variant, rows in scores.items():
        columns[variant.label] = [_cell(row, measure, count=not alike) for row in rows.to_dict("records")]
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="kinds_numbers")


def _cell(row: Mapping[Hashable, Any], measure: str, *, count: bool) -> str:
    value, low, high, pairs = (row[name] for name in (measure, f"{measure}_low", f"{measure}_high", "pairs"))
    if pd.isna(value):
        return "–"
    interval = "" if pd.isna(low) else f" ({low:.4f} to {high:.4f})"
    return f"{value:.4f}{interval}" + (f", {pairs:,} pairs" if count else "")
