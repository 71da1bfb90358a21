"""Which source set a positive pair was taken from, and how alike people found its texts there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.datasets.kinds.scored_pairs import ScoredPairs
from core.types import Bool, Float64


@dataclass(frozen=True)
class SourceScore:
    """A pair's gold score in one source set; the mean where the set has the pair more than once."""

    source: str
    score: float


@dataclass(frozen=True, eq=False)
class PairSources:
    """Where pairs come from.

    Attributes:
        names: of the source sets.
        scores: ``[m, k] float64``, each pair's gold score in each of the sets; NaN where it does not stand there.
        highest: ``[k] float64``, the highest score that each set gives to any pair, as a measure of its scale.
    """

    names: tuple[str, ...]
    scores: Float64
    highest: Float64

    @property
    def known(self) -> Bool:
        """Whether a pair stands in any of the sets, ``[m] bool``."""
        return np.asarray(~np.isnan(self.scores).all(axis=1))

    def inside(self, name: str) -> Bool:
        """Whether a pair stands in a set, ``[m] bool``; one that stands in several is in each of them."""
        return np.asarray(~np.isnan(self.scores[:, self.names.index(name)]))

    def of(self, pair: int) -> tuple[SourceScore, ...]:
        """The sets that have a pair, by its place in ``scores``."""
        return tuple(
            SourceScore(name, float(score))
            for name, score in zip(self.names, self.scores[pair], strict=True)
            if not np.isnan(score)
        )


def find_sources(queries: Sequence[str], mates: Sequence[str], scored: ScoredPairs) -> PairSources:
    """Look every pair up in the scored pairs, whichever of its texts comes first, to the letter.

    Args:
        queries, mates: the texts of each pair, as the dataset has them.
        scored: read as the dataset's makers read them (``core.datasets.published.scored_pairs``).
    """
    found: dict[frozenset[str], list[tuple[int, float]]] = defaultdict(list)
    for number, first, second, score in zip(
        scored.set_numbers.tolist(),
        scored.firsts.tolist(),
        scored.seconds.tolist(),
        scored.scores.tolist(),
        strict=True,
    ):
        found[frozenset((scored.items[first], scored.items[second]))].append((number, score))
    totals = np.zeros((len(queries), len(scored.sets)))
    counts = np.zeros_like(totals)
    for pair, texts in enumerate(zip(queries, mates, strict=True)):
        for number, score in found.get(frozenset(texts), ()):
            totals[pair, number] += score
            counts[pair, number] += 1
    scores = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    highest = np.array([scored.scores[scored.set_numbers == i].max(initial=-np.inf) for i in range(len(scored.sets))])
    return PairSources(scored.sets, scores, highest)
