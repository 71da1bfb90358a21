"""Outcomes of items against a slow loop: what B fixed and broke."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics.outcomes import Leads, Outcome, Outcomes

_SCORE = st.one_of(st.sampled_from([0.0, 0.5, 1.0, math.nan]), st.floats(0, 1))


@given(st.lists(st.tuples(_SCORE, _SCORE), max_size=30))
def test_leads_are_those_of_a_loop(rows: list[tuple[float, float]]) -> None:
    a, b = (np.array([row[i] for row in rows], dtype=float) for i in range(2))
    higher, lower = sum(y > x for x, y in rows), sum(y < x for x, y in rows)
    assert Leads.of_scores(a, b) == Leads(higher, lower, sum(x == y for x, y in rows))


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=30))
def test_of_right_and_wrong(rows: list[tuple[bool, bool, bool]]) -> None:
    a, b, known = (np.array([row[i] for row in rows], dtype=bool) for i in range(3))
    found = Outcomes.of_right(a, b, known)
    named = {
        (False, True): Outcome.FIXED,
        (True, False): Outcome.BROKEN,
        (True, True): Outcome.BOTH_RIGHT,
        (False, False): Outcome.BOTH_WRONG,
    }
    for place, (in_a, in_b, is_known) in enumerate(rows):
        of = [outcome for outcome in Outcome if found.of(outcome)[place]]
        assert of == ([named[in_a, in_b]] if is_known else [])
    assert found.counts == {o: int(found.of(o).sum()) for o in Outcome}
    counts = found.counts
    equal = counts[Outcome.BOTH_RIGHT] + counts[Outcome.BOTH_WRONG]
    assert Leads.of(found) == Leads(counts[Outcome.FIXED], counts[Outcome.BROKEN], equal)
