"""Rankings in two stages: equality with float64 loops, and with sentence-transformers' rescored search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.judged import Judged, order_of_ids, rank_by_scores
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.ranking.rescoring import BEHIND, Rescoring, Side, rank_pairs_twice
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken


def similarity(x: Any, y: Any, metric: Similarity) -> float:
    x, y = x.astype(np.float64), y.astype(np.float64)
    if metric is Similarity.L2:
        return float(1 / (1 + np.sqrt(((x - y) ** 2).sum())))
    lengths = np.sqrt((x**2).sum()) * np.sqrt((y**2).sum())
    return float((x * y).sum() / lengths) if lengths else 0.0


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any, Any, int]:
    """Vectors of a search (whole numbers: many tie) and finer ones, of candidates and queries, and a depth."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, q = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    coarse = random.integers(-2, 3, (n + q, 3)).astype(np.float32)
    finer = random.standard_normal((n + q, draw(st.integers(1, 5)))).astype(np.float32)
    finer[random.random(n + q) < 0.3] = finer[0]
    return coarse[:n], coarse[n:], finer[:n], finer[n:], draw(st.integers(1, n + 3))


def ranking(first: list[float], second: list[float], depth: int, candidates: list[int]) -> list[tuple[int, float]]:
    """Stage (1 for the list, 0 below it) and similarity of every candidate, by loops; others have stage -1."""
    best = sorted((first[i] for i in candidates), reverse=True)
    last = best[min(depth, len(best)) - 1]
    out = []
    for i in range(len(first)):
        if i not in candidates:
            out.append((-1, 0.0))
        else:
            out.append((1, second[i]) if first[i] >= last - TAU else (0, first[i]))
    return out


def is_above(a: tuple[int, float], b: tuple[int, float]) -> bool:
    return a[0] > b[0] or (a[0] == b[0] and a[1] > b[1] + TAU)


def is_tied(a: tuple[int, float], b: tuple[int, float]) -> bool:
    return a[0] == b[0] and abs(a[1] - b[1]) <= TAU


@given(problems(), st.sampled_from(list(Similarity)))
@hypothesis_settings(max_examples=200, deadline=None)
def test_pairs_are_counted_as_by_a_loop(made: Any, metric: Similarity) -> None:
    first, asking, second, finely_asking, depth = made
    n, q = len(first), len(asking)
    random = np.random.default_rng(n * 31 + q)
    own = np.where(random.random(q) < 0.5, random.integers(0, n, q), -1)
    m = 6
    query, match = random.integers(0, q, m), random.integers(0, n, m)
    out = [(p, i) for p in range(m) for i in range(n) if i not in (match[p], own[query[p]]) and random.random() < 0.2]
    exclusions = Exclusions(
        np.array([p for p, _ in out], dtype=np.int64), np.array([i for _, i in out], dtype=np.int64)
    )
    rescoring = Rescoring(Side.of(first, asking), Side.of(second, finely_asking), depth, metric, own=own)
    both = np.concatenate([second, finely_asking])
    alone = similarity_of_pairs(both, n + query, match, metric)
    found = rank_pairs_twice(rescoring, query, match, exclusions, alone, CancelToken())
    sizes = {}
    for pair in range(m):
        a = query[pair]
        one = [similarity(asking[a], x, metric) for x in first]
        two = [similarity(finely_asking[a], x, metric) for x in second]
        places = ranking(one, two, depth, [i for i in range(n) if i != own[a]])
        sizes[a] = sum(stage == 1 for stage, _ in places)
        its_place = (1, two[match[pair]]) if match[pair] == own[a] else places[match[pair]]
        others = [i for i in range(n) if i not in (match[pair], own[a])]
        kept = [i for i in others if (pair, i) not in out]
        assert found.raw.similarity[pair] == pytest.approx(its_place[1], abs=1e-9)
        for counts, among in ((found.raw, others), (found.filtered, kept)):
            assert counts.greater[pair] == sum(is_above(places[i], its_place) for i in among)
            assert counts.ties[pair] == sum(is_tied(places[i], its_place) for i in among)
    assert found.listed == pytest.approx(np.mean(rescoring.listed))
    assert {a: rescoring.listed[a] for a in sizes} == sizes


