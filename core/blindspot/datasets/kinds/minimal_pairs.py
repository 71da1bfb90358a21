"""Sets of minimal pairs: originals and their rewrites (HEROS, Chiang 2023, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.texts import counted, one_form
from blindspot.types import Int32, Int64

_IN_WORDS = {
    "negation_main": "negated clause",
    "negation_antonym": "negated word",
    "random_mlm": "random word",
    "entailed": "entailed version",
    "not_entailed": "version not entailed",
}
_NOUNS = {"synonym", "antonym", "paraphrase", "typo", *_IN_WORDS}


def subset_in_words(subset: str) -> str:
    """Name of a subset's rewrite for people, as plain text: ``negated clause``."""
    return _IN_WORDS.get(subset, subset.replace("_", " "))


def after_the(subset: str) -> str:
    """A subset's rewrite after "the": ``synonym``; ``rewrite “negated”``, since a column's name may not be a noun."""
    words = subset_in_words(subset)
    return words if subset in _NOUNS else f"rewrite “{words}”"


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
    headings = ("number", "original", "subset", "rewrite")
    counted = "pairs"
    stored_as = "minimal_pair"
    has_parts = False  # each original is compared with all its rewrites

    @property
    def subsets(self) -> tuple[str, ...]:
        return tuple(self.rewrites)

    @property
    def content_parts(self) -> list[str]:
        """The texts, their order, the originals, and the names and rewrites of the subsets."""
        parts = [self.kind, self.texts_digest, hashlib.sha256(self.originals.tobytes()).hexdigest()]
        for subset, numbers in self.rewrites.items():
            parts += [subset, hashlib.sha256(numbers.tobytes()).hexdigest()]
        return parts

    @cached_property
    def asking(self) -> Int64:
        return np.unique(self.originals).astype(np.int64)

    @cached_property
    def unchanged(self) -> dict[str, int]:
        """How many rewrites per subset are the same text as their original; such a pair tells nothing."""
        forms = [one_form(text) for text in self.items]
        originals = self.originals.tolist()
        return {
            subset: sum(forms[a] == forms[b] for a, b in zip(originals, rewrites.tolist(), strict=True))
            for subset, rewrites in self.rewrites.items()
        }

    def rows(self, start: int, stop: int) -> Sequence[tuple[int, str, str, str]]:
        """Number, original, subset and rewrite for the originals from ``start`` to before ``stop``."""
        items, originals = self.items, self.originals
        return [
            (n, items[originals[n]], subset, items[rewrites[n]])
            for n in range(start, min(stop, len(originals)))
            for subset, rewrites in self.rewrites.items()
        ]

    def stored_rows(self) -> dict[str, Any]:
        """All originals with their rewrites of the first subset, then those of the next."""
        n, k = len(self.originals), len(self.rewrites)
        return {
            "item_no": np.tile(np.arange(n, dtype=np.int32), k),
            "subset": pa.array([subset for subset in self.rewrites for _ in range(n)], pa.string()),
            "original_no": np.tile(self.originals, k),
            "rewrite_no": np.concatenate([*self.rewrites.values(), np.zeros(0, dtype=np.int32)]),
        }

    def related(self, item: int) -> dict[int, str]:
        rewrites_of: dict[int, list[str]] = {}
        for subset, rewrites in self.rewrites.items():
            for rewrite in rewrites[self.originals == item]:
                rewrites_of.setdefault(int(rewrite), []).append(subset)
            for original in self.originals[rewrites == item]:
                rewrites_of.setdefault(int(original), []).append("original")
        return {number: ", ".join(dict.fromkeys(names)) for number, names in rewrites_of.items() if number != item}

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:
        return f"{rows:,} originals with {counted(subsets, 'rewrite')} each, {texts:,} texts"
