"""Counts and rows of datasets for the page *Data*, against plain loops."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from blindspot.datasets.kinds.base import Dataset, Rows
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, LabeledRow
from blindspot.datasets.kinds.pairs import PairCounts, PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published import scored_pairs
from blindspot.datasets.published.chunked import chunked_sentences
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.datasets.published.word_relations import (
    Event,
    Group,
    Question,
    analogies,
    categories,
    events,
    outliers,
)
from tests.support.small_world import SMALL_PAIRS
from tests.support.tables import each

REPEATED = loaders.pair_set("repeated", [("a", "b"), ("a", "b"), ("b", "a"), ("c", "c"), ("a", "c")], [])


def counted(dataset: PairSet) -> PairCounts:
    """The same counts, one pair at a time."""
    matches = defaultdict(set)
    pairs = [(dataset.items[q], dataset.items[m]) for q, m in zip(dataset.queries, dataset.matches, strict=True)]
    for query, match in pairs:
        matches[query].add(match)
    return PairCounts(
        pairs=len(pairs),
        self_pairs=sum(query == match for query, match in pairs),
        repeated_pairs=sum(count - 1 for count in Counter(pairs).values()),
        items=len(set(dataset.items)),
        queries=len(matches),
        several_matches=sum(len(found) > 1 for found in matches.values()),
        background_only=len(set(dataset.items) - {text for pair in pairs for text in pair}),
    )


@pytest.mark.parametrize("dataset", [SMALL_PAIRS, REPEATED], ids=lambda d: d.id)
def test_counts(dataset: PairSet) -> None:
    assert dataset.counts == counted(dataset)


def test_counts_of_odd_pairs_are_what_they_look_like() -> None:
    assert REPEATED.counts == PairCounts(5, 1, 1, 3, 3, 1, 0)


def test_rows_are_the_pairs_and_end_with_them() -> None:
    data = REPEATED
    assert data.rows(0, 2) == [(0, "a", "b"), (1, "a", "b")]
    assert data.rows(3, 10) == [(3, "c", "c"), (4, "a", "c")]
    assert data.rows(5, 10) == []


def test_background_is_in_no_pair_and_the_same_for_a_seed() -> None:
    data = SMALL_PAIRS
    paired = {SMALL_PAIRS.items[n] for n in [*SMALL_PAIRS.queries, *SMALL_PAIRS.matches]}
    everything = data.background(1_000, seed=0)
    assert len(everything) == len(set(everything)) == data.counts.background_only == 8
    assert not paired & set(everything)
    assert data.background(3, seed=1) == data.background(3, seed=1)
    assert len({tuple(data.background(3, seed)) for seed in range(5)}) > 1
    assert REPEATED.background(3, seed=0) == []


LABELED = labeled_texts(
    "labeled",
    ("p", "q"),
    [
        Example("p", "a", "b", TRAIN),
        Example("q", "A", " b", TEST),
        Example("q", "b", "a", TEST),
        Example("p", "c", "c", DEV),
    ],
)


def test_examples_and_those_that_leak() -> None:
    data = LABELED
    assert data.numbers().tolist() == [0, 1, 2, 3]
    assert data.numbers("q").tolist() == [1, 2]
    assert data.numbers(overlapping=True).tolist() == [1, 2]
    assert data.numbers("p", overlapping=True).tolist() == []
    assert data.examples(data.numbers("q")) == [
        LabeledRow(1, "q", "test", "A", " b", "in training"),
        LabeledRow(2, "q", "test", "b", "a", "in training"),
    ]
    single = labeled_texts("x", ("p", "q"), [Example("p", "a"), Example("q", "A")])
    assert single.examples([1]) == [LabeledRow(1, "q", "", "A", "", "elsewhere")]
    assert data.overlaps.tolist() == [False, True, True, False], "what is asked for changes nothing"


@each(
    ("dataset", "headings", "cells"),
    [
        (
            analogies("analogies", [Question("s", "", "a", "b", "c", "d")], ["e"]),
            ("a", "b", "c", "right"),
            [("a", "b", "c", "d")],
        ),
        (categories("categories", [("l", "w"), ("k", "v")]), ("word", "class"), [("w", "l")]),
        (
            events("done", [Event("a", "b", "c", "d")]),
            ("agent", "verb", "typical patient", "atypical patient"),
            [("a", "b", "c", "d")],
        ),
        (
            chunked_sentences("c", [(TRAIN, [[("a", "B-NP"), ("b", "O")]]), (TEST, [[("c", "O")]])]),
            ("sentence", "split", "phrases"),
            [("a b", "train", "[NP a ] b")],
        ),
        (outliers("odd", [Group("g", ("a", "b"), ("c", "d"))]), ("group", "outlier", "words"), [("g", "c", "a; b")]),
        (
            LABELED,
            ("number", "label", "split", "first", "second"),
            [(0, "p", "train", "a", "b")],
        ),
        (REPEATED, ("pair", "query", "match"), [(0, "a", "b")]),
        (
            scored_pairs.scored_pairs("scored", {"set": [("a", "b", 2.5), ("c", "d", 1.0)]}),
            ("pair", "set", "score", "first text", "second text"),
            [(0, "set", 2.5, "a", "b")],
        ),
    ],
    ids=lambda value: value.id if isinstance(value, Dataset) else None,
)
def test_the_first_rows_of_every_kind(
    dataset: Dataset, headings: tuple[str, ...], cells: list[tuple[object, ...]]
) -> None:
    assert dataset.first_rows(1) == Rows(headings, tuple(cells))
    assert dataset.first_rows(0).cells == ()
