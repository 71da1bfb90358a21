"""The simulated large sweep: its sums by hand, and what failures cost."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.large import SECONDS_TO_START, Sweep, lines, with_failures
from blindspot.runs.packs.groups import grouped, makespan

LOAD, UNITS = 10.0, (3600.0, 7200.0, 1800.0)


def test_without_failures_it_is_the_makespan() -> None:
    groups = [(LOAD, UNITS), (LOAD, UNITS[:1]), (LOAD, UNITS[1:])]
    seconds, failures = with_failures(groups, 2, hours_between=1e9)
    assert failures == 0
    assert seconds == pytest.approx(makespan([LOAD + sum(units) for _, units in groups], 2))


def test_a_failure_costs_a_start_a_load_and_at_most_the_run_that_was_lost() -> None:
    seconds, failures = with_failures([(LOAD, UNITS)] * 20, 1, hours_between=5)
    whole = 20 * (LOAD + sum(UNITS))
    assert failures > 5
    assert whole + failures * (SECONDS_TO_START + LOAD) <= seconds
    assert seconds <= whole + failures * (SECONDS_TO_START + LOAD + max(UNITS))


def test_each_run_is_counted_once_and_a_model_s_first_loads_it() -> None:
    sweep = Sweep.made(models=5, datasets=4)
    assert sum(cost.seconds or 0 for cost in sweep.costs()) == pytest.approx(
        (sweep.encode + sweep.rank).sum() + sweep.load.sum()
    )
    groups = grouped(sweep.costs(), str, 3)
    assert sum(len(sweep.units(group)) for group in groups) == 20
    assert sum(map(sum, (sweep.units(group) for group in groups))) == pytest.approx((sweep.encode + sweep.rank).sum())
    assert np.all(sweep.matrix.mean(axis=1) >= 384 * 4 * 10_000_000 * (1 - 1e-9))
    assert len(list(lines(sweep))) == 3 + 3 * 3
