"""Verdicts of a gate, counted by hand, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import SHARE, ItemScores
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.studies.gate.sides import Recorded
from blindspot.studies.gate.verdict import SHOWN, Outcome, Verdict, judge
from blindspot.studies.gate.written import as_junit, as_markdown, error_as_junit
from blindspot.types import Float64
from tests.support.tables import each

SCORE = "hits@1"
Vectors = tuple[float, ...]


def side(name: str, values: Float64) -> Recorded:
    numbers = np.arange(len(values))
    of = {"metric": "cos", "ties": "expected"}
    return Recorded(name, "retrieval", 1, of, "digest", numbers, {SCORE: float(values.mean())}, {SCORE: values})


def scores_of(parts: np.ndarray, texts: list[str]) -> ItemScores:
    known = Dependence.of_groups(np.arange(len(parts)), Unit.QUERIES)
    numbers = np.arange(len(parts))
    value = float(parts.mean())
    return ItemScores(SCORE, SCORE, value, parts, numbers, known, True, (0.0, 1.0), SHARE, lambda: texts)


def judged(
    old: Float64,
    new: Float64,
    tolerance: float = 0.02,
    text: str = "query",
    easy: Callable[[float], str] = lambda _: "",
    vectors: tuple[Vectors, Vectors] = ((), ()),
) -> Verdict:
    texts = [f"{text} {number}" for number in range(len(new))]
    scores = {SCORE: scores_of(new, texts)}
    before, after = (
        replace(side(name, of), vectors=seen)
        for name, of, seen in zip(("old", "new"), (old, new), vectors, strict=True)
    )
    return judge(before, after, scores, SCORE, tolerance, 0.05, easy)


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


@each("n", [8, 100, 200])
def test_what_does_not_change_passes_whatever_the_size_of_the_set(n: int) -> None:
    found = judged(wrong(3)[:n], wrong(3)[:n])
    assert (found.outcome, found.losses, found.gains) == (Outcome.PASSED, 0, 0)
    assert ("whatever the size" in " ".join(found.sentences)) is (n < 149)  # 0.98 ** 149 < 0.05


def test_rounding_is_no_change() -> None:
    found = judged(wrong(3)[:50], wrong(3)[:50] - 1e-12)
    assert (found.outcome, found.losses) == (Outcome.PASSED, 0)


def never(_: float) -> str:
    raise AssertionError("asked although it cannot matter")


def test_on_an_easy_set_nothing_passes_but_what_is_the_same() -> None:
    def why(value: float) -> str:
        return f"keyword search knows {value:.2f}"

    easy = judged(RIGHT, RIGHT, easy=why)
    assert easy.outcome is Outcome.UNDECIDED
    assert any("keyword search knows 1.00" in said and "--allow-easy" in said for said in easy.sentences)
    assert judged(RIGHT, wrong(*range(80)), easy=never).outcome is Outcome.FAILED
    both = judged(RIGHT, wrong(1, 2, 3), easy=why)
    assert len(both.sentences) == len(judged(RIGHT, wrong(1, 2, 3)).sentences) + 1


@pytest.mark.parametrize("n", [3, 200])
def test_the_same_vectors_pass_whatever_the_set(n: int) -> None:
    numbers = tuple(np.random.default_rng(1).normal(size=2 * n))
    again = tuple(number * (1 + 1e-7) for number in numbers)
    found = judged(RIGHT[:n], RIGHT[:n], easy=never, vectors=(numbers, again))
    assert (found.outcome, found.is_same) == (Outcome.PASSED, True)
    if n == 200:  # of the same vectors a wrong score still fails
        assert judged(RIGHT, wrong(*range(80)), vectors=(numbers, again)).outcome is Outcome.FAILED


@each("other", [(), (1.0, 2.0), (1.0, 2.0, 3.001), (3.0, 2.0, 1.0)])
def test_other_vectors_are_not_the_same(other: Vectors) -> None:
    assert not judged(RIGHT, RIGHT, vectors=((1.0, 2.0, 3.0), other)).is_same


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


@each(
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
    scores = {SCORE: scores_of(RIGHT, [""] * 200)}
    old = replace(side("old", RIGHT), **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"baseline|covers"):
        judge(old, side("new", RIGHT), scores, SCORE, 0.02, 0.05)


def test_too_few_items_are_refused() -> None:
    with pytest.raises(InputError, match="too small"):
        judged(RIGHT[:5], RIGHT[:5])


# --- as files


@each(
    ("new", "tolerance", "of_case"),
    [(wrong(*range(40)), 0.02, "failure"), (RIGHT, 0.02, "system-out"), (wrong(1, 2, 3), 0.02, "failure")],
)
def test_junit_has_one_test(new: Float64, tolerance: float, of_case: str) -> None:
    """What is undecided is a failure where it fails the job, and skipped where it does not."""
    found = judged(RIGHT, new, tolerance)
    assert tags(as_junit(found)) == [of_case]
    tolerated = "skipped" if found.outcome is Outcome.UNDECIDED else of_case
    assert tags(as_junit(found, undecided_fails=False)) == [tolerated]


def test_what_could_not_run_is_an_error_in_junit() -> None:
    assert tags(error_as_junit("", "127.0.0.1 cannot be reached\x00")) == ["error"]


def tags(junit: bytes) -> list[str]:
    """Those of the one test, which the counts of the suite agree with."""
    root = ElementTree.fromstring(junit)
    (suite,) = root
    (case,) = suite
    found = [child.tag for child in case]
    counts = {"failures": "failure", "skipped": "skipped", "errors": "error"}
    assert {of: suite.get(count) for count, of in counts.items()} == {
        of: str(found.count(of)) for of in counts.values()
    }
    assert suite.attrib.items() >= root.attrib.items() >= {"tests": "1"}.items()
    return found


def test_odd_texts_stay_text() -> None:
    odd = "a|b <i>c</i> [d](e) `f` *g*\x00\x1b\nh \ud800"
    found = judged(RIGHT, wrong(*range(40)), text=odd)
    ElementTree.fromstring(as_junit(found))
    rows = [line for line in as_markdown(found).splitlines() if line.startswith("| a")]
    assert len(rows) == SHOWN
    assert all(line.count("|") == 4 and "<" not in line and "[" not in line for line in rows)
