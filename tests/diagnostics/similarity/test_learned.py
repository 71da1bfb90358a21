"""A learned similarity: its features, its models against slow ones, what is kept, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published import scored_pairs
from blindspot.diagnostics.similarity import learned
from blindspot.diagnostics.similarity.learned import DEV, PENALTIES, TEST, TRAIN, LearnRequest, Part
from blindspot.errors import BlindspotError, Cancelled
from blindspot.jobs.queue import JobQueue, JobState
from blindspot.runs.spaces import NotEncoded
from blindspot.settings import Settings
from blindspot.types import CancelToken, no_progress
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder, wait_until
from tests.support.world import World

VARIANT = Variant("trigrams", "none")


def dataset(parts: tuple[str, ...] = (TRAIN, DEV, TEST)) -> ScoredPairs:
    rng = np.random.default_rng(4)
    words = "red green blue dog cat bird runs sleeps sings".split()
    sets = {}
    for name in parts:
        rows = []
        for i in range(30):
            first = [str(w) for w in rng.choice(words, 4)]
            kept = int(rng.integers(0, 5))
            second = first[:kept] + [str(w) for w in rng.choice(words, 4 - kept)]
            rows.append((f"{' '.join(first)} {name} {i}", f"{' '.join(second)} {i}", float(kept)))
        sets[f"Toy {name}"] = rows
    return scored_pairs.scored_pairs("toy-parts", sets)


def parts(seed: int = 0) -> dict[str, Part]:
    """Scores that the products of features decide, and that the cosine has nothing to do with."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, n in ((TRAIN, 120), (DEV, 40), (TEST, 60)):
        features = rng.normal(size=(n, 6)).astype(np.float32)
        gold = features @ np.array([1.0, -2, 0, 0.5, 0, 0]) + 3 + 0.1 * rng.normal(size=n)
        out[name] = Part(features, rng.normal(size=n), gold, np.arange(n), n + np.arange(n))
    return out


def test_features_by_hand() -> None:
    vectors = np.array([[1.0, 2], [3, -1]], dtype=np.float32)
    found = learned.features_of(vectors, np.array([0, 1]), np.array([1, 1]))
    assert found.tolist() == [[2, 3, 3, -2], [0, 0, 9, 1]]


def test_the_linear_model_is_ridge_regression_whose_penalty_dev_chose() -> None:
    given = parts()
    found = learned.learn(given, no_progress, CancelToken())
    train = given[TRAIN].features.astype(np.float64)
    centre, spread = train.mean(axis=0), train.std(axis=0)
    x = {name: (part.features - centre) / spread for name, part in given.items()}
    mean = given[TRAIN].gold.mean()

    def predicted(penalty: float, name: str) -> np.ndarray:  # type: ignore[type-arg]
        gram = x[TRAIN].T @ x[TRAIN] + penalty * np.eye(6)
        return np.asarray(x[name] @ np.linalg.solve(gram, x[TRAIN].T @ (given[TRAIN].gold - mean)) + mean)

    errors = {p: float(np.mean((predicted(p, DEV) - given[DEV].gold) ** 2)) for p in PENALTIES}
    assert found.penalty == min(errors, key=lambda p: errors[p])
    np.testing.assert_allclose(found.predicted["linear"], predicted(found.penalty, TEST), atol=1e-3)
    assert found.squared_error("linear") < 1.0 < found.squared_error("cosine")
    slope, intercept = np.polyfit(given[TRAIN].cosine, given[TRAIN].gold, 1)
    np.testing.assert_allclose(found.calibrated, slope * given[TEST].cosine + intercept)
    assert found.pairs == {TRAIN: 120, DEV: 40, TEST: 60}


def test_the_same_seed_gives_the_same_predictions_and_test_scores_are_not_looked_at() -> None:
    given = parts()
    first = learned.learn(given, no_progress, CancelToken())
    given[TEST] = replace(given[TEST], gold=-given[TEST].gold)
    second = learned.learn(given, no_progress, CancelToken())
    for model in learned.MODELS:
        np.testing.assert_array_equal(first.predicted[model], second.predicted[model])


def test_a_cancel_stops_it() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        learned.learn(parts(), no_progress, cancel)


def test_as_a_job_it_is_kept_and_found(world: World, settings: Settings) -> None:
    world.add(dataset(), GramEncoder())
    request = LearnRequest(VARIANT, DatasetRef("toy-parts"))
    with pytest.raises(NotEncoded):
        learned.find(request, settings)
    world.encode("trigrams", DatasetRef("toy-parts"))
    assert learned.find(request, settings) is None
    queue = JobQueue(settings, world.repository)
    try:
        queue.submit("learning", [request])
        wait_until(lambda: not queue.active())
        (job,) = queue.jobs()
        assert (job.state, job.error) == (JobState.DONE, "")
        assert (job.encoders, job.datasets) == ({"trigrams"}, {"toy-parts"})
    finally:
        queue.close()
    found = learned.find(request, settings)
    assert found is not None
    assert found.pairs == {TRAIN: 30, DEV: 30, TEST: 30}
    assert found.predicted["cosine"].max() <= 1.0
    again = learned.make(request, settings)
    assert again is found, "kept, not learned again"
    assert learned.find(LearnRequest(Variant("trigrams", "center"), DatasetRef("toy-parts")), settings) is None
    (path,) = Path(settings.learned).glob("*.npz")
    path.write_bytes(b"damaged")
    assert learned.find(request, settings) is None


def test_parts_that_are_not_there_are_said(world: World, settings: Settings) -> None:
    world.add(dataset((TRAIN, TEST)), GramEncoder())
    world.encode("trigrams", DatasetRef("toy-parts"))
    with pytest.raises(BlindspotError, match="0 pairs of the dev part of 'toy-parts'"):
        learned.make(LearnRequest(VARIANT, DatasetRef("toy-parts")), settings)
