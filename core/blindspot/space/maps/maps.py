"""Maps of a dataset's items in two dimensions, by one variant, and how far to trust the picture.

PCA is computed at once. UMAP (McInnes, Healy and Melville 2018) is fitted in a new process, one at a time per cache: a
fork after a compiled kernel kills the child, two fits at once can abort the process, and only a process can be killed.
Finished maps are cached under the digest of everything that decides them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset
from blindspot.errors import BlindspotError, InputError, require
from blindspot.files.artifacts import Artifacts
from blindspot.files.writing import exclusive
from blindspot.jobs.queue import OnStoredVariant
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.space.maps.child import fit_in_child, remove_leftovers
from blindspot.space.maps.projection import Quality, are_constant, as_compared, principal_plane, quality
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float64, Int64, Progress, digest_of_strings, no_progress
from blindspot.variants import Variant

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1  # raised when the coordinates or the quality of equal parameters can change
MOST_ITEMS = 25_000  # in a map; a larger dataset is sampled
SAMPLE_SEED = 20190707
QUALITY_K = 10
QUALITY_QUERIES = 1_000
N_NEIGHBORS, MIN_DIST, SEED = 15, 0.1, 0
MAX_NEIGHBORS = 200
# Of UMAP on two cores like a laptop's; unseeded it uses all cores.
LOAD_SECONDS, FIRST_LOAD_SECONDS = 12.0, 60.0
SECONDS_PER_ITEM = {True: 4.0e-3, False: 1.6e-3}
REMEMBERED = 64  # maps in memory: half a megabyte each


class Method(StrEnum):
    UMAP = "umap"
    PCA = "pca"


class NoMap(BlindspotError):
    """There are too few items for a map, or nothing tells them apart."""


@dataclass(frozen=True)
class MapRequest(OnStoredVariant):
    """A map to make; equal requests are one.

    Attributes:
        among: encoders that must have a vector for an item to be shown; empty if all items have one.
        most: the most items to show; of a larger number a seeded sample is shown.
        seed: None for UMAP on all cores, with another result every time.
    """

    kind = "map"

    variant: Variant
    dataset: DatasetRef
    metric: Similarity = Similarity.COS
    method: Method = Method.UMAP
    among: tuple[str, ...] = ()
    most: int = MOST_ITEMS
    n_neighbors: int = N_NEIGHBORS
    min_dist: float = MIN_DIST
    seed: int | None = SEED

    @property
    def label(self) -> str:
        return f"{self.method.upper()} of {title_of(self.dataset)} by {self.variant.label}"

    def do(self, settings: Settings, _repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Make the map, as a task of the queue."""
        make(self, settings, progress, cancel)
        return ""

    def key(self, space: Space) -> str:
        """Digest of everything that decides the map."""
        parts = [str(VERSION), space.digest, self.method, self.metric, str(self.most)]
        if self.method is Method.UMAP:
            parts += [str(self.n_neighbors), repr(self.min_dist), str(self.seed), version("umap-learn")]
        return digest_of_strings(parts)[:32]


@dataclass(frozen=True, eq=False)
class Map:
    """A finished map.

    Attributes:
        rows: ``[m] int64``, ascending, rows of the space.
        coordinates: ``[m, 2] float64``; NaN for an item that UMAP could not connect.
        quality: None if too few items have coordinates.
        explained: each component's share of the variance; None for UMAP.
        seconds: time of the fit.
    """

    rows: Int64
    coordinates: Float64
    quality: Quality | None
    explained: tuple[float, float] | None
    seconds: float

    def table(self, space: Space) -> pa.Table:
        """A row per item: its number, text, and coordinates, which may be empty."""
        import pyarrow as pa

        items = space.items[self.rows]
        return pa.table(
            {
                "item": items,
                "text": [space.dataset.items[i] for i in items],
                "x": pa.array(self.coordinates[:, 0], from_pandas=True),  # NaN becomes empty
                "y": pa.array(self.coordinates[:, 1], from_pandas=True),
            }
        )


def sample_rows(n: int, most: int) -> Int64:
    """Which of n rows are shown, ascending: all, or ``most`` at random, the same for every variant."""
    if n <= most:
        return np.arange(n, dtype=np.int64)
    chosen = np.random.default_rng(SAMPLE_SEED).choice(n, most, replace=False)
    return np.sort(chosen).astype(np.int64)


