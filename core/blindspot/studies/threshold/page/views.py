"""Views of the page Threshold: groups of pairs, calibration, another model."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import CHANGE, SCORE, interval, with_ci
from blindspot.numerics.thresholds.calibration import Calibration
from blindspot.numerics.thresholds.curves import CarriedOver, LabeledPairs, Point, Wished
from blindspot.studies.threshold import figures, view
from blindspot.studies.threshold.page.source import Source
from blindspot.studies.threshold.pairs import Measured, Rule
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import Keys, cached
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import tab_named
from blindspot.variants import Variant

BY_DIGEST: Keys = {Measured: lambda measured: measured.digest}
MOST_FLIPPED = 200  # in the table


@dataclass(frozen=True, eq=False)
class Shown:
    """What the reader chose, and the view."""

    source: Source
    rule: Rule
    found: Wished
    scheme: Scheme

    @property
    def pairs(self) -> LabeledPairs:
        return self.source.measured.labeled(self.source.a, self.rule)


@cached(32, "Computing precision and recall …", keys=BY_DIGEST, shared=True)
def answered(measured: Measured, variant: Variant, rule: Rule, precision: float) -> Wished:
    return view.answer(measured, variant, rule, precision)


@cached(32, "Computing intervals …", keys=BY_DIGEST, shared=True)
def doubt(measured: Measured, rule: Rule) -> str:
    return view.doubt(measured, rule)


@cached(16, "Computing precision and recall …", keys=BY_DIGEST, shared=True)
def drawn(measured: Measured, variant: Variant, rule: Rule) -> tuple[Point, ...]:
    return view.curve(measured, variant, rule)


@cached(16, "Calibrating …", keys=BY_DIGEST, shared=True)
def calibrated(measured: Measured, variant: Variant, rule: Rule) -> dict[str, Calibration]:
    return view.calibrated(measured, variant, rule)


@cached(16, "Computing thresholds of groups …", keys=BY_DIGEST, shared=True)
def _grouped(measured: Measured, variant: Variant, rule: Rule, precision: float, by: str) -> list[view.OfGroup]:
    whole = view.answer(measured, variant, rule, precision)
    return view.by_group(measured.labeled(variant, rule), measured.groupings()[by], whole)


@cached(16, keys=BY_DIGEST)
def _ways(measured: Measured) -> dict[str, str]:
    """Ways to group the pairs, and how the groups of each differ, in words."""
    return {name: way.axis["pair"] for name, way in measured.groupings().items()}


@cached(16, "Comparing …", keys=BY_DIGEST, shared=True)
def _carried(measured: Measured, a: Variant, b: Variant, rule: Rule, threshold: float) -> CarriedOver:
    return view.carried(measured, a, b, rule, threshold)


# --- groups


def show_groups(shown: Shown) -> None:
    """The threshold of every group, and what that of all pairs does there."""
    source = shown.source
    ways = _ways(source.measured)
    by = tab_named("Group pairs by", list(ways), key="threshold_by", name=lambda way: as_text(way.capitalize()))
    groups = _grouped(source.measured, source.a, shown.rule, shown.found.precision, by)
    for sentence in view.moves(groups):
        st.markdown(as_text(sentence))
    if len(groups) == 1:
        st.caption("All pairs are in one group: there is nothing to compare.")
    elif any(group.own and group.own.point for group in groups):
        top = float(shown.pairs.similarity.max())
        st.plotly_chart(figures.of_groups(groups, shown.found, top, ways[by], shown.scheme), key="threshold_groups")
        st.caption(
            "Dots: the group's own threshold for the same precision, with its 95% interval, of all "
            f"{len(groups)} groups at once (arrow: no upper end). "
            + ("Line: that of all pairs. " if shown.found.point else "")
            + "Without a dot, a group does not reach the precision, or has too few pairs of "
            "either kind."
        )
    else:
        st.caption(
            "No group reaches the precision, or each has too few pairs of either kind. Wish for less to compare."
        )
    rows = [
        {
            "group": group.label,
            "pairs": group.pairs,
            "same": group.same,
            "own threshold": group.own.point.threshold if group.own and group.own.point else None,
            "precision at the threshold of all": _value(group.at.precision if group.at else None),
            "95% CI of precision": _interval(group.at.precision if group.at else None),
            "recall at it": _value(group.at.recall if group.at else None),
            "95% CI of recall": _interval(group.at.recall if group.at else None),
        }
        for group in groups
    ]
    names = ("own threshold", "precision at the threshold of all", "recall at it")
    tables.draw(
        rows,
        key="threshold_groups_table",
        placeholder="–",
        column_config=dict.fromkeys(names, "%.3f") | dict.fromkeys(("pairs", "same"), "localized"),
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _interval(estimate: Estimate | None) -> str:
    return interval(None if estimate is None else estimate.interval, ".3f")


# --- calibration


def show_calibration(shown: Shown) -> None:
    """Reliability of cross-fitted probabilities, and their measures."""
    calibrations = calibrated(shown.source.measured, shown.source.a, shown.rule)
    left, right = st.columns(2)
    similarity = shown.pairs.similarity
    low, high = float(similarity.min()), float(similarity.max())
    left.plotly_chart(figures.reliability(calibrations, shown.scheme), key="threshold_reliability")
    right.plotly_chart(figures.probabilities(calibrations, low, high, shown.scheme), key="threshold_probabilities")
    rows = [
        {
            "calibration": way,
            "Brier score": calibration.brier.value,
            "95% CI": _interval(calibration.brier),
            "gain over the base rate": calibration.gain.value,
            "95% CI of the gain": _interval(calibration.gain),
            "ECE": calibration.ece,
            "ECE of perfect probabilities": calibration.ece_by_chance,
        }
        for way, calibration in calibrations.items()
    ]
    number = st.column_config.NumberColumn
    tables.draw(
        rows,
        key="threshold_calibration",
        placeholder="–",
        column_config={
            "Brier score": number(format=f"%{SCORE}", help="Mean squared error of the probabilities; lower is better"),
            "gain over the base rate": number(
                format=f"%{CHANGE}", help="Brier score of the share of same pairs less this one"
            ),
            "ECE": number(format=f"%{SCORE}", help="Expected calibration error: mean distance from the diagonal"),
            "ECE of perfect probabilities": number(format=f"%{SCORE}", help="On so few pairs it is above 0, too"),
        },
    )
    st.caption(
        "Each pair's probability comes from a fit to the other four fifths of the pairs; pairs that share a text stay "
        "together. Bars: 95% intervals of the share in a bin of about a tenth of the pairs."
    )


# --- another model


def show_other(shown: Shown) -> None:
    """The threshold of A, used with B."""
    source, point = shown.source, shown.found.point
    if source.b is None:
        st.info("Choose another model as B above: what does the threshold of A do there?", icon=":material/info:")
        return
    if point is None:
        st.info("There is no threshold to use with B. Wish for less precision.", icon=":material/info:")
        return
    over = _carried(source.measured, source.a, source.b, shown.rule, point.threshold)
    b = as_text(source.b.label)
    parts = (
        view.instead("precision", over.a.precision, over.b.precision, over.precision),
        view.instead("recall", over.a.recall, over.b.recall, over.recall),
    )
    if parts_listed := ", and ".join(filter(None, parts)):
        st.markdown(f"**Keep A's threshold and switch to B: {parts_listed}.**")
    st.markdown(
        f"The threshold of A, {point.threshold:.3f}, with **{b}**: precision {view.ends(over.b.precision)}, recall "
        f"{view.ends(over.b.recall)}. {_than_a(over)}"
    )
    _own_of_b(shown, source.b)
    styles = variant_styles([source.a, source.b])
    points = {v.label: (drawn(source.measured, v, shown.rule), styles[v]) for v in (source.a, source.b)}
    figure = figures.two_models(points, point.threshold, shown.found.precision, shown.scheme)
    st.plotly_chart(figure, key="threshold_models")
    _flipped(shown, over, source.b)


def _than_a(over: CarriedOver) -> str:
    """The differences, B minus A."""
    parts = []
    for name, difference in (("precision", over.precision), ("recall", over.recall)):
        if difference is not None:
            parts.append(f"{name} {with_ci(difference, '+.3f')}")
    return f"B less A: {', '.join(parts)}." if parts else ""


def _own_of_b(shown: Shown, b: Variant) -> None:
    answer = answered(shown.source.measured, b, shown.rule, shown.found.precision)
    if answer.point is None:
        st.markdown(
            f"B itself reaches a precision of {shown.found.precision:g} at no threshold with eight pairs or more."
        )
        return
    st.markdown(
        f"B's own threshold for this precision is **{answer.point.threshold:.3f}**, with a recall of "
        f"{view.ends(answer.point.recall)}."
    )


def _flipped(shown: Shown, over: CarriedOver, b: Variant) -> None:
    """Pairs that one model calls the same and the other does not."""
    source = shown.source
    sides = {"a": over.only_a, "b": over.only_b}
    names = {
        "a": f"Only A calls them the same ({int(over.only_a.sum()):,})",
        "b": f"Only B ({int(over.only_b.sum()):,})",
    }
    st.markdown(f"**{int(over.flipped.sum()):,} pairs flip** between the models at this threshold.")
    side = tab_named("Pairs that flip", list(sides), key="threshold_flips", name=lambda name: names[name])
    measured, same = source.measured, source.measured.same(shown.rule)
    rows = view.flipped(measured, source.a, b, sides[side], MOST_FLIPPED)
    if not len(rows):
        st.caption("None.")
        return
    frame = {
        "pair": measured.numbers[rows],
        "same": same[rows],
        "similarity A": measured.similarity[source.a][rows],
        "similarity B": measured.similarity[b][rows],
        "first text": [measured.firsts[i] for i in rows.tolist()],
        "second text": [measured.seconds[i] for i in rows.tolist()],
    }
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    tables.draw(
        frame,
        key="threshold_flipped",
        height=320,
        column_config={
            "pair": number(width="small"),
            "similarity A": "%.3f",
            "similarity B": "%.3f",
            "first text": text(width=360),
            "second text": text(width=360),
        },
    )
    if len(rows) == MOST_FLIPPED:
        st.caption(f"The {MOST_FLIPPED} with the largest difference of similarities.")


def export(shown: Shown) -> dict[str, object]:
    """The file to download."""
    source = shown.source
    try:
        calibrations = calibrated(source.measured, source.a, shown.rule)
    except BlindspotError:  # too few pairs to calibrate: the view says so, the threshold is still one
        calibrations = {}
    return view.ThresholdView(source.measured, source.a, shown.rule, source.metric, shown.found, calibrations).as_json()
