"""The EvalRank page's view of A against B: differences to a baseline, and whether they are more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.evalrank.figures.scores import SCORES
from core.diagnostics.evalrank.figures.versus import difference_forest
from core.diagnostics.evalrank.page import uncertainty
from core.diagnostics.evalrank.page.shown import Shown
from core.diagnostics.evalrank.uncertainty import ALPHA, Difference, Sample, Verdict
from core.numerics.statistics.estimate import Unit
from core.numerics.statistics.resampling import FLIPS
from core.store.records import RunRecord
from core.ui.markdown import as_text

BEST = "best"  # the default of the baseline: a constant, since defaults never enter the address
NAMES = {**SCORES, "mean_rank": "mean rank", "median_rank": "median rank"}


def show(shown: Shown) -> None:
    """Choose a baseline; every other variant's differences to it, in a sentence each, a figure and a table."""
    if len(shown.runs) < 2:
        st.info("There is one variant only. Pick or run another one to compare it with.", icon=":material/info:")
        return
    found = uncertainty.samples(shown.pairs)
    if len(found) > 1:
        st.warning(
            "These variants are not comparable: each was ranked on the items that its encoder covers itself. Choose "
            "*common* under *Items ranked*.",
            icon=":material/balance:",
        )
        return
    baseline = _baseline(shown.runs)
    suffix = "_filtered" if shown.filtered else ""
    names = {f"{metric}{suffix}": NAMES[metric] for metric in numbers.COMPARED}
    differences = uncertainty.against(found[0], baseline.run_id, list(names))
    runs = {r.run_id: r for r in shown.runs}
    _in_words(differences, runs, baseline, names)
    rows = _rows(differences, runs, names)
    styles = shown.styles
    of_scores = rows[rows["score"].isin(SCORES.values())]
    if of_scores["low"].notna().any():
        figure = difference_forest(of_scores, baseline.plan.variant, styles, shown.scheme)
        st.plotly_chart(figure, key="forest")
    _table(rows)
    tests = sum(d.p_value is not None for d in differences)
    st.caption(
        f"Each difference is the variant's value less that of {as_text(baseline.plan.variant.label)}; of ranks, lower "
        f"is better. p: {_test(found[0])}; corrected after Holm for the {tests} tests shown. More than chance is a "
        f"corrected p below {ALPHA:g}. Smallest detectable: the true difference that a test of so many would have "
        "found with probability 0.8, with as many pairs that differ as here. The median rank is not tested: "
        "the test is of means."
    )
    st.caption(numbers.method_in_words(found[0]))


def _test(sample: Sample) -> str:
    """Which test the p-values are of."""
    if sample.dependence.unit is Unit.TEXTS:
        return "Student's t of the dyadic-robust standard error"
    return f"sign-flip test, in which all pairs of a group change sides together, {FLIPS:,} times"


def _baseline(runs: Sequence[RunRecord]) -> RunRecord:
    """What the others are laid beside; in the address by its variant's id."""
    by_name = {str(r.plan.variant): r for r in runs}
    options = [BEST, *by_name]
    asked = st.query_params.get("base")
    if asked is not None and asked not in options:
        st.warning(f"The baseline of this link is not among the variants shown: {as_text(asked[:80])}.")
    if st.session_state.get("base", BEST) not in options:  # the sidebar has left it out since
        st.session_state["base"] = BEST
    chosen = st.selectbox(
        "Baseline",
        options,
        key="base",
        bind="query-params",
        help="What every other variant is compared with. best: the one with the highest MRR.",
    )
    return by_name.get(str(chosen), runs[0])


def _in_words(
    differences: Sequence[Difference], runs: Mapping[str, RunRecord], baseline: RunRecord, names: Mapping[str, str]
) -> None:
    lines = []
    for run_id, run in runs.items():
        if run_id != baseline.run_id:
            own = [d for d in differences if d.contrast.run_id == run_id]
            lines.append(f"- **{as_text(run.plan.variant.label)}**: {numbers.summary(own, names)}")
    st.markdown("\n".join([f"Against **{as_text(baseline.plan.variant.label)}**:", "", *lines]))


def _rows(differences: Sequence[Difference], runs: Mapping[str, RunRecord], names: Mapping[str, str]) -> pd.DataFrame:
    """A row per variant and score."""
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
                "p": _p(d.p_value),
                "p corrected": _p(d.p_corrected),
                "better": d.wins,
                "alike": d.ties,
                "worse": d.losses,
                "verdict": _verdict(d),
                "smallest": "–" if d.smallest is None else numbers.shown(d.contrast.metric, d.smallest),
            }
            for d in differences
        ]
    )


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _verdict(difference: Difference) -> str:
    mark = {Verdict.BETTER: "▲ ", Verdict.WORSE: "▼ ", Verdict.ALIKE: "= ", Verdict.SAME: "= "}
    return mark.get(difference.verdict, "") + difference.verdict.value


def _table(rows: pd.DataFrame) -> None:
    column = st.column_config
    shown = rows.assign(variant=[v.label for v in rows["variant"]], difference=rows["written"])
    columns = ["variant", "score", "verdict", "difference", "interval", "p", "p corrected"]
    st.dataframe(
        shown[[*columns, "smallest", "better", "alike", "worse"]],
        hide_index=True,
        key="versus",
        column_config={
            "difference": column.TextColumn(help="The variant's value less the baseline's"),
            "interval": column.TextColumn("95% interval", help="Of this difference alone; the verdict is the test's"),
            "p": column.TextColumn(help="Sign-flip test, two-sided"),
            "p corrected": column.TextColumn(help="After Holm, for all the tests of this table"),
            "smallest": column.TextColumn(
                "smallest detectable", help="The true difference that would have been found with probability 0.8"
            ),
            "better": column.NumberColumn("pairs better", help="Pairs that the variant ranks better than the baseline"),
            "alike": column.NumberColumn("pairs alike", help="Pairs with the same rank in both"),
            "worse": column.NumberColumn("pairs worse", help="Pairs that the variant ranks worse than the baseline"),
        },
    )
