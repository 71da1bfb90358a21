"""Intervals and tests of EvalRank's scores, for its page and the Overview; view *A against B*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank import uncertainty as numbers
from blindspot.diagnostics.evalrank.figures.scores import SCORES, SHOWN, difference_forest
from blindspot.diagnostics.evalrank.page.evalrank_view import BY_RUNS, EvalRankView
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.evalrank.uncertainty import Estimated
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.written import number, percent
from blindspot.runs.comparison import cells, in_words, paired_tests
from blindspot.store.records import RunRecord
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

Tests = tuple[PairedTest, ...]
Scores = Mapping[Variant, Mapping[str, Estimate]]


@cached(16, "Computing intervals …", keys=BY_RUNS)
def estimated(pairs: PairTable) -> tuple[Estimated, ...]:
    """The runs' scores with intervals, by which pairs they ranked."""
    return tuple(map(Estimated.of, numbers.groups(pairs, pairs.run_ids)))


def _all_estimates(estimates: Sequence[Estimated]) -> Mapping[str, Mapping[str, Estimate]]:
    return {run_id: rows for estimate in estimates for run_id, rows in estimate.estimates.items()}


def by_variant(groups: Sequence[Estimated], runs: Sequence[RunRecord], suffix: str) -> Scores:
    """Scores for ``figures.score_dots``; ``suffix`` selects raw or filtered scores."""
    estimates = _all_estimates(groups)
    return {run.plan.variant: {name: estimates[run.run_id][f"{name}{suffix}"] for name in SHOWN} for run in runs}


def with_intervals(
    groups: Sequence[Estimated], runs: Sequence[RunRecord], metrics: Sequence[str]
) -> Mapping[tuple[int, str], str]:
    """Cells for ``tables.mark_best``: ``value (low to high)`` by row and metric."""
    estimates = _all_estimates(groups)
    return {
        (row, metric): numbers.in_cell(metric, e)
        for row, run in enumerate(runs)
        for metric in metrics
        if (e := estimates[run.run_id].get(metric)) is not None and e.interval is not None
    }


def note(estimates: Sequence[Estimated]) -> None:
    for method in dict.fromkeys(estimate.method for estimate in estimates):
        st.caption(method)


def marks(estimates: Sequence[Estimated], runs: Sequence[RunRecord]) -> Mapping[str, frozenset[int]] | None:
    """For ``tables.mark_best``, the rows not significantly worse than the best; None where that was not tested."""
    if len(estimates) != 1 or estimates[0].refusal or len(runs) < 2:
        return None
    places = {run.run_id: row for row, run in enumerate(runs)}
    return {metric: frozenset(places[run_id] for run_id in ids) for metric, ids in estimates[0].alike.items()}


@cached(64, "Comparing with the baseline …")
def against(entry: Diagnostic, runs: tuple[RunRecord, ...], baseline: RunRecord, family: str) -> list[Tests]:
    """Every score of each run against the baseline."""
    return paired_tests(entry, [(run, baseline) for run in runs], repository(), family, every=True)


def show_headline(shown: EvalRankView, estimates: Sequence[Estimated]) -> None:
    """A model's Hits@1 with its interval, and how the other models differ from it; MRR where every Hits@1 is 0, which
    does not tell the models apart."""
    runs = headline.subject_first(shown.runs, shown.picks)
    estimate = next(estimate for estimate in estimates if runs[0].run_id in estimate.estimates)
    suffix, first = "_filtered" if shown.filtered else "", as_text(runs[0].plan.variant.label)
    hits, mrr = (estimate.estimates[runs[0].run_id][f"{score}{suffix}"] for score in ("hits@1", "mrr"))
    if any(run.metrics[f"hits@1{suffix}"] > 0 for run in runs):
        text = f"**{first}** ranks the right match first for **{percent(hits.value, 1)}** of {estimate.pairs:,} pairs"
        rivals = headline.rivals(shown.entry, runs, ".1%", f"hits@1{suffix}", shown.family)
        headline.show(headline.in_words(f"{text}{headline.sure(hits, '.1%')}", rivals, "more", "fewer"))
        return
    text = f"The right match is first for none of {estimate.pairs:,} pairs. **{first}** has an MRR of "
    rivals = headline.rivals(shown.entry, runs, ".3f", f"mrr{suffix}", shown.family)
    text += f"**{number(mrr.value, '.3f')}**{headline.sure(mrr, '.3f')}"
    headline.show(headline.in_words(text, rivals, "higher", "lower"))


