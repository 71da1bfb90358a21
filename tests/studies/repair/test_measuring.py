"""Differences of shares before and after a repair, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.studies.repair.measuring import _less


def test_where_nothing_changed_the_bound_is_that_of_no_change_in_n() -> None:
    """Clopper and Pearson: 0 of 10 have changed, so at most 1 - 0.025^(1/10) = 30.8% do."""
    same = np.linspace(0.1, 0.9, 10)
    found = _less(same, same, Dependence.of_groups(np.arange(10), Unit.EXAMPLES))
    assert (found.value, found.low, found.high) == pytest.approx((0.0, -0.3085, 0.3085), abs=1e-4)


def test_where_something_changed_the_mean_says_how_much() -> None:
    before, after = np.zeros(20), np.tile([0.0, 0.5], 10)
    found = _less(after, before, Dependence.of_groups(np.arange(20), Unit.EXAMPLES))
    assert found.value == pytest.approx(0.25)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.25 < found.high
