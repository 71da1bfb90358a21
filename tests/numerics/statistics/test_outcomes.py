"""Outcomes of items against a slow loop: who wins them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics.outcomes import Outcome, Outcomes


@given(st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 0.5, math.nan]), st.booleans()), max_size=30))
def test_of_gains(rows: list[tuple[float, bool]]) -> None:
    gain, right = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows], dtype=bool)
    found = Outcomes.of_gains(gain, right)
    for place, (won, is_right) in enumerate(rows):
        alike = Outcome.BOTH_RIGHT if is_right else Outcome.BOTH_WRONG
        expected = Outcome.WON_BY_A if won > 0 else Outcome.WON_BY_B if won < 0 else alike
        of = [outcome for outcome in Outcome if found.of(outcome)[place]]
        assert of == ([] if math.isnan(won) else [expected])
    assert found.counts == {o: int(found.of(o).sum()) for o in Outcome}
