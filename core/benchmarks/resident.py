"""Memory needed by ranking, measured in a process of its own.

``python -m benchmarks.resident ITEMS QUERIES [FILE]`` ranks random items of 384 dimensions, or those of a
file, and writes the figures to stdout.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil

from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.settings import ROOT, Settings, prepare_runtime
from blindspot.types import CancelToken, Float32, no_progress

DIMENSION = 384
_ROWS = 50_000  # made at a time
_LOOK_SECONDS = 0.005


@dataclass(frozen=True)
class Resident:
    """Bytes of a process, and seconds.

    Attributes:
        peak: peak resident memory, including mapped pages of files.
        beyond: the peak less what was resident before ranking: the embeddings, the interpreter and its libraries.
        own: peak resident memory without pages of files; None if the system does not report it.
        seconds: that ranking took.
    """

    peak: int
    beyond: int
    own: int | None
    seconds: float


def in_memory(items: int, queries: int) -> Resident:
    """Rank in a new process that has the items; raises ``BlindspotError`` if it failed."""
    return _in_child(items, queries)


def on_disk(items: int, queries: int) -> Resident:
    """Rank in a new process that maps the items' file, which is written here, outside of its memory.

    Raises:
        BlindspotError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.npy"
        mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(items, DIMENSION))
        _fill(mapped)
        mapped.flush()
        del mapped
        return _in_child(items, queries, str(path))


def _in_child(items: int, queries: int, *file: str) -> Resident:
    command = [sys.executable, "-m", "benchmarks.resident", str(items), str(queries), *file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 0:
        raise BlindspotError(f"ranking {items:,} items in a process of its own failed: {done.stderr.strip()[-500:]}")
    return Resident(**json.loads(done.stdout))


def _rank(matrix: Float32, queries: int) -> RankCounts:
    order = np.random.default_rng(1).permutation(len(matrix)).astype(np.int32)
    return rank_pairs(matrix, order[:queries], order[-queries:], Similarity.COS, no_progress, CancelToken())


def _fill(matrix: Float32) -> None:
    """Random rows, made in parts, so that making them does not set the peak."""
    rng = np.random.default_rng(7)
    for start in range(0, len(matrix), _ROWS):
        part = matrix[start : start + _ROWS]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)


def own_bytes() -> int | None:
    """Resident now, without pages of files."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
    return 1024 * int(lines["RssAnon"].split()[0]) if "RssAnon" in lines else None


class Watch:
    """Samples the process's own bytes every few milliseconds; the system tracks the peak of all bytes itself."""

    def __init__(self) -> None:
        self.own: int | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._end.wait(_LOOK_SECONDS):
            now = own_bytes()
            self.own = None if now is None else max(now, self.own or 0)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def _peak_bytes() -> int:
    status = Path("/proc/self/status")
    if status.is_file():  # there ru_maxrss starts at the parent process's peak
        lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
        return 1024 * int(lines["VmHWM"].split()[0])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _measure(matrix: Float32, queries: int) -> Resident:
    _rank(np.eye(DIMENSION, dtype=np.float32), 10)  # compiles and loads the libraries
    before = psutil.Process().memory_info().rss
    with Watch() as watch:
        start = perf_counter()
        _rank(matrix, queries)
        seconds = perf_counter() - start
    peak = _peak_bytes()
    return Resident(peak, peak - before, watch.own, seconds)


def _main(items: int, queries: int, file: str = "") -> None:
    prepare_runtime(Settings.from_environment())
    if file:
        matrix = np.load(file, mmap_mode="r")
    else:
        matrix = np.empty((items, DIMENSION), dtype=np.float32)
        _fill(matrix)
    sys.stdout.write(json.dumps(asdict(_measure(matrix, queries))))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
