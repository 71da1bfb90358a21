"""Intervals of means and medians, with the code that the pages use."""

from __future__ import annotations

import statistics
from time import perf_counter

import numpy as np

from benchmarks.measuring import PAIRS_OF_TIMINGS, BenchmarkResult
from blindspot.diagnostics.evalrank.uncertainty import Scores, scores_of
from blindspot.numerics.ranking.ranks import expected_reciprocal_rank
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.types import Progress

ENCODERS = 8
PAIRS = 6_989


def sample(encoders: int = ENCODERS, pairs: int = PAIRS) -> Scores:
    """Runs on pairs that share no text, so that every pair is a group of its own: the most work."""
    rng = np.random.default_rng(5)
    run_ids = tuple(f"run {i}" for i in range(encoders))
    no_ties = np.zeros(pairs, dtype=np.int64)
    greater = {run_id: rng.geometric(0.3, pairs).astype(np.int64) - 1 for run_id in run_ids}
    values = {
        run_id: {"mrr": expected_reciprocal_rank(above, no_ties), "median_rank": (1 + above).astype(np.float64)}
        for run_id, above in greater.items()
    }
    texts = np.arange(2 * pairs, dtype=np.int64)
    return scores_of(values, Dependence.of(texts[::2], texts[1::2]), np.arange(pairs, dtype=np.int64))


def bootstrap(progress: Progress) -> list[BenchmarkResult]:
    """MRR and median rank of every encoder with their intervals, all medians from the same resamples: seconds."""
    samples = []
    for i in range(PAIRS_OF_TIMINGS + 1):
        progress("bootstrap", i, PAIRS_OF_TIMINGS + 1)
        fresh = sample()  # a sample caches its resamples
        start = perf_counter()
        for own in fresh.values():
            for score in own.values():
                _ = score.estimate
        samples.append(perf_counter() - start)
    return [BenchmarkResult("bootstrap", statistics.median(samples[1:]), "s", tuple(samples[1:]))]
