"""Outcomes of items against a slow loop: what B fixed and broke."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.numerics.statistics.outcomes import Outcome, Outcomes

_SCORE = st.one_of(st.sampled_from([0.0, 0.5, 1.0, math.nan]), st.floats(0, 1))


def slow(a: float, b: float, right: bool) -> Outcome | None:
    if math.isnan(a) or math.isnan(b):
        return None
    if b > a:
        return Outcome.FIXED
    if b < a:
        return Outcome.BROKEN
    return Outcome.BOTH_RIGHT if right else Outcome.BOTH_WRONG


@given(st.lists(st.tuples(_SCORE, _SCORE, st.booleans()), max_size=30))
def test_every_item_has_one_outcome_or_none(rows: list[tuple[float, float, bool]]) -> None:
    a, b, right = (np.array([row[i] for row in rows], dtype=kind) for i, kind in enumerate((float, float, bool)))
    found = Outcomes.of_scores(a, b, right)
    expected = [slow(*row) for row in rows]
    for outcome in Outcome:
        assert found.of(outcome).tolist() == [one is outcome for one in expected]
        assert found.counts[outcome] == expected.count(outcome)


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
