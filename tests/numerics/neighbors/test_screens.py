"""The highest scores of some queries, by whole products and by codes, and when codes are taken."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.flagging import room_for_scores
from blindspot.numerics.neighbors.screens import Kept, codes_pay
from blindspot.numerics.sides import Side, coded_side, whole_side
from blindspot.numerics.similarity import unit_vectors
from blindspot.types import Float32
from tests.support.ranking import rows_of

NO_HALVES = np.empty(0, dtype=np.float32)


@pytest.mark.parametrize("is_coded", [False, True])
def test_the_highest_are_kept_and_none_below_the_floor(is_coded: bool) -> None:
    rows = rows_of(1, 500, 60, 0.7, 1.0)
    origin = rows.mean(axis=0)

    def side(some: Float32, *, is_left: bool) -> Side:
        return coded_side(some, origin, is_left=is_left) if is_coded else whole_side(some)

    exact = rows[:40].astype(np.float64) @ rows.astype(np.float64).T
    floors = np.full(40, -np.inf, dtype=np.float32)
    floors[20:] = np.sort(exact, axis=1)[20:, -5] - 1e-5  # only five are that high
    kept, memory = Kept(floors.copy(), 9), room_for_scores(40, 130)
    for first in range(0, 500, 130):
        right = side(rows[first : first + 130], is_left=False)
        kept.add(side(rows[:40], is_left=True), right, NO_HALVES, first, memory)
    lowest = np.sort(exact, axis=1)[:, -9]
    assert np.all(kept.filled[1:20] == 9)
    np.testing.assert_allclose(kept.scores[1:20].min(axis=1), lowest[1:20], rtol=0, atol=1e-6)
    np.testing.assert_allclose(kept.floors[1:20], lowest[1:20], rtol=0, atol=1e-6)
    for i in range(20, 40):
        found = kept.items[i, : kept.filled[i]]
        assert sorted(found.tolist()) == np.flatnonzero(exact[i] >= floors[i]).tolist()
        assert kept.floors[i] == floors[i]


def test_codes_are_taken_where_they_leave_few() -> None:
    """Also of rows in which one coordinate stands out, since they are coded around their mean."""
    matrix = np.random.default_rng(0).standard_normal((1_000, 384)).astype(np.float32)
    for mean in (0.0, 60.0):
        matrix[:, 0] += np.float32(mean)
        rows = unit_vectors(matrix)
        exact = rows[:100].astype(np.float64) @ rows.T.astype(np.float64)
        floors = np.sort(exact, axis=1)[:, -10]
        assert codes_pay(rows[:100], rows[100:600], floors.astype(np.float32), rows.mean(axis=0))
        nobody_left_out = np.full(100, -1.0, dtype=np.float32)
        assert not codes_pay(rows[:100], rows[100:600], nobody_left_out, rows.mean(axis=0))
