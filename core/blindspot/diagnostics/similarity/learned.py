"""Learned similarities, to compare with the cosine of the same embeddings (Eger, Rücklé and Gurevych 2019, section 3).

Instead of the cosine and Pearson's r, which mere normalization moves by twenty points, the paper recommends a learned
similarity and the mean squared error. As in SentEval, which the paper uses, a pair has the 2 d features
``[|u - v|, u * v]``, standardized here by the training pairs (footnote 2). As the paper asks, two models predict the
score: a ridge regression, whose penalty the dev pairs choose, and a perceptron with one hidden layer, stopped by the
dev pairs. Transforms are fitted on the texts of the training pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.diagnostics.similarity.bands import DATASET
from blindspot.errors import BlindspotError
from blindspot.files.artifacts import Artifacts, path_of
from blindspot.jobs.queue import OnStoredVariant
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.numerics.statistics.correlations import DECIMALS
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress, digest_of_strings, no_progress
from blindspot.variants import Variant

VERSION = 1  # raise it if the predictions from the same vectors can change
SEED = 2_019  # of the perceptron's weights and the order of its pairs
PENALTIES = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
HIDDEN = 64  # units
EPOCHS = 40
PATIENCE = 5  # epochs without a better dev error
MODELS = ("cosine", "linear", "MLP")
TRAIN, DEV, TEST = "train", "dev", "test"


@dataclass(frozen=True)
class LearnRequest(OnStoredVariant):
    """A task of the queue: learn from a variant's embeddings of the whole STS-Benchmark."""

    kind = "learn"

    variant: Variant
    dataset: DatasetRef = DATASET

    @property
    def label(self) -> str:
        return f"Learned similarity of {self.variant.label}"

    def do(self, settings: Settings, _repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        make(self, settings, progress, cancel)
        return ""


@dataclass(frozen=True, eq=False)
class Learned:
    """Predictions for the ``m`` pairs of the test part that the encoder covers.

    Attributes:
        pairs: number of pairs used of train, dev and test.
        gold: ``[m]``, the scores.
        firsts, seconds: ``[m]``, numbers of the texts: pairs with a common text are not independent.
        predicted: by model ``[m]``, scores; for the cosine, similarities.
        calibrated: ``[m]``, the cosine on the scale of the scores, by a line through the training pairs.
        penalty, epochs: of the linear model and of the perceptron, as dev chose them.
    """

    pairs: dict[str, int]
    gold: Float64
    firsts: Int64
    seconds: Int64
    predicted: dict[str, Float64]
    calibrated: Float64
    penalty: float
    epochs: int

    @cached_property
    def digest(self) -> str:
        """A cache key for everything about the test pairs."""
        columns = (self.gold, self.firsts, self.seconds, self.calibrated, *self.predicted.values())
        return digest_of_strings([*self.predicted, *(hashlib.sha256(c.tobytes()).hexdigest() for c in columns)])

    def squared_error(self, model: str) -> float:
        """Mean squared error of the predicted scores, or of the calibrated cosine."""
        predicted = self.calibrated if model == "cosine" else self.predicted[model]
        return float(np.mean((predicted - self.gold) ** 2))


def make(
    request: LearnRequest, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> Learned:
    """Learn the similarities, or find them in the cache.

    Raises:
        NotEncoded: the embeddings are not cached.
        BlindspotError: the encoder covers too few pairs of a part of the dataset.
        Cancelled: nothing is kept.
    """
    cancel = cancel or CancelToken()
    dataset, space, path = _open(request, settings, progress, cancel)
    return _KEPT.make_once(path, lambda: learn(_parts(request.variant, space, dataset), progress, cancel), cancel)


def find(request: LearnRequest, settings: Settings) -> Learned | None:
    """The cached result, or None; raises ``NotEncoded`` if the embeddings are not cached."""
    return _KEPT.find(_open(request, settings, no_progress, CancelToken())[2])


def _open(
    request: LearnRequest, settings: Settings, progress: Progress, cancel: CancelToken
) -> tuple[ScoredPairs, Space, Path]:
    dataset = fetch.load(request.dataset.entry(), settings, progress, cancel)
    if not isinstance(dataset, ScoredPairs):
        raise TypeError("a similarity is learned from scored pairs")
    (space,) = open_spaces([Variant(request.variant.encoder, "none")], dataset, settings)
    path = path_of(settings.learned, VERSION, space.digest, request.variant.transform, dataset.content_digest)
    return dataset, space, path


# --- learning


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs of one part: ``features [m, 2 d]``, and ``[m]`` each of the rest; firsts and seconds number texts."""

    features: Float32
    cosine: Float64
    gold: Float64
    firsts: Int64
    seconds: Int64


def _parts(variant: Variant, space: Space, dataset: ScoredPairs) -> dict[str, Part]:
    """Train, dev and test: the last word in the name of a set. Pairs with an uncovered text are left out."""
    row_of = np.full(len(dataset.items), -1, dtype=np.int64)
    row_of[space.items] = np.arange(len(space.items))
    firsts, seconds = row_of[dataset.firsts], row_of[dataset.seconds]
    chosen: dict[str, Int64] = {}
    for name in (TRAIN, DEV, TEST):
        numbers = [i for i, title in enumerate(dataset.sets) if title.split()[-1] == name]
        inside = np.isin(dataset.set_numbers, numbers) & (firsts >= 0) & (seconds >= 0)
        chosen[name] = np.flatnonzero(inside).astype(np.int64)
        if np.unique(dataset.scores[chosen[name]]).size < 2:
            raise BlindspotError(
                f"the encoder has vectors for {len(chosen[name])} pairs of the {name} part of '{dataset.id}'",
                expected="some pairs with different scores in each of train, dev and test",
                remedy="choose an encoder that covers its sentences",
            )
    vectors = space.vectors
    if variant.chain.steps:
        seen = np.unique(np.concatenate([firsts[chosen[TRAIN]], seconds[chosen[TRAIN]]]))
        vectors = variant.chain.fit(vectors[seen]).apply(vectors)
    return {
        name: Part(
            features_of(vectors, firsts[rows], seconds[rows]),
            np.round(similarity_of_pairs(vectors, firsts[rows], seconds[rows], Similarity.COS), DECIMALS),
            dataset.scores[rows],
            firsts[rows],
            seconds[rows],
        )
        for name, rows in chosen.items()
    }


def features_of(vectors: Float32, firsts: Int64, seconds: Int64) -> Float32:
    """``[|u - v|, u * v]`` of each pair, ``[m, 2 d] float32``."""
    u, v = np.asarray(vectors[firsts], dtype=np.float32), np.asarray(vectors[seconds], dtype=np.float32)
    return np.concatenate([np.abs(u - v), u * v], axis=1)


def learn(parts: dict[str, Part], progress: Progress, cancel: CancelToken) -> Learned:
    """Train both models on train, choose by dev, predict test."""
    train, dev, test = (parts[name] for name in (TRAIN, DEV, TEST))
    centre = train.features.mean(axis=0, dtype=np.float64)
    spread = train.features.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1.0  # of constant features
    x = [np.asarray((part.features - centre) / spread, dtype=np.float32) for part in (train, dev, test)]
    cancel.check()
    progress("learning the linear model", 0, 1)
    linear, penalty = _linear(x, train.gold, dev.gold)
    cancel.check()
    mlp, epochs = _perceptron(x, train.gold, dev.gold, progress, cancel)
    slope, intercept = np.polyfit(train.cosine, train.gold, 1) if np.ptp(train.cosine) else (0.0, train.gold.mean())
    return Learned(
        {name: len(part.gold) for name, part in parts.items()},
        test.gold,
        test.firsts,
        test.seconds,
        {"cosine": test.cosine, "linear": linear, "MLP": mlp},
        np.asarray(slope * test.cosine + intercept),
        penalty,
        epochs,
    )


def _linear(x: Sequence[Float32], gold: Float64, dev_gold: Float64) -> tuple[Float64, float]:
    from sklearn.linear_model import Ridge

    fitted = {penalty: Ridge(alpha=penalty, solver="cholesky").fit(x[0], gold) for penalty in PENALTIES}
    errors = {penalty: float(np.mean((model.predict(x[1]) - dev_gold) ** 2)) for penalty, model in fitted.items()}
    penalty = min(errors, key=lambda weight: errors[weight])
    return np.asarray(fitted[penalty].predict(x[2]), dtype=np.float64), penalty


def _perceptron(
    x: Sequence[Float32], gold: Float64, dev_gold: Float64, progress: Progress, cancel: CancelToken
) -> tuple[Float64, int]:
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(hidden_layer_sizes=(HIDDEN,), alpha=1e-2, batch_size=min(64, len(gold)), random_state=SEED)
    best, best_error, best_epoch = np.full(len(x[2]), gold.mean()), float("inf"), 0
    for epoch in range(1, EPOCHS + 1):
        cancel.check()
        progress("learning the MLP", epoch - 1, EPOCHS)
        model.partial_fit(x[0], gold)
        error = float(np.mean((model.predict(x[1]) - dev_gold) ** 2))
        if error < best_error:
            best, best_error, best_epoch = np.asarray(model.predict(x[2]), dtype=np.float64), error, epoch
        elif epoch - best_epoch >= PATIENCE:
            break
    progress("learning the MLP", EPOCHS, EPOCHS)
    return best, best_epoch


# --- the cache


def _to_arrays(learned: Learned) -> dict[str, Any]:
    return {
        "pairs": np.array(list(learned.pairs.values()), dtype=np.int64),
        "gold": learned.gold,
        "firsts": learned.firsts,
        "seconds": learned.seconds,
        "predicted": np.stack([learned.predicted[model] for model in MODELS]),
        "calibrated": learned.calibrated,
        "penalty": np.float64(learned.penalty),
        "epochs": np.int64(learned.epochs),
    }


def _of_arrays(stored: Mapping[str, Any]) -> Learned:
    pairs = dict(zip((TRAIN, DEV, TEST), stored["pairs"].tolist(), strict=True))
    predicted = dict(zip(MODELS, stored["predicted"], strict=True))
    gold, firsts, seconds, calibrated = (stored[name] for name in ("gold", "firsts", "seconds", "calibrated"))
    return Learned(pairs, gold, firsts, seconds, predicted, calibrated, float(stored["penalty"]), int(stored["epochs"]))


_KEPT = Artifacts(_to_arrays, _of_arrays, remembered=32)
