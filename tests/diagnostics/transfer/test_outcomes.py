"""Stored transfer runs side by side, against the datasets they are of and the metrics that were stored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets.kinds.labeled_texts import TEST
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer import outcomes as examples
from blindspot.diagnostics.transfer import tasks
from blindspot.diagnostics.transfer.evidence import Answers
from blindspot.diagnostics.transfer.outcomes import Measure, Order, Outcomes, Which, outcomes
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics import confusion
from blindspot.numerics.statistics.confusion import macro_f1
from blindspot.numerics.statistics.estimate import Measured, Unit
from blindspot.numerics.statistics.outcomes import Outcome
from blindspot.numerics.statistics.pairs import ALLOWING, Dependence, share
from blindspot.runs.comparison import paired_tests
from blindspot.runs.findings.parts import Together, rows_of
from blindspot.texts import same_text
from blindspot.variants import Variant
from tests.support import transfer_world as toy
from tests.support.world import World

ENTRY = find_diagnostic("transfer")

SCORE = {Measure.ACCURACY: lambda counts: np.trace(counts) / counts.sum(), Measure.MACRO_F1: macro_f1}


def test_rows_are_those_of_the_dataset(toys: World) -> None:
    run = toys.run("transfer", "trigrams", toy.SPLIT)
    dataset = toy.split()
    found = outcomes(ENTRY, [run.run_id], toys.repository, dataset.classes)
    assert np.array_equal(found.numbers, np.flatnonzero(dataset.splits == TEST))
    assert found.classes == ("number", "animal", "color")  # as asked, not by name
    assert np.array_equal(found.labels, dataset.labels[found.numbers])
    assert list(found.first) == [dataset.items[dataset.firsts[i]] for i in found.numbers]
    assert list(found.second) == []
    assert np.array_equal(found.repeated, dataset.overlaps[found.numbers])
    assert [found.first[i] for i in np.flatnonzero(found.repeated)] == [toy.LEAKED]
    for measure in Measure:
        assert SCORE[measure](found.table(run.run_id)) == pytest.approx(run.metrics[measure.value])
        clean = found.without_overlap()
        assert SCORE[measure](clean.table(run.run_id)) == pytest.approx(run.metrics[f"{measure}_without_overlap"])
        stored = tasks.score(run, measure, overlap=True)
        again = found.estimate(run.run_id, measure)
        assert stored == Measured(again.value, again.interval)
        with pytest.raises(ValueError, match="outside of its interval"):
            tasks.score(replace(run, metrics={**run.metrics, measure.value: 0.01}), measure, overlap=True)


def test_same_texts_are_one_group(toys: World) -> None:
    run = toys.run("transfer", "trigrams", toy.FOLDS)
    found = outcomes(ENTRY, [run.run_id], toys.repository)
    dataset = toy.folds()
    same = dataset.same[found.numbers]
    groups = found.known.groups
    assert np.array_equal(groups[:, None] == groups, same[:, None] == same)
    assert found.classes == ("animal", "color")
    assert len(found) - len(found.without_overlap()) == 2


def test_what_one_run_left_out_is_left_out_of_all(toys: World) -> None:
    runs = [toys.run("transfer", name, toy.SPLIT) for name in ("trigrams", "lacks")]
    found = outcomes(ENTRY, [run.run_id for run in runs], toys.repository, toy.split().classes)
    other = outcomes(ENTRY, [run.run_id for run in reversed(runs)], toys.repository, toy.split().classes)
    assert 0 < len(found) < 43
    assert not [text for text in found.first if "pale" in text]
    assert np.array_equal(found.numbers, other.numbers)
    for run in runs:
        assert np.array_equal(found.predicted[run.run_id], other.predicted[run.run_id])


def test_pairs_keep_both_texts(toys: World) -> None:
    run = toys.run("transfer", "trigrams", toy.PAIRS)
    found = outcomes(ENTRY, [run.run_id], toys.repository)
    dataset = toy.pairs()
    assert list(found.second) == [dataset.items[dataset.seconds[i]] for i in found.numbers]
    rows = examples.described(found, {"A": run.run_id})
    assert rows[examples.SECOND].tolist() == list(found.second)


def test_pairs_that_share_a_text_are_dependent(toys: World) -> None:
    """The stored intervals, those of the page, and what is independent in comparisons and findings."""
    run = toys.run("transfer", "trigrams", toy.PAIRS)
    found = outcomes(ENTRY, [run.run_id], toys.repository)
    texts = [same_text(text) for text in found.second]
    assert len(set(texts)) < len(texts) == len(set(found.first)), "each has a first text of its own"
    groups = Dependence.of_groups(np.array([texts.index(text) for text in texts]), Unit.COMPONENTS)
    assert (found.known.unit, found.known.units) == (Unit.COMPONENTS, groups.units)
    expected = share(found.right(run.run_id).astype(np.float64), groups)
    (scores,) = ENTRY.item_scores([run], toys.repository)
    accuracy = scores["accuracy"]
    assert (accuracy.unit, accuracy.known.units) == ("groups of pairs", groups.units)
    stored = tasks.score(run, Measure.ACCURACY, overlap=True)
    for of in (stored, found.estimate(run.run_id, Measure.ACCURACY), accuracy.estimate):
        assert of is not None
        assert (of.low, of.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    rows = rows_of(ENTRY, [run], toys.repository)
    of_evidence = Answers.of(Together([run], []), rows).known.among(rows.has(run.run_id))
    assert np.array_equal(of_evidence.groups, groups.groups)


def test_a_run_without_rows_is_named(toys: World) -> None:
    run = toys.run("transfer", "trigrams", toy.SPLIT)
    with pytest.raises(BlindspotError, match="run nosuchrun has no stored rows; compute it again"):
        outcomes(ENTRY, [run.run_id, "nosuchrun"], toys.repository)


def test_scores_are_read_of_metrics(toys: World) -> None:
    run = toys.run("transfer", "trigrams", toy.SPLIT)
    found = tasks.score(run, Measure.MACRO_F1, overlap=False)
    assert found is not None
    assert found.value == run.metrics["macro_f1_without_overlap"]
    accuracy = tasks.baseline(run, Measure.ACCURACY, overlap=True)
    assert accuracy == run.metrics["majority"]
    # Against the table of always saying the training part's most frequent class.
    dataset = toy.split()
    labels = dataset.labels[dataset.splits == TEST]
    most = int(np.bincount(dataset.labels[dataset.splits == 0]).argmax())
    table = confusion.confusion(labels, np.full(len(labels), most, dtype=np.int32), 3)
    assert tasks.baseline(run, Measure.MACRO_F1, overlap=True) == pytest.approx(float(confusion.macro_f1(table)))


# --- by hand


def by_hand() -> Outcomes:
    """Six examples: both right, only A, only B, both wrong alike, both wrong otherwise, only A (a repeat)."""
    labels = np.array([0, 0, 1, 1, 2, 0], dtype=np.int32)
    return Outcomes(
        np.array([3, 5, 8, 9, 11, 12]),
        ("x", "y", "z"),
        labels,
        Dependence.of_examples(np.array([0, 1, 2, 3, 4, 1])),
        np.array([False, True, False, False, False, True]),
        ["Both", "only a", "only B", "alike", "otherwise", "only A"],
        [],
        {"a": np.array([0, 0, 0, 0, 0, 0], np.int32), "b": np.array([0, 1, 1, 0, 1, 2], np.int32)},
        {"a": np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]), "b": np.array([0.55, 0.95, 0.65, 0.75, 0.85, 0.45])},
    )


@pytest.mark.parametrize(
    ("which", "numbers"),
    [
        (Which.ALL, [3, 5, 8, 9, 11, 12]),
        (Which.WRONG, [8, 9, 11]),
        (Which.RIGHT, [3, 5, 12]),
    ],
)
def test_filters(which: Which, numbers: list[int]) -> None:
    rows = examples.described(by_hand(), {"A": "a", "B": "b"})
    assert rows[examples.kept(rows, which)][examples.NUMBER].tolist() == numbers


@pytest.mark.parametrize(
    ("outcome", "numbers"),
    [
        (Outcome.WON_BY_A, [5, 12]),
        (Outcome.WON_BY_B, [8]),
        (Outcome.BOTH_WRONG, [9, 11]),
        (Outcome.BOTH_RIGHT, [3]),
    ],
)
def test_what_became_of_examples(outcome: Outcome, numbers: list[int]) -> None:
    found = by_hand()
    assert found.numbers[examples.became(found, "a", "b").of(outcome)].tolist() == numbers
    rows = examples.described(found, {"A": "a", "B": "b"})
    assert rows[examples.alike(rows)][examples.NUMBER].tolist() == [9]


def test_orders() -> None:
    rows = examples.described(by_hand(), {"A": "a", "B": "b"})
    surest = rows[examples.SUREST].tolist()
    assert surest == pytest.approx([float("nan"), 0.95, 0.7, 0.75, 0.85, 0.45], nan_ok=True)
    assert examples.ordered(rows, Order.MISTAKE)[examples.NUMBER].tolist() == [5, 11, 9, 8, 12, 3]
    assert examples.ordered(rows, Order.UNSURE)[examples.NUMBER].tolist() == [12, 11, 3, 9, 8, 5]
    assert examples.ordered(rows.sample(frac=1, random_state=0), Order.NUMBER).equals(rows)


def test_search_looks_into_both_texts_whatever_the_case() -> None:
    rows = examples.described(by_hand(), {"A": "a"})
    assert rows[examples.containing(rows, "ONLY a")][examples.NUMBER].tolist() == [5, 12]
    rows[examples.SECOND] = ["", "", "", "Only A.", "", ""]
    assert rows[examples.containing(rows, "only a")][examples.NUMBER].tolist() == [5, 9, 12]
    assert not examples.containing(rows, "o.ly").any()  # no pattern


def test_a_file_names_the_variants() -> None:
    rows = examples.described(by_hand(), {"A": "a", "B": "b"})
    file = examples.for_export(rows, {"A": Variant("one", "none"), "B": Variant("two", "center")})
    sides = [f"{what} {variant}" for variant in ("one~none", "two~center") for what in ("predicted", "probability")]
    assert list(file.columns) == ["item_no", "first", "label", *sides, "repeated"]
    assert file["predicted two~center"].tolist() == ["x", "y", "y", "x", "y", "z"]


def test_a_text_that_repeats_counts_once_in_the_test(toys: World) -> None:
    """Examples that say the same: McNemar's test takes each for one of its own."""
    a, b = (toys.run("transfer", name, toy.FOLDS) for name in ("trigrams", "bigrams"))
    found = outcomes(ENTRY, [a.run_id, b.run_id], toys.repository)
    units = found.known.units
    assert units == len(found) - 1
    (whole,), (some,) = (
        paired_tests(ENTRY, [(a, b)], toys.repository, among=numbers)[0]
        for numbers in (None, found.without_overlap().numbers)
    )
    assert (whole.n, whole.test) == (units, f"sign flips of groups of same texts, {ALLOWING}")
    right = [found.right(run.run_id) for run in (a, b)]
    assert (whole.wins, whole.losses) == (int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
    assert whole.wins + whole.losses + whole.alike == len(found)
    assert (some.n, some.test) == (len(found) - 2, "McNemar's exact test")
    assert some.a == pytest.approx(a.metrics["accuracy_without_overlap"])