@given(problems(), st.sampled_from(list(Similarity)))
@hypothesis_settings(max_examples=100, deadline=None)
def test_in_an_order_of_ties_exactly_so_many_are_compared_again(made: Any, metric: Similarity) -> None:
    first, asking, second, finely_asking, depth = made
    n, q = len(first), len(asking)
    order = order_of_ids([f"d{i % 7}x{i}" for i in range(n)])
    rescoring = Rescoring(Side.of(first, asking), Side.of(second, finely_asking), depth, metric, order=order)
    judged = Judged(np.arange(q + 1) * n, np.tile(np.arange(n), q))
    places, top = rank_by_scores(rescoring.blocks(CancelToken()), judged, order, k=n)
    for a in range(q):
        one = [round(similarity(asking[a], x, metric), 6) for x in first]
        two = [round(similarity(finely_asking[a], x, metric), 6) for x in second]
        by_search = sorted(range(n), key=lambda i: (-one[i], order[i]))
        again = sorted(by_search[:depth], key=lambda i: (-two[i], order[i]))
        whole = again + by_search[depth:]
        assert top.documents[a].tolist() == whole
        assert rescoring.listed[a] == len(again)
        assert np.argsort(whole).tolist() == places.greater[a * n : (a + 1) * n].tolist()
        assert top.scores[a].tolist() == pytest.approx(
            [two[i] for i in again] + [one[i] - BEHIND for i in by_search[depth:]]
        )


def test_by_hand_bits_find_the_list_and_floats_decide_in_it() -> None:
    """Four texts with bits 11, 11, 10, 00 and a query of bits 11: two are in the list, the better float first."""
    texts = np.array([[0.1, 1.0], [1.0, 1.0], [5.0, -0.1], [-1.0, -1.0]], dtype=np.float32)
    query = np.array([[1.0, 1.0]], dtype=np.float32)
    bits, bits_of_query = np.where(texts > 0, 1, -1), np.where(query > 0, 1, -1)
    rescoring = Rescoring(
        Side.of(bits.astype(np.float32), bits_of_query.astype(np.float32)),
        Side.of(texts, query),
        1,
        Similarity.COS,
    )
    (line,) = next(iter(rescoring.blocks(CancelToken())))
    assert rescoring.listed == [2]  # the second ties with the first
    assert line.tolist() == pytest.approx([1.1 / np.sqrt(2.02), 1.0, 0.0 - BEHIND, -1.0 - BEHIND])


def test_a_vector_that_is_not_finite_is_refused() -> None:
    rows = np.ones((3, 2), dtype=np.float32)
    broken = np.array([[np.nan, 1.0]], dtype=np.float32)
    rescoring = Rescoring(Side.of(rows, rows[:1]), Side.of(rows, broken), 1, Similarity.COS)
    with pytest.raises(BlindspotError, match="1 embeddings have NaN"):
        next(iter(rescoring.blocks(CancelToken())))


@pytest.mark.parametrize("depth", [10, 40])
def test_float_queries_on_bits_are_sentence_transformers_rescored_search(depth: int) -> None:
    """There the best by Hamming distance are compared again as float queries with bits: binary-docs+binary+rescore."""
    from sentence_transformers.util.quantization import quantize_embeddings, semantic_search_faiss

    random = np.random.default_rng(7)
    texts, queries = (random.standard_normal((n, 96)).astype(np.float32) for n in (300, 20))
    packed = np.asarray(quantize_embeddings(texts, "ubinary"))
    there, _ = semantic_search_faiss(
        queries, packed, corpus_precision="ubinary", top_k=depth // 2, rescore=True, rescore_multiplier=2
    )
    fitted = TransformChain.parse(f"binary-docs+binary+rescore:{depth}").fit(texts)
    sides = [Side.of(one.apply(texts), one.apply_to_queries(queries)) for one in (fitted.searched, fitted.finer)]
    rescoring = Rescoring(sides[0], sides[1], fitted.chain.rescored, Similarity.COS)
    lines = np.concatenate(list(rescoring.blocks(CancelToken())))
    same = 0
    for query, line, hits, size in zip(queries, lines, there, rescoring.listed, strict=True):
        numbers = [hit["corpus_id"] for hit in hits]
        assert all(line[i] > -BEHIND / 2 for i in numbers)  # theirs are in the list, which has the tied ones too
        # q . b of bits 0 and 1 is (q . s + sum of q) / 2 of signs s.
        theirs = [2 * hit["score"] - query.sum() for hit in hits]
        ours = [line[i] * np.linalg.norm(query) * np.sqrt(96) for i in numbers]
        assert ours == pytest.approx(theirs, abs=1e-4)
        if size == depth:  # no tie at the end of the list
            same += 1
            assert numbers == np.argsort(-line)[: depth // 2].tolist()
    assert same
