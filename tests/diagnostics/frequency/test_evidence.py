"""Evidence on frequency: each kind where it is there and where it is not, and false ones under the null."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.frequency.classes import Design, Threshold, classify, design, mean_estimate
from blindspot.diagnostics.frequency.definition import ENTRY
from blindspot.diagnostics.frequency.evidence import evidence
from blindspot.numerics.statistics.association import spearman
from blindspot.runs.findings import Level
from tests.support.made_up_store import MadeUp, false_alarms, shown
from tests.support.tables import each

WORDS = 250  # of each class


def made_up(accuracy: float, **metrics: float) -> MadeUp:
    store = MadeUp(ENTRY, pd.DataFrame({"item_no": []}))
    store.add("model", {"threshold": []}, {"accuracy": accuracy, "words_per_class": WORDS, **metrics})
    return store


@pytest.mark.parametrize(
    ("accuracy", "kinds"),
    [
        (0.51, []),
        (0.62, ["frequency-readable"]),
        (0.74, ["frequency-readable"]),
        (0.90, ["frequency-dominates"]),
        (0.30, []),
    ],
)
def test_how_far_frequency_can_be_read(accuracy: float, kinds: list[str]) -> None:
    found = shown(made_up(accuracy), evidence)
    assert [one.kind for one in found] == kinds
    for one in found:
        assert one.level is (Level.BLIND_SPOT if one.kind == "frequency-dominates" else Level.CAUTION)
        assert one.n == 2 * WORDS
        assert one.interval is not None
        assert one.interval.low < accuracy < one.interval.high


@pytest.mark.parametrize(
    ("bend", "fit", "null", "who"),
    [(0.2, 0.95, 0.1, "frequent"), (-0.2, 0.95, 0.1, "rare"), (0.2, 0.5, 0.1, ""), (0.01, 0.95, 0.1, "")],
)
def test_neighbors_by_frequency(bend: float, fit: float, null: float, who: str) -> None:
    scores = {"neighbor_exponent": bend, "neighbor_r2": fit, "neighbor_r2_null": null, "query_words": 300.0}
    found = shown(made_up(0.5, **scores), evidence, "neighbors")
    assert [who in one.sentence for one in found] == ([True] if who else [])


@each(("score", "kind", "view"), [("length", "length-by-frequency", "norms"), ("hub", "hubs-by-frequency", "hubs")])
@each(
    ("rho", "words", "who"),
    [(0.6, 1_000, "frequent"), (-0.6, 1_000, "rare"), (0.22, 1_000, ""), (0.1, 100_000, ""), (0.9, 5, "")],
)
def test_lengths_and_hubs_by_frequency(score: str, kind: str, view: str, rho: float, words: int, who: str) -> None:
    store = made_up(0.5, **{f"{score}_rho": rho, f"{score}_words": float(words)})
    found = shown(store, evidence, kind)
    assert [who in one.sentence for one in found] == ([True] if who else [])
    for one in found:
        assert (one.level, one.value, one.n) == (Level.CAUTION, rho, words)
        assert one.interval is not None
        assert one.interval.low < rho < one.interval.high
        assert (one.page, one.address["view"]) == ("frequency", view)


@pytest.mark.slow
def test_the_interval_of_the_mean_over_thresholds_holds_it() -> None:
    """Words whose vectors tell a little of their frequency; the truth is the mean over all vocabularies."""
    means, words = [], 0
    for seed in range(30):
        rng = np.random.default_rng([4, seed])
        counts = np.sort(rng.pareto(1.0, 120) + 1)
        vectors = rng.normal(size=(120, 6))
        vectors[:, 0] += 0.7 * (np.log(counts) - np.log(counts).mean()) / np.log(counts).std()
        asked = design(counts, with_paper=False)
        found = [mean_estimate(one.mean, asked.per_class) for one in classify(vectors, counts, asked, draws=2)]
        assert len(found) > 5
        means.append(mean_estimate(float(np.mean([one.value for one in found])), asked.per_class))
        words = asked.per_class
    truth = float(np.mean([one.value for one in means]))
    assert words > 5
    held = sum(one.low is not None and one.high is not None and one.low <= truth <= one.high for one in means)
    assert held >= 28


def test_correlations_that_are_worth_no_warning_hardly_ever_give_one() -> None:
    """Words whose lengths follow frequency with a rank correlation of just 0.2."""
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng([3, seed])
        x = rng.normal(size=(300, 2))
        r = 2 * np.sin(np.pi * 0.2 / 6)  # Pearson's of a Spearman's of 0.2
        rho = spearman(x[:, 0], r * x[:, 0] + np.sqrt(1 - r * r) * x[:, 1]).value
        wrong += bool(shown(made_up(0.5, length_rho=rho, length_words=300.0), evidence))
    assert wrong <= 10


def test_false_blind_spots_are_rare() -> None:
    """Frequency is readable halfway, no more."""

    def null(seed: int) -> MadeUp:
        return made_up(np.random.default_rng([1, seed]).binomial(2 * WORDS, 0.75) / (2 * WORDS))

    assert false_alarms(null, evidence) <= 10


@pytest.mark.heavy
def test_vectors_that_know_no_frequency_are_hardly_ever_accused() -> None:
    """By the classifier itself: its mean over draws strays no more than one draw of independent words."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng([2, seed])
        vectors = rng.normal(size=(200, 8)).astype(np.float32)
        counts = np.arange(200.0)
        (found,) = classify(vectors, counts, Design((Threshold("p50", 100.0, 0.5),), 60), seed=seed, draws=3)
        store = MadeUp(ENTRY, pd.DataFrame({"item_no": []}))
        store.add("model", {"threshold": []}, {"accuracy": found.mean, "words_per_class": 60})
        wrong += bool(shown(store, evidence))
    assert wrong <= 5
