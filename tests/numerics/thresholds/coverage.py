"""How often the intervals of the study Threshold cover the truth, on drawn pairs of which it is known.

Similarities are normal, those of same pairs higher by ``apart``; pairs of one cluster share their first text, and with
it half of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from blindspot.errors import InputError
from blindspot.numerics.thresholds.curves import LabeledPairs, safe, wished


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

    def draw(self, rng: np.random.Generator) -> LabeledPairs:
        m, groups = self.pairs, self.pairs // self.cluster
        same = rng.random(m) < self.same
        noise = rng.normal(size=m)
        left = np.arange(m) // self.cluster
        if self.cluster > 1:
            noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.normal(size=groups)[left]
        return LabeledPairs(noise + self.apart * same, same, left, groups + np.arange(m))


@dataclass(frozen=True)
class Flat:
    """Similarities that say nothing, or little: the precision is just below the wish at every threshold, or at all but
    the highest ones."""

    pairs: int
    same: float
    wish: float
    cluster: int = 1
    rising: float = 0.0

    def precision(self, threshold: float) -> float:
        """Of pairs from a similarity on, which is uniform from 0 to 1."""
        return self.same + self.rising * (1 + threshold) / 2 - self.rising / 2

    def draw(self, rng: np.random.Generator) -> LabeledPairs:
        m = self.pairs
        similarity = rng.random(m)
        chance = self.same + self.rising * (similarity - 0.5)
        left = np.arange(m) // self.cluster
        # Pairs of a cluster are alike: most have the same answer.
        u = np.where(rng.random(m) < 0.5, rng.random(m // self.cluster + 1)[left], rng.random(m))
        return LabeledPairs(similarity, u < chance, left, m + np.arange(m))


def covered_at_once(world: World, groups: int, repetitions: int, seed: int) -> float:
    """The share of draws of some groups in which the intervals of all their thresholds hold the truth."""
    rng = np.random.default_rng([seed, groups])
    truth, held = world.threshold, 0
    for _ in range(repetitions):
        found = [wished(world.draw(rng), world.wish, groups) for _ in range(groups)]
        ends = [tuple(np.inf if end is None else end for end in (one.low, one.high)) for one in found]
        held += all(low <= truth <= high for low, high in ends)
    return held / repetitions


FLAT = {
    "40 pairs, flat": Flat(40, 0.799, 0.8),
    "60 pairs, flat, 0.9": Flat(60, 0.899, 0.9),
    "100 pairs, flat": Flat(100, 0.799, 0.8),
    "100 pairs, flat, 0.95": Flat(100, 0.949, 0.95),
    "400 pairs, flat": Flat(400, 0.799, 0.8),
    "1,000 pairs, flat, a low wish": Flat(1_000, 0.299, 0.3),
    "400 pairs, slowly rising": Flat(400, 0.72, 0.8, rising=0.159),
    "300 pairs in clusters of 3, flat": Flat(300, 0.799, 0.8, cluster=3),
}


# Precision just short of the wish at every threshold, wherever eight clusters or more are there.
GRID = [
    Flat(pairs, wish - 0.001, wish, cluster)
    for cluster in (1, 6)
    for pairs in (20, 30, 60, 100, 300)
    for wish in (0.5, 0.8, 0.9, 0.95)
    if pairs >= 8 * cluster
]


def falsely_safe(world: Flat | World, repetitions: int, seed: int) -> float:
    """The share of draws in which a threshold is called safe whose precision is below the wish."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(repetitions):
        try:
            said = safe(world.draw(rng), world.wish)
        except InputError:  # all pairs are the same: no threshold is drawn
            continue
        found += said is not None and world.precision(said) < world.wish
    return found / repetitions


def highest_covered(world: Flat | World, repetitions: int, seed: int) -> float:
    """The share of draws in which the interval of the highest precision of all thresholds holds the truth there."""
    rng, held = np.random.default_rng(seed), 0
    for _ in range(repetitions):
        best = wished(world.draw(rng), 0.99).best
        assert best.precision is not None
        assert best.precision.interval is not None
        held += best.precision.interval.low <= world.precision(best.threshold) <= best.precision.interval.high
    return held / repetitions


def optimism(world: World, repetitions: int, seed: int) -> tuple[float, float]:
    """How much higher the precision at the chosen threshold, and that of pairs held out, is than the truth there, on
    average."""
    rng = np.random.default_rng(seed)
    chosen, honest = [], []
    for _ in range(repetitions):
        pairs = world.draw(rng)
        found = wished(pairs, world.wish)
        if found.point is None or found.point.precision is None or found.held_out is None:
            continue
        truth = world.precision(found.point.threshold)
        chosen.append(found.point.precision.value - truth)
        honest.append(found.held_out.value - truth)
    return float(np.mean(chosen)), float(np.mean(honest))


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
