"""Vocabularies with frequencies: words, and how often each occurs in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from blindspot.datasets import packaged
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published.pairs import scored_words
from blindspot.datasets.published.text_lines import lines
from blindspot.errors import DataCorrupt
from blindspot.types import Int32

WORDFREQ_WORDS = 20_000
WIKI_WORDS = 50_000  # of 188,033: a transformer encodes so many in a few minutes
PER_BILLION = 1e9


def vocabulary(dataset_id: str, words: Sequence[str], counts: Sequence[float], corpus_size: float) -> Vocabulary:
    """A vocabulary of distinct words with counts above 0, one each."""
    return Vocabulary(
        dataset_id, tuple(words), np.array(counts, dtype=np.float64), float(corpus_size), named_queries(words)
    )


def named_queries(words: Sequence[str]) -> Int32:
    """Numbers of the words in WordSim-353, ``[q] int32``, ascending; the first of several spellings."""
    asked = _wordsim()
    numbers: dict[str, int] = {}
    for number, word in enumerate(words):
        if (key := word.casefold()) in asked:
            numbers.setdefault(key, number)
    return np.array(sorted(numbers.values()), dtype=np.int32)


@lru_cache(maxsize=1)
def _wordsim() -> frozenset[str]:
    """The 437 words of WordSim-353, as gensim ships it."""
    name = "wordsim353.tsv"
    rows = scored_words(name, packaged.text_of("gensim", "test", "test_data", name))
    return frozenset(word.casefold() for word_a, other, _ in rows for word in (word_a, other))


def wordfreq(dataset_id: str, most: int = WORDFREQ_WORDS) -> Vocabulary:
    """The most frequent English words of wordfreq; counts are what it expects in a billion words."""
    from wordfreq import word_frequency

    words = packaged.frequent_words(most)
    return vocabulary(dataset_id, words, [word_frequency(w, "en") * PER_BILLION for w in words], PER_BILLION)


def counted(dataset_id: str, path: Path, words: int) -> Vocabulary:
    """The first ``words`` words of a file of ``word SPACE count`` per line; all its counts make the corpus."""
    counts: dict[str, float] = {}
    for number, line in lines(path):
        word, _, count = line.rpartition(" ")
        if not word or not count.isdecimal() or int(count) < 1:
            raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected="a word, a space and a count above 0")
        if word in counts:
            raise DataCorrupt(f"{path}, line {number}: '{word[:40]}' occurs twice", expected="distinct words")
        counts[word] = float(count)
    return vocabulary(dataset_id, list(counts)[:words], list(counts.values())[:words], sum(counts.values()))
