"""Words with their counts in a corpus."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset, DatasetKind, Part
from core.types import Bool, Float64, Int32, digest_of_strings


@dataclass(frozen=True, eq=False)
class Vocabulary(Dataset):
    """Words and how often each stands in a corpus (Schnabel 2015, section 5); ``items`` are the words.

    Attributes:
        counts: ``[n] float64``, occurrences in ``corpus_size`` words, above 0; need not be whole.
        corpus_size: in words.
        queries: ``[q] int32``, index into ``items`` of those words of WordSim-353 that it has: whose neighbours the
            paper looks at.
    """

    counts: Float64
    corpus_size: float
    queries: Int32

    kind = DatasetKind.VOCABULARY

    @cached_property
    def content_digest(self) -> str:
        """Digest of the words, their order, the counts and the query words."""
        numbers = hashlib.sha256(self.counts.tobytes() + self.queries.tobytes()).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, repr(float(self.corpus_size)), numbers])


@dataclass(frozen=True, eq=False)
class CoveredWords(Part):
    """The part of a vocabulary whose words have a vector; the corpus stays the whole one."""

    dataset: Vocabulary

    @classmethod
    def of(cls, whole: Vocabulary, support: Bool) -> CoveredWords:
        """Leave out the words outside of ``support``, ``[n] bool``."""
        items = np.flatnonzero(support)
        if len(items) == len(whole.items):
            return cls(whole, items, support)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = Vocabulary(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.counts[items],
            whole.corpus_size,
            numbers[whole.queries[support[whole.queries]]],
        )
        return cls(part, items, support)
