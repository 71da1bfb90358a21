"""Does the ranking hold? Against scipy, by hand, and where the answer is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from blindspot.diagnostics.transfer import stability
from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes
from blindspot.diagnostics.transfer.stability import Turned
from blindspot.numerics.statistics.confusion import confusion, macro_f1, macro_f1_influence
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence, change


def test_agreement_is_the_mean_over_pairs_of_classifiers() -> None:
    values = np.array([[0.9, 0.8, 0.5], [0.8, 0.9, 0.6], [0.7, 0.7, 0.7], [0.6, 0.6, 0.8]])
    found = stability.agreement(values)
    every = list(combinations(range(3), 2))
    taus = [kendalltau(values[:, i], values[:, j]).statistic for i, j in every]
    rhos = [spearmanr(values[:, i], values[:, j]).statistic for i, j in every]
    assert (found.encoders, found.pairs, found.same) == (4, 3, 0)
    assert found.kendall == pytest.approx(np.mean(taus))
    assert found.least_kendall == pytest.approx(min(taus))
    assert found.spearman == pytest.approx(np.mean(rhos))


def test_agreement_leaves_out_what_is_not_complete() -> None:
    values = np.array([[0.9, 0.9], [0.8, 0.8], [0.1, np.nan]])
    found = stability.agreement(values)
    assert (found.encoders, found.pairs, found.same, found.kendall) == (2, 1, 1, 1.0)
    of_one = stability.agreement(values[:1])
    assert (of_one.encoders, of_one.pairs, of_one.same) == (1, 0, 0)
    assert np.isnan([of_one.kendall, of_one.spearman, of_one.least_kendall]).all()
    tied = stability.agreement(np.full((3, 2), 0.5))
    assert (tied.encoders, tied.pairs, tied.same) == (3, 0, 0), "nothing is ranked"


@settings(max_examples=40)
@given(st.integers(0, 5_000))
def test_turned_are_those_that_lead_and_trail(seed: int) -> None:
    values = np.random.default_rng(seed).integers(5, size=(4, 3)) / 10
    expected = []
    for a, b in combinations(range(4), 2):
        signs = {int(np.sign(round(values[a, c] - values[b, c], 6))) for c in range(3)}
        if {1, -1} <= signs:
            expected.append((a, b))
    found = stability.turned(values)
    assert [(one.first, one.second) for one in found] == expected
    for one in found:
        differences = values[one.first] - values[one.second]
        assert differences[one.leads] == pytest.approx(differences.max())
        assert differences[one.trails] == pytest.approx(differences.min())


def test_what_differs_in_the_fifth_decimal_is_tied() -> None:
    assert stability.turned(np.array([[0.50001, 0.4], [0.5, 0.40001]])) == []


def predictions(n: int, **right: float) -> Outcomes:
    """Examples of two classes; each run is right on a share of them of its own, from one end or the other."""
    labels = np.arange(n, dtype=np.int32) % 2
    predicted = {}
    for i, (run_id, share) in enumerate(right.items()):
        wrong = np.zeros(n, dtype=bool)
        wrong[np.random.default_rng(i).permutation(n)[: round(n * (1 - share))]] = True
        predicted[run_id] = np.where(wrong, 1 - labels, labels).astype(np.int32)
    return Outcomes(
        np.arange(n),
        ("x", "y"),
        labels,
        Dependence.of_examples(np.arange(n)),
        np.zeros(n, dtype=bool),
        [f"text {i}" for i in range(n)],
        [],
        predicted,
        {run_id: np.full(n, 0.5) for run_id in right},
    )


IDS = [["a1", "a2"], ["b1", "b2"]]  # per encoder and classifier


def test_a_large_flip_is_beyond_chance_and_a_small_one_is_not() -> None:
    large = predictions(400, a1=0.9, a2=0.6, b1=0.7, b2=0.8)
    (flip,) = stability.flips(np.array([[0.9, 0.6], [0.7, 0.8]]), [IDS], [large], Measure.ACCURACY)
    assert flip.turned == Turned(0, 1, 0, 1)
    assert flip.is_clear
    assert (flip.leads.value, flip.trails.value) == (pytest.approx(0.2), pytest.approx(-0.2))
    assert flip.leads.interval is not None
    assert flip.leads.of_many == flip.trails.of_many == 2  # two encoders with two classifiers
    assert flip.leads.interval.low < 0.2 < flip.leads.interval.high
    small = predictions(100, a1=0.71, a2=0.70, b1=0.70, b2=0.71)
    (flip,) = stability.flips(np.array([[0.71, 0.70], [0.70, 0.71]]), [IDS], [small], Measure.ACCURACY)
    assert not flip.is_clear


def test_the_interval_of_a_mean_over_tasks_is_that_of_independent_tasks() -> None:
    one = predictions(200, a1=0.8, a2=0.6, b1=0.7, b2=0.7)
    values = np.array([[0.8, 0.6], [0.7, 0.7]])
    (alone,) = stability.flips(values, [IDS], [one], Measure.ACCURACY)
    (mean,) = stability.flips(values, [IDS] * 4, [one] * 4, Measure.ACCURACY)
    width = [f.leads.interval.high - f.leads.interval.low for f in (alone, mean) if f.leads.interval]
    assert width[1] == pytest.approx(width[0] / 2, rel=0.1)  # a quarter of the variance


def coverage(n: int, accuracy: float, prior: list[float], simulations: int) -> float:
    """How often the interval of a difference of macro F1 of two that are alike holds 0, where there is one."""
    rng, classes = np.random.default_rng([n, len(prior)]), len(prior)
    held = []
    for _ in range(simulations):
        labels = rng.choice(classes, p=prior, size=n).astype(np.int32)
        shared = rng.random(n) < 0.5  # both get these right, or take them for the same
        luck, guess = rng.random((2, n)), rng.integers(classes, size=(2, n))
        luck[1], guess[1] = np.where(shared, luck[0], luck[1]), np.where(shared, guess[0], guess[1])
        predicted = np.where(luck < accuracy, labels, guess).astype(np.int32)
        moved = [macro_f1_influence(labels, one, classes) for one in predicted]
        f1 = [float(macro_f1(confusion(labels, one, classes))) for one in predicted]
        found = change(f1[0] - f1[1], moved[0] - moved[1], Dependence.of_groups(np.arange(n), Unit.EXAMPLES))
        if found.interval is not None:
            held.append(found.interval.low <= 0 <= found.interval.high)
    return float(np.mean(held))


PRIORS = ([0.5, 0.5], [0.9, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1])


def test_intervals_of_macro_f1_hold_the_truth() -> None:
    assert 0.9 <= coverage(60, 0.6, PRIORS[2], 300) <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
def test_coverage(prior: list[float]) -> None:
    """Where two of 60 examples differ there is little to tell: the interval is on the safe side."""
    for n, accuracy, most in ((60, 0.6, 0.985), (60, 0.9, 0.995), (200, 0.6, 0.98), (200, 0.9, 0.985)):
        found = coverage(n, accuracy, prior, 2_000)
        print(f"Transfer, macro F1, {n} examples, accuracy {accuracy}, {prior}: coverage {found}", flush=True)
        assert 0.92 <= found <= most


def test_few_examples_tell_nothing_of_a_flip() -> None:
    few = predictions(40, a1=0.9, a2=0.6, b1=0.7, b2=0.8)
    (flip,) = stability.flips(np.array([[0.9, 0.6], [0.7, 0.8]]), [IDS], [few], Measure.MACRO_F1)
    assert flip.leads.interval is None
    assert "fewer than 50" in flip.leads.refusal


def test_a_flip_in_words() -> None:
    flip = stability.Flip(
        Turned(0, 1, 1, 0),
        Estimate(0.0312, Interval(0.01, 0.05), "t", Unit.EXAMPLES, 90, 90.0),
        Estimate(-0.02, None, "t", Unit.EXAMPLES, 3, 3.0, "three texts"),
    )
    assert not flip.is_clear  # nobody knows of the second
    assert stability.in_words(flip, ["one", "two"], ["logreg", "mlp"]) == (
        "one leads two with mlp, by +0.031 (+0.010 to +0.050), and trails with logreg, by −0.020 (–)"
    )
