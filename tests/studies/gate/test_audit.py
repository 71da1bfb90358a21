"""Audits of golden sets, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import training_set
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.tolerance import Decision, drop
from blindspot.studies.gate.audit import CHANGING, EASY, Reached, Row, audited, rows_of, visible_drops, why_easy
from tests.support.tables import each

ITEMS = ("A cat sleeps.", "a cat sleeps", "A dog barks.", "It rains.", "It snows.", "The sun shines.")
NUMBERS = np.array([0, 1, 2], dtype=np.int32)


def scored() -> ScoredPairs:
    """The first two rows are the same but for case and a period; the third repeats the first with another score."""
    firsts, seconds = np.array([0, 1, 0, 3], dtype=np.int32), np.array([2, 2, 2, 4], dtype=np.int32)
    return ScoredPairs("toy", ITEMS, ("all",), np.zeros(4, dtype=np.int32), firsts, seconds, np.array([1.0, 1.0, 3, 5]))


def alone(n: int) -> Dependence:
    return Dependence.of_groups(np.arange(n), Unit.PAIRS)


def test_rows_that_repeat_contradict_tie_or_were_trained_on_are_counted() -> None:
    training = [training_set("seen", [["It rains", "it snows!"]]), training_set("half", [["It rains."]])]
    found = audited(scored(), training, "spearman", [], alone(4), 0.02, 0.05)
    assert (found.rows, found.repeated, found.contradicting, found.tied[0]) == (4, 1, 1, 2)
    assert found.seen == (("seen", 1), ("half", 0))
    assert any("seen" in warning for warning in found.warnings)
    assert not any("half" in warning for warning in found.warnings)


def test_a_set_that_needs_no_model_or_has_few_rows_is_warned_of() -> None:
    reached = [Reached("first", EASY), Reached("second", EASY - 0.01)]
    found = audited(scored(), [], "spearman", reached, alone(4), 0.02, 0.05)
    assert [name for name in ("first", "second") if any(name in warning for warning in found.warnings)] == ["first"]
    assert found.refusal
    assert all(one.drop is None for one in found.visible)
    assert any(found.refusal in warning for warning in found.warnings)


def test_rows_of_pairs_and_of_labeled_texts() -> None:
    pairs = PairSet("toy", ITEMS, queries=NUMBERS, matches=NUMBERS + 1)
    assert rows_of(pairs)[1] == Row((ITEMS[1], ITEMS[2]))
    one = LabeledTexts(
        "toy", ITEMS, ("yes", "no"), NUMBERS, np.empty(0, dtype=np.int32), NUMBERS % 2, np.zeros(3, dtype=np.int8)
    )
    assert rows_of(one)[1] == Row((ITEMS[1],), 1)


@pytest.mark.parametrize("n", [100, 1_000])
def test_more_items_see_smaller_drops_and_more_noise_larger_ones(n: int) -> None:
    few, many = visible_drops(alone(n), 0.02, 0.05)
    larger = visible_drops(alone(4 * n), 0.02, 0.05)
    assert (few.changing, many.changing) == CHANGING
    assert few.drop is not None
    assert many.drop is not None
    assert 0.02 < few.drop < many.drop
    assert larger[0].drop is not None
    assert larger[0].drop < few.drop


def test_items_needed_are_those_of_which_four_of_five_equal_models_pass() -> None:
    """Simulated: as many items, of which a fifth changes, as many for the better as for the worse."""
    _, many = visible_drops(alone(100), 0.05, 0.05)
    assert many.items is not None
    rng, found = np.random.default_rng(1), 0
    for _ in range(300):
        u = rng.random(many.items)
        lost = np.where(u < 0.1, -1.0, np.where(u < 0.2, 1.0, 0.0))
        said = drop(float(lost.mean()), lost, alone(many.items), 0.05, 0.05, 1.0, is_mean=True).decision
        found += said is Decision.WITHIN
    assert found / 300 == pytest.approx(0.8, abs=0.07)
    assert visible_drops(alone(100), 0.0, 0.05)[0].items is None


@each(
    ("value", "highest", "reached", "why"),
    [
        (1.0, 1.0, [], "old model"),
        (0.995, 1.0, [], "old model"),
        (0.5, 0.503, [], "old model"),  # of several matches one can be first
        (0.9, 1.0, [Reached("letters", 0.3), Reached("keywords", EASY)], "keywords"),
        (0.97, 1.0, [Reached("keywords", EASY - 0.01)], ""),
    ],
)
def test_a_set_is_easy_at_the_ceiling_or_where_no_trained_model_is_needed(
    value: float, highest: float, reached: list[Reached], why: str
) -> None:
    found = why_easy("hits@1", value, 0.0, highest, reached)
    assert bool(found) is bool(why)
    assert why in found
