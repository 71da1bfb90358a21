"""The nearest neighbours of every item of a space, and so whose neighbour each item is. Kept in the cache.

Every item is asked, not a sample: with few queries an item that nobody listed may only not have been asked about, and
the skewness is that of the sampling. That takes seconds to minutes, so the lists are kept under the space's digest;
the counts for every k up to ``LONGEST`` follow from them.

Beside them stand those of as many vectors of as many dimensions, drawn independently from a normal distribution: some
hubs come from dimensions alone, and that is what they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.base import Dataset
from core.errors import BlindspotError
from core.files.artifacts import Artifacts, path_of
from core.jobs.tasks import OnStoredVariant
from core.numerics.neighbours import hubness
from core.numerics.neighbours.exact import ExactIndex
from core.numerics.neighbours.hubness import Hubness
from core.numerics.similarity import Metric, row_norms, unit_rows
from core.runs.spaces import Space, open_spaces
from core.settings import Settings, prepare_runtime
from core.store.repository import Repository
from core.types import CancelToken, Float32, Float64, Int32, Int64, Progress, Variant, no_progress

VERSION = 1  # raised when the lists of the same vectors can change
LONGEST = 50  # neighbours that can be counted
SEED = 2_010  # of the random vectors
ALIKE = 1e-6  # similarities this near each other are equal but for rounding (DESIGN 4.1)
AT_ONCE = 2_048  # queries between two looks at the cancel token
AT_ONCE_ITEMS = 3_000  # so few items that their neighbours are found in a second or two


class NoNeighbours(BlindspotError):
    """There are too few items with a direction, or all are in one place."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest neighbours of every item of a space that has any.

    Attributes:
        places: ``[q] int64``, ascending: the rows of the space that are asked and listed. With cosine, zero vectors
            have no direction and are left out.
        total: rows of the space.
        nearest: ``[q, m] int32``, m at most ``LONGEST + 1``: row i lists the neighbours of ``places[i]``, the nearest
            first, themselves as numbers into ``places``. Of the equally near the first comes first.
        similarity: ``[q, m] float32``, theirs.
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
        """Share of the lists whose k-th and next neighbour are equally near, so that either could be the k-th."""
        if k >= self.nearest.shape[1]:
            return 0.0
        apart = self.similarity[:, k - 1].astype(np.float64) - self.similarity[:, k]
        return float(np.mean(apart <= ALIKE))

    def listed_by(self, number: int, k: int) -> tuple[Int64, Int64]:
        """Who has an item among the k nearest: numbers into ``places``, and its rank there from 1; nearest first."""
        rows, columns = np.nonzero(self.nearest[:, :k] == number)
        order = np.lexsort((-self.similarity[rows, columns], columns))
        return rows[order].astype(np.int64), columns[order].astype(np.int64) + 1


