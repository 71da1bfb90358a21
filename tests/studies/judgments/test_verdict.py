"""The sentences about votes say what the numbers do."""

from __future__ import annotations

import numpy as np

from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.judgments import verdict
from blindspot.studies.judgments.agreement import Agreement, agreement
from blindspot.studies.judgments.scoring import pair_tests, scores
from blindspot.studies.judgments.tallies import Tally, tally
from blindspot.studies.judgments.types import NOT_ASKED, Item, Query, Task
from blindspot.variants import Variant
from tests.support.judgment_samples import comparative_set, intruder_set, votes
from tests.support.tables import each


def tally_of(found: list[int], queries: int = 20, raters: int = 4) -> Tally:
    """Intruder items, one per query and variant; of every variant's first ``found`` queries all raters found it."""
    items, chosen = [], []
    for q in range(queries):
        for v, number in enumerate(found):
            own = tuple(0 if v == o else NOT_ASKED for o in range(len(found)))
            items.append(Item(len(items), Query(f"q{q}"), "", None, tuple("abcd"), own))
            chosen.append([0 if (q + 7 * v) % queries < number else 1] * raters)
    variants = tuple(Variant(name, "none") for name in "XYZ"[: len(found)])
    names = tuple(f"r{r}" for r in range(raters))
    return Tally(Task.INTRUDER, variants, tuple(items), names, np.array(chosen, dtype=np.int64))


def said_of(found: list[int]) -> str:
    counted = tally_of(found)
    return verdict.headline(scores(counted), pair_tests(counted), lambda v: f"<{v.encoder}>")


@each(
    ("found", "begins", "holds"),
    [
        ([19, 4], "Best is <X> with precision 95.0%", "significantly better than <Y> (20.0%, p"),
        ([4, 19, 3], "Best is <Y> with precision 95.0%", "<X> (20.0%, p"),
        ([12, 11], "No significant difference: <X> with precision 60.0%", "<Y> (55.0%, p = "),
        ([19, 18, 2], "Best is <X>", "significantly better than <Z> (10.0%, p"),
        ([19, 18, 2], "Best is <X>", "no significant difference from <Y> (90.0%, p ="),
        ([19, 18, 2], "Best is <X> with precision 95.0% (95% CI ", ", of all 3 at once)"),
        ([15], "<X>: precision 75.0% (95% CI ", "Guessing gives 25.0%."),
    ],
)
def test_who_is_best(found: list[int], begins: str, holds: str) -> None:
    said = said_of(found)
    assert said.startswith(begins)
    assert holds in said
    assert said.endswith("Guessing gives 25.0%.")


def test_nothing_is_said_without_votes() -> None:
    counted = tally(intruder_set(2), [])
    assert verdict.headline(scores(counted), pair_tests(counted), str) == ""
    assert agreement(counted) is None
    assert verdict.agreement_in_words(None)


def test_variants_without_a_common_item_are_not_separable() -> None:
    items = intruder_set(2)
    counted = tally(items, votes([("ann", 1, max(items.items[1].own))]))
    assert "minilm: precision 100.0%. Guessing" in verdict.headline(scores(counted), pair_tests(counted), str).replace(
        "~none", ""
    )


def test_whom_results_speak_of_in_words() -> None:
    few = scores(tally(comparative_set(3), votes([("ann", no, 0) for no in range(9)])))
    assert "only 3 queries" in verdict.intervals(few)
    assert "this rater only" in verdict.intervals(scores(tally_of([3], raters=1)))
    assert "these 4 raters only" in verdict.intervals(scores(tally_of([3], raters=4)))
    assert "other raters (5 here)" in verdict.intervals(scores(tally_of([9], raters=5)))
    near = verdict.intervals(scores(tally_of([19], raters=5)))
    assert "these 5 raters only" in near
    assert "near 100%. Tests generalize" in near


def test_there_is_no_verdict_of_few_queries() -> None:
    """Of nine queries neither "best" nor "no significant difference" is said, however far apart two are."""
    counted = tally_of([9, 0], queries=9)
    said = verdict.headline(scores(counted), pair_tests(counted), lambda v: f"<{v.encoder}>")
    assert said.startswith("<X>")
    assert "No verdict yet" in said
    assert "ignifican" not in said
    assert "Best" not in said


def test_agreement_in_words() -> None:
    said = verdict.agreement_in_words(Agreement(3, 0.625, 0.25, 0.5, Interval(0.4, 0.61)))
    for number in ("62.5%", "25.0%", "3 questions", "kappa 0.50", "0.40 to 0.61"):
        assert number in said
