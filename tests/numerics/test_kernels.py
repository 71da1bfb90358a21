"""Compiled loops that others build on, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.numerics.kernels import keep_highest


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.integers(1, 7), st.integers(1, 9))
def test_the_highest_of_many_tiles_are_kept_whatever_their_order(scores: list[int], width: int, tile: int) -> None:
    line = np.array([scores], dtype=np.float32)
    kept, items = np.full((1, width), -np.inf, dtype=np.float32), np.zeros((1, width), dtype=np.int64)
    floors, none, filled = np.full(1, -np.inf, dtype=np.float32), np.empty(0, dtype=np.float32), 0
    for first in range(0, len(scores), tile):
        some = line[:, first : first + tile].copy()
        keep_highest(some, none, first, kept, items, filled, floors)
        filled = min(filled + some.shape[1], width)
        assert kept[0, 0] == kept[0, :filled].min(), "the lowest is first"
    found = kept[0, :filled].tolist()
    assert sorted(found, reverse=True) == sorted(map(float, scores), reverse=True)[:width]
    assert found == [float(scores[item]) for item in items[0, :filled].tolist()]
