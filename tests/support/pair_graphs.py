"""Graphs of pairs that share texts, as the two ends of every pair."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from blindspot.types import Int64

FEW_TEXTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)


def ends(pairs: list[tuple[int, int]]) -> tuple[Int64, Int64]:
    array = np.array(pairs, dtype=np.int64)
    return 100 - 7 * array[:, 0], 100 - 7 * array[:, 1]  # numbers with gaps


def stars(queries: int, matches: int, of: int | None = None) -> tuple[Int64, Int64]:
    """Queries with matches of their own, or of a common stock of ``of``."""
    left = np.repeat(np.arange(queries), matches)
    if of is None:
        return left, queries + np.arange(queries * matches)
    draw = np.random.default_rng(9)
    return left, queries + np.concatenate([draw.choice(of, matches, replace=False) for _ in range(queries)])


def random_graph(texts: int, pairs: int, seed: int = 7) -> tuple[Int64, Int64]:
    draw = np.random.default_rng(seed)
    return draw.integers(texts, size=pairs), draw.integers(texts, size=pairs)
