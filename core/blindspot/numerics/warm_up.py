"""Compilation of all kernels before anybody waits for them.

As a program (``python -m blindspot.numerics.warm_up``) it fills numba's cache, with the lowest priority and in a
process of its own: compiling would hold the interpreter of a server. It ends when its input does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.neighbors.screens import Kept
from blindspot.numerics.ranking.judged import Judged, search
from blindspot.numerics.ranking.problem import TAU, prepare, slack_of_float32
from blindspot.numerics.ranking.pruning import Part, Plan, axes_of, plan
from blindspot.numerics.ranking.tiles import QueryTile, Tile
from blindspot.numerics.sides import coded_side
from blindspot.numerics.similarity import Similarity
from blindspot.settings import LAUNCH_FOLDER
from blindspot.types import CancelToken, Float32, no_progress

LIBRARIES = ("numba", "llvmlite", "numpy")
KERNELS = ("kernels.py", "flag_kernels.py")
_ROWS, _DIMENSION, _QUERIES = 24, 32, 8  # enough for 16 first coordinates


def warm_up() -> None:
    """Call every kernel once, as rankings and searches do: compiled unless numba's cache has it.

    Stored embeddings are mapped into memory and cannot be written, which numba compiles separately.
    """
    matrix = np.random.default_rng(0).standard_normal((_ROWS, _DIMENSION)).astype(np.float32)
    mapped = matrix.copy()
    mapped.flags.writeable = False
    for one in (matrix, mapped):
        _rank(one)
        _search(one)


def _rank(matrix: Float32) -> None:
    """By whole products, by first coordinates and by codes."""
    queries = np.arange(_QUERIES, dtype=np.int32)
    cosine, slack = Similarity.COS, slack_of_float32(_DIMENSION)
    problem = prepare(matrix, queries, queries + np.int32(_QUERIES), cosine, TAU, 1, slack)
    above, tied = np.zeros((2, _QUERIES), dtype=np.int64)
    everything, memory = slice(0, _ROWS), room_for_scores(_QUERIES, _ROWS)
    asked = QueryTile(problem, slice(0, _QUERIES))
    tile = Tile(problem, everything, TAU, memory)
    tile.count(asked, above, tied)
    tile.count_coded(asked, above, tied)

    plan(problem, _ROWS, 1, has_codes=True)
    axes = axes_of(tile.right)
    assert axes is not None  # noqa: S101 - random rows have directions
    left = axes.rotate(problem.left, np.ones(_QUERIES))
    by_part = Plan(problem, axes, left, np.array([_QUERIES], dtype=np.int64), has_codes=False)
    part = Part(by_part, left, 0)
    asked = QueryTile(problem, slice(0, _QUERIES), part)
    Tile(problem, everything, TAU, memory, by_part).count_by_part(asked, part, above, tied)


def _search(matrix: Float32) -> None:
    """For neighbors, by products and by codes, and for judged documents."""
    index = ExactIndex(matrix, Similarity.COS)
    vectors = np.array(matrix[:_QUERIES])
    for some in (vectors, matrix[:_QUERIES]):
        index._nearest_of_many(some, 2, None, 3)
    origin, kept = index._origin, Kept(np.zeros(_QUERIES, dtype=np.float32), 3)
    left, right = coded_side(vectors, origin, is_left=True), coded_side(index._rows, origin, is_left=False)
    kept.add(left, right, np.empty(0, dtype=np.float32), 0, room_for_scores(_QUERIES, _ROWS))
    asked = Judged(np.arange(_QUERIES + 1), np.arange(_QUERIES))
    search(matrix, asked, Similarity.COS, no_progress, CancelToken(), k=2)


def compile_elsewhere() -> None:
    """Fill numba's cache (``NUMBA_CACHE_DIR``, see ``prepare_runtime``) by another process, unless that was done for
    these kernels and libraries; returns when it has ended."""
    if (folder := os.environ.get("NUMBA_CACHE_DIR")) and not (Path(folder) / _mark()).exists():
        with subprocess.Popen(
            [sys.executable, "-m", "blindspot.numerics.warm_up"],
            cwd=LAUNCH_FOLDER,
            stdin=subprocess.PIPE,  # held open: when it closes, the child ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            said = child.stderr.read().strip().splitlines() if child.stderr else []
            if child.wait():
                raise BlindspotError(f"the kernels could not be compiled: {said[-1] if said else 'it was ended'}")


def _mark() -> str:
    """Name of the file that says that everything is compiled; another checkout's is another, as numba has it."""
    here = Path(__file__)  # absolute, links in it not followed
    known = sha256(b"".join(here.with_name(name).read_bytes() for name in (*KERNELS, here.name)))
    known.update(f"{here} {sys.version}".encode())
    for library in LIBRARIES:
        try:
            known.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError:  # in a bundle without metadata
            continue
    return f"compiled-{known.hexdigest()[:16]}"


def _end_with_input() -> None:
    while os.read(0, 1024):  # by the number: an object of Python's would be locked at the end
        pass
    os._exit(1)


def _main() -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(19)
    warm_up()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    (folder / _mark()).touch()


if __name__ == "__main__":
    _main()
