"""Matrices that are hard to rank, and their ranks by a slow obvious loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.similarity import Similarity, unit_vectors
from blindspot.types import Float32
from tests.support import evalrank_reference

Pairs = Sequence[tuple[int, int]]


def rank_slowly(matrix: Float32, pairs: Pairs, metric: Similarity) -> list[evalrank_reference.ReferenceCount]:
    vectors = matrix.astype(np.float64).tolist()
    return [evalrank_reference.count(vectors, query, match, metric.value, set()) for query, match in pairs]


def greater_and_ties(counts: RankCounts) -> list[tuple[int, int]]:
    return list(zip(counts.greater.tolist(), counts.ties.tolist(), strict=True))


SIZES = (1e-44, 1e-30, 3e-23, 1e-10, 1e-3, 1.0, 1e3, 1e10, 1e17, 1e19, 1e30, 3e38)
NUDGES = (3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 1e-3)


@st.composite
def matrices(draw: st.DrawFn) -> Float32:
    """``[n, d] float32``: fresh vectors, zeros, copies, copies of other length, copies nudged by about tau."""
    dimension = draw(st.integers(1, 64))
    size = draw(st.sampled_from(SIZES))
    sizes = draw(st.sampled_from([(1.0,), (1.0, 1e-3, 1e-7), (1.0, 1e-20)]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole_numbers = draw(st.booleans())
    rows: list[np.ndarray] = []
    for kind in draw(st.lists(st.sampled_from(["fresh", "fresh", "zero", "copy", "scaled", "nudged"]), min_size=2)):
        earlier = rows[draw(st.integers(0, len(rows) - 1))] if rows else np.zeros(dimension)
        if kind == "fresh" or not rows:
            row = random.uniform(-1, 1, dimension) * draw(st.sampled_from(sizes))
            rows.append(np.round(4 * row) / 4 if whole_numbers else row)
        elif kind == "zero":
            rows.append(np.zeros(dimension))
        elif kind == "copy":
            rows.append(earlier)
        elif kind == "scaled":
            rows.append(earlier * draw(st.sampled_from([0.5, 0.3, -1.0])))
        else:
            rows.append(earlier * (1 + draw(st.sampled_from(NUDGES)) * random.standard_normal(dimension)))
    with np.errstate(under="ignore"):
        return np.clip(np.array(rows) * size, -3.4e38, 3.4e38).astype(np.float32)


def vectors_that_round_badly(dimension: int) -> Float32:
    random = np.random.default_rng(dimension)
    return np.vstack(
        [
            random.standard_normal((40, dimension)),
            random.uniform(0.5, 1, (20, dimension)),  # all of one sign: errors add up
            np.ones((1, dimension)),
            np.full((1, dimension), 1 / 3),
            random.standard_normal((20, dimension)) * 10.0 ** random.uniform(-4, 4, (20, 1)),  # of every length
            np.zeros((1, dimension)),
        ]
    ).astype(np.float32)


def rows_of(seed: int, n: int, d: int, decay: float, mean: float) -> Float32:
    """Unit rows around a mean, whose spread falls from one coordinate to the next; zeros and copies among them."""
    random = np.random.default_rng(seed)
    rows = random.standard_t(3, (n, d)) * np.arange(1, d + 1) ** -decay
    rows[:, 0] += mean
    rows[0], rows[1] = 0, rows[-1]
    return unit_vectors(rows.astype(np.float32))
