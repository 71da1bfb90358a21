"""The view *scores* of the page Similarity: three correlations with intervals, and the order that each gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.diagnostics.similarity import figures, intervals
from core.diagnostics.similarity.definition import NAMES
from core.diagnostics.similarity.intervals import ALL, MEAN, Disagreement, Row
from core.diagnostics.similarity.page.shown import BY_RUNS, Shown
from core.diagnostics.similarity.pairs import ScoredTable
from core.figures.dots import dots
from core.numerics.statistics.correlations import KINDS
from core.numerics.statistics.estimate import Estimate, Unit
from core.numerics.statistics.pairs import Dependence
from core.store.records import RunRecord
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached

KIND = "sim_kind"


def show(shown: Shown) -> None:
    """Correlations over all pairs; per set and as the weighted mean; the order of the variants under each."""
    rows = {run.run_id: rows_of(shown, run) for run in shown.runs}
    left, right = st.columns(2) if len(shown.runs) > 1 else (st.container(), None)
    with left:
        st.markdown(f"**Over {ALL}**")
        st.plotly_chart(dots(_over_all(shown, rows), shown.styles, shown.scheme, axis="correlation"), key="sim_all")
    if right is not None:
        with right:
            st.markdown("**The order under each correlation**")
            st.plotly_chart(figures.places(order(shown, rows), shown.styles, shown.scheme), key="sim_order")
        _say_whether_they_agree(shown)
    st.caption(f"{len(shown.table.frame):,} pairs. {_independent(shown.table)}")
    if len(shown.table.sets) > 1:
        _per_set(shown, rows)
    _table(shown, rows)


def _independent(table: ScoredTable) -> str:
    """What the intervals take for independent, or why there are none."""
    known = Dependence.of(*table.ends)
    if known.refusal:
        return f"No intervals: {known.refusal}."
    depend = (
        " that share no text" if known.unit is Unit.COMPONENTS else ", pairs that share one may depend on each other"
    )
    return (
        f"Bars: 95% intervals from {known.independent}{depend}; they say how far other pairs of this kind would move "
        "the score, not other people's scores."
    )


def rows_of(shown: Shown, run: RunRecord) -> tuple[Row, ...]:
    """A run's correlations over the pairs of the table."""
    return _rows(shown.table, run.run_id)


@cached(64, "Computing intervals …", keys=BY_RUNS)
def _rows(table: ScoredTable, run_id: str) -> tuple[Row, ...]:
    return intervals.rows_of(table.similarity[run_id], table.gold, table.frame["set_name"].tolist(), table.ends)


def _line(variant: Variant, name: str, estimate: Estimate) -> dict[str, object]:
    ends = estimate.interval
    low, high = (float("nan"), float("nan")) if ends is None else (ends.low, ends.high)
    return {"variant": variant, "name": name, "value": estimate.value, "low": low, "high": high}


def _over_all(shown: Shown, rows: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            _line(run.plan.variant, figures.NAMES[kind], rows[run.run_id][0].estimates[kind])
            for run in shown.runs
            for kind in KINDS
            if kind in rows[run.run_id][0].estimates
        ],
        columns=["variant", "name", "value", "low", "high"],
    )


def order(shown: Shown, rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Variant]]:
    """Per correlation the variants, best first."""
    known = [run for run in shown.runs if rows[run.run_id][0].estimates]
    return {
        kind: [run.plan.variant for run in sorted(known, key=lambda run: -rows[run.run_id][0].estimates[kind].value)]
        for kind in KINDS
    }


# --- do they agree?


@cached(16, "Comparing the orders …", keys=BY_RUNS)
def _disagreements(table: ScoredTable) -> tuple[Disagreement, ...]:
    return intervals.disagreements(table, table.run_ids)


def _say_whether_they_agree(shown: Shown) -> None:
    found = _disagreements(shown.table)
    n = len(shown.runs)
    if not found:
        st.success(
            f"Pearson, Spearman and Kendall put the {n} variants in the same order.", icon=":material/check_circle:"
        )
        return
    variants = {run.run_id: as_text(run.plan.variant.label) for run in shown.runs}
    total = n * (n - 1) // 2
    clear = [one for one in found if one.beyond_chance]
    some = f"The correlations put {len(found)} of {total} pairs of variants in different orders"
    if clear:
        st.warning(
            f"{some}. Of {len(clear)} of them which is better **depends on the correlation**, by more than chance:\n\n"
            + "\n".join(_in_words(one, variants) for one in clear),
            icon=":material/swap_vert:",
        )
    else:
        st.info(f"{some}, none of them by more than chance.", icon=":material/swap_vert:")
    if len(clear) < len(found):
        with st.expander("Different orders that may be chance", icon=":material/swap_vert:"):
            st.markdown("\n".join(_in_words(one, variants) for one in found if not one.beyond_chance))


def _in_words(one: Disagreement, variants: Mapping[str, str]) -> str:
    differences = ", ".join(f"{figures.NAMES[kind]} {_signed(one.differences[kind])}" for kind in KINDS)
    return f"- **{variants[one.first]}** less **{variants[one.second]}**: {differences}"


def _signed(estimate: Estimate) -> str:
    ends = estimate.interval
    return f"{estimate.value:+.4f}" + ("" if ends is None else f" [{ends.low:+.4f}, {ends.high:+.4f}]")


# --- per set


def _per_set(shown: Shown, rows: Mapping[str, Sequence[Row]]) -> None:
    kind = st.segmented_control(
        "Correlation per set",
        list(KINDS),
        default="spearman",
        required=True,
        key=KIND,
        bind="query-params",
        help="\n".join(f"- **{name}**: {words}" for name, words in NAMES.items()),
    )
    lines = [
        _line(run.plan.variant, row.of, row.estimates[str(kind)])
        for run in shown.runs
        for row in rows[run.run_id]
        if str(kind) in row.estimates
    ]
    figure = dots(pd.DataFrame(lines), shown.styles, shown.scheme, axis=NAMES[str(kind)])
    st.plotly_chart(figure, key="sim_sets")
    st.caption(
        f"**{ALL}**: one correlation over the pairs of every set together. **{MEAN}**: the mean of the sets' "
        "correlations, weighted by their pairs. Papers report either under one name; they can differ by points."
    )


def _table(shown: Shown, rows: Mapping[str, Sequence[Row]]) -> None:
    out = []
    for run in shown.runs:
        for row in rows[run.run_id]:
            line: dict[str, object] = {"variant": run.plan.variant.label, "over": row.of, "pairs": row.pairs}
            for kind in KINDS:
                estimate = row.estimates.get(kind)
                line[figures.NAMES[kind]] = None if estimate is None else estimate.value
                ends = None if estimate is None else estimate.interval
                line[f"{figures.NAMES[kind]}, 95%"] = "–" if ends is None else f"{ends.low:.4f} to {ends.high:.4f}"
            out.append(line)
    with st.expander("All scores as a table", icon=":material/table:"):
        number = st.column_config.NumberColumn
        st.dataframe(
            pd.DataFrame(out),
            hide_index=True,
            key="sim_scores",
            placeholder="–",
            column_config={name: number(format="%.4f") for name in figures.NAMES.values()},
        )
