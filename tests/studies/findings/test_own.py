"""Which comparisons of own models come before all findings, and what is said of them, by page and command alike."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from blindspot.numerics.statistics.compare import Verdict
from blindspot.runs.default_models import usual_baseline
from blindspot.studies.compare.rows import Comparison, compare
from blindspot.studies.findings import own
from blindspot.studies.findings.own import LINES, OwnComparison, comparisons, of_store, others_of
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder
from tests.support.world import World

OLD, NEW, OTHER = Variant("dir:/m/old", "none"), Variant("dir:/m/new", "none"), Variant("minilm", "none")
WHITENED, RANDOM = Variant("dir:/m/new", "whiten"), Variant("random-projection-64", "none")
KNOWN = [OLD, OTHER, RANDOM, NEW, WHITENED]


def test_an_own_model_meets_the_baseline_then_own_ones_then_others() -> None:
    assert others_of(NEW, [OTHER, OLD, NEW, RANDOM], KNOWN, None) == [OLD, OTHER]
    assert others_of(NEW, [OTHER, OLD, NEW], KNOWN, OTHER) == [OTHER, OLD]
    assert others_of(NEW, [NEW, WHITENED], KNOWN, None) == []


@pytest.mark.parametrize(
    ("variants", "undecided", "expected"),
    [
        ([OTHER, OLD, NEW], (), [(NEW, OLD), (NEW, OTHER)]),
        ([OTHER, OLD, NEW], (NEW,), [(OLD, NEW), (OLD, OTHER)]),
        ([OTHER, OLD, NEW], (NEW, OLD), [(NEW, OLD), (NEW, OTHER)]),
        ([OTHER, NEW], (NEW,), [(NEW, OTHER)]),
        ([OTHER, RANDOM], (), []),
    ],
)
def test_the_newest_own_model_with_a_tested_difference_is_compared(
    variants: list[Variant], undecided: tuple[Variant, ...], expected: list[tuple[Variant, Variant]]
) -> None:
    """Own word vectors that share one untested score with a fine-tuned model do not hide what that gained."""

    def compared(a: Variant, b: Variant) -> Comparison:
        verdict = Verdict.UNTESTED if a in undecided else Verdict.ALIKE
        row = SimpleNamespace(decides=True, entry=SimpleNamespace(id="similarity"), dataset="own", verdict=verdict)
        return cast("Comparison", SimpleNamespace(a=a, b=b, rows=[row]))

    found = comparisons(variants, KNOWN, {str(one): {1} for one in KNOWN}, compared)
    assert [(one.whole.a, one.whole.b) for one in found] == expected


def test_models_without_a_score_in_common_are_not_compared() -> None:
    def never(_a: Variant, _b: Variant) -> None:
        raise AssertionError

    assert comparisons([OLD, NEW], KNOWN, {str(OLD): {1}, str(NEW): {2}}, never) == []  # type: ignore[arg-type]


def test_every_row_is_said_once(module_world: World) -> None:
    module_world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1))
    for name in ("trigrams", "letters"):
        for diagnostic, dataset in (("evalrank", "demo-pairs"), ("heros", "demo-minimal")):
            module_world.run(diagnostic, name, dataset)
    a, b = Variant("trigrams", "none"), Variant("letters", "none")
    whole = compare(a, b, module_world.repository, {})
    one = OwnComparison(whole, [row for row in whole.rows if row.decides])
    assert len(one.lines) == sum(row.is_significant for row in one.rows)
    assert len(one.as_json()["rows"]) == len(one.rows) > 0
    assert len(one.said()) == len(one.lines) + bool(one.without_difference)
    assert all(a.label in line and b.label in line for line in one.said())
    many = OwnComparison(whole, [row.turned for row in one.rows] * 9)
    assert ("more better or worse" in many.without_difference) == (9 * len(one.lines) > LINES)


def test_a_command_begins_with_the_baseline_of_the_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("letters", "older", "mine")
    monkeypatch.setattr(own, "is_own", lambda encoder: encoder != "letters")
    world.add(*(GramEncoder(name, size) for size, name in enumerate(names, 1)))
    for name in names:
        world.run("evalrank", name, "demo-pairs")
    known = world.repository.variants()
    assert usual_baseline(known) == Variant("letters", "none")
    compared = [(str(one.whole.a), str(one.whole.b)) for one in of_store(known, world.repository)]
    assert compared == [("mine~none", "letters~none"), ("mine~none", "older~none")]
