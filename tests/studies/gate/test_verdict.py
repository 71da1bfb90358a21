"""Verdicts of a gate, counted by hand, and how they are written."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import ItemScores
from blindspot.studies.gate.sides import Recorded
from blindspot.studies.gate.verdict import SHOWN, Outcome, Verdict, judge
from blindspot.studies.gate.written import as_junit, as_markdown
from blindspot.types import Float64

SCORE = "hits@1"


def side(name: str, values: Float64) -> Recorded:
    numbers = np.arange(len(values))
    of = {"metric": "cos", "ties": "expected"}
    return Recorded(name, "retrieval", 1, of, "digest", numbers, {SCORE: float(values.mean())}, {SCORE: values})


def judged(old: Float64, new: Float64, tolerance: float = 0.02, text: str = "query") -> Verdict:
    known = Dependence.of_groups(np.arange(len(new)), Unit.QUERIES)
    texts = [f"{text} {number}" for number in range(len(new))]
    scores = {SCORE: ItemScores(float(new.mean()), new, np.arange(len(new)), texts, known)}
    return judge(side("old", old), side("new", new), scores, SCORE, tolerance, 0.05)


RIGHT = np.ones(200)


def wrong(*numbers: int) -> Float64:
    values = RIGHT.copy()
    values[list(numbers)] = 0.0
    return values


def test_what_got_worse_is_listed_the_largest_loss_first() -> None:
    new = wrong(*range(40))
    new[7] = 0.5
    found = judged(RIGHT, new)
    assert found.outcome is Outcome.FAILED
    assert (found.old, found.new, found.losses, found.gains) == (1.0, pytest.approx(160.5 / 200), 40, 0)
    assert found.drop.value == pytest.approx(39.5 / 200)
    assert len(found.worse) == SHOWN
    assert [one.text for one in found.worse[:8]] == [f"query {n}" for n in (0, 1, 2, 3, 4, 5, 6, 8)]
    assert all((one.old, one.new) == (1.0, 0.0) for one in found.worse)


def test_what_does_not_change_passes_on_a_set_that_is_large_enough() -> None:
    assert judged(RIGHT, RIGHT).outcome is Outcome.PASSED  # 0.05 ** (1 / 200) > 0.98
    assert judged(RIGHT[:100], RIGHT[:100]).outcome is Outcome.UNDECIDED


def test_a_gain_passes() -> None:
    found = judged(wrong(*range(40)), RIGHT)
    assert (found.outcome, found.worse, found.losses, found.gains) == (Outcome.PASSED, (), 0, 40)
    assert found.drop.value == pytest.approx(-0.2)


def test_undecided_says_what_the_set_could_see_and_what_would_decide() -> None:
    old, new = wrong(*range(10)), wrong(*range(7, 20))
    found = judged(old, new, tolerance=0.03)
    assert found.outcome is Outcome.UNDECIDED
    assert found.drop.visible is not None
    assert found.drop.needed is not None
    said = " ".join(found.sentences)
    assert f"{found.drop.visible:.3f}" in said
    assert f"{found.drop.needed:,}" in said
    assert "200 independent queries" in said


@pytest.mark.parametrize(
    "change",
    [
        {"dataset_digest": "other"},
        {"params": {"metric": "l2", "ties": "expected"}},
        {"diagnostic": "evalrank"},
        {"version": 2},
        {"numbers": np.arange(1, 201)},
        {"parts": {"mrr": RIGHT}},
    ],
)
def test_another_baseline_is_refused(change: dict[str, object]) -> None:
    known = Dependence.of_groups(np.arange(200), Unit.QUERIES)
    scores = {SCORE: ItemScores(1.0, RIGHT, np.arange(200), [""] * 200, known)}
    old = replace(side("old", RIGHT), **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"baseline|covers"):
        judge(old, side("new", RIGHT), scores, SCORE, 0.02, 0.05)


def test_too_few_items_are_refused() -> None:
    with pytest.raises(InputError, match="too small"):
        judged(RIGHT[:5], RIGHT[:5])


# --- as files


@pytest.mark.parametrize(
    ("new", "tolerance", "of_case"),
    [(wrong(*range(40)), 0.02, "failure"), (RIGHT, 0.02, "system-out"), (wrong(1, 2, 3), 0.02, "skipped")],
)
def test_junit_has_one_test(new: Float64, tolerance: float, of_case: str) -> None:
    root = ElementTree.fromstring(as_junit(judged(RIGHT, new, tolerance)))
    (suite,) = root
    (case,) = suite
    assert [child.tag for child in case] == [of_case]
    assert (suite.get("tests"), suite.get("failures")) == ("1", str(int(of_case == "failure")))
    assert suite.get("skipped") == str(int(of_case == "skipped"))


def test_odd_texts_stay_text() -> None:
    odd = "a|b <i>c</i> [d](e) `f` *g*\x00\x1b\nh \ud800"
    found = judged(RIGHT, wrong(*range(40)), text=odd)
    ElementTree.fromstring(as_junit(found))
    rows = [line for line in as_markdown(found).splitlines() if line.startswith("| a")]
    assert len(rows) == SHOWN
    assert all(line.count("|") == 4 and "<" not in line and "[" not in line for line in rows)