# --- the view "A against B"


def show_versus(shown: EvalRankView) -> None:
    """Every variant's differences to a baseline: a sentence each, a figure and a table."""
    if len(shown.runs) < 2:
        st.info("Only one model is shown. Pick or run another one to compare.", icon=":material/info:")
        return
    groups = estimated(shown.pairs)
    if len(groups) > 1:
        st.warning(
            "These models are not comparable: each was ranked on the texts that it covers itself. Choose *common* "
            "under *Options*, *Texts ranked*.",
            icon=":material/balance:",
        )
        return
    baseline = _baseline(shown)
    others = tuple(run for run in shown.runs if run.run_id != baseline.run_id)
    found_tests = against(shown.entry, others, baseline, shown.family)
    tests = {run.plan.variant: tests_of_model for run, tests_of_model in zip(others, found_tests, strict=True)}
    name = as_text(baseline.plan.variant.label)
    for variant, tests_of_model in tests.items():
        st.markdown("  \n".join(in_words(tests_of_model, f"**{as_text(variant.label)}**", f"**{name}**")[:2]))
    of_scores = {
        v: [test for test in tests_of_model if test.score.removesuffix("_filtered") in SCORES]
        for v, tests_of_model in tests.items()
    }
    if any(test.interval for tests_of_model in of_scores.values() for test in tests_of_model):
        figure = difference_forest(of_scores, baseline.plan.variant, shown.styles, shown.scheme)
        st.plotly_chart(figure, key="forest")
    _table(tests)
    st.caption(
        f"Differences are model minus {name}; for ranks, lower is better. p: {found_tests[0][0].basis}, "
        "two-sided; corrected after Holm for MRR and Hits@1 of two models, and for their further scores. Significant: "
        f"corrected p < {ALPHA:g}. Detectable: the smallest difference that this test would find with 80% probability. "
        "The median rank is not tested, since the test compares means."
    )
    st.caption(groups[0].method)


def _baseline(shown: EvalRankView) -> RunRecord:
    """The run of the picked baseline; without one, the best."""
    wanted = shown.picks.baseline
    if baselines := [run for run in shown.runs if run.plan.variant == wanted]:
        return baselines[0]
    if wanted is not None:
        st.caption(f"The baseline, {as_text(wanted.label)}, has no run here. Instead: the model with the highest MRR.")
    return shown.runs[0]


def _table(tests: Mapping[Variant, Tests]) -> None:
    column = st.column_config
    mark = {Verdict.BETTER: "▲ ", Verdict.WORSE: "▼ "}
    rows = []
    for variant, tests_of_model in tests.items():
        for test in tests_of_model:
            cell = cells(test)
            verdict = f"{mark.get(test.verdict, '')}{test.verdict.value}"
            row = {"model": variant.label} if len(tests) > 1 else {}
            row |= {"score": test.label, "verdict": verdict, "difference": cell["A - B"]}
            row |= {name: cell[name] for name in ("95% interval", "p", "p (Holm)", "detectable")}
            rows.append(row | {"better": test.wins, "equal": test.alike, "worse": test.losses})
    tables.draw(
        rows,
        key="versus",
        column_config={
            "model": column.TextColumn(width=120),
            "score": column.TextColumn(width=105),
            "verdict": column.TextColumn(width=165),
            "difference": column.TextColumn(width=75, help="The model's value minus the baseline's"),
            "95% interval": column.TextColumn(
                width=140, help="Of this difference alone; the verdict comes from the test"
            ),
            "p": column.TextColumn(width=55, help="Two-sided"),
            "p (Holm)": column.TextColumn(width=65, help="After Holm, for MRR and Hits@1, and for the others"),
            "detectable": column.TextColumn(
                width=80, help="The smallest difference that this test would find with 80% probability"
            ),
            "better": column.NumberColumn(width=55, help="Pairs that score higher than by the baseline"),
            "equal": column.NumberColumn(width=55, help="Pairs that score the same in both"),
            "worse": column.NumberColumn(width=55, help="Pairs that score lower than by the baseline"),
        },
    )
