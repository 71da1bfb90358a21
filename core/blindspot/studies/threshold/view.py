"""View of a threshold: the same on the page, by the command and to programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.diagnostics.similarity.view import TURN, contradiction
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.groups import Grouping
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import SCORE, interval, number, with_ci
from blindspot.numerics.thresholds.calibration import Calibration, Way, calibrate
from blindspot.numerics.thresholds.curves import CarriedOver, LabeledPairs, Point, Wished, bands, carried_over, wished
from blindspot.studies.threshold.pairs import Measured, Rule
from blindspot.texts import first_upper
from blindspot.types import Bool, Int64
from blindspot.variants import Variant

PRECISION = 0.95  # that is wished before the reader chooses
VERSION = 1  # of the exported file
TURN_LABELS = "If another label says that two texts are the same, choose that one, or swap the labels in the file."


@dataclass(frozen=True, eq=False)
class ThresholdView:
    """The lowest similarity from which on two texts are the same with a wished precision, and calibrations.

    Attributes:
        found: the answer.
        calibrations: by the names of ``Way``; none if there are too few pairs.
    """

    measured: Measured
    variant: Variant
    rule: Rule
    metric: str
    found: Wished
    calibrations: Mapping[str, Calibration]

    def carried_to(self, other: Variant) -> CarriedOver | None:
        """What the threshold does with another model; None if there is no threshold."""
        if self.found.point is None:
            return None
        return carried(self.measured, self.variant, other, self.rule, self.found.point.threshold)

    @cached_property
    def doubt(self) -> str:
        return doubt(self.measured, self.rule)

    def as_json(self) -> dict[str, Any]:
        """The threshold and both calibrations for a program; no texts are in it."""
        measured, wished_point, same = self.measured, self.found, self.measured.same(self.rule)
        return {
            "format": "blindspot-threshold",
            "version": VERSION,
            "encoder": self.variant.encoder,
            "transform": self.variant.transform,
            "similarity": self.metric,
            "dataset": measured.dataset,
            "same_is": self.rule.in_words,
            "doubts": [self.doubt] if self.doubt else [],
            "pairs": len(measured),
            "pairs_same": int(same.sum()),
            "pairs_left_out": measured.left_out,
            "is_sampled": measured.is_sampled,
            "pairs_by_label": dict(Counter(measured.labels or ())),
            "wished_precision": wished_point.precision,
            "call_same_if": "similarity >= threshold",
            "threshold": None if wished_point.point is None else wished_point.point.threshold,
            "threshold_low": wished_point.low,
            "threshold_high": wished_point.high,
            "at_threshold": None if wished_point.point is None else _point_fields(wished_point.point),
            "precision_held_out": _estimate_fields(wished_point.held_out),
            "highest_precision": _point_fields(wished_point.best),
            "calibration": {name: _calibration_fields(calibration) for name, calibration in self.calibrations.items()},
        }


def doubt(measured: Measured, rule: Rule) -> str:
    """A question where all that is known contradicts what is the same; else ""."""
    if not measured.are_reversed(rule):
        return ""
    said = first_upper(contradiction(len(measured.similarity)))
    return f"{said}. {TURN if measured.scores is not None else TURN_LABELS}"


def answer(measured: Measured, variant: Variant, rule: Rule, precision: float) -> Wished:
    """The threshold alone; raises ``InputError`` as ``threshold_view``."""
    return wished(measured.labeled(variant, rule), precision)


def curve(measured: Measured, variant: Variant, rule: Rule) -> tuple[Point, ...]:
    """Precision and recall at every threshold, with bands."""
    return bands(measured.labeled(variant, rule))


def calibrated(measured: Measured, variant: Variant, rule: Rule) -> dict[str, Calibration]:
    """Both calibrations, by the names of ``Way``; raises ``InputError`` for too few pairs."""
    pairs = measured.labeled(variant, rule)
    return {way.value: calibrate(pairs, way) for way in Way}


def threshold_view(measured: Measured, variant: Variant, rule: Rule, metric: str, precision: float) -> ThresholdView:
    """The threshold of a model.

    Raises:
        InputError: no threshold can be drawn from the pairs.
    """
    calibrations = calibrated(measured, variant, rule)
    return ThresholdView(measured, variant, rule, metric, answer(measured, variant, rule, precision), calibrations)


def carried(measured: Measured, a: Variant, b: Variant, rule: Rule, threshold: float) -> CarriedOver:
    """What a threshold of A does with B."""
    return carried_over(measured.labeled(a, rule), measured.labeled(b, rule), threshold)


def in_words(wish: Wished) -> str:
    """The answer in a sentence, as Markdown."""
    if wish.point is None:
        best = wish.best.precision
        where = f", from {wish.best.threshold:.3f} on" if best and best.interval else ""  # without one, no name
        most = f"the highest on these pairs is {ends(best)}{where}"
        return f"**No threshold reaches a precision of {wish.precision:g}** with eight pairs or more; {most}."
    point = wish.point
    of_these = "–" if point.precision is None else number(point.precision.value, SCORE)
    return (
        f"Call two texts the same **from {point.threshold:.3f} on**: precision {of_these} on these pairs, on which the "
        f"threshold was chosen, and {ends(wish.held_out)} on pairs held out; recall {ends(point.recall)}."
    )


def of_two(answers: Mapping[str, Wished], precision: float) -> str:
    """The answers for two models in a sentence, by their names, as Markdown."""
    parts = []
    for name, wish in answers.items():
        if wish.point is None:
            parts.append(f"**with {name} at no threshold**")
        else:
            held_out = f"precision {ends(wish.held_out)} on pairs held out"
            parts.append(
                f"**with {name} from {wish.point.threshold:.3f} on** (recall {ends(wish.point.recall)}, {held_out})"
            )
    return f"For a precision of {precision:g} on these pairs, call two texts the same {' and '.join(parts)}."


def certainty(wish_of: Wished) -> str:
    """How sure the threshold is, in a sentence."""
    wish = f"a precision of {wish_of.precision:g}"
    if wish_of.low is None:
        return f"With these pairs, {wish} is ruled out: the 95% interval of each such threshold alone ends below it."
    if wish_of.high is None:
        return (
            f"The 95% interval of the threshold begins at {wish_of.low:.3f} and has no upper end: with these pairs, no "
            f"threshold is sure to reach {wish}."
        )
    between = interval(Interval(wish_of.low, wish_of.high), ".3f")
    return (
        f"The 95% interval of the threshold is {between}; at its upper end, {wish} is safe: this confidence is for all "
        "thresholds at once."
    )


def ends(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return with_ci(estimate, ".3f")


@dataclass(frozen=True)
class OfGroup:
    """A group of pairs.

    Attributes:
        pairs, same: how many it has, and how many of them are the same.
        own: its own threshold for the wish; None if there is a ``refusal``.
        at: what the threshold of all pairs does in this group; None without one, or without a same pair in the group.
    """

    label: str
    pairs: int
    same: int
    own: Wished | None
    refusal: str
    at: Point | None


def flipped(measured: Measured, a: Variant, b: Variant, called: Bool, most: int) -> Int64:
    """Places of the pairs ``called [n] bool`` that two models see most differently, at most so many of them."""
    rows = np.flatnonzero(called)
    apart = np.abs(measured.similarity[a][rows] - measured.similarity[b][rows])
    return rows[np.argsort(-apart, kind="stable")][:most]


def by_group(pairs: LabeledPairs, grouping: Grouping, wish: Wished) -> list[OfGroup]:
    """The threshold for the same wish in every group, and what the threshold of all pairs does there."""
    out = []
    for group in grouping.groups:
        threshold, refusal, at = None, "", None
        try:
            threshold = wished(pairs.within(group.inside), wish.precision, len(grouping.groups))
        except InputError as error:
            refusal = error.what
        same = int((group.inside & pairs.same).sum())
        if wish.point is not None and same:
            at = pairs.point(wish.point.threshold, group.inside)
        out.append(OfGroup(group.label, int(group.inside.sum()), same, threshold, refusal, at))
    return out


def moves(groups: Sequence[OfGroup]) -> tuple[str, ...]:
    """How far the threshold moves between groups, and what that of all pairs does, in sentences; none where fewer than
    two groups can be compared.

    Of many groups, the lowest and the highest are named only if their intervals do not overlap; a table lists all.
    """
    out = []
    thresholds = [
        (group.own.point.threshold, group.own, group.label) for group in groups if group.own and group.own.point
    ]
    if len(thresholds) > 1:
        low, high = (
            min(thresholds, key=lambda threshold: threshold[0]),
            max(thresholds, key=lambda threshold: threshold[0]),
        )
        apart = low[1].high is not None and high[1].low is not None and low[1].high < high[1].low
        sure = "do not overlap" if apart else "overlap, so this can be chance"
        names = [f" in “{label}”" if apart else "" for _, _, label in (low, high)]
        out.append(
            f"Of {len(thresholds)} groups with a threshold of their own, the same precision needs from "
            f"{low[0]:.3f}{names[0]} to {high[0]:.3f}{names[1]}; the intervals of these two, of all "
            f"{len(groups)} at once (95%), {sure}."
        )
    at = [group.at.precision.value for group in groups if group.at and group.at.precision]
    if len(at) > 1:
        out.append(
            f"One threshold for all pairs has a precision from {interval(Interval(min(at), max(at)), SCORE)}, by group."
        )
    return tuple(out)


def instead(name: str, of_a: Estimate | None, of_b: Estimate | None, difference: Estimate | None) -> str:
    """What becomes of a share if the threshold of A is used with B: ``precision falls from 0.9 to 0.7``."""
    if of_a is None or of_b is None or difference is None:
        return ""
    a, b = number(of_a.value, SCORE), number(of_b.value, SCORE)
    low, high = difference.low, difference.high
    if low is not None and high is not None and low <= 0 <= high:
        return f"{name} shows no significant change ({a} with A, {b} with B)"
    return f"{name} {'falls' if difference.value < 0 else 'rises'} from {a} to {b}"


def carried_as_json(variant: Variant, over: CarriedOver) -> dict[str, Any]:
    """What a threshold does with another model."""
    return {
        "encoder": variant.encoder,
        "transform": variant.transform,
        **_point_fields(over.b),
        "precision_difference": _estimate_fields(over.precision),
        "recall_difference": _estimate_fields(over.recall),
        "called_by_first_only": int(over.only_a.sum()),
        "called_by_second_only": int(over.only_b.sum()),
    }


def _point_fields(point: Point) -> dict[str, Any]:
    return {
        "threshold": point.threshold,
        "precision": _estimate_fields(point.precision),
        "recall": _estimate_fields(point.recall),
        "called_same": point.called,
        "right": point.right,
    }


def _estimate_fields(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "of_many": estimate.of_many,
        "independent": estimate.independent,
    }


def _calibration_fields(calibration: Calibration) -> dict[str, Any]:
    fitted = calibration.fitted
    how: dict[str, Any] = (
        {"similarity": fitted.knots[:, 0].tolist(), "probability": fitted.knots[:, 1].tolist()}
        if fitted.knots is not None
        else {"slope": fitted.slope, "intercept": fitted.intercept}
    )
    return {
        **how,
        "brier": _estimate_fields(calibration.brier),
        "gain_over_base_rate": _estimate_fields(calibration.gain),
        "ece": calibration.ece,
        "ece_by_chance": calibration.ece_by_chance,
    }
