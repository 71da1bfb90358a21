"""Rows of a comparison: numbers by hand, orientation, Holm, antisymmetry, false verdicts, what is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from blindspot.diagnostic import find_diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import PairedTest, Verdict, decide
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import ALPHA, Interval
from blindspot.runs.comparison import IN_QUESTION, TwoRuns, headline_tests, in_words
from blindspot.store.records import RunRecord
from blindspot.studies.compare import rows
from blindspot.studies.compare.changed import changed
from blindspot.studies.compare.costs import Cost
from blindspot.studies.compare.rows import Comparison, Row, Why, compare, compare_all, headline, rows_of
from blindspot.studies.compare.view import TwoModels, row_as_json
from blindspot.studies.findings.own import OwnComparison
from blindspot.variants import Variant
from tests.studies.compare.conftest import COMPUTED, A, B, C
from tests.support.finding_runs import run_record
from tests.support.made_rows import MadeRows
from tests.support.world import World


def only(rows: Sequence[Row], diagnostic: str) -> Row:
    (found,) = (row for row in rows if row.entry.id == diagnostic)
    return found


def test_a_row_is_the_mean_of_what_each_item_changes(filled: World) -> None:
    found = compare(A, B, filled.repository, {})
    assert [(row.entry.id, row.dataset) for row in found.rows] == list(COMPUTED)
    row = only(found.rows, "evalrank")
    items = filled.repository.items(row.entry, [row.a.run_id, row.b.run_id], texts=False)
    total, wins, losses = 0.0, 0, 0
    for _, pair in items.groupby("item_no"):
        one, other = (pair[pair["run_id"] == run.run_id].iloc[0] for run in (row.a, row.b))
        expected = []
        for side in (one, other):
            places = range(int(side.greater) + 1, int(side.greater + side.ties) + 2)
            expected.append(sum(1 / place for place in places) / len(places))
        total += expected[0] - expected[1]
        wins += expected[0] > expected[1]
        losses += expected[0] < expected[1]
    assert row.difference.value == pytest.approx(total / items["item_no"].nunique(), abs=1e-12)
    assert (row.difference.wins, row.difference.losses) == (wins, losses)
    assert row.difference.a == pytest.approx(row.a.metrics["mrr"])


def test_less_is_better_where_the_score_says_so(filled: World) -> None:
    row = only(compare(A, B, filled.repository, {}).rows, "geometry")
    assert row.a.metrics["align"] != row.b.metrics["align"]
    assert row.difference.advantage == pytest.approx((row.b.metrics["align"] - row.a.metrics["align"]) / 4.0)
    interval, share = row.difference.interval, row.difference.advantage_interval
    assert interval
    assert share == Interval(-interval.high / 4.0, -interval.low / 4.0)
    assert not row.decides, "it describes the space"
    assert row.verdict is (Verdict.BETTER if (row.difference.advantage or 0) > 0 else Verdict.WORSE)


def test_swapping_the_two_turns_every_row(filled: World) -> None:
    one, back = (compare(*pair, filled.repository, {}) for pair in ((A, B), (B, A)))
    turned = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    for row, other in zip(one.rows, back.rows, strict=True):
        assert other.difference.value == -row.difference.value
        assert other.difference.advantage == -(row.difference.advantage or 0.0)
        assert (other.difference.p_corrected, other.p_of_all) == (row.difference.p_corrected, row.p_of_all)
        assert other.verdict is turned.get(row.verdict, row.verdict)
    better, worse = one.count(Verdict.BETTER), one.count(Verdict.WORSE)
    assert (back.count(Verdict.WORSE), back.count(Verdict.BETTER)) == (better, worse)


def test_what_only_one_has_is_missing(filled: World) -> None:
    found = compare(A, C, filled.repository, {})
    assert [row.entry.id for row in found.rows] == ["evalrank"]
    assert {(m.diagnostic, m.dataset, m.why, m.lacking) for m in found.missing} == {
        ("heros", "demo-minimal", Why.ONE_ONLY, (C,)),
        ("geometry", "demo-pairs", Why.ONE_ONLY, (C,)),
    }
    other_metric = compare(A, B, filled.repository, {"metric": "l2"})
    assert [(m.diagnostic, m.lacking) for m in other_metric.missing] == [("evalrank", (B,))]


def test_what_cannot_be_compared_is_refused(filled: World) -> None:
    with pytest.raises(InputError, match="both trigrams"):
        compare(A, A, filled.repository, {})
    with pytest.raises(InputError, match="did you mean 'trigrams~none'"):
        compare(Variant("trigrms", "none"), B, filled.repository, {})
    with pytest.raises(InputError, match="2 to 6"):
        compare_all([A], filled.repository, {})
    with pytest.raises(InputError, match="both"):
        compare_all([A, B, A], filled.repository, {})


def test_three_at_once_are_the_same_differences_with_more_tests(filled: World) -> None:
    together = compare_all([A, B, C], filled.repository, {})
    assert set(together) == {(A, B), (A, C), (B, C)}
    alone = compare(A, B, filled.repository, {})
    for row, same in zip(alone.rows, together[A, B], strict=True):
        one, other = row.difference, same.difference
        assert (other.a, other.b, other.interval, other.n) == (one.a, one.b, one.interval, one.n)
        assert other.p == pytest.approx(one.p, abs=0.02), "sign flips are drawn"


# --- made-up differences


def difference(p: float | None, value: float = 0.1) -> PairedTest:
    refusal = "" if p is not None else "no test"
    return PairedTest("mrr", "MRR", True, (0.0, 1.0), 0.5 + value, 0.5, 9, Unit.PAIRS, "a test", p=p, refusal=refusal)


def test_what_a_test_rests_on_is_said_once() -> None:
    found = difference(0.5)
    assert found.basis == "a test over 9 pairs"
    assert replace(found, test="sign flips of pairs that are apart").basis == "sign flips of 9 pairs that are apart"


def slow_holm(p: Sequence[float]) -> list[float]:
    """Smallest first: each times how many are left, and no smaller than those before it."""
    out = [0.0] * len(p)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: (p[i], i))):
        highest = max(highest, p[i] * (len(p) - rank))
        out[i] = min(1.0, highest)
    return out


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_a_verdict_is_corrected_in_its_family_alone_and_a_row_knows_whether_it_holds_among_all(
    p: list[float | None],
) -> None:
    a, b = run_record("evalrank", "one"), run_record("evalrank", "two")
    known = [each for each in p if each is not None]
    family = decide([difference(each) for each in p])
    for test, each, wanted in zip(family, p, spread(p, slow_holm(known)), strict=True):
        assert (test.p_corrected is None) == (each is None)
        if each is None:
            assert test.verdict is Verdict.UNTESTED
        else:
            assert test.p_corrected == pytest.approx(wanted)
            assert test.verdict is (Verdict.BETTER if (test.p_corrected or 0.0) < ALPHA else Verdict.ALIKE)
    rows = rows_of([(a, b, decide([difference(each)])[0]) for each in p])
    for row, each, wanted in zip(rows, p, spread(p, slow_holm(known)), strict=True):
        assert row.difference.p_corrected == each, "the other rows do not change it"
        assert row.p_of_all == (None if each is None else pytest.approx(wanted))
        assert row.holds == (row.p_of_all is not None and row.p_of_all < ALPHA)


def spread(p: Sequence[float | None], values: Sequence[float]) -> list[float | None]:
    """The values at the places where there is a p."""
    left = iter(values)
    return [None if each is None else next(left) for each in p]


@pytest.mark.parametrize("wrong", [{"p": 1.2}, {"p": None}])
def test_a_difference_that_says_nothing_is_refused(wrong: dict[str, object]) -> None:
    fine = {"score": "mrr", "label": "MRR", "higher_is_better": True, "range": (0.0, 1.0), "a": 0.5, "b": 0.4}
    fine |= {"n": 9, "unit": "pairs", "test": "a test", "p": 0.5}
    PairedTest(**fine)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"mrr"):
        PairedTest(**(fine | wrong))  # type: ignore[arg-type]


N = 40
PAIRS = np.arange(N), np.arange(N) + N  # no two share a text


def runs_of(made: MadeRows, variant: str, rng: np.random.Generator, gold: np.ndarray) -> list[RunRecord]:
    """A run per diagnostic of a model that is as good as any other of these."""
    return [
        made.ranks(variant, rng.integers(0, 9, N), PAIRS),
        made.distances(variant, rng.uniform(0, 2, N), PAIRS),
        made.orderings(variant, rng.random(N) < 0.6),
        made.similarities(variant, np.round(gold + rng.normal(0, 1, N), 6), gold),
        made.predictions(variant, rng.random(N) < 0.7),
    ]


Each = list[tuple[RunRecord, RunRecord, PairedTest]]


def differences(made: MadeRows, first: Sequence[RunRecord], second: Sequence[RunRecord]) -> Each:
    out = []
    for a, b in zip(first, second, strict=True):
        entry = Row(a, b, difference(0.5), None).entry
        (one,) = headline_tests(entry, [(a, b)], made.repository)
        out.append((a, b, one))
    return out


@given(st.integers(0, 2**31))
@settings(max_examples=8, deadline=None)
def test_every_diagnostic_is_antisymmetric(seed: int) -> None:
    made, rng = MadeRows(), np.random.default_rng(seed)
    gold = rng.normal(0, 1, N)
    first, second = (runs_of(made, variant, rng, gold) for variant in ("one", "two"))
    for (_, _, there), (_, _, back) in zip(
        differences(made, first, second), differences(made, second, first), strict=True
    ):
        assert back.value == -there.value
        assert back.p == pytest.approx(there.p)
        assert (back.wins, back.losses) == (there.losses, there.wins)
        if there.interval:
            assert back.interval
            assert (back.interval.low, back.interval.high) == pytest.approx((-there.interval.high, -there.interval.low))


@pytest.mark.heavy
def test_two_equal_models_are_seldom_called_different() -> None:
    stores, false = 80, np.zeros(6, dtype=np.int64)
    for seed in range(stores):
        made, rng = MadeRows(), np.random.default_rng(seed)
        gold = rng.normal(0, 1, N)
        first, second = (runs_of(made, variant, rng, gold) for variant in ("one", "two"))
        rows = rows_of(differences(made, first, second))
        assert len(rows) == 5
        called = [row.verdict in {Verdict.BETTER, Verdict.WORSE} for row in rows]
        false += np.array([*called, any(row.holds for row in rows)])
    for name, count in zip([*(row.entry.id for row in rows), "any that holds among all"], false.tolist(), strict=True):
        assert binomtest(count, stores, ALPHA, alternative="greater").pvalue > 0.002, f"{name}: {count} of {stores}"


def test_a_better_model_is_found() -> None:
    made, rng = MadeRows(), np.random.default_rng(1)
    gold = rng.normal(0, 1, N)
    better = [
        made.ranks("good", np.zeros(N, dtype=np.int64), PAIRS),
        made.distances("good", rng.uniform(0, 0.3, N), PAIRS),
        made.orderings("good", rng.random(N) < 0.97),
        made.similarities("good", gold + rng.normal(0, 0.1, N), gold),
        made.predictions("good", rng.random(N) < 0.99),
    ]
    rows = rows_of(differences(made, better, runs_of(made, "plain", rng, gold)))
    assert [row.verdict for row in rows] == [Verdict.BETTER] * 5
    assert all((row.difference.advantage or 0.0) > 0 for row in rows)


def test_the_headline_is_about_an_own_model_and_of_two_about_the_later() -> None:
    own, other, catalog = Variant("dir:mine", "none"), Variant("vectors:theirs.txt", "none"), Variant("minilm", "none")
    for a, b, sequence, is_about_b in (
        (catalog, own, (2, 1), True),  # whichever was run first
        (own, catalog, (1, 2), False),
        (own, other, (1, 2), True),
        (own, other, (2, 1), False),
        (catalog, Variant("lsa", "none"), (1, 2), False),
    ):
        row = SimpleNamespace(a=SimpleNamespace(run_seq=sequence[0]), b=SimpleNamespace(run_seq=sequence[1]))
        assert Comparison(a, b, (cast(Row, row),), ()).is_about_b == is_about_b, (a, b, sequence)
    assert not Comparison(own, other, (), ()).is_about_b


@pytest.mark.parametrize("counts", [(3, 1, 0, 2), (0, 2, 1, 0), (0, 0, 4, 1), (0, 0, 0, 2), (1, 0, 0, 0)])
def test_the_headline_names_every_count_but_zeros(counts: tuple[int, ...]) -> None:
    better, worse, _, untested = counts
    rows = [SimpleNamespace(decides=True, doubt="")] * sum(counts)
    found = SimpleNamespace(rows=rows, count=dict(zip(Verdict, counts, strict=False)).get, is_about_b=False)
    found.alike_items = 0
    said = headline(cast(Comparison, found), "A", "B")
    found.is_about_b = True
    of_b = headline(cast(Comparison, found), "A", "B")
    assert (f"B is significantly better than A on {worse} of" in of_b) == bool(worse)
    assert (f"B is significantly worse than A on {better} of" in of_b) == (bool(better) and not worse)
    numbers = sorted(map(int, re.findall(r"\d+", said)))
    expected = [n for n in counts if n] + ([sum(counts)] if untested < sum(counts) else [])
    assert numbers == sorted(expected)
    assert (f"better than B on {better} of" in said) == bool(better)
    assert ("worse" in said) == bool(worse)


def test_a_row_in_question_counts_for_nobody() -> None:
    """Distances read as scores turn every verdict round, so that the question stands in place of the verdict."""
    a, b = run_record("similarity", "one"), run_record("similarity", "two")
    test = decide([difference(0.001)])[0]
    row, asked = (Row(a, b, test, 0.001, doubt) for doubt in ("", "Is a low score alike?"))
    assert (row.decides, row.is_significant, row.in_words) == (True, True, "better")
    assert (asked.decides, asked.is_significant) == (False, False)
    assert asked.cells()["A is"] == row_as_json(asked)["verdict"] == IN_QUESTION != row_as_json(row)["verdict"]
    both = Comparison(A, B, (row, asked, asked), ())
    assert both.doubts == ("Is a low score alike?",)
    assert both.count(Verdict.BETTER) == 1
    assert "on 1 of 1 score" in headline(both, "A", "B")
    assert "similarity on made-up" in headline(both, "A", "B").lower()
    alone = Comparison(A, B, (asked,), ())
    assert not re.search("better|worse|significant", headline(alone, "A", "B"))
    assert TwoModels(alone, (Cost(1, None), Cost(1, None))).headline.startswith("Is a low score alike?")
    assert not changed([asked], MadeRows().repository).of_rows
    of_two = (test,)
    for doubts, verdict in (((), "better"), ((asked.doubt,), IN_QUESTION)):
        two = TwoRuns(row.entry, a, b, of_two, doubts)
        assert [cells["A is"] for cells in two.cells] == [fields["verdict"] for fields in two.fields] == [verdict]
        assert any("significantly better" in line for line in two.said) == (not doubts)


def test_all_models_of_a_comparison_answer_for_their_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three models on one dataset, two of which contradict its scores, no pair is in question."""
    runs = [run_record("similarity", name) for name in ("one", "two", "three")]
    asked: list[int] = []

    def doubts(_: object, runs: Sequence[RunRecord], __: object) -> list[str]:
        asked.append(len(runs))
        return ["?"] if len(runs) < 3 else []

    monkeypatch.setattr(type(find_diagnostic("similarity")), "doubts", doubts)
    pairs = [Row(a, b, difference(0.5), None) for a, b in combinations(runs, 2)]
    assert [row.doubt for row in rows._with_doubts(pairs, MadeRows().repository)] == [""] * 3
    assert [row.doubt for row in rows._with_doubts(pairs[:1], MadeRows().repository)] == ["?"]
    assert asked == [3, 2]


