"""A simulated sweep of 1,000 models by 100 datasets of 10 million texts (``docs/design/large.md``).

    PYTHONPATH=core python -m benchmarks.large

Models, datasets and the groups' seconds are made up from measured unit costs; the groups themselves are those that a
real sweep makes.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from blindspot.datasets.catalog import DatasetRef
from blindspot.runs.estimates import RunEstimate
from blindspot.runs.packs.groups import Group, grouped, makespan
from blindspot.runs.requests import RunRequest
from blindspot.types import Float64
from blindspot.variants import Variant

MODELS, DATASETS, TEXTS, QUERIES = 1_000, 100, 10_000_000, 10_000
WORKERS = (64, 512, 4_096)  # a GPU each
TOKENS = 17  # of a sentence of 13 words
FASTEST = 45_200  # texts per second that were tokenized and encoded on an H100, whatever the model
FLOPS = 4e14  # of an H100 per second, bfloat16, two fifths of what its maker says
RANK_FLOPS, OVER_PRODUCTS = 5e13, 1.3  # of float32 products; ranks took 1.3 times the products
READ = 2e9  # bytes per second, of a node's disk
HOURS_BETWEEN_FAILURES = (1_000, 50)  # of a node: of one's own, of one that may be taken away
SECONDS_TO_START = 300


@dataclass(frozen=True, eq=False)
class Sweep:
    """Made-up costs.

    Attributes:
        encode, rank: seconds, ``[models, datasets]``.
        load: seconds, ``[models]``.
        matrix: bytes of float32 embeddings, ``[models, datasets]``.
    """

    encode: Float64
    rank: Float64
    load: Float64
    matrix: Float64

    @classmethod
    def made(cls, models: int = MODELS, datasets: int = DATASETS, seed: int = 0) -> Sweep:
        """Models from 22 million to 7 billion weights; the sizes of datasets are log-normal."""
        rng = np.random.default_rng(seed)
        weights = np.exp(rng.uniform(np.log(22e6), np.log(7e9), models))
        dimension = np.clip(2.0 ** np.round(np.log2(384 * (weights / 22e6) ** 0.4)), 384, 4096)
        texts = np.exp(rng.normal(0, 1, datasets))
        texts *= TEXTS / texts.mean()
        per_second = np.minimum(FASTEST, FLOPS / (2 * weights * TOKENS))
        matrix = np.outer(dimension, texts) * 4
        products = 2 * QUERIES * np.outer(dimension, texts) / RANK_FLOPS
        return cls(
            np.outer(1 / per_second, texts), OVER_PRODUCTS * products + matrix / READ, 2 + 4 * weights / 5e8, matrix
        )

    def costs(self) -> list[RunEstimate]:
        """What ``grouped`` takes; the first run of a model loads it."""
        load = np.zeros_like(self.encode)
        load[:, 0] = self.load
        seconds = self.encode + self.rank + load
        return [
            RunEstimate(_request(m, d), False, float(seconds[m, d]), 0, 0, False, float(load[m, d]))
            for m, d in np.ndindex(*seconds.shape)
        ]

    def units(self, group: Group) -> list[float]:
        """Seconds of each run of a group."""
        places = [(int(r.variant.encoder[1:]), int(r.dataset[1:])) for r in group.requests]
        return [float(self.encode[place] + self.rank[place]) for place in places]


def with_failures(
    groups: Sequence[tuple[float, Sequence[float]]], workers: int, hours_between: float, seed: int = 1
) -> tuple[float, int]:
    """Seconds until all is done where nodes fail, and how many failures there were.

    A node is replaced, loads its model again, and goes on with the run that was lost: packs of finished runs are in the
    shared folder.

    Args:
        groups: seconds to load and seconds of each run.
    """
    rng = np.random.default_rng(seed)
    fails = rng.exponential(hours_between * 3600, workers)
    free = [(0.0, worker) for worker in range(workers)]
    failures = 0
    for load, units in groups:
        now, worker = heapq.heappop(free)
        now += load
        for unit in units:
            while now + unit > fails[worker]:
                now = max(now, fails[worker]) + SECONDS_TO_START + load
                fails[worker] = now + rng.exponential(hours_between * 3600)
                failures += 1
            now += unit
        heapq.heappush(free, (now, worker))
    return max(now for now, _ in free), failures


def _request(model: int, dataset: int) -> RunRequest:
    return RunRequest("evalrank", Variant(f"m{model}", "none"), DatasetRef(f"d{dataset}"), ())


def lines(sweep: Sweep) -> Iterator[str]:
    """What it takes, and with each number of workers how long."""
    costs = sweep.costs()
    encode, rank, load = (seconds.sum() / 3600 for seconds in (sweep.encode, sweep.rank, sweep.load))
    yield f"GPU hours: encode {encode:,.0f}, rank {rank:,.0f}, load {load:.1f}"
    yield f"embeddings: {sweep.matrix.sum() / 1e15:.1f} PB, the largest {sweep.matrix.max() / 1e12:.1f} TB"
    yield f"longest run: {(sweep.encode + sweep.rank).max() / 3600:.1f} h"
    for workers in WORKERS:
        began = perf_counter()
        groups = grouped(costs, str, workers)
        planned = perf_counter() - began
        took = makespan([group.seconds + group.load_seconds for group in groups], workers) / 3600
        yield f"{workers} workers: {len(groups)} groups, planned in {planned:.0f} s, done after {took:.1f} h"
        loads = [(group.load_seconds, sweep.units(group)) for group in groups]
        for between in HOURS_BETWEEN_FAILURES:
            end, failures = with_failures(loads, workers, between)
            yield f"  a node fails every {between} h: {end / 3600:.1f} h, {failures} failures"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines(Sweep.made()))
