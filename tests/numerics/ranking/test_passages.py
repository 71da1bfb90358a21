"""Ranks of documents by their best passage: equality with float64 loops, ties included."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.errors import Cancelled
from blindspot.numerics.ranking import passages as module
from blindspot.numerics.ranking.judged import Judged, rank_by_scores, search
from blindspot.numerics.ranking.passages import best_passages, similarities
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, no_progress


def similarity(x: Any, y: Any, metric: Similarity) -> float:
    x, y = x.astype(np.float64), y.astype(np.float64)
    if metric is Similarity.L2:
        return float(1 / (1 + np.sqrt(((x - y) ** 2).sum())))
    lengths = np.sqrt((x**2).sum()) * np.sqrt((y**2).sum())
    return float((x * y).sum() / lengths) if lengths else 0.0


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, Any, Judged]:
    """Passages with copies and zero vectors, their documents, queries, and judgments."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, q, d = draw(st.integers(1, 30)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    counts = random.integers(1, draw(st.sampled_from([2, 4, 9])), n)
    whole = draw(st.booleans())  # whole numbers: many are equally similar

    def vectors(rows: int) -> Any:
        made = random.integers(-2, 3, (rows, d)) if whole else random.standard_normal((rows, d))
        return (made * draw(st.sampled_from([1, 100]))).astype(np.float32)

    passages = vectors(int(counts.sum()))
    passages[random.random(len(passages)) < 0.2] = passages[0]
    judged = [np.sort(random.choice(n, int(random.integers(1, n + 1)), replace=False)) for _ in range(q)]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in judged])])
    return passages, np.concatenate([[0], np.cumsum(counts)]), vectors(q), Judged(starts, np.concatenate(judged))


@given(collections(), st.sampled_from(list(Similarity)), st.sampled_from([3, 4_096]), st.integers(1, 40))
@hypothesis_settings(max_examples=200, deadline=None)
def test_a_document_is_as_similar_as_its_best_passage(made: Any, metric: Similarity, tile: int, at_once: int) -> None:
    passages, starts, queries, judged = made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PASSAGES_PER_TILE", tile)
        patch.setattr(module, "SCORES_AT_ONCE", at_once)
        blocks = list(similarities(passages, starts, queries, metric, CancelToken()))
    found = np.concatenate(blocks)
    every = np.array([[similarity(x, y, metric) for y in passages] for x in queries])
    exact = np.array([[line[a:b].max() for a, b in pairwise(starts)] for line in every])
    assert found == pytest.approx(exact, abs=1e-12)
    places, best = rank_by_scores(blocks, judged, k=5, tau=TAU)
    for at, (query, document) in enumerate(zip(judged.queries, judged.documents, strict=True)):
        own = exact[query, document]
        assert places.greater[at] == (exact[query] > own + TAU).sum()
        assert places.ties[at] == (abs(exact[query] - own) <= TAU).sum() - 1
        assert places.scores[at] == pytest.approx(own, abs=1e-12)
    rows = best_passages(passages, starts, queries, best, metric)
    for query, (documents, scores, own) in enumerate(zip(best.documents, best.scores, rows, strict=True)):
        assert scores == pytest.approx(np.sort(exact[query])[::-1][:5], abs=1e-12)
        for document, row in zip(documents, own, strict=True):
            assert starts[document] <= row < starts[document + 1]
            assert every[query, row] == pytest.approx(exact[query, document], abs=1e-12)
            earlier = every[query, starts[document] : row]
            assert not (earlier > exact[query, document] + 1e-12).any()


@pytest.mark.parametrize("metric", list(Similarity))
def test_one_passage_each_is_the_search_of_whole_documents(metric: Similarity) -> None:
    random = np.random.default_rng(4)
    matrix = random.standard_normal((560, 12)).astype(np.float32)
    judged = Judged(np.arange(0, 181, 3), random.integers(0, 160, (60, 3)).cumsum(axis=1).ravel() % 500)
    places, best = search(matrix, judged, metric, no_progress, CancelToken())
    blocks = similarities(matrix[:500], np.arange(501), matrix[500:], metric, CancelToken())
    by_passages, top = rank_by_scores(blocks, judged, tau=TAU)
    assert by_passages.greater.tolist() == places.greater.tolist()
    assert by_passages.ties.tolist() == places.ties.tolist()
    assert top.documents.tolist() == best.documents.tolist()
    assert top.scores == pytest.approx(best.scores, abs=1e-12)


def test_a_cancelled_search_ends() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(
            similarities(np.ones((2, 2), np.float32), np.arange(3), np.ones((1, 2), np.float32), Similarity.COS, cancel)
        )
