"""Similarity of two texts by their words alone, without order or meaning: the baseline for changes of meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from blindspot.texts import words
from blindspot.types import Float64

# Scripts that put no space between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}]+")


class Words(StrEnum):
    """A measure of the words that two texts share."""

    JACCARD = "Jaccard"
    ROUGE_1 = "ROUGE-1"
    BAG = "bag of words"


MEANING: dict[Words, str] = {
    Words.JACCARD: "distinct words in both, divided by those in either",
    Words.ROUGE_1: "F1 of shared words, repetitions counted",
    Words.BAG: "cosine of the counts of words",
}
TOKENS = (
    "Words are what is between spaces, without case and punctuation. In scripts without spaces between words, such as "
    "Chinese, each character is a word."
)


def tokens(text: str) -> tuple[str, ...]:
    """The words of a text as in ``blindspot.texts.words``; in scripts without spaces, its characters."""
    return tuple(token for word in words(text) for token in _TOKEN.findall(word))


def similarities(firsts: Sequence[str], seconds: Sequence[str]) -> dict[Words, Float64]:
    """Each measure of ``firsts[i]`` and ``seconds[i]``, ``[m] float64`` from 0 to 1; 0 where a text has no word."""
    counts = {text: Counter(tokens(text)) for text in {*firsts, *seconds}}
    shares = np.array([_of_pair(counts[a], counts[b]) for a, b in zip(firsts, seconds, strict=True)], dtype=np.float64)
    return dict(zip(Words, shares.reshape(-1, len(Words)).T, strict=True))


def _of_pair(first: Counter[str], second: Counter[str]) -> tuple[float, float, float]:
    """The measures of two texts, in the order of ``Words``."""
    if not first or not second:
        return 0.0, 0.0, 0.0
    shared = first.keys() & second.keys()
    jaccard = len(shared) / len(first.keys() | second.keys())
    rouge = 2.0 * sum(min(first[word], second[word]) for word in shared) / (first.total() + second.total())
    lengths = sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    bag = sum(first[word] * second[word] for word in shared) / float(np.sqrt(lengths))
    return jaccard, rouge, bag