def described(request: MapRequest, made: Map, space: Space) -> dict[str, Any]:
    """A map as JSON, without its coordinates; what is undefined is None."""
    quality = None
    if made.quality:
        quality = asdict(made.quality) | {"by_chance": made.quality.by_chance}
        if math.isnan(made.quality.trustworthiness):
            quality["trustworthiness"] = None
    facts: dict[str, Any] = {
        "dataset": request.dataset,
        "encoder": request.variant.encoder,
        "transform": request.variant.transform,
        "metric": request.metric,
        "method": request.method,
        "items": len(made.rows),
        "items_covered": len(space.items),
        "items_total": len(space.dataset.items),
        "quality": quality,
        "explained": made.explained,
        "seconds": made.seconds,
    }
    if request.method is Method.UMAP:
        facts |= {"n_neighbors": request.n_neighbors, "min_dist": request.min_dist, "seed": request.seed}
    return facts


def requests_of(
    spaces: Sequence[Space], metric: Similarity, method: Method, seed: int | None, n_neighbors: int, min_dist: float
) -> list[MapRequest]:
    """The maps of spaces that are shown side by side."""
    encoders = tuple(sorted({space.variant.encoder for space in spaces}))
    return [
        MapRequest(
            space.variant,
            DatasetRef(space.dataset.id),
            metric,
            method,
            () if len(space.items) == len(space.dataset.items) else encoders,
            n_neighbors=n_neighbors,
            min_dist=min_dist,
            seed=seed,
        )
        for space in spaces
    ]


def find(request: MapRequest, space: Space, settings: Settings) -> Map | None:
    """The finished map; None if it was not made yet or its file is damaged."""
    entry = _KEPT.find(_path(request, space, settings))
    return None if entry is None else entry.made


def store(request: MapRequest, space: Space, made: Map, settings: Settings) -> None:
    """Keep a finished map; ``BlindspotError`` if the disk is full or read-only."""
    _KEPT.keep(_path(request, space, settings), _Stored(made, {**asdict(request), "variant": str(request.variant)}))


def _path(request: MapRequest, space: Space, settings: Settings) -> Path:
    return settings.maps / f"{request.key(space)}.npz"


@dataclass(frozen=True, eq=False)
class _Stored:
    """A map with its request."""

    made: Map
    request: Mapping[str, object]


def _to_arrays(stored: _Stored) -> dict[str, Any]:
    made = stored.made
    facts = {
        "quality": asdict(made.quality) if made.quality else None,
        "explained": made.explained,
        "seconds": made.seconds,
        "request": stored.request,
    }
    return {"rows": made.rows, "coordinates": made.coordinates, "facts": json.dumps(facts)}


def _of_arrays(stored: Mapping[str, Any]) -> _Stored:
    facts, rows, coordinates = json.loads(str(stored["facts"])), stored["rows"], stored["coordinates"]
    if len(rows) != len(coordinates):
        raise ValueError("it has not a place for each of its items")
    quality = Quality(**facts["quality"]) if facts["quality"] else None
    explained = tuple(facts["explained"]) if facts["explained"] else None
    return _Stored(Map(rows, coordinates, quality, explained, facts["seconds"]), facts["request"])


_KEPT = Artifacts(_to_arrays, _of_arrays, REMEMBERED)


