"""Sets of minimal pairs: originals and their rewrites."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from core.datasets.kinds.base import Dataset, DatasetKind
from core.types import Int32, digest_of_strings


@dataclass(frozen=True, eq=False)
class MinimalPairSet(Dataset):
    """Originals, and for each of them one rewrite per named subset (HEROS, Chiang 2023, section 2).

    Attributes:
        originals: ``[n] int32``, index into ``items`` of each original.
        rewrites: per subset, in the order in which subsets are shown, ``[n] int32``: index into ``items`` of each
            original's rewrite.
    """

    originals: Int32
    rewrites: Mapping[str, Int32]

    kind = DatasetKind.MINIMAL_PAIR_SET

    @property
    def subsets(self) -> tuple[str, ...]:
        return tuple(self.rewrites)

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order, the originals, and the names and rewrites of the subsets."""
        parts = [self.kind, self.texts_digest, hashlib.sha256(self.originals.tobytes()).hexdigest()]
        for subset, numbers in self.rewrites.items():
            parts += [subset, hashlib.sha256(numbers.tobytes()).hexdigest()]
        return digest_of_strings(parts)
