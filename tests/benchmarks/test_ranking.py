"""The benchmarks of ranking, neighbors and intervals, on small problems: both sides do what they say."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmarks import bootstrap, catalog, gpu, neighbors, ranking, resident, retrieval
from benchmarks.measuring import PAIRS_OF_TIMINGS
from blindspot.diagnostics.evalrank.toolkit import rank_pairs_as_toolkit
from blindspot.numerics import coarse
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, no_progress

NOTHING = np.empty(0, dtype=np.int64)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = functools.partial(ranking.ranking_problem, queries=30)

    def small_problem(dimension: int, items: int = 300) -> tuple[Float32, Int32, Int32]:
        return problem(dimension, items)

    for module in (ranking, gpu):
        monkeypatch.setattr(module, "ranking_problem", small_problem)


def test_the_toolkits_way_gives_the_toolkits_ranks() -> None:
    matrix, queries, matches = ranking.ranking_problem(24, 400, 60)
    matches = np.roll(matches, 7)  # ranks of every size
    matches[0] = queries[0]
    found = [ranking.rank_as_toolkit(matrix, int(q), int(y)) for q, y in zip(queries, matches, strict=True)]
    expected, _, _ = rank_pairs_as_toolkit(
        matrix, queries, matches, Similarity.COS, Exclusions(NOTHING, NOTHING), no_progress, CancelToken()
    )
    assert np.abs(np.array(found) - expected.shown).max() <= 1, "but for where the match's own score is rounded to"
    assert max(found) > 100


@pytest.mark.usefixtures("small")
def test_the_toolkits_time_is_scaled_to_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "TOOLKIT_PAIRS", 10)
    monkeypatch.setattr(ranking, "interleaved_ratios", lambda *_: (2.0, 3.0, 4.0))
    (result,) = ranking.rank_vs_toolkit(no_progress)
    assert (result.value, result.samples) == (9.0, (6.0, 9.0, 12.0))


@pytest.mark.process
@pytest.mark.usefixtures("small")
def test_scaling_reports_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "SCALES", (200, 2_000))
    time, memory = catalog.run(["rank_scaling"]).results
    assert (time.name, time.unit, len(time.samples)) == ("rank_scaling", "ratio", ranking.PAIRS_OF_SCALES)
    assert (memory.name, memory.unit) == ("rank_scaling_memory", "MB")
    assert catalog.BENCHMARKS["rank_scaling"].part_reaches == {"rank_scaling_memory": 600.0}
    assert 0 <= memory.value < 100


def test_kinds_of_vectors_are_measured_by_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes only where the processor has them; the first result is the worst of the stored embeddings by the
    products that are taken, and its target is that of such a processor."""
    problem = ranking.ranking_problem(32, 300, 30)
    monkeypatch.setattr(ranking, "stored_embeddings", lambda: {"minilm": problem})
    monkeypatch.setattr(ranking, "ranking_problem", lambda _: problem)
    for is_faster in (False, True):
        monkeypatch.setattr(coarse, "_is_faster", lambda fast=is_faster: fast)
        headline, *parts = catalog.run(["rank_kinds"]).results
        ways = ["float32", "8bit"] if is_faster else ["float32"]
        assert [part.name for part in parts] == [f"rank_kinds_{k}_{way}" for k in ("minilm", "random") for way in ways]
        assert headline.value == next(part.value for part in parts if part.name == f"rank_kinds_minilm_{ways[-1]}")
        assert catalog.bound_of("rank_kinds") == (0.25 if is_faster else 0.55)
        assert catalog.reach_in_words(headline).endswith("(8-bit products)" if is_faster else "(float32 products)")
        assert [catalog.bound_of(part.name) for part in parts[: len(ways)]] == [0.55, 0.25][: len(ways)]
        assert {catalog.bound_of(part.name) for part in parts[len(ways) :]} == {1.15}


def test_without_stored_embeddings_kinds_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "stored_embeddings", dict)
    report = catalog.run(["rank_kinds"])
    assert report.results == ()
    assert set(report.not_measured) == {"rank_kinds"}


def test_codes_can_be_left_out() -> None:
    with coarse.only_float32():
        assert not coarse.pays()


