"""The nearest neighbors of every item of a space, kept in the cache; k-occurrences for every k follow from them.

Every item is a query, since sampling would change the skewness. Finding the lists takes seconds to minutes, so they
are kept under the space's digest.

The baseline is as many random vectors of as many dimensions: it shows the hubs that come from dimensions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.errors import BlindspotError
from blindspot.files.artifacts import Artifacts, path_of
from blindspot.jobs.queue import OnStoredVariant
from blindspot.numerics.neighbors import hubness
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity, row_norms, unit_rows
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32, Float64, Int32, Int64, Progress, no_progress
from blindspot.variants import Variant

VERSION = 1  # raised when the lists of the same vectors can change
LONGEST = 50  # neighbors that can be counted
SEED = 2_010  # of the random vectors
ALIKE = 1e-6  # similarities this near each other are equal but for rounding
AT_ONCE = 2_048  # queries between two looks at the cancel token
AT_ONCE_ITEMS = 3_000  # with so few items, a second or two is enough


class NoNeighbors(BlindspotError):
    """There are too few items with a direction, or all are in one place."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest neighbors of every item that has any.

    Attributes:
        places: ``[q] int64``, ascending: the rows of the space that have lists. With cosine, zero vectors have none.
        total: rows of the space.
        nearest: ``[q, m] int32``, m at most ``LONGEST + 1``: row i has the neighbors of ``places[i]`` as numbers into
            ``places``, the nearest first; among equally near ones the one with the lower number comes first.
        similarity: ``[q, m] float32``.
    """

    places: Int64
    total: int
    nearest: Int32
    similarity: Float32

    @property
    def longest(self) -> int:
        """The highest k that can be asked for."""
        return min(LONGEST, int(self.nearest.shape[1]))

    def occurrences(self, k: int) -> Int64:
        """k-occurrence per listed item, ``[q] int64``."""
        return hubness.occurrences(self.nearest, k, len(self.places))

    def tied(self, k: int) -> float:
        """Share of the lists whose k-th and next neighbor are equally near."""
        if k >= self.nearest.shape[1]:
            return 0.0
        apart = self.similarity[:, k - 1].astype(np.float64) - self.similarity[:, k]
        return float(np.mean(apart <= ALIKE))

    def listed_by(self, number: int, k: int) -> tuple[Int64, Int64]:
        """The lists with an item among their k nearest, as numbers into ``places``, and its rank in each from 1."""
        rows, columns = np.nonzero(self.nearest[:, :k] == number)
        order = np.lexsort((-self.similarity[rows, columns], columns))
        return rows[order].astype(np.int64), columns[order].astype(np.int64) + 1


@dataclass(frozen=True)
class HubsRequest(OnStoredVariant):
    """A task of the queue: find the lists of a space and of its random vectors. Equal requests are one.

    Attributes:
        among: encoders of which an item must have a vector; () where all items have one.
    """

    kind = "hubs"

    variant: Variant
    dataset: DatasetRef
    metric: Similarity = Similarity.COS
    among: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"Neighbors of all items of {title_of(self.dataset)} by {self.variant.label}"

    def do(self, settings: Settings, _repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """
        Raises:
            NotEncoded: the embeddings are not cached.
            NoNeighbors: see ``nearest_lists``.
        """
        dataset = fetch.load(self.dataset.entry(), settings, progress, cancel)
        others = [Variant(encoder, "none") for encoder in self.among]
        space = open_spaces([self.variant, *others], dataset, settings)[0]
        make(space, self.metric, settings, progress, cancel)
        return ""


def requests_of(spaces: Sequence[Space], metric: Similarity) -> list[HubsRequest]:
    """The requests for spaces over the same items."""
    encoders = tuple(sorted({space.variant.encoder for space in spaces}))
    return [
        HubsRequest(
            s.variant, DatasetRef(s.dataset.id), metric, () if len(s.items) == len(s.dataset.items) else encoders
        )
        for s in spaces
    ]


def make(
    space: Space,
    metric: Similarity,
    settings: Settings,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> tuple[Lists, Lists]:
    """The lists of a space and of random vectors, from the cache or computed and kept there.

    Raises:
        NoNeighbors: see ``nearest_lists``.
    """
    cancel = cancel or CancelToken()
    prepare_runtime(settings)  # before numba is imported

    def made(path: Path, vectors: Callable[[], Float32], stage: str) -> Lists:
        return _KEPT.make_once(path, lambda: nearest_lists(vectors(), metric, progress, cancel, stage), cancel)

    lists = made(_path(space, metric, settings), lambda: space.vectors, "finding every item's neighbors")
    n, d = len(lists.places), space.vectors.shape[1]
    path = _random_path(n, d, metric, settings)
    return lists, made(path, lambda: random_vectors(n, d), "random vectors, to compare with")


def find(space: Space, metric: Similarity, settings: Settings) -> tuple[Lists, Lists] | None:
    """The lists that ``make`` has kept; None if they are not complete."""
    if (lists := _KEPT.find(_path(space, metric, settings))) is None:
        return None
    random = _KEPT.find(_random_path(len(lists.places), space.vectors.shape[1], metric, settings))
    return None if random is None else (lists, random)


def random_vectors(n: int, d: int) -> Float32:
    """``[n, d]``, every coordinate drawn on its own from one normal distribution."""
    return np.random.default_rng(SEED).standard_normal((n, d), dtype=np.float32)


def nearest_lists(
    vectors: Float32,
    metric: Similarity,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    stage: str = "",
) -> Lists:
    """The exact neighbors of all rows of ``[n, d]``.

    Raises:
        NoNeighbors: fewer than two rows have a direction, or all are in one place.
    """
    places = check_spread(vectors, metric)
    compared = vectors if len(places) == len(vectors) else vectors[places]
    index = ExactIndex(np.asarray(compared, dtype=np.float32), metric)
    depth = min(LONGEST + 1, len(places) - 1)
    nearest = np.empty((len(places), depth), dtype=np.int32)
    similarity = np.empty((len(places), depth), dtype=np.float32)
    for start in range(0, len(places), AT_ONCE):
        if cancel is not None:
            cancel.check()
        progress(stage, start, len(places))
        rows = np.arange(start, min(start + AT_ONCE, len(places)), dtype=np.int64)
        nearest_rows = index.of_rows(rows, depth)
        nearest[rows], similarity[rows] = nearest_rows.rows, nearest_rows.similarity
    progress(stage, len(places), len(places))
    return Lists(places, len(vectors), nearest, similarity)


def check_spread(vectors: Float32, metric: Similarity) -> Int64:
    """The rows of ``[n, d]`` that can be compared: with cosine, zero vectors cannot.

    Raises:
        NoNeighbors: there are fewer than two of them, or all are in one place.
    """
    is_cosine = metric is Similarity.COS
    places = np.flatnonzero(row_norms(vectors) > 0) if is_cosine else np.arange(len(vectors))
    if len(places) < 2:
        left_out = len(vectors) - len(places)
        raise NoNeighbors(
            f"{len(places)} item(s) can have a neighbor" + (f", {left_out} have a zero vector" if left_out else ""),
            expected="at least two",
            remedy="pick a larger dataset or another encoder",
        )
    if _all_alike(vectors, places, is_cosine):
        raise NoNeighbors(
            f"all {len(places):,} vectors {'point in one direction' if is_cosine else 'are the same'}",
            expected="vectors that differ",
            remedy="no item is nearer than another: pick another encoder or transform",
        )
    return places.astype(np.int64)


def _all_alike(vectors: Float32, places: Int64, is_cosine: bool) -> bool:
    """Whether items differ by rounding only."""

    def compared(some: Int64) -> Float64:
        return unit_rows(vectors, some) if is_cosine else np.asarray(vectors[some], dtype=np.float64)

    first = compared(places[:1])
    least = ALIKE * float(np.abs(first).max())
    blocks = (places[start : start + 8_192] for start in range(0, len(places), 8_192))
    return all(np.abs(compared(some) - first).max() <= least for some in blocks)


def _path(space: Space, metric: Similarity, settings: Settings) -> Path:
    return path_of(settings.hubs, VERSION, str(LONGEST), "space", space.digest, metric)


def _random_path(n: int, d: int, metric: Similarity, settings: Settings) -> Path:
    return path_of(settings.hubs, VERSION, str(LONGEST), "random", f"{n} {d} {SEED}", metric)


def _to_arrays(lists: Lists) -> dict[str, Any]:
    return {
        "places": lists.places,
        "total": np.int64(lists.total),
        "nearest": lists.nearest,
        "similarity": lists.similarity,
    }


def _of_arrays(stored: Mapping[str, Any]) -> Lists:
    return Lists(stored["places"], int(stored["total"]), stored["nearest"], stored["similarity"])


_KEPT = Artifacts(_to_arrays, _of_arrays, remembered=12)  # 10 MB each of 25,000 items