@pytest.mark.parametrize(
    ("changes", "other", "items"),
    [
        ([{"alike": 60}, {"alike": 65}], "two", 125),
        ([{"alike": 60}, {"alike": 39}], "two", 0),  # too few
        ([{"alike": 124, "wins": 1}], "two", 0),
        ([{"alike": 125}, {"alike": 125, "a": 0.51}], "two", 0),  # a difference without items
        ([{"alike": 125, "a": 1.0, "b": 1.0}], "two", 0),  # both solve it
        ([{"alike": 125}], "one~normalize", 0),  # cosines are those without it
    ],
)
def test_models_that_no_item_tells_apart_may_be_one(changes: list[dict[str, float]], other: str, items: int) -> None:
    equal = replace(difference(1.0), a=0.5, b=0.5, interval=None, wins=0, losses=0, alike=0)
    tests = decide([replace(equal, **change) for change in changes])  # type: ignore[arg-type]
    a, b = run_record("evalrank", "one"), run_record("evalrank", other)
    rows = tuple(Row(a, b, test, 1.0) for test in tests)
    comparison = Comparison(a.plan.variant, b.plan.variant, rows, ())
    assert comparison.alike_items == items
    told = f"all {items} items are alike"
    assert (
        (told in headline(comparison, "A", "B")) == (told in OwnComparison(comparison, rows).said()[-1]) == bool(items)
    )


def test_a_sentence_names_the_models_it_counts_items_of() -> None:
    test = replace(decide([difference(0.001)])[0], wins=1, losses=2)
    lines = in_words([test], "mine", "theirs")
    assert "mine does better on 1 item, theirs on 2, " in lines[1]
