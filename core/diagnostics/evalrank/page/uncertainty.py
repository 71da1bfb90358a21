"""Intervals and tests of EvalRank's scores, for its page and the Overview; view *A against B*."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from blindspot.diagnostic import DiagnosticEntry
from blindspot.diagnostics.evalrank import uncertainty as numbers
from blindspot.diagnostics.evalrank.figures.scores import SCORES, Intervals, difference_forest
from blindspot.diagnostics.evalrank.page.shown import BY_RUNS, EvalRankView
from blindspot.diagnostics.evalrank.pairs import PairTable, pair_table
from blindspot.diagnostics.evalrank.uncertainty import FILTERED, Difference, Sample
from blindspot.numerics.statistics.compare import MAIN, Verdict
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.p_values import p_in_cell
from blindspot.numerics.statistics.resampling import FLIPS
from blindspot.store.records import RunRecord
from blindspot.texts import percent
from blindspot.ui import headline
from blindspot.ui.headline import in_percent
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached, repository

NAMES = {**SCORES, "mean_rank": "mean rank", "median_rank": "median rank"}
_KEYS: Keys = {Sample: lambda sample: (sample.run_ids, sample.metrics)}  # from one table of pairs each


@cached(16, "Computing intervals …", shared=True, keys=BY_RUNS)
def samples(pairs: PairTable) -> tuple[Sample, ...]:
    return numbers.samples(pairs, pairs.run_ids, numbers.WITH_INTERVAL)


@cached(32, "Computing intervals …", keys=_KEYS)
def _estimates(sample: Sample) -> Mapping[str, Mapping[str, Estimate]]:
    return sample.estimates()


def _all_estimates(found: Sequence[Sample]) -> Mapping[str, Mapping[str, Estimate]]:
    return {run_id: rows for sample in found for run_id, rows in _estimates(sample).items()}


def intervals(found: Sequence[Sample], runs: Sequence[RunRecord], suffix: str) -> Intervals:
    """For ``figures.score_bars``."""
    estimates = _all_estimates(found)
    out = {}
    for run in runs:
        ends = {name: estimates[run.run_id][f"{name}{suffix}"].interval for name in SCORES}
        out[run.plan.variant] = {name: (i.low, i.high) for name, i in ends.items() if i is not None}
    return out


def with_intervals(
    found: Sequence[Sample], runs: Sequence[RunRecord], metrics: Sequence[str]
) -> Mapping[tuple[int, str], str]:
    """For ``tables.mark_best``: ``value [low, high]`` by row and metric."""
    estimates = _all_estimates(found)
    return {
        (row, metric): f"{numbers.shown(metric, e.value)} {numbers.shown_interval(metric, e.interval)}"
        for row, run in enumerate(runs)
        for metric in metrics
        if (e := estimates[run.run_id].get(metric)) is not None and e.interval is not None
    }


def note(found: Sequence[Sample]) -> None:
    for said in dict.fromkeys(numbers.method_in_words(sample) for sample in found):
        st.caption(said)


@cached(32, "Comparing with the best …", keys=_KEYS)
def _marks(sample: Sample) -> Mapping[str, frozenset[str]]:
    return numbers.best_and_inseparable(sample)


@cached(128, "Comparing with the best …")
def _stored_marks(entry: DiagnosticEntry, run_ids: tuple[str, ...]) -> Mapping[str, frozenset[str]] | None:
    if repository().with_items(entry, run_ids) != set(run_ids):
        return None
    pairs = pair_table(entry, run_ids, repository())
    metrics = [f"{name}{suffix}" for suffix in ("", "_filtered") for name in numbers.TESTED]
    found = numbers.samples(pairs, run_ids, metrics)
    return numbers.best_and_inseparable(found[0]) if _are_tested(found) else None


def _are_tested(found: Sequence[Sample]) -> bool:
    """Whether all ranked the same pairs, and these allow a test."""
    return len(found) == 1 and not found[0].dependence.refusal


def _row_numbers(marked: Mapping[str, frozenset[str]], runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]]:
    return {m: frozenset(row for row, r in enumerate(runs) if r.run_id in ids) for m, ids in marked.items()}


def marks(found: Sequence[Sample], runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """For ``tables.mark_best``: the rows not significantly worse than the best; None where that was not tested."""
    if not _are_tested(found) or len(runs) < 2:
        return None
    return _row_numbers(_marks(found[0]), runs)


def stored_marks(entry: DiagnosticEntry, runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """As ``marks``, of any runs of EvalRank; None also where their rows are not in the store."""
    if len(runs) < 2:
        return None
    marked = _stored_marks(entry, tuple(r.run_id for r in runs))
    return None if marked is None else _row_numbers(marked, runs)


@cached(64, "Comparing with the baseline …", keys=_KEYS)
def against(sample: Sample, baseline: str, metrics: tuple[str, ...]) -> tuple[Difference, ...]:
    """Every other run of the sample against the baseline."""
    return numbers.against(sample, baseline, metrics)


def show_headline(shown: EvalRankView, found: Sequence[Sample]) -> None:
    """The baseline's Hits@1 with its interval, and how the other models differ from it."""
    runs = headline.baseline_first(shown.runs, shown.picks.baseline)
    name = "hits@1_filtered" if shown.filtered else "hits@1"
    own = next(sample for sample in found if runs[0].run_id in sample.run_ids)
    estimate = _estimates(own)[runs[0].run_id][name]
    interval = "" if estimate.interval is None else f" (95% CI {in_percent(estimate.interval)})"
    said = (
        f"**{as_text(runs[0].plan.variant.label)}** ranks the right match first for **{percent(estimate.value, 1)}** "
        f"of {len(own.queries):,} pairs{interval}"
    )
    family = FILTERED if shown.filtered else MAIN
    rivals = headline.rivals(shown.entry, runs, ".1%", name, family)
    headline.show(headline.in_words(said, rivals, "more", "fewer"))


