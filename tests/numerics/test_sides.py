"""Sides of products: scores are off by no more than is said, whatever the rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.numerics import coarse
from blindspot.numerics.sides import Side, coded_side, part_side, whole_side
from blindspot.types import Float64
from tests.support.ranking import rows_of


def scores_and_bounds(left: Side, right: Side) -> tuple[Float64, Float64]:
    """As ``Side`` says, in float64."""
    if left.codes is None or right.codes is None:
        scores = left.rows.astype(np.float64) @ right.rows.astype(np.float64).T
    else:
        width = left.rows.shape[1]
        codes = [side.codes.codes[:, :width].astype(np.float64) for side in (left, right) if side.codes]
        scores = codes[0] @ codes[1].T * np.outer(left.codes.steps, right.codes.steps) + np.outer(left.head, right.head)
    bounds = np.outer(left.rest.astype(np.float64), right.rest) + left.off
    return scores + left.shift[:, None], bounds


ANY_ROWS = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.integers(2, 40),
    "d": st.integers(2, 120),
    "decay": st.sampled_from([0.0, 0.7]),
    "mean": st.sampled_from([0.0, 1.0, 30.0]),
}


@given(**ANY_ROWS, shift=st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=150)
def test_no_product_of_codes_is_farther_off_than_its_bound(
    seed: int, n: int, d: int, decay: float, mean: float, shift: float
) -> None:
    """With the rows' own mean as origin, and with another."""
    rows = rows_of(seed, n, d, decay, mean)
    exact = rows.astype(np.float64) @ rows.astype(np.float64).T
    origin = (rows.mean(axis=0) + shift / np.sqrt(d)).astype(np.float32)
    scores, bounds = scores_and_bounds(coded_side(rows, origin, is_left=True), coded_side(rows, origin, is_left=False))
    assert np.all(np.abs(scores - exact) <= bounds)


@given(**ANY_ROWS, share=st.floats(0.1, 1.0), has_codes=st.booleans())
@settings(deadline=None, max_examples=150)
def test_no_product_of_first_coordinates_is_farther_off_than_its_bound(
    seed: int, n: int, d: int, decay: float, mean: float, share: float, *, has_codes: bool
) -> None:
    """Codes are of all coordinates or of just these, and never of the very first."""
    rows = rows_of(seed, n, d, decay, mean)
    width = max(1, round(share * d))
    left_out = np.linalg.norm(rows[:, width:].astype(np.float64), axis=1)
    coded = rows.copy()
    coded[:, 0] = 0
    codes = coarse.coded(coded) if has_codes else None
    side = part_side(rows[:, :width], (left_out * (1 + 2.0**-20)).astype(np.float32), 2.0**-20, codes)
    exact = rows.astype(np.float64) @ rows.astype(np.float64).T
    scores, bounds = scores_and_bounds(side, side)
    assert np.all(np.abs(scores - exact) <= bounds)


def test_codes_around_the_mean_are_finer() -> None:
    """Where all rows point in much the same direction, what they differ by is small."""
    rows = rows_of(3, 200, 96, 0.0, 30.0)[2:]
    narrow = coded_side(rows, rows.mean(axis=0), is_left=False)
    wide = coded_side(rows, np.zeros(96, dtype=np.float32), is_left=False)
    assert narrow.rest.mean() < wide.rest.mean() / 3


def test_whole_rows_need_no_bound() -> None:
    side = whole_side(rows_of(4, 10, 8, 0.0, 0.0))
    scores, bounds = scores_and_bounds(side, side)
    assert scores.shape == (10, 10)
    assert not bounds.any()
