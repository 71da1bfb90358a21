"""Kernel densities and quantiles, against sums over all values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics.density import GRID, NARROWEST, REACH, Quantiles, bandwidth, density
from tests.support.tables import each


def test_a_density_is_a_sum_of_kernels() -> None:
    values = np.random.default_rng(0).normal(0.6, 0.1, 300)
    found = density(values, 1.0)
    width = bandwidth(values, 1.0)
    assert len(found.at) == len(found.heights) == GRID
    for x, height in zip(found.at, found.heights, strict=True):
        kernels = (math.exp(-0.5 * ((x - v) / width) ** 2) for v in values)
        assert height == pytest.approx(math.fsum(kernels) / (300 * width * math.sqrt(2 * math.pi)), rel=1e-9)
    assert np.trapezoid(found.heights, found.at) == pytest.approx(1.0, abs=5e-3)


def test_silvermans_bandwidth_by_hand() -> None:
    """1, 2, 3, 4: sd sqrt(5/3) = 1.291, quartiles 1.75 and 3.25, 1.5 / 1.34 = 1.1194, the smaller."""
    assert bandwidth(np.array([1.0, 2.0, 3.0, 4.0]), 1.0) == pytest.approx(0.9 * (1.5 / 1.34) * 4**-0.2)
    alike_in_the_middle = np.array([0.0, *[1.0] * 8, 2.0])
    assert bandwidth(alike_in_the_middle, 1.0) == pytest.approx(0.9 * alike_in_the_middle.std(ddof=1) * 10**-0.2)


@each("values", [[0.7], [0.7, 0.7], [0.7] * 500, [0.7, 0.7 + 1e-16]])
def test_values_that_are_all_alike_have_a_narrow_hill(values: list[float]) -> None:
    found = density(np.array(values), 2.0)
    assert np.isfinite(found.heights).all()
    assert found.at[int(found.heights.argmax())] == pytest.approx(0.7, abs=2.0 * NARROWEST / 10)
    assert found.at[0] == pytest.approx(0.7 - REACH * NARROWEST * 2.0)


def test_a_hill_ends_where_it_must_but_never_before_its_values() -> None:
    values = np.array([0.9, 0.95, 1.0])
    assert density(values, 1.0, highest=1.0).at[-1] == 1.0
    assert density(values, 1.0, highest=0.5).at[-1] == 1.0
    assert density(values, 1.0).at[-1] > 1.0


@each(("values", "span"), [([], 1.0), ([0.1, math.nan], 1.0), ([0.1, math.inf], 1.0), ([0.1], 0.0)])
def test_what_has_no_density_is_refused(values: list[float], span: float) -> None:
    with pytest.raises(ValueError, match="needs finite values and a positive span"):
        density(np.array(values), span)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.floats(0.05, 2))
def test_every_hill_is_finite_and_has_a_peak(values: list[float], span: float) -> None:
    found = density(np.array(values), span, highest=1.0)
    assert np.isfinite(found.heights).all()
    assert (found.heights >= 0).all()
    assert found.heights.max() > 0
    assert (np.diff(found.at) > 0).all()


def test_quantiles_by_hand() -> None:
    assert Quantiles.of(np.arange(101) / 100) == Quantiles(0.05, 0.25, 0.5, 0.75, 0.95)
    assert Quantiles.of(np.array([0.3])) == Quantiles(0.3, 0.3, 0.3, 0.3, 0.3)
