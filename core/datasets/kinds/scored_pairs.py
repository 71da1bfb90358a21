"""Pairs that people scored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset, DatasetKind, Part
from core.types import Bool, Float64, Int32, Int64, digest_of_strings


@dataclass(frozen=True, eq=False)
class ScoredPairs(Dataset):
    """Pairs that people scored, of one or several named sets with scales of their own.

    Attributes:
        sets: the names of the sets.
        set_numbers: ``[m] int32``, index into ``sets`` of each pair's set.
        firsts, seconds: ``[m] int32``, index into ``items`` of each pair's texts.
        scores: ``[m] float64``, each on its set's scale; more is more alike.
    """

    sets: tuple[str, ...]
    set_numbers: Int32
    firsts: Int32
    seconds: Int32
    scores: Float64

    kind = DatasetKind.SCORED_PAIRS

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order, the sets and the pairs with their scores."""
        columns = (self.set_numbers, self.firsts, self.seconds, self.scores)
        pairs = hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, *self.sets, pairs])


@dataclass(frozen=True, eq=False)
class CoveredPairs(Part):
    """The part of a set of scored pairs whose texts all have a vector.

    Attributes:
        pairs: ``[m] int64``, the numbers that its pairs have in the whole.
    """

    dataset: ScoredPairs
    pairs: Int64

    @classmethod
    def of(cls, whole: ScoredPairs, support: Bool) -> CoveredPairs:
        """Leave out the items outside of ``support``, ``[n] bool``, and the pairs that touch them."""
        items = np.flatnonzero(support)
        pairs = np.flatnonzero(support[whole.firsts] & support[whole.seconds])
        if len(items) == len(whole.items):
            return cls(whole, items, support, pairs)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = ScoredPairs(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.sets,
            whole.set_numbers[pairs],
            numbers[whole.firsts[pairs]],
            numbers[whole.seconds[pairs]],
            whole.scores[pairs],
        )
        return cls(part, items, support, pairs)