def test_only_the_ranks_are_timed_and_only_their_memory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock and a memory of our own: a rank of the problem takes 2.5 s, and the peak is 300 bytes above before."""
    now, ranked = [10.0], []

    def rank(matrix: Float32, queries: int) -> None:
        ranked.append((len(matrix), queries))
        now[0] += 2.5

    monkeypatch.setattr(resident, "_rank", rank)
    monkeypatch.setattr(resident, "perf_counter", lambda: now[0])
    monkeypatch.setattr(resident, "_peak_bytes", lambda: 1_000)
    before = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=700))
    monkeypatch.setattr("benchmarks.resident.psutil.Process", lambda: before)
    measured = resident._measure(np.zeros((7, 2), dtype=np.float32), 3)
    assert (measured.seconds, measured.peak, measured.beyond) == (2.5, 1_000, 300)
    assert ranked[1:] == [(7, 3)], "after one that compiles"


@pytest.mark.process
def test_out_of_core_counts_the_mapped_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    items = 40_000
    monkeypatch.setattr(ranking, "OUT_OF_CORE", (items, 10))
    peak, *parts = catalog.run(["rank_out_of_core"]).results
    assert (peak.name, peak.unit) == ("rank_out_of_core", "GB")
    found = {part.name: part.value for part in parts}
    assert found.pop("rank_out_of_core_seconds") > 0
    file = items * resident.DIMENSION * 4 / 1e9
    assert peak.value > file, "every page of the file was looked at"
    for own in found.values():  # where the system tells them apart
        assert own < peak.value - 0.9 * file


@pytest.mark.heavy
def test_intervals_are_those_of_the_pages() -> None:
    """Eight runs on pairs that share nothing: each interval around its own value."""
    sample = bootstrap.sample(pairs=300)
    assert len(sample) == 8
    for scores in sample.values():
        for score, made in (("mrr", np.mean), ("median_rank", np.median)):
            found = scores[score].estimate
            assert scores[score].known.units == 300
            assert found.value == made(scores[score].parts)
            assert found.interval is not None
            assert found.interval.low <= found.value <= found.interval.high
    (result,) = bootstrap.bootstrap(no_progress)
    assert (result.name, result.unit, len(result.samples)) == ("bootstrap", "s", PAIRS_OF_TIMINGS)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("is_faster", "bound"), [(False, 1.2), (True, 0.7)])
def test_neighbors_are_compared_with_faiss(monkeypatch: pytest.MonkeyPatch, bound: float, *, is_faster: bool) -> None:
    """By the kinds of products that the processor has, whose targets differ."""
    monkeypatch.setattr(coarse, "_is_faster", lambda: is_faster)
    monkeypatch.setattr(ranking, "stored_embeddings", lambda: {"minilm": ranking.ranking_problem(32)})
    headline, *parts = catalog.run(["neighbors"]).results
    ways = ["float32", "8bit"] if is_faster else ["float32"]
    assert [part.name for part in parts] == [f"neighbors_{kind}_{w}" for kind in ("random", "minilm") for w in ways]
    assert headline.value == max(part.value for part in parts if part.name.endswith(ways[-1]))
    assert len(headline.samples) == neighbors.PAIRS_OF_SEARCHES
    assert catalog.bound_of("neighbors") == bound
    assert {catalog.bound_of(part.name) for part in parts} == {1.2, bound}


def test_retrieval_is_compared_with_the_products(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("DOCUMENTS", 400), ("QUERIES", 30), ("DIMENSION", 24)):
        monkeypatch.setattr(retrieval, name, size)
    (result,) = catalog.run(["retrieve_vs_gemm"]).results
    assert (result.name, result.unit, len(result.samples)) == ("retrieve_vs_gemm", "ratio", PAIRS_OF_TIMINGS)
    assert catalog.bound_of(result.name) == 1.3
    matrix, judged = retrieval.problem(400, 30, 24)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(430))
    similarity = matrix[400:] @ matrix[:400].T
    near = np.zeros_like(similarity, dtype=bool)
    near[judged.queries, judged.documents] = True
    assert near.sum(axis=1).tolist() == [retrieval.RELEVANT] * 30
    assert similarity[near].mean() > similarity[~near].mean() + 0.2


@pytest.mark.heavy
@pytest.mark.usefixtures("small")
def test_the_gpus_part_works_on_any_device() -> None:
    results = gpu.measured("cpu:0", no_progress)
    names = ["gpu_rank", "gpu_rank_vs_gemm", "gpu_rank_float16", "gpu_rank_float16_vs_gemm"]
    assert [result.name for result in results] == names


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_without_a_gpu_its_part_is_left_out() -> None:
    report = catalog.run(["gpu_rank"])
    assert report.results == ()
    assert report.not_measured == {"gpu_rank": "torch sees no CUDA device"}
