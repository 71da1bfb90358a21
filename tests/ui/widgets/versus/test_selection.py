"""Areas of figures, however they are written, and the rows that share a dot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.errors import InputError
from blindspot.ui.widgets.versus.selection import Area, Dots

RANKS = st.lists(st.tuples(*[st.sampled_from([1.0, 1.5, 2.0, 7.0, 300.0, math.nan])] * 2), min_size=1, max_size=20)
ENDS = st.lists(st.floats(0.5, 400, allow_nan=False), min_size=4, max_size=4)


@given(RANKS, ENDS)
def test_an_area_holds_what_lies_in_it_and_can_be_written_by_its_ranks(
    ranks: list[tuple[float, float]], ends: list[float]
) -> None:
    area = Area(*sorted(ends[:2]), *sorted(ends[2:]))
    a, b = np.array(ranks).T
    inside = [area.a_low <= x <= area.a_high and area.b_low <= y <= area.b_high for x, y in ranks]
    assert area.holds(a, b).tolist() == inside
    around = area.around(a, b)
    assert (around is not None) == any(inside)
    if around is not None:
        assert Area.parse(str(around)) == around
        assert around.holds(a, b).tolist() == inside


def test_an_area_is_read_however_it_is_spaced() -> None:
    assert Area.parse(" 1-3 , 10 - 500.5") == Area(1, 3, 10, 500.5)
    for wrong in ("", "1-3", "1-3,5", "a-b,c-d", "1-3,5-6,7-8"):
        with pytest.raises(InputError, match="no area of the figure"):
            Area.parse(wrong)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20), st.sets(st.integers(0, 25)))
def test_rows_at_one_place_share_a_dot(places: list[tuple[int, int]], picked: set[int]) -> None:
    numbers = np.arange(len(places)) + 5
    a, b = np.array(places, dtype=np.float64).T
    there = {places[number - 5] for number in picked if 0 <= number - 5 < len(places)}
    wanted = [number for number, place in zip(numbers.tolist(), places, strict=True) if place in there]
    assert Dots("data", numbers, a, b).sharing(sorted(picked)) == wanted
