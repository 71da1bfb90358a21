"""Training of a linear map on frozen vectors, with a ranking loss, and the maps that it is compared with.

A map ``M [d, d]`` makes ``x M`` of a vector ``x``, of all texts or of queries alone. The loss of a triplet is
``log(1 + exp(-(cos(a, p) - cos(a, n)) / T))``. A second term keeps the map near what it was: the mean squared change of
the cosines of random pairs of texts, times ``keep``. What comes out depends on the data, the seed and, in its last
digits, on the number of threads, the processor and the version of torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.similarity import unit_vectors
from blindspot.texts import counted
from blindspot.transforms.repairs import moved
from blindspot.types import CancelToken, Float32, Float64, Int64, Progress

SEED = 28_004
RANK = 16
MOST_RANK = 256
TEMPERATURE = 0.05
KEEP = 100.0  # usual weight of the term that keeps cosines as they were
MOST_KEEP = 10_000.0
KEPT_PAIRS = 512  # random pairs per step
STEPS = 600
EVERY = 10  # steps between two looks at what is held out for stopping
PATIENCE = 10  # looks without a lower loss, after which it stops
BATCH = 256
FEWEST = 40  # triplets to train on
FEWEST_TO_STOP = 8
STAGE = "training the repair"


class Method(StrEnum):
    """Form of a map."""

    WEIGHTS = "weights"  # a positive weight per dimension
    LOW_RANK = "low-rank"  # the identity plus a map of low rank
    QUERIES = "queries"  # any linear map, of queries alone

    @property
    def is_of_queries(self) -> bool:
        return self is Method.QUERIES


RATES = {Method.WEIGHTS: 1e-2, Method.LOW_RANK: 5e-3, Method.QUERIES: 1e-3}
IN_WORDS = {
    Method.WEIGHTS: "a weight per dimension",
    Method.LOW_RANK: "a low-rank change of all vectors",
    Method.QUERIES: "a linear map of queries alone",
}


@dataclass(frozen=True, eq=False)
class Triplets:
    """Rows of vectors: an anchor, what should be nearer to it, and what should not, each ``[m]``."""

    anchor: Int64
    positive: Int64
    negative: Int64

    def __len__(self) -> int:
        return len(self.anchor)

    @property
    def rows(self) -> Int64:
        """All rows that occur, ascending."""
        return np.unique(np.concatenate([self.anchor, self.positive, self.negative]))

    def shuffled(self, seed: int) -> Triplets:
        """The triplets, with a coin deciding which of the two texts should be nearer."""
        swap = np.random.default_rng(seed).random(len(self)) < 0.5
        positive = np.where(swap, self.negative, self.positive)
        negative = np.where(swap, self.positive, self.negative)
        return replace(self, positive=positive, negative=negative)


@dataclass(frozen=True, eq=False)
class Map:
    """A linear map of vectors.

    Attributes:
        matrix: ``[d, d] float32``, M of ``x M``.
        steps: the training step at which it was kept; 0 if it was not trained.
    """

    matrix: Float32
    is_of_queries: bool
    steps: int = 0

    @property
    def moved(self) -> float:
        return moved(self.matrix)

    def documents(self, vectors: Float32) -> Float64:
        """Mapped vectors ``[n, d]`` of texts that do not ask, of unit length."""
        return _unit(vectors.astype(np.float64) if self.is_of_queries else self._mapped(vectors))

    def queries(self, vectors: Float32) -> Float64:
        """Mapped vectors ``[n, d]`` of texts that ask, of unit length."""
        return _unit(self._mapped(vectors))

    def leads(self, vectors: Float32, triplets: Triplets) -> Float64:
        """Cosine of anchor and positive less that of anchor and negative, ``[m]``."""
        rows = triplets.rows
        asked, documents = self.queries(vectors[rows]), self.documents(vectors[rows])
        a, p, n = (np.searchsorted(rows, side) for side in (triplets.anchor, triplets.positive, triplets.negative))
        return np.asarray(np.einsum("md,md->m", asked[a], documents[p]) - np.einsum("md,md->m", asked[a], documents[n]))

    def _mapped(self, vectors: Float32) -> Float64:
        return np.asarray(vectors.astype(np.float64) @ self.matrix.astype(np.float64))


def nothing(dimension: int) -> Map:
    """The map that leaves all vectors as they are."""
    return Map(np.eye(dimension, dtype=np.float32), is_of_queries=False)


def _unit(rows: Float64) -> Float64:
    lengths = np.linalg.norm(rows, axis=1)[:, np.newaxis]
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))


def check(vectors: Float32, train: Triplets, stop: Triplets) -> None:
    """Reject what nothing can be learned from.

    Raises:
        InputError: too few triplets, or all vectors are equal.
        BlindspotError: vectors hold NaN or infinite values.
    """
    for triplets, least, why in ((train, FEWEST, "to train on"), (stop, FEWEST_TO_STOP, "to decide when to stop")):
        if len(triplets) < least:
            raise InputError(
                f"{counted(len(triplets), 'triplet')} {why}",
                expected=f"{least} or more",
                remedy="take a larger dataset",
            )
    used = vectors[train.rows]
    if not np.isfinite(used).all():
        raise BlindspotError("the model's vectors hold NaN or infinite values", remedy="check the model's set-up")
    if np.ptp(unit_vectors(used), axis=0).max() <= np.finfo(np.float32).eps:
        raise InputError(
            f"the vectors of all {len(used):,} texts have the same direction: no map can tell them apart",
            expected="a model that tells the texts apart",
        )


def fit(
    vectors: Float32,
    train: Triplets,
    stop: Triplets,
    method: Method,
    progress: Progress,
    cancel: CancelToken,
    *,
    rank: int = RANK,
    keep: float = KEEP,
    seed: int = SEED,
    stage: str = STAGE,
) -> Map:
    """Train a map on ``vectors [n, d]``; of what it was after each look, the one with the lowest loss on ``stop``.

    Raises:
        InputError: see ``check``; a rank that is too large.
        Cancelled: between two steps.
    """
    check(vectors, train, stop)
    d = vectors.shape[1]
    if method is Method.LOW_RANK and not 1 <= rank <= min(d, MOST_RANK):
        raise InputError(f"a map of rank {rank:,} of {d:,} dimensions", expected=f"1 to {min(d, MOST_RANK)}")
    import torch

    generator = torch.Generator().manual_seed(seed)
    parameters, change, matrix = _form(method, d, rank, generator)
    rows = np.unique(np.concatenate([train.rows, stop.rows]))
    units = torch.from_numpy(unit_vectors(vectors[rows]))

    def places(triplets: Triplets) -> Any:
        positions = [np.searchsorted(rows, side) for side in (triplets.anchor, triplets.positive, triplets.negative)]
        return torch.from_numpy(np.stack(positions))

    def mapped(places: Any) -> Any:
        return torch.nn.functional.normalize(change(units[places]), dim=-1, eps=1e-12)

    def answering(places: Any) -> Any:
        return units[places] if method.is_of_queries else mapped(places)

    def loss_of(triplets: Any, pairs: Any) -> Any:
        m, k = triplets.shape[1], pairs.shape[1]
        anchor, left = mapped(torch.cat([triplets[0], pairs[0]])).split([m, k])
        positive, negative, right = answering(torch.cat([triplets[1], triplets[2], pairs[1]])).split([m, m, k])
        before = (units[pairs[0]] * units[pairs[1]]).sum(-1)
        return loss_of_vectors(anchor, positive, negative, (left * right).sum(-1) - before, keep)

    def drawn(among: Any, count: int) -> Any:
        return among[torch.randint(len(among), (2, count), generator=generator)]

    trained, held = places(train), places(stop)
    texts = torch.unique(trained)
    held_pairs = drawn(torch.unique(held), KEPT_PAIRS)
    optimizer = torch.optim.Adam(parameters, lr=RATES[method])
    best, kept, since, at = math.inf, np.eye(d, dtype=np.float32), 0, 0
    with _one_thread():
        for step in range(STEPS + 1):
            progress(stage, step, STEPS)
            cancel.check()
            if step % EVERY == 0:
                with torch.inference_mode():
                    loss_now = float(loss_of(held, held_pairs))
                since += 1
                if loss_now < best:
                    best, kept, since, at = loss_now, matrix(), 0, step
                if since > PATIENCE:
                    break
            chosen = trained[:, torch.randperm(trained.shape[1], generator=generator)[:BATCH]]
            loss = loss_of(chosen, drawn(texts, KEPT_PAIRS))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    progress(stage, STEPS, STEPS)
    return Map(kept, method.is_of_queries, at)


def loss_of_vectors(anchor: Any, positive: Any, negative: Any, moved: Any, keep: float) -> Any:
    """Softplus of the negative leads of positives over negatives, and ``keep`` times the squares of ``moved``.

    Args:
        anchor, positive, negative: unit vectors ``[m, d]``.
        moved: by how much the map changes cosines ``[k]``.
    """
    import torch

    lead = (anchor * (positive - negative)).sum(-1)
    return torch.nn.functional.softplus(-lead / TEMPERATURE).mean() + keep * moved.square().mean()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch with one thread: products as small as these gain nothing from more, and come out the same anywhere."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _form(
    method: Method, d: int, rank: int, generator: Any
) -> tuple[list[Any], Callable[[Any], Any], Callable[[], Float32]]:
    """Parameters of a map that does nothing yet, what it makes of vectors, and the function that gives its matrix."""
    import torch

    def dense(change: Any) -> Float32:
        return np.asarray(change.detach().numpy() + np.eye(d), dtype=np.float32)

    if method is Method.WEIGHTS:
        logs = torch.zeros(d, requires_grad=True)
        return [logs], lambda x: x * torch.exp(logs), lambda: dense(torch.diag(torch.expm1(logs)))
    if method is Method.LOW_RANK:
        down = (torch.randn(d, rank, generator=generator) / math.sqrt(d)).requires_grad_()
        up = torch.zeros(rank, d, requires_grad=True)
        return [down, up], lambda x: x + (x @ down) @ up, lambda: dense(down @ up)
    change = torch.zeros(d, d, requires_grad=True)
    return [change], lambda x: x + x @ change, lambda: dense(change)


def random_map(like: Map, method: Method, seed: int, rank: int = RANK) -> Map:
    """A map of the same form that nothing was learned for, drawn so that it moves vectors as far as ``like``."""
    d = len(like.matrix)
    rng = np.random.default_rng(seed)
    if method is Method.WEIGHTS:
        logs = np.log(np.diag(like.matrix).astype(np.float64))
        drawn = rng.standard_normal(d)
        matrix = np.diag(np.exp(drawn * np.linalg.norm(logs) / np.linalg.norm(drawn)))
    else:
        change = like.matrix.astype(np.float64) - np.eye(d)
        drawn = (
            rng.standard_normal((d, rank)) @ rng.standard_normal((rank, d))
            if method is Method.LOW_RANK
            else rng.standard_normal((d, d))
        )
        matrix = np.eye(d) + drawn * (np.linalg.norm(change) / np.linalg.norm(drawn))
    return Map(matrix.astype(np.float32), like.is_of_queries)
