"""Search time by size, measured on this machine: faiss's exhaustive indexes, and the search that pages use.

How long a search takes depends on the number of vectors, their dimensions and their precision, not on what they mean:
the vectors are random. Every measurement is kept with the machine's name; nothing is extrapolated.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.files.writing import read_limited, write_atomically
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.settings import Settings
from blindspot.studies.size.grid import FLOAT, Setting
from blindspot.texts import counted
from blindspot.types import CancelToken, Float32, Int64, Progress

VECTORS, QUERIES, NEAREST = 100_000, 64, 10
REPEATS = 3  # after one search to warm up; the median counts
SEED = 20_281_123
MOST_BYTES = 1 << 20  # of the file
Search = Callable[[], Int64]  # rows of the nearest of each query


@dataclass(frozen=True)
class Timing:
    """Milliseconds per query: of faiss's index for the precision, None where it has none, and of pages' own search,
    which compares codes as float32 numbers; both with comparing the ``rescored`` best again, from memory."""

    dimension: int
    precision: str
    faiss_ms: float | None
    own_ms: float
    rescored: int = 0

    @property
    def key(self) -> tuple[int, str, int]:
        return self.dimension, self.precision, self.rescored


@dataclass(frozen=True)
class Measured:
    """Timings of one machine.

    Attributes:
        machine: processor and threads.
        vectors, queries, nearest: searched vectors, queries at once, neighbors of each.
    """

    machine: str
    vectors: int
    queries: int
    nearest: int
    timings: tuple[Timing, ...]

    def of(self, setting: Setting) -> Timing | None:
        wanted = (setting.dimension, setting.precision, setting.rescored)
        return next((t for t in self.timings if t.key == wanted), None)

    @property
    def in_words(self) -> str:
        again = " Best that are compared again are read from memory." if any(t.rescored for t in self.timings) else ""
        return (
            f"Search time: the {self.nearest} nearest of {self.vectors:,} random vectors, {self.queries} queries at "
            f"once, per query, measured on {self.machine}.{again}"
        )


def machine_here() -> str:
    """Processor of this machine, and the threads that searches use."""
    import faiss

    return f"{_processor()}, {counted(faiss.omp_get_max_threads(), 'thread')}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        if named:
            return named
    return platform.processor() or platform.machine()


def measure(settings: Iterable[Setting], progress: Progress, cancel: CancelToken, vectors: int = VECTORS) -> Measured:
    """Time the search of every setting; raises ``Cancelled`` between two."""
    wanted = list(dict.fromkeys((setting.dimension, setting.precision, setting.rescored) for setting in settings))
    timings: dict[tuple[int, int], float] = {}
    out = []

    def own_search(documents: Float32, queries: Float32, nearest: int) -> Search:
        index = ExactIndex(documents, Similarity.COS)
        return lambda: index.of_vectors(queries, nearest).rows

    for number, (dimension, precision, rescored) in enumerate(wanted):
        progress("timing searches", number, len(wanted))
        cancel.check()
        drawn = np.random.default_rng(SEED).standard_normal((vectors + QUERIES, dimension), dtype=np.float32)
        documents, queries = drawn[:vectors], drawn[vectors:]
        nearest = min(max(NEAREST, rescored), vectors)
        if (dimension, rescored) not in timings:
            search = own_search(documents, queries, nearest)
            timings[dimension, rescored] = _milliseconds(_again(search, documents, queries) if rescored else search)
        timing = _faiss(precision, documents, queries, nearest)
        if timing is not None and rescored:
            timing = _again(timing, documents, queries)
        faiss_ms = None if timing is None else _milliseconds(timing)
        out.append(Timing(dimension, precision, faiss_ms, timings[dimension, rescored], rescored))
    return Measured(machine_here(), vectors, QUERIES, NEAREST, tuple(out))


def _again(search: Search, documents: Float32, queries: Float32) -> Search:
    """A search that compares its results again in float32 and takes the nearest of them."""

    def both() -> Int64:
        rows = search()
        scores = np.einsum("qd,qmd->qm", queries, documents[rows])
        best = np.argsort(-scores, axis=1)[:, :NEAREST]
        return np.take_along_axis(rows, best, axis=1)

    return both


def _faiss(precision: str, documents: Float32, queries: Float32, nearest: int) -> Search | None:
    """A search in a built exhaustive index of faiss; None if it has no index for the precision."""
    import faiss

    d = documents.shape[1]
    if precision == FLOAT:
        flat = faiss.IndexFlatIP(d)
        flat.add(documents)
        return lambda: np.asarray(flat.search(queries, nearest)[1])
    if precision in ("int8", "int8-decoded", "int8-docs"):
        quantized = faiss.IndexScalarQuantizer(d, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        quantized.train(documents)
        quantized.add(documents)
        return lambda: np.asarray(quantized.search(queries, nearest)[1])
    if precision == "binary":
        packed, asked = np.packbits(documents > 0, axis=-1), np.packbits(queries > 0, axis=-1)
        bits = faiss.IndexBinaryFlat(packed.shape[1] * 8)
        bits.add(packed)
        return lambda: np.asarray(bits.search(asked, nearest)[1])
    return None


def _milliseconds(search: Search) -> float:
    """Median time of a search per query."""
    search()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        search()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / QUERIES * 1_000


# --- kept


def path_of(settings: Settings) -> Path:
    return settings.cache / "search-times.json"


def keep(timings: Measured, settings: Settings) -> Measured:
    """Store timings, and keep earlier ones of this machine and number of vectors that were not measured again."""
    before = read(settings)
    new = {t.key: t for t in timings.timings}
    old = before.timings if before and (before.machine, before.vectors) == (timings.machine, timings.vectors) else ()
    merged = {t.key: t for t in old} | new
    kept = Measured(timings.machine, timings.vectors, timings.queries, timings.nearest, tuple(merged.values()))
    data = json.dumps(asdict(kept), indent=1).encode()
    write_atomically(path_of(settings), lambda file: file.write(data))
    return kept


def read(settings: Settings) -> Measured | None:
    """The stored timings, None where there are none.

    Raises:
        BlindspotError: the file is damaged.
    """
    path = path_of(settings)
    if not path.is_file():
        return None
    try:
        content: dict[str, Any] = json.loads(read_limited(path, MOST_BYTES))
        timings = tuple(Timing(**fields) for fields in content.pop("timings"))
        return Measured(**content, timings=timings)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BlindspotError(f"{path} is damaged: {error}", remedy="delete it and measure again") from error
