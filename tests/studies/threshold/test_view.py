"""The view of a threshold on pairs whose answer is known, and sentences on groups and another model, by hand."""

from __future__ import annotations

import numpy as np

from blindspot.diagnostics.similarity.view import TURN
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.thresholds.curves import Point, Wished
from blindspot.studies.threshold.pairs import Measured
from blindspot.studies.threshold.sampling import HARD, SAME
from blindspot.studies.threshold.view import (
    TURN_LABELS,
    OfGroup,
    carried_as_json,
    doubt,
    instead,
    moves,
    threshold_view,
)
from blindspot.types import Float64
from blindspot.variants import Variant
from tests.support.tables import each

A, B = Variant("a", "none"), Variant("b", "center")
EACH = 60  # pairs that are the same, and as many that are not


def test_the_threshold_is_the_lowest_similarity_of_same_pairs_where_a_model_tells_them_apart() -> None:
    n = 2 * EACH
    apart = np.linspace(0, 1, n)  # the upper half is the same
    measured = Measured(
        "toy",
        np.arange(n),
        tuple(f"first {i}" for i in range(n)),
        tuple(f"second {i}" for i in range(n)),
        {A: apart, B: apart[::-1].copy()},
        np.repeat([0.0, 5.0], EACH),
        None,
        ("",) * n,
        (),
        3,
        "digest",
    )
    view = threshold_view(measured, A, measured.rule_of(), "cos", 0.95)
    said = view.as_json()
    assert (said["pairs"], said["pairs_same"], said["pairs_left_out"]) == (n, EACH, 3)
    assert said["same_is"] == "score 4 or more"
    point = said["at_threshold"]
    assert point["precision"]["value"] >= 0.95
    assert point["recall"]["value"] == 1.0, "the lowest one: it calls some others the same, too"
    assert said["threshold"] == apart[n - point["called_same"]]
    assert set(said["calibration"]) == {"isotonic", "logistic"}
    over = view.carried_to(B)
    assert over is not None
    carried = carried_as_json(B, over)
    assert (carried["encoder"], carried["transform"]) == ("b", "center")
    assert carried["recall"]["value"] < 0.1
    assert carried["called_by_first_only"] == carried["called_by_second_only"]


def test_what_models_and_words_contradict_is_asked_about() -> None:
    """Duplicates called 0; pairs that share words are alike."""
    n, rng = 2 * EACH, np.random.default_rng(3)
    alike = np.repeat([False, True], EACH)
    firsts = tuple(f"a{i} b{i} c{i} {'d e f' * (i % 3)}" for i in range(n))
    seconds = tuple(
        f"{text} end{i}" if is_alike else f"x{i} y{i}"
        for i, (text, is_alike) in enumerate(zip(firsts, alike, strict=True))
    )
    follows, noise = alike + rng.normal(size=n), rng.normal(size=n)

    def doubt_of(similarity: Float64, labels: tuple[str, str] | None, scores: Float64 | None = None) -> str:
        cells = tuple(np.where(alike, *labels)) if labels else None
        measured = Measured(
            "file:mine.csv",
            np.arange(n),
            firsts,
            seconds,
            {A: follows, B: similarity},
            scores,
            cells,
            ("",) * n,
            (),
            0,
            "",
        )
        return doubt(measured, measured.usual_rule())

    assert TURN_LABELS in doubt_of(follows, ("0", "1"))
    assert TURN in doubt_of(follows, None, 1.0 - alike)
    assert not doubt_of(follows, ("1", "0"))
    assert not doubt_of(follows, None, 1.0 * alike)
    assert not doubt_of(noise, ("0", "1")), "a model does not contradict them"
    assert not doubt_of(follows, (HARD, SAME)), "sampled: known which are the same"


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    interval = None if low is None or high is None else Interval(low, high)
    return Estimate(value, interval, "by hand", Unit.COMPONENTS, 50, 50.0, "" if interval else "too few")


def point(threshold: float, precision: float) -> Point:
    return Point(threshold, estimate(precision), estimate(0.5), 20, 10)


def group(label: str, threshold: float, low: float, high: float | None, precision: float) -> OfGroup:
    own = Wished(0.9, point(threshold, 0.9), low, high, point(threshold, 0.9))
    return OfGroup(label, 100, 50, own, "", point(0.7, precision))


@each(("high", "is_chance"), [(0.65, False), (0.75, True), (None, True)])
def test_the_two_groups_that_differ_most_are_named_where_they_differ(high: float | None, is_chance: bool) -> None:
    groups = [
        group("short", 0.8, 0.7, 0.9, 0.81),
        group("long", 0.6, 0.5, high, 0.97),
        group("middle", 0.7, 0.6, 0.8, 0.9),
        OfGroup("none", 3, 1, None, "too few pairs", None),
    ]
    own, at = moves(groups)
    assert own.index("0.600") < own.index("0.800")
    assert ("“long”" in own and "“short”" in own) is not is_chance
    assert own.startswith("Of 3 groups")
    assert ("chance" in own) is is_chance
    assert "0.810 to 0.970" in at
    assert "“" not in at
    assert moves(groups[3:]) == ()


def test_what_becomes_of_a_share_with_the_other_models_threshold() -> None:
    a, b = estimate(0.9, 0.8, 0.95), estimate(0.7, 0.6, 0.8)
    assert instead("precision", a, b, estimate(-0.2, -0.3, -0.1)) == "precision falls from 0.900 to 0.700"
    assert instead("recall", b, a, estimate(0.2, 0.1, 0.3)) == "recall rises from 0.700 to 0.900"
    assert "no significant change" in instead("precision", a, b, estimate(-0.2, -0.5, 0.1))
    assert instead("precision", a, None, None) == ""