# --- the view "A against B"


def show_versus(shown: EvalRankView) -> None:
    """Every variant's differences to a baseline: a sentence each, a figure and a table."""
    if len(shown.runs) < 2:
        st.info("Only one model is shown. Pick or run another one to compare.", icon=":material/info:")
        return
    found = samples(shown.pairs)
    if len(found) > 1:
        st.warning(
            "These models are not comparable: each was ranked on the texts that it covers itself. Choose *common* "
            "under *Options*, *Texts ranked*.",
            icon=":material/balance:",
        )
        return
    baseline = _baseline(shown)
    suffix = "_filtered" if shown.filtered else ""
    names = {f"{metric}{suffix}": NAMES[metric] for metric in numbers.COMPARED}
    differences = against(found[0], baseline.run_id, tuple(names))
    runs = {r.run_id: r for r in shown.runs}
    _in_words(differences, runs, baseline, names)
    rows = _rows(differences, runs, names)
    of_scores = rows[rows["score"].isin(SCORES.values())]
    if of_scores["low"].notna().any():
        figure = difference_forest(of_scores, baseline.plan.variant, shown.styles, shown.scheme)
        st.plotly_chart(figure, key="forest")
    _table(rows)
    st.caption(
        f"Differences are model minus {as_text(baseline.plan.variant.label)}; for ranks, lower is better. p: "
        f"{_test(found[0])}; corrected after Holm for MRR and Hits@1 of two models, and for their further scores. "
        f"Significant: corrected p < {ALPHA:g}. Detectable: the smallest difference that this test would find with 80% "
        "probability. The median rank is not tested, since the test compares means."
    )
    st.caption(numbers.method_in_words(found[0]))


def _test(sample: Sample) -> str:
    if sample.dependence.unit is Unit.TEXTS:
        return "Student's t of the dyadic-robust standard error"
    return f"sign-flip test of groups of pairs that share texts, {FLIPS:,} permutations"


def _baseline(shown: EvalRankView) -> RunRecord:
    """The run of the picked baseline; without one, the best."""
    wanted = shown.picks.baseline
    if found := [run for run in shown.runs if run.plan.variant == wanted]:
        return found[0]
    if wanted is not None:
        st.caption(f"The baseline, {as_text(wanted.label)}, has no run here. Instead: the model with the highest MRR.")
    return shown.runs[0]


def _in_words(
    differences: Sequence[Difference], runs: Mapping[str, RunRecord], baseline: RunRecord, names: Mapping[str, str]
) -> None:
    lines = []
    for run_id, run in runs.items():
        if run_id != baseline.run_id:
            own = [d for d in differences if d.contrast.run_id == run_id]
            lines.append(f"- **{as_text(run.plan.variant.label)}**: {numbers.summary(own, names)}")
    st.markdown("\n".join([f"Compared with **{as_text(baseline.plan.variant.label)}**:", "", *lines]))


def _rows(differences: Sequence[Difference], runs: Mapping[str, RunRecord], names: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "variant": runs[d.contrast.run_id].plan.variant,
                "score": names[d.contrast.metric],
                "difference": d.value,
                "low": d.interval.low if d.interval else math.nan,
                "high": d.interval.high if d.interval else math.nan,
                "written": numbers.shown(d.contrast.metric, d.value, sign=True),
                "interval": numbers.shown_interval(d.contrast.metric, d.interval, sign=True),
                "p": p_in_cell(d.p_value),
                "p corrected": p_in_cell(d.p_corrected, d.p_value),
                "better": d.wins,
                "alike": d.ties,
                "worse": d.losses,
                "verdict": _verdict(d),
                "smallest": "–" if d.smallest is None else numbers.shown(d.contrast.metric, d.smallest),
            }
            for d in differences
        ]
    )


def _verdict(difference: Difference) -> str:
    mark = {Verdict.BETTER: "▲ ", Verdict.WORSE: "▼ "}
    return mark.get(difference.verdict, "") + difference.verdict.value


def _table(rows: pd.DataFrame) -> None:
    column = st.column_config
    shown = rows.assign(model=[v.label for v in rows["variant"]], difference=rows["written"])
    columns = ["model", "score", "verdict", "difference", "interval", "p", "p corrected"]
    st.dataframe(
        shown[[*columns, "smallest", "better", "alike", "worse"]],
        hide_index=True,
        key="versus",
        column_config={
            "model": column.TextColumn(width=120),
            "score": column.TextColumn(width=85),
            "verdict": column.TextColumn(width=165),
            "difference": column.TextColumn(width=75, help="The model's value minus the baseline's"),
            "interval": column.TextColumn(
                "95% CI", width=130, help="Of this difference alone; the verdict comes from the test"
            ),
            "p": column.TextColumn(width=55, help="Sign-flip test, two-sided"),
            "p corrected": column.TextColumn(
                "p, Holm", width=65, help="After Holm, for MRR and Hits@1, and for the others"
            ),
            "smallest": column.TextColumn(
                "detectable", width=80, help="The smallest difference that this test would find with 80% probability"
            ),
            "better": column.NumberColumn("better", width=55, help="Pairs with a higher rank than by the baseline"),
            "alike": column.NumberColumn("equal", width=55, help="Pairs with the same rank in both"),
            "worse": column.NumberColumn("worse", width=55, help="Pairs with a lower rank than by the baseline"),
        },
    )
