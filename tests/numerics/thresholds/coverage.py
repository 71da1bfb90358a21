"""How often the intervals of the study Threshold cover the truth, on drawn pairs of which it is known.

Similarities are normal, those of same pairs higher by ``apart``; pairs of one cluster share their first text, and with
it half of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from blindspot.numerics.thresholds.curves import LabelledPairs, wished


@dataclass(frozen=True)
class World:
    pairs: int
    same: float
    apart: float
    wish: float
    cluster: int = 1

    def precision(self, threshold: float) -> float:
        right, wrong = self.same * norm.sf(threshold - self.apart), (1 - self.same) * norm.sf(threshold)
        return float(right / (right + wrong))

    def recall(self, threshold: float) -> float:
        return float(norm.sf(threshold - self.apart))

    @property
    def threshold(self) -> float:
        """The true one."""
        return float(brentq(lambda t: self.precision(t) - self.wish, -6, 8))

    def draw(self, rng: np.random.Generator) -> LabelledPairs:
        m, groups = self.pairs, self.pairs // self.cluster
        same = rng.random(m) < self.same
        noise = rng.normal(size=m)
        left = np.arange(m) // self.cluster
        if self.cluster > 1:
            noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.normal(size=groups)[left]
        return LabelledPairs(noise + self.apart * same, same, left, groups + np.arange(m))


WORLDS = {
    "independent pairs": World(400, 0.5, 1.5, 0.8),
    "a rare kind": World(1_000, 0.3, 1.5, 0.9),
    "clusters": World(600, 0.5, 1.5, 0.8, cluster=3),
}


def covered(world: World, repetitions: int, seed: int) -> dict[str, float]:
    """Shares of draws in which each interval covers the truth."""
    rng = np.random.default_rng(seed)
    truth = world.threshold
    counts = {"precision": 0, "recall": 0, "threshold": 0}
    for _ in range(repetitions):
        pairs = world.draw(rng)
        at = pairs.point(truth)
        assert at.precision is not None
        assert at.precision.interval is not None
        assert at.recall.interval is not None
        counts["precision"] += at.precision.interval.low <= world.wish <= at.precision.interval.high
        counts["recall"] += at.recall.interval.low <= world.recall(truth) <= at.recall.interval.high
        found = wished(pairs, world.wish)
        low, high = (np.inf if end is None else end for end in (found.low, found.high))
        counts["threshold"] += low <= truth <= high
    return {name: count / repetitions for name, count in counts.items()}
