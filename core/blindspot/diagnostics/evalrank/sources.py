"""Source sets of positive pairs, and the scores that people gave the pairs there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.types import Bool, Float64


@dataclass(frozen=True)
class SourceScore:
    """A pair's gold score in one source set; the mean where the set has the pair more than once."""

    source: str
    score: float


@dataclass(frozen=True, eq=False)
class PairSources:
    """Where pairs come from.

    Attributes:
        names: of the ``k`` source sets.
        scores: ``[m, k] float64``, each pair's gold score in each set; NaN where the set does not have the pair.
        highest: ``[k] float64``, the highest score of each set, as a measure of its scale.
    """

    names: tuple[str, ...]
    scores: Float64
    highest: Float64

    @property
    def known(self) -> Bool:
        """Whether any set has the pair, ``[m] bool``."""
        return np.asarray(~np.isnan(self.scores).all(axis=1))

    def inside(self, name: str) -> Bool:
        """Whether a set has the pair, ``[m] bool``."""
        return np.asarray(~np.isnan(self.scores[:, self.names.index(name)]))

    def of(self, pair: int) -> tuple[SourceScore, ...]:
        """The sets that have a pair, given its row in ``scores``."""
        return tuple(
            SourceScore(name, float(score))
            for name, score in zip(self.names, self.scores[pair], strict=True)
            if not np.isnan(score)
        )


def find_sources(queries: Sequence[str], matches: Sequence[str], scored: ScoredPairs) -> PairSources:
    """Look every pair up, exactly, in either order, in ``blindspot.datasets.published.scored_pairs``."""
    scored_pairs: dict[frozenset[str], list[tuple[int, float]]] = defaultdict(list)
    columns = (scored.set_numbers, scored.firsts, scored.seconds, scored.scores)
    for number, first, second, score in zip(*(column.tolist() for column in columns), strict=True):
        scored_pairs[frozenset((scored.items[first], scored.items[second]))].append((number, score))
    totals = np.zeros((len(queries), len(scored.sets)))
    counts = np.zeros_like(totals)
    for pair, texts in enumerate(zip(queries, matches, strict=True)):
        for number, score in scored_pairs.get(frozenset(texts), ()):
            totals[pair, number] += score
            counts[pair, number] += 1
    scores = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    highest = np.array([scored.scores[scored.set_numbers == i].max(initial=-np.inf) for i in range(len(scored.sets))])
    return PairSources(scored.sets, scores, highest)
