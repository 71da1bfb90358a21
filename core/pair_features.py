"""What can be said about a pair without an encoder: its words, how many the two texts share, how long they are.

A word is what stands between spaces, without its case and punctuation (``near_duplicate_key``): "isn't" is one word, a
dash alone is none, a plus sign is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.texts import near_duplicate_key
from core.types import Float64


def words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, repetitions included."""
    return tuple(word for part in text.split() if (word := near_duplicate_key(part)))


def length(text: str) -> int:
    """How many words a text has."""
    return len(words(text))


def lexical_overlap(queries: Sequence[str], mates: Sequence[str]) -> Float64:
    """Jaccard overlap of the words of ``queries[i]`` and ``mates[i]``, ``[m] float64`` from 0 to 1.

    The number of distinct words that stand in both, by the number that stand in either. NaN where neither text has a
    word.

    Raises:
        ValueError: not as many queries as mates.
    """
    known: dict[str, frozenset[str]] = {}

    def distinct(text: str) -> frozenset[str]:
        if text not in known:
            known[text] = frozenset(words(text))
        return known[text]

    out = np.full(len(queries), np.nan)
    for i, (query, mate) in enumerate(zip(queries, mates, strict=True)):
        a, b = distinct(query), distinct(mate)
        if either := len(a | b):
            out[i] = len(a & b) / either
    return out
