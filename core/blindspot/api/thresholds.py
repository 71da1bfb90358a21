"""Thresholds for programs: from which similarity on two texts are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from blindspot.api.results import Run, Score
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.thresholds.calibration import Calibration, Way
from blindspot.studies.threshold.pairs import of_runs
from blindspot.studies.threshold.view import PRECISION, in_words, threshold_view

if TYPE_CHECKING:
    from blindspot.types import Float64


@dataclass(frozen=True)
class Threshold:
    """The lowest similarity from which on two texts are the same with a wished precision.

    Attributes:
        value: the threshold; None if no threshold that calls eight pairs the same reaches the wish.
        low, high: its 95% interval; None if every threshold is ruled out, or none is sure.
        precision, recall: at the threshold; None without one. ``precision`` is on the pairs that chose it.
        held_out: precision on pairs at thresholds that other pairs chose; None if no pair is called the same.
        said: the answer in words.
        facts: what ``blindspot threshold --json`` prints.
    """

    value: float | None
    low: float | None
    high: float | None
    precision: Score | None
    recall: Score | None
    held_out: Score | None
    said: str
    facts: Mapping[str, Any] = field(repr=False)
    _calibrations: Mapping[str, Calibration] = field(repr=False, compare=False)

    def probability(self, similarities: Any, way: str = Way.ISOTONIC.value) -> Float64:
        """Probability that two texts are the same, by their similarity: a number or an array of them.

        Args:
            way: ``isotonic`` or ``logistic``.
        """
        if way not in self._calibrations:
            raise InputError(f"there is no calibration '{way}'", expected=f"one of {', '.join(self._calibrations)}")
        return self._calibrations[way].fitted.probability(np.asarray(similarities, dtype=np.float64))


def threshold(run: Run, *, precision: float = PRECISION, cut: float | None = None) -> Threshold:
    """The threshold of a model for a wished precision, from its run of ``similarity`` on scored pairs.

    Args:
        run: such as ``bs.similarity("minilm", "stsb-test")``; scores of an own file may be 0 and 1.
        cut: score from which on two texts are the same; at 80% of the scores' range if left out.

    Raises:
        InputError: it is another diagnostic's run, or no threshold can be drawn from its pairs.
    """
    entry = find_diagnostic("similarity")
    if run.diagnostic != entry.id:
        raise InputError("a threshold needs a run of similarity", expected="what bs.similarity returns")
    record, repository = run._record, run._place.repository
    measured, metric = of_runs([record], repository), record.plan.params.get("metric", "cos")
    view = threshold_view(measured, record.plan.variant, measured.rule_of(cut), metric, precision)
    choice, point = view.found, view.found.point
    return Threshold(
        None if point is None else point.threshold,
        choice.low,
        choice.high,
        None if point is None or point.precision is None else _score(point.precision),
        None if point is None else _score(point.recall),
        None if choice.held_out is None else _score(choice.held_out),
        " ".join(filter(None, [in_words(choice).replace("**", ""), view.doubt])),
        MappingProxyType(view.as_json()),
        MappingProxyType(view.calibrations),
    )


def _score(estimate: Estimate) -> Score:
    return Score(estimate.value, estimate.low, estimate.high, estimate.refusal)
