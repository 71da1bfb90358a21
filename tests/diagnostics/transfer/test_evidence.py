"""Evidence on transfer: each kind where it is there and where it is not, and false ones under the null."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.transfer.definition import ENTRY
from blindspot.diagnostics.transfer.evidence import evidence
from blindspot.diagnostics.transfer.tasks import DEMO
from blindspot.numerics.statistics.confusion import estimates
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.findings import Finding, Level
from blindspot.studies.findings import wording
from tests.support.made_up_store import MadeUp, false_alarms, shown

N = 300
CLASSES = np.array(["no", "yes"])


def made_up(rng: np.random.Generator, dataset: str = "task", share: float = 0.5) -> MadeUp:
    """A task of two classes, a share of them "yes"."""
    label = CLASSES[(rng.uniform(size=N) < share).astype(int)]
    texts = [f"text {i}" for i in range(N)]
    about = pd.DataFrame({"item_no": np.arange(N), "label": label, "split": "", "first": texts, "second": None})
    return MadeUp(ENTRY, about, dataset)


def add(store: MadeUp, encoder: str, right: np.ndarray, **metrics: float) -> None:
    """A run with these outcomes, ``[n] bool``."""
    label = (store.about["label"] == "yes").to_numpy().astype(np.int32)
    answered = np.where(right, label, 1 - label).astype(np.int32)
    accuracy, _ = estimates(label, answered, Dependence.of_examples(np.arange(N)), 2)
    assert accuracy.interval is not None
    rows = {"predicted": CLASSES[answered], "probability": np.linspace(0.5, 1, N), "fold": 0, "repeated": 0}
    scores = {
        "accuracy": accuracy.value,
        "accuracy_low": accuracy.interval.low,
        "accuracy_high": accuracy.interval.high,
        "majority": float(max(label.mean(), 1 - label.mean())),
        "tested": float(N),
        "trained": float(N),
        "overlap": 0.0,
    }
    counts = {"examples": N, "examples_covered": N, "items": N, "items_covered": N}
    store.add(encoder, rows, scores | metrics, counts)


def guessed(rng: np.random.Generator, rate: float) -> np.ndarray:
    return np.asarray(rng.uniform(size=N) < rate)


def of_model(store: MadeUp, kind: str) -> list[Finding]:
    return [one for one in shown(store, evidence, kind) if one.variants[0].encoder == "model"]


@pytest.mark.parametrize(
    ("dataset", "rate", "of_baseline", "level"),
    [
        ("task", 0.46, None, Level.CAUTION),
        ("task", 0.46, 0.8, Level.BLIND_SPOT),
        ("task", 0.3, None, Level.BLIND_SPOT),
        ("task", 0.7, None, Level.STRENGTH),
        ("task", 0.7, 0.5, Level.STRENGTH),
        (DEMO, 0.5, None, Level.CAUTION),
        (DEMO, 0.65, None, Level.CAUTION),
        (DEMO, 0.65, 0.9, Level.BLIND_SPOT),
        (DEMO, 0.9, None, Level.STRENGTH),
    ],
)
def test_a_task_that_can_be_learned_or_not(dataset: str, rate: float, of_baseline: float | None, level: Level) -> None:
    """A caution if no more than chance is reached, a blind spot if that or a baseline is better."""
    rng = np.random.default_rng(1)
    store = made_up(rng, dataset)
    add(store, "model", guessed(rng, rate))
    if of_baseline is not None:
        add(store, "lsa", guessed(rng, of_baseline))
    (found,) = of_model(store, "learned")
    assert found.level is level
    assert found.value == store.runs[0].metrics["accuracy"]


def test_what_a_baseline_learns_as_well_is_no_strength() -> None:
    rng = np.random.default_rng(1)
    store = made_up(rng)
    add(store, "model", guessed(rng, 0.8))
    add(store, "lsa", guessed(rng, 0.8))
    assert not of_model(store, "learned")


def test_a_baseline_that_is_right_more_often_or_as_often() -> None:
    for rate, kind, level in (
        (0.6, "worse-than", Level.BLIND_SPOT),
        (0.95, "better-than", Level.STRENGTH),
        (0.78, "no-better", Level.CAUTION),
    ):
        rng = np.random.default_rng(2)
        store = made_up(rng)
        add(store, "model", guessed(rng, rate))
        add(store, "lsa", guessed(rng, 0.8))
        (found,) = of_model(store, kind)
        assert found.level is level
    assert not of_model(store, "worse-than")


def test_the_examples_are_the_surest_mistakes_that_the_baseline_does_not_make() -> None:
    rng = np.random.default_rng(3)
    store = made_up(rng)
    own, other = guessed(rng, 0.6), guessed(rng, 0.9)
    add(store, "model", own)
    add(store, "lsa", other)
    (found,) = of_model(store, "worse-than")
    surest = np.flatnonzero(~own & other)[::-1][:3]
    assert [example.texts for example in found.examples] == [(("text", f"text {i}"),) for i in surest]
    assert found.address["b"] == "lsa~none"


def test_a_class_that_is_never_predicted() -> None:
    rng = np.random.default_rng(4)
    store = made_up(rng, share=0.3)
    add(store, "model", (store.about["label"] == "no").to_numpy())
    (found,) = of_model(store, "class-missed")
    assert (found.kind, found.level, found.value) == ("class-missed-yes", Level.CAUTION, 0.0)
    add(store, "lsa", guessed(rng, 0.9))
    (found,) = of_model(store, "class-missed")
    assert found.level is Level.BLIND_SPOT, "the baseline recognizes it"
    assert "never predicts" in found.sentence
    assert found.address["gold"] == "yes"
    fair = made_up(rng, share=0.3)
    add(fair, "model", guessed(rng, 0.8))
    assert not of_model(fair, "class-missed")


def test_overlap_with_training_that_lifts_the_score() -> None:
    rng = np.random.default_rng(5)
    store = made_up(rng)
    right = guessed(rng, 0.8)
    add(store, "model", right, overlap=40.0, accuracy_without_overlap=float(right.mean()) - 0.05)
    (found,) = of_model(store, "lifted")
    assert found.value == pytest.approx(0.05)
    assert found.level is Level.CAUTION
    unmoved = made_up(rng)
    add(unmoved, "model", right, overlap=40.0, accuracy_without_overlap=float(right.mean()))
    assert not of_model(unmoved, "lifted")


@pytest.mark.slow
def test_false_blind_spots_are_rare() -> None:
    """Models a tenth of the way to all right, as good as the baselines, and better than guesses at every class."""

    def null(seed: int) -> MadeUp:
        rng = np.random.default_rng([6, seed])
        store = made_up(rng)
        for encoder in ("model", "lsa"):
            majority = max((store.about["label"] == name).mean() for name in CLASSES)
            add(store, encoder, guessed(rng, majority + 0.1 * (1 - majority)))
        return store

    assert false_alarms(null, evidence) <= 10


@pytest.mark.heavy
def test_guesses_at_a_class_are_hardly_ever_called_missed() -> None:
    """Before any correction; a share of guesses of a class is right in as many as it has, give or take."""
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng([7, seed])
        store = made_up(rng, share=0.3)
        answers = CLASSES[(rng.uniform(size=N) < 0.3).astype(int)]
        add(store, "model", (store.about["label"] == answers).to_numpy())
        p_values += [
            one.p for one in wording.findings(evidence(store.material())) if one.kind.startswith("class-missed")
        ]
    assert len(p_values) == 400
    assert np.mean([p < 0.05 for p in p_values if p is not None]) <= 0.05
