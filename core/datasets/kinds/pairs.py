"""Sets of positive pairs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset, DatasetKind, Part
from core.types import Bool, Int32, Int64, digest_of_strings


@dataclass(frozen=True, eq=False)
class PairSet(Dataset):
    """Positive pairs and their background (EvalRank, Wang 2022, section 4.2).

    Attributes:
        queries: ``[m] int32``, index into ``items`` of each pair's query.
        mates: ``[m] int32``, index into ``items`` of each pair's mate.
    """

    queries: Int32
    mates: Int32

    kind = DatasetKind.PAIR_SET

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order and the pairs."""
        pairs = hashlib.sha256(self.queries.tobytes() + self.mates.tobytes()).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, pairs])


@dataclass(frozen=True, eq=False)
class RankedPairs(Part):
    """The part of a pair set whose items all have a vector: candidates and pairs of a run (DESIGN 4.1, coverage).

    Attributes:
        pairs: ``[m] int64``, the numbers that its pairs have in the whole.
    """

    dataset: PairSet
    pairs: Int64

    @classmethod
    def of(cls, whole: PairSet, support: Bool) -> RankedPairs:
        """Leave out the items outside of ``support`` and the pairs that touch them."""
        items = np.flatnonzero(support)
        pairs = np.flatnonzero(support[whole.queries] & support[whole.mates])
        if len(items) == len(whole.items):
            return cls(whole, items, support, pairs)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = PairSet(
            whole.id,
            tuple(whole.items[i] for i in items),
            numbers[whole.queries[pairs]],
            numbers[whole.mates[pairs]],
        )
        return cls(part, items, support, pairs)
