"""The benchmarks measure what they say: the same work on both sides, in turn, and the median of it."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from core import benchmarks
from core.benchmarks import PAIRS_OF_TIMINGS, BenchmarkResult
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.errors import InputError
from core.numerics.ranking import rank_pairs
from core.numerics.similarity import Metric
from core.settings import Settings
from core.types import CancelToken, no_progress


def test_ratios_come_from_interleaved_pairs_after_a_warm_up() -> None:
    calls: list[str] = []
    told: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        told.append((stage, done, total))

    ratios = benchmarks.interleaved_ratios(
        lambda: calls.append("ours"), lambda: calls.append("theirs"), progress, "label"
    )
    assert calls == ["ours", "theirs"] * (1 + PAIRS_OF_TIMINGS)
    assert len(ratios) == PAIRS_OF_TIMINGS
    assert all(ratio > 0 for ratio in ratios)
    assert told == [("label", i, PAIRS_OF_TIMINGS) for i in range(PAIRS_OF_TIMINGS)]


def test_a_ratio_is_ours_over_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of our own, on which the first takes three seconds and the second one takes two."""
    now = [0.0]

    def takes(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(benchmarks, "perf_counter", lambda: now[0])
    ratios = benchmarks.interleaved_ratios(lambda: takes(3.0), lambda: takes(2.0), no_progress, "")
    assert ratios == (1.5,) * PAIRS_OF_TIMINGS


def test_the_ranking_problem_is_one_that_an_encoder_could_give() -> None:
    items, queries, dimension = 500, 120, 48
    matrix, query_items, mates = benchmarks.ranking_problem(dimension, items, queries)
    assert (matrix.shape, matrix.dtype) == ((items, dimension), np.float32)
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-6)
    assert len(set(query_items.tolist())) == len(set(mates.tolist())) == queries
    assert not set(query_items.tolist()) & set(mates.tolist())
    again, _, _ = benchmarks.ranking_problem(dimension, items, queries)
    assert np.array_equal(matrix, again)
    counts = rank_pairs(matrix, query_items, mates, Metric.COS, no_progress, CancelToken())
    assert np.median(counts.greater) == 0  # the mate lies near its query
    assert counts.ties.sum() == 0


def test_rank_vs_gemm_reports_the_worst_dimension_first(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = functools.partial(benchmarks.ranking_problem, items=300, queries=40)
    asked: list[int] = []

    def small_problem(dimension: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        asked.append(dimension)
        return problem(dimension)

    monkeypatch.setattr(benchmarks, "ranking_problem", small_problem)
    report = benchmarks.run(["rank_vs_gemm"])
    assert asked == [384, 768]
    headline, *each = report.results
    assert [result.name for result in each] == ["rank_vs_gemm_384", "rank_vs_gemm_768"]
    worst = max(each, key=lambda result: result.value)
    assert headline == BenchmarkResult("rank_vs_gemm", worst.value, "ratio", worst.samples)
    assert all(result.value == np.median(result.samples) for result in each)
    assert list(report.as_json()["results"]) == [result.name for result in report.results]


def test_poolings_are_compared_on_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = fetch.load(datasets.find("demo-pairs"), Settings.from_environment({}))
    few = replace(dataset, items=dataset.items[:20])
    monkeypatch.setattr(benchmarks.fetch, "load", lambda _entry, _settings: few)
    (result,) = benchmarks.run(["encode_poolings"]).results
    assert (result.name, result.unit, len(result.samples)) == ("encode_poolings", "ratio", PAIRS_OF_TIMINGS)
    assert result.value == np.median(result.samples) > 0


def test_the_full_size_is_that_of_evalrank() -> None:
    matrix, query_items, mates = benchmarks.ranking_problem(2)
    assert matrix.shape == (24_957, 2)
    assert len(query_items) == len(mates) == 6_989


def test_an_unknown_benchmark_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "ranking_problem", None)  # to measure would fail
    with pytest.raises(InputError, match="did you mean 'rank_vs_gemm'"):
        benchmarks.run(["rank_vs_gemm", "rank_vs_gemn"])
