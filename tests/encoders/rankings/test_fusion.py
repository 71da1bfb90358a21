"""Reciprocal-rank fusion is that of a loop, with ties and documents that are not retrieved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.rankings.base import Way, WithoutModels, info_of
from blindspot.encoders.rankings.bm25 import KeywordRanking
from blindspot.encoders.rankings.fusion import Fusion, first_ranks
from blindspot.numerics.ranking.judged import order_of_ids
from blindspot.types import Float64, Int64
from tests.support import retrieval_world as toy

NONE = -np.inf


@dataclass
class Given(WithoutModels):
    """A ranking of given scores."""

    values: Float64
    reference: str = "run:given"

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(reference=self.reference, revision="1", pooling="", libraries=())

    @property
    def info(self) -> EncoderInfo:
        return info_of("", "", "")

    def digest(self, texts_digest: str) -> str:
        return self.reference + texts_digest

    def scores(self, _dataset: RetrievalDataset, queries: Int64, _way: Way) -> Iterator[Float64]:
        for start in range(0, len(queries), 2):
            yield self.values[queries[start : start + 2]]

    def facts(self, _dataset: RetrievalDataset) -> Mapping[str, Any]:
        return {}


def by_loop(one: Sequence[float], other: Sequence[float], ids: Sequence[str], *, in_order: bool) -> list[float]:
    """Sum of 1/(60 + rank) over the two lists' first 100; tied documents share the mean of their ranks."""
    out = [NONE] * len(one)
    for scores in (one, other):
        for d, score in enumerate(scores):
            if score == NONE:
                continue
            above = sum(s > score for s in scores)
            tied = [ids[e] for e, s in enumerate(scores) if s == score]
            if in_order:
                above += sum(name > ids[d] for name in tied)  # the later id is first
                tied = [ids[d]]
            if above < 100:
                rank = above + (1 + len(tied)) / 2
                out[d] = (0.0 if out[d] == NONE else out[d]) + 1 / (60 + rank)
    return out


def fused(data: RetrievalDataset, *parts: Float64, in_order: bool = False) -> Float64:
    fusion = Fusion("fuse:a+b", (Given(parts[0], "a"), Given(parts[1], "b")), ("a", "b"))
    queries = np.arange(len(data.queries))
    return np.concatenate(list(fusion.scores(data, queries, Way(in_order=in_order))))


def dataset(documents: int) -> RetrievalDataset:
    return toy.made("many", ["one", "two", "three"], [f"text {i}" for i in range(documents)], [{0: 1}] * 3)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 12), st.booleans())
def test_scores_are_those_of_a_loop(data: st.DataObject, n: int, in_order: bool) -> None:
    line = st.lists(st.sampled_from([NONE, -1.0, 0.0, 0.5, 0.5 + 1e-9, 2.0]), min_size=n, max_size=n)
    parts = [np.array(data.draw(st.lists(line, min_size=3, max_size=3))) for _ in range(2)]
    world = dataset(n)
    found = fused(world, *parts, in_order=in_order)
    for row, one, other in zip(found.tolist(), *(part.tolist() for part in parts), strict=True):
        assert row == by_loop(one, other, world.document_ids, in_order=in_order)


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("levels", [5, 90, 10_000])
def test_a_document_below_the_first_hundred_is_not_retrieved(levels: int, in_order: bool) -> None:
    world, random = dataset(250), np.random.default_rng(levels)
    parts = [random.integers(0, levels, (3, 250)).astype(np.float64) for _ in range(2)]
    found = fused(world, *parts, in_order=in_order)
    for row, one, other in zip(found.tolist(), *(part.tolist() for part in parts), strict=True):
        assert row == by_loop(one, other, world.document_ids, in_order=in_order)
    if in_order:
        assert 100 <= (found > NONE).sum(axis=1).min() <= (found > NONE).sum(axis=1).max() <= 200


def test_the_order_of_the_two_changes_nothing() -> None:
    world, random = dataset(40), np.random.default_rng(1)
    one, other = (random.integers(0, 9, (3, 40)).astype(np.float64) for _ in range(2))
    assert fused(world, one, other).tolist() == fused(world, other, one).tolist()


def test_keyword_search_retrieves_no_document_without_a_word_of_the_query() -> None:
    world = toy.made("words", ["apple pie"], ["an apple", "some pie apple", "a boat"], [{0: 1}])
    nothing = Given(np.full((1, 3), NONE))
    fusion = Fusion("fuse:bm25+run:given", (KeywordRanking("bm25"), nothing), ("bm25", "run:given"))
    (line,) = np.concatenate(list(fusion.scores(world, np.array([0]), Way())))
    assert line.tolist() == [1 / 62, 1 / 61, NONE]


def test_first_ranks() -> None:
    scores = np.array([3.0, 1.0, 3.0, NONE, 2.0])
    found, ranks = first_ranks(scores, None, 3)
    assert dict(zip(found.tolist(), ranks.tolist(), strict=True)) == {0: 1.5, 2: 1.5, 4: 3.0}
    found, ranks = first_ranks(scores, order_of_ids(["a", "b", "c", "d", "e"]), 2)
    assert dict(zip(found.tolist(), ranks.tolist(), strict=True)) == {2: 1.0, 0: 2.0}
