"""``python -m blindspot.space.maps.worker FOLDER``: fit UMAP to the vectors in a folder; started by ``child``.

Reads ``vectors.npy`` and ``parameters.json``, writes ``coordinates.npy``, and reports progress on stdout, a JSON object
per line. Neighbors are exact, not those of UMAP's approximate search. It ends when its stdin closes: its parent is
gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from pathlib import Path
from time import perf_counter
from typing import TextIO

import numpy as np

from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.types import Float32, Int32

ROWS_AT_ONCE = 1_000
ABANDONED = 3  # exit code of a child whose parent is gone
LOADING = "loading UMAP (the first time it is compiled, which takes a minute)"


class _Epochs:
    """The file that UMAP writes its progress bar to: "30/200" becomes a line of progress."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        done, _, total = text.strip().partition("/")
        if done.isdecimal() and total.isdecimal():
            tell(self._out, "drawing, epoch", int(done), int(total))
        return len(text)

    def flush(self) -> None:
        """There is nothing to flush."""


def tell(out: TextIO, stage: str, done: int = 0, total: int = 0, seconds: float = 0.0) -> None:
    """Write a line of progress; a total of 0 is an unknown one."""
    out.write(json.dumps({"stage": stage, "done": done, "total": total, "seconds": seconds}) + "\n")
    out.flush()


def fit(
    vectors: Float32, metric: Similarity, n_neighbors: int, min_dist: float, seed: int | None, out: TextIO
) -> Float32:
    """UMAP in two dimensions, ``[n, 2] float32``, of ``[n, d]`` from ``projection.as_compared``.

    With a seed it runs on one thread and gives the same result every time.
    """
    rows, distances = _graph(vectors, metric, n_neighbors, out)
    tell(out, LOADING)
    warnings.simplefilter("ignore")
    import umap

    tell(out, "building the graph")
    fitted = umap.UMAP(
        n_neighbors=n_neighbors,
        min_dist=min_dist,
        metric="cosine" if metric is Similarity.COS else "euclidean",
        precomputed_knn=(rows, distances),
        force_approximation_algorithm=True,  # else small data is compared again
        random_state=seed,
        n_jobs=-1 if seed is None else 1,
        tqdm_kwds={"file": _Epochs(out), "bar_format": "{n}/{total}", "mininterval": 0.3, "disable": False},
    ).fit(vectors)
    return np.asarray(fitted.embedding_, dtype=np.float32)


def _graph(vectors: Float32, metric: Similarity, n_neighbors: int, out: TextIO) -> tuple[Int32, Float32]:
    """Each item's nearest, itself first, and their distances: ``[n, n_neighbors]`` both."""
    index, n = ExactIndex(vectors, metric), len(vectors)
    rows = np.empty((n, n_neighbors), dtype=np.int32)
    distances = np.zeros((n, n_neighbors), dtype=np.float32)
    for start in range(0, n, ROWS_AT_ONCE):
        tell(out, "finding neighbors", start, n)
        asked = np.arange(start, min(start + ROWS_AT_ONCE, n), dtype=np.int64)
        nearest = index.of_rows(asked, n_neighbors - 1)
        rows[asked, 0], rows[asked, 1:] = asked, nearest.rows
        far = 1.0 - nearest.similarity if metric is Similarity.COS else 1.0 / nearest.similarity - 1.0
        distances[asked, 1:] = np.maximum(far, 0.0)
    return rows, distances


def _end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(ABANDONED)


def main(folder: Path) -> None:
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    out = sys.stdout
    sys.stdout = sys.stderr  # libraries print too
    parameters = json.loads((folder / "parameters.json").read_text("utf-8"))
    began = perf_counter()
    coordinates = fit(
        np.load(folder / "vectors.npy"),
        Similarity(parameters["metric"]),
        parameters["n_neighbors"],
        parameters["min_dist"],
        parameters["seed"],
        out,
    )
    np.save(folder / "coordinates.npy", coordinates)
    tell(out, "done", 1, 1, perf_counter() - began)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
