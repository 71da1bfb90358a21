"""Folds and splits: no text on both sides, every example tested once, classes spread evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.diagnostics.transfer.splits import folds, grouped_folds, prescribed
from blindspot.types import Int32, Int64

# Of each example its class and its group; groups of several classes and numbers with gaps among them.
EXAMPLES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 15)), min_size=3, max_size=60).filter(
    lambda examples: len({group for _, group in examples}) >= 3
)


def columns(examples: list[tuple[int, int]]) -> tuple[Int32, Int64]:
    labels, groups = np.array(examples).T
    return (2 * labels).astype(np.int32), (50 - 3 * groups).astype(np.int64)


@given(EXAMPLES, st.integers(1, 5))
def test_every_example_is_tested_once_and_no_text_is_on_both_sides(examples: list[tuple[int, int]], seed: int) -> None:
    labels, groups = columns(examples)
    plan = folds(labels, groups, seed, 4)
    assert len(plan) == min(4, len(set(groups)))
    assert sorted(np.concatenate([split.test for split in plan])) == list(range(len(labels)))
    assert sorted(np.concatenate([split.dev for split in plan])) == list(range(len(labels)))
    for split in plan:
        sides = [set(groups[part]) for part in (split.fit, split.test)]
        assert not sides[0] & sides[1]
        assert not set(groups[split.training]) & sides[1]
        assert sorted([*split.fit, *split.dev, *split.test]) == list(range(len(labels)))
        assert not sides[0] & set(groups[split.dev])


@given(EXAMPLES, st.integers(1, 5))
def test_the_next_fold_chooses(examples: list[tuple[int, int]], seed: int) -> None:
    plan = folds(*columns(examples), seed, 4)
    for number, split in enumerate(plan):
        assert split.dev.tolist() == plan[(number + 1) % len(plan)].test.tolist()
        assert not split.is_prescribed


@given(st.lists(st.integers(0, 4), min_size=10, max_size=200), st.integers(1, 5))
def test_of_single_texts_classes_and_sizes_differ_by_one_at_most(classes: list[int], seed: int) -> None:
    labels = np.array(classes, dtype=np.int32)
    fold = grouped_folds(labels, np.arange(len(labels)), 10, seed)
    for k in set(classes):
        assert np.ptp(np.bincount(fold[labels == k], minlength=10)) <= 1
    assert np.ptp(np.bincount(fold, minlength=10)) <= 1


def imbalance(labels: Int32, fold: Int64) -> float:
    """Sum over classes and folds of the squared share of the class."""
    out = 0.0
    for k in np.unique(labels):
        for f in range(10):
            out += float(np.mean(fold[labels == k] == f)) ** 2
    return out


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_texts_that_repeat_classes_are_spread_as_well_as_scikit_learn_spreads_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(150), rng.integers(1, 5, size=150))
    labels = np.where(rng.random(len(groups)) < 0.1, 2, groups % 2).astype(np.int32)
    theirs = np.empty(len(labels), dtype=np.int64)
    for number, (_, test) in enumerate(StratifiedGroupKFold(10).split(labels, labels, groups)):
        theirs[test] = number
    assert imbalance(labels, grouped_folds(labels, groups, 10, seed)) <= imbalance(labels, theirs) * 1.01


def test_the_largest_group_by_hand() -> None:
    """Of three folds one takes the group of four; what is single goes where its class is rarer, then where it is
    emptier."""
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
    groups = np.array([9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7], dtype=np.int64)
    fold = grouped_folds(labels, groups, 3, seed=1)
    home = fold[0]
    assert set(fold[:4]) == {home}
    assert sorted(fold[4:6]) == sorted({0, 1, 2} - {home})
    assert np.bincount(fold[6:], minlength=3)[home] == 1


@given(st.integers(3, 9), st.integers(30, 60), st.integers(1, 5))
def test_a_rare_class_is_in_every_training_part(members: int, others: int, seed: int) -> None:
    labels = np.array([1] * members + [0] * others, dtype=np.int32)
    for split in folds(labels, np.arange(len(labels)), seed):
        assert 1 in labels[split.fit]


def test_two_texts_are_too_few() -> None:
    with pytest.raises(ValueError, match="2 groups"):
        folds(np.array([0, 1, 1], dtype=np.int32), np.array([5, 7, 7]), seed=1)


def test_a_seed_says_which() -> None:
    labels, groups = np.zeros(60, dtype=np.int32), np.arange(60) // 2
    first, again, other = (grouped_folds(labels, groups, 10, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# --- what a task prescribes


def test_the_dev_part_of_a_task_chooses_and_is_never_learned_from() -> None:
    parts = np.array([TRAIN, TEST, DEV, TRAIN], dtype=np.int8)
    split = prescribed(parts, np.zeros(4, dtype=np.int32), np.arange(4), seed=1)
    assert split.is_prescribed
    assert [part.tolist() for part in (split.fit, split.dev, split.test, split.training)] == [[0, 3], [2], [1], [0, 3]]


@given(st.integers(1, 5))
def test_without_a_dev_part_a_tenth_of_the_texts_chooses(seed: int) -> None:
    parts = np.array(([TRAIN] * 4 + [TEST]) * 30, dtype=np.int8)
    labels = (np.arange(150) % 3 == 0).astype(np.int32)
    groups = np.arange(150) // 2
    split = prescribed(parts, labels, groups, seed)
    assert split.training.tolist() == np.flatnonzero(parts == TRAIN).tolist()
    assert split.test.tolist() == np.flatnonzero(parts == TEST).tolist()
    assert 9 <= len(split.dev) <= 15
    assert not set(groups[split.fit]) & set(groups[split.dev])
    assert not split.is_prescribed