@dataclass(frozen=True)
class HubsRequest(OnStoredVariant):
    """Neighbours to be found of every item of a dataset, and those of random vectors beside. Equal ones are one.

    Attributes:
        among: encoders of which an item must have a vector (DESIGN 4.3); () where all items have one.
    """

    kind = "hubs"

    variant: Variant
    dataset: str
    metric: Metric = Metric.COS
    among: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"Neighbours of all items of {self.dataset} by {self.variant.label}"

    def do(self, settings: Settings, _repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Make it, as a task of the queue."""
        make(self, settings, progress, cancel)
        return ""


def requests_of(spaces: Sequence[Space], metric: Metric) -> list[HubsRequest]:
    """For spaces that are laid side by side."""
    encoders = tuple(sorted({space.variant.encoder for space in spaces}))
    return [
        HubsRequest(
            space.variant,
            space.dataset.id,
            metric,
            () if len(space.items) == len(space.dataset.items) else encoders,
        )
        for space in spaces
    ]


@dataclass(frozen=True)
class Compared:
    """A variant's hubness, and what it is held against.

    Attributes:
        random: of random vectors of the same number and dimension.
        tied: share of lists in which the k-th neighbour could be another one.
    """

    own: Hubness
    random: Hubness
    tied: float


def compare(own: Lists, random: Lists, k: int) -> Compared:
    """Both at the same k."""
    return Compared(Hubness.of(own.occurrences(k), k), Hubness.of(random.occurrences(k), k), own.tied(k))


# --- finding them


def make(
    request: HubsRequest,
    settings: Settings,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> tuple[Lists, Lists]:
    """The lists of a request and of the random vectors beside; found in the cache, or found out and kept there.

    Raises:
        NotEncoded: the embeddings are not cached.
        NoNeighbours: there are no neighbours to speak of.
        Cancelled: what was found by then is not kept.
    """
    cancel = cancel or CancelToken()
    dataset = fetch.load(datasets.find(request.dataset), settings, progress, cancel)
    return make_of(_space(request, dataset, settings), request.metric, settings, progress, cancel)


def _space(request: HubsRequest, dataset: Dataset, settings: Settings) -> Space:
    others = [Variant(encoder, "none") for encoder in request.among]
    return open_spaces([request.variant, *others], dataset, settings)[0]


def make_of(
    space: Space,
    metric: Metric,
    settings: Settings,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> tuple[Lists, Lists]:
    """As ``make``, of a space that is open."""
    cancel = cancel or CancelToken()
    prepare_runtime(settings)  # before numba is imported

    def made(path: Path, vectors: Callable[[], Float32], stage: str) -> Lists:
        return _KEPT.make_once(path, lambda: _of_vectors(vectors(), metric, progress, cancel, stage), cancel)

    own = made(_path(space, metric, settings), lambda: space.vectors, "finding every item's neighbours")
    n, d = len(own.places), space.vectors.shape[1]
    path = _random_path(n, d, metric, settings)
    random = made(path, lambda: random_vectors(n, d), "random vectors, to compare with")
    return own, random


def random_vectors(n: int, d: int) -> Float32:
    """n vectors of d dimensions, every coordinate drawn on its own from one normal distribution, ``[n, d]``."""
    return np.random.default_rng(SEED).standard_normal((n, d), dtype=np.float32)


def lists_of(vectors: Float32, metric: Metric) -> Lists:
    """The neighbours of all rows of ``[n, d]``, exactly.

    Raises:
        NoNeighbours: fewer than two rows have a direction, or all are in one place.
    """
    return _of_vectors(vectors, metric, no_progress, CancelToken(), "")


def _of_vectors(vectors: Float32, metric: Metric, progress: Progress, cancel: CancelToken, stage: str) -> Lists:
    places = _places(vectors, metric)
    _check(vectors, places, metric)
    compared = vectors if len(places) == len(vectors) else vectors[places]
    index = ExactIndex(np.asarray(compared, dtype=np.float32), metric)
    depth = min(LONGEST + 1, len(places) - 1)
    nearest = np.empty((len(places), depth), dtype=np.int32)
    similarity = np.empty((len(places), depth), dtype=np.float32)
    for start in range(0, len(places), AT_ONCE):
        cancel.check()
        progress(stage, start, len(places))
        rows = np.arange(start, min(start + AT_ONCE, len(places)), dtype=np.int64)
        found = index.of_rows(rows, depth)
        nearest[rows], similarity[rows] = found.rows, found.similarity
    progress(stage, len(places), len(places))
    return Lists(places, len(vectors), nearest, similarity)


def check_spread(vectors: Float32, metric: Metric) -> None:
    """Look whether there can be neighbours: two rows of ``[n, d]`` with a direction, and not all in one place.

    Raises:
        NoNeighbours: there cannot.
    """
    _check(vectors, _places(vectors, metric), metric)


def _places(vectors: Float32, metric: Metric) -> Int64:
    """Rows that can be compared: with cosine, zero vectors cannot."""
    if metric is Metric.L2:
        return np.arange(len(vectors), dtype=np.int64)
    return np.flatnonzero(row_norms(vectors) > 0).astype(np.int64)


def _check(vectors: Float32, places: Int64, metric: Metric) -> None:
    if len(places) < 2:
        left_out = len(vectors) - len(places)
        raise NoNeighbours(
            f"{len(places)} item(s) can have a neighbour" + (f", {left_out} have a zero vector" if left_out else ""),
            expected="at least two",
            remedy="pick a larger dataset or another encoder",
        )
    if _all_alike(vectors, places, metric):
        what = "point in one direction" if metric is Metric.COS else "are the same"
        raise NoNeighbours(
            f"all {len(places):,} vectors {what}",
            expected="vectors that differ",
            remedy="no item is nearer than another: pick another encoder or transform",
        )


def _all_alike(vectors: Float32, places: Int64, metric: Metric) -> bool:
    """Whether no item can be told from another, but for rounding."""
    first = _compared(vectors, places[:1], metric)
    for start in range(0, len(places), 8_192):
        some = _compared(vectors, places[start : start + 8_192], metric)
        if np.abs(some - first).max() > ALIKE * float(np.abs(first).max()):
            return False
    return True


def _compared(vectors: Float32, places: Int64, metric: Metric) -> Float64:
    return unit_rows(vectors, places) if metric is Metric.COS else np.asarray(vectors[places], dtype=np.float64)


# --- keeping them


def find(space: Space, metric: Metric, settings: Settings) -> Lists | None:
    """The lists of a space; None where they were not found out yet, or their file is damaged."""
    return _KEPT.find(_path(space, metric, settings))


def find_random(n: int, d: int, metric: Metric, settings: Settings) -> Lists | None:
    """Those of random vectors."""
    return _KEPT.find(_random_path(n, d, metric, settings))


def _path(space: Space, metric: Metric, settings: Settings) -> Path:
    return path_of(settings.hubs, VERSION, str(LONGEST), "space", space.digest, metric)


def _random_path(n: int, d: int, metric: Metric, settings: Settings) -> Path:
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