def make(
    request: MapRequest, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> Map:
    """Make a map, or find it. The embeddings must be cached.

    Raises:
        NoMap: see ``check``.
        NotEncoded: embeddings are not cached.
        BlindspotError: UMAP failed, and nothing half-made is left; or it is not installed.
        Cancelled: the child that fitted UMAP has ended by then.
    """
    cancel = cancel or CancelToken()
    check_library(request.method)
    dataset = fetch.load(request.dataset.entry(), settings, progress, cancel)
    space = space_of(request, dataset, settings)
    if map_found := find(request, space, settings):
        return map_found
    progress("reading the vectors", 0, 1)
    check(request, space)
    if request.method is Method.PCA:
        return principal(request, space, settings)
    progress("waiting for another map", 0, 1)
    folder = settings.maps
    with exclusive(folder / ".umap.lock", cancel):
        if map_found := find(request, space, settings):  # by who held the lock
            return map_found
        remove_leftovers(folder)
        rows = sample_rows(len(space.items), request.most)
        vectors = as_compared(space.vectors[rows], request.metric)
        parameters = {"n_neighbors": request.n_neighbors, "min_dist": request.min_dist, "seed": request.seed}
        fitted = fit_in_child(vectors, request.metric, parameters, folder, settings, progress, cancel)
        coordinates = fitted.coordinates.astype(np.float64)
        progress("measuring the picture", 0, 1)
        made = Map(rows, coordinates, _quality(vectors, request.metric, coordinates), None, fitted.seconds)
        cancel.check()
        store(request, space, made, settings)
    return made


def space_of(request: MapRequest, dataset: Dataset, settings: Settings) -> Space:
    """The space of a request, over the items that all of ``among`` cover; ``NotEncoded`` if they are not cached."""
    others = [Variant(encoder, "none") for encoder in request.among if encoder != request.variant.encoder]
    return open_spaces([request.variant, *others], dataset, settings)[0]


def check(request: MapRequest, space: Space) -> None:
    """Raise ``NoMap`` if the space cannot be drawn."""
    if not np.isfinite(space.vectors).all():
        raise NoMap(f"{space.variant.label} has vectors with NaN or infinite values", expected="finite numbers")
    if len(space.items) < 2 or are_constant(as_compared(space.vectors, request.metric)):
        raise NoMap(
            f"{space.variant.label} gives every text the same vector, so there is nothing to draw",
            remedy="choose another model, similarity or dataset",
        )
    check_count(request, len(space.items))


def check_count(request: MapRequest, items: int) -> None:
    """Raise ``NoMap`` for UMAP of too few items: it needs the neighbors, and some more for its initialization."""
    fewest = max(request.n_neighbors + 2, 10)
    if request.method is Method.UMAP and items < fewest:
        raise NoMap(
            f"UMAP with {request.n_neighbors} neighbors needs {fewest} texts, and there are {items}",
            remedy="choose fewer neighbors or a larger dataset",
        )


def principal(request: MapRequest, space: Space, settings: Settings) -> Map:
    """PCA of a space, found or computed: about a second for 25,000 items; ``NoMap`` as ``check`` raises it."""
    if map_found := find(request, space, settings):
        return map_found
    check(request, space)
    began = perf_counter()
    vectors = as_compared(space.vectors, request.metric)
    rows = sample_rows(len(vectors), request.most)
    plane = principal_plane(vectors[rows])
    measured = _quality(vectors[rows], request.metric, plane.coordinates)
    made = Map(rows, plane.coordinates, measured, plane.explained, perf_counter() - began)
    store(request, space, made, settings)
    return made


def _quality(vectors: np.ndarray, metric: Similarity, coordinates: Float64) -> Quality | None:
    """The quality over at most ``QUALITY_QUERIES`` items, each compared with all that have coordinates."""
    placed = np.isfinite(coordinates).all(axis=1)
    n = int(placed.sum())
    if n < 3:
        return None
    k = min(QUALITY_K, max(1, (n - 1) // 2))
    return quality(vectors[placed], metric, coordinates[placed], k, sample_rows(n, QUALITY_QUERIES))


def estimated_seconds(items: int, request: MapRequest, settings: Settings) -> float:
    """A rough estimate for UMAP: measured on two cores, corrected by the maps in this cache."""
    seeded, shown = request.seed is not None, min(items, request.most)
    guess = shown * SECONDS_PER_ITEM[seeded]
    ratios = []
    for path in sorted(settings.maps.glob("*.npz"), key=lambda p: p.stat().st_mtime)[-20:]:
        if (stored := _KEPT.find(path, mark=False)) is None:
            continue  # damaged
        asked, n = stored.request, len(stored.made.rows)
        if asked["method"] == Method.UMAP and (asked["seed"] is not None) == seeded and n >= 1_000:
            ratios.append(max(stored.made.seconds - LOAD_SECONDS, 1.0) / (n * SECONDS_PER_ITEM[seeded]))
    if ratios:
        guess *= float(np.median(ratios[-5:]))
    has_compiled = any((settings.cache / "numba").glob("umap_*/*.nbi"))
    return guess + (LOAD_SECONDS if has_compiled else FIRST_LOAD_SECONDS)


def check_library(method: Method) -> None:
    """Raise ``LibraryMissing`` if the method is UMAP and UMAP is not installed."""
    if method is Method.UMAP:
        require("umap", "a map by UMAP")


def checked(n_neighbors: int, min_dist: float) -> None:
    """Raise ``InputError`` for a parameter of UMAP that is out of range."""
    if not 2 <= n_neighbors <= MAX_NEIGHBORS:
        raise InputError(f"n_neighbors is {n_neighbors}", expected=f"2 to {MAX_NEIGHBORS}")
    if not 0.0 <= min_dist <= 1.0:
        raise InputError(f"min_dist is {min_dist}", expected="0 to 1")
