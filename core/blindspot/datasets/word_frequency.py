"""Frequencies of words and texts: by wordfreq or a vocabulary, in bands, and scores per band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.texts import caseless, one_form
from blindspot.types import Bool, Float64, Int64


@dataclass(frozen=True)
class Band:
    """Texts with a Zipf frequency from ``low`` (included) to ``high`` (excluded)."""

    label: str
    low: float
    high: float


# Zipf frequency: log10 of occurrences per billion words; 3 is one per million (van Heuven et al. 2014).
BANDS = (
    Band("under 1", -np.inf, 3.0),
    Band("1 to 10", 3.0, 4.0),
    Band("10 to 100", 4.0, 5.0),
    Band("over 100", 5.0, np.inf),
)


def zipf_of(texts: Sequence[str]) -> Float64:
    """Zipf frequency of each text by wordfreq, ``[n] float64``: the mean of its words; 0 for unknown words."""
    from wordfreq import zipf_frequency
    from wordfreq.tokens import tokenize

    values: dict[str, float] = {}

    def of_word(word: str) -> float:
        if word not in values:
            values[word] = zipf_frequency(word, "en")
        return values[word]

    return np.array([np.mean([of_word(w) for w in tokenize(text, "en")] or [0.0]) for text in texts])


PER_BILLION = 1e9  # Zipf frequency is log10 of occurrences per billion words (van Heuven et al. 2014)
WORDFREQ = "wordfreq"
PROSE = 4  # words that tell a text's language
LEAST_OF_ENGLISH = 4.0  # Zipf frequency


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How frequent items are in a corpus.

    Attributes:
        zipf: ``[k] float64``, log10 of occurrences per billion words; the mean over an item's words. NaN if the source
            does not have the item.
        counts: ``[k] float64``, occurrences in ``corpus_size`` words; NaN likewise.
        corpus_size: in words.
        source: id of the source of the counts: ``WORDFREQ``, or a vocabulary's id.
        about: description for readers, in a sentence or two; plain text.
        digest: of all that decides the frequencies, as a key.
    """

    zipf: Float64
    counts: Float64
    corpus_size: float
    source: str
    about: str
    digest: str

    @property
    def known(self) -> Bool:
        """``[k] bool``, whether the source has the item."""
        return ~np.isnan(self.zipf)

    def of(self, items: Int64) -> Frequencies:
        """The frequencies of some items, by their places ``[k] int64``."""
        return replace(self, zipf=self.zipf[items], counts=self.counts[items])


def by_wordfreq(dataset: Dataset) -> Frequencies:
    """Frequencies of all items by wordfreq, ``[n]``; NaN for items without a word in wordfreq."""
    zipf = zipf_of(dataset.items)
    zipf = np.where(zipf > 0, zipf, np.nan)
    about = (
        "Frequencies are wordfreq's: how often it expects a word in a billion words of English, from several corpora. "
        "Of a text of several words it is the mean Zipf frequency (log10 of that) of its words."
    )
    return Frequencies(zipf, 10.0**zipf, PER_BILLION, WORDFREQ, about, f"{WORDFREQ}-{dataset.texts_digest}")


def seems_english(texts: Sequence[str], zipf: Float64) -> bool:
    """Whether texts are English, by wordfreq's frequencies, NaN for none; for single words, whether most are known.

    English sentences have a mean Zipf frequency of 5 to 6, terse titles more than 4; other languages have less, from
    the words that they share with English: French 3.8, German 2.5.
    """
    is_prose = np.array([len(text.split()) >= PROSE for text in texts], dtype=np.bool_)
    if is_prose.any():
        return bool(np.median(np.nan_to_num(zipf[is_prose])) >= LEAST_OF_ENGLISH)
    return bool(np.isfinite(zipf).mean() > 0.5)


def of_vocabulary(vocabulary: Vocabulary, about: str) -> Frequencies:
    """Frequencies of a vocabulary's words by its own counts, ``[n]``."""
    zipf = np.log10(vocabulary.counts / vocabulary.corpus_size * PER_BILLION)
    return Frequencies(
        zipf, vocabulary.counts, vocabulary.corpus_size, vocabulary.id, about, f"own-{vocabulary.content_digest}"
    )


def by_vocabulary(dataset: Dataset, vocabulary: Vocabulary, about: str) -> Frequencies:
    """Frequencies of all items of a dataset by the counts of a vocabulary, ``[n]``.

    An item is looked up as it is, then in lower case, in either Unicode form; an item of several words gets the mean
    over the words that the vocabulary has.
    """
    from wordfreq.tokens import tokenize

    frequencies = of_vocabulary(vocabulary, about)
    by_spelling: dict[str, float] = dict(zip(map(one_form, vocabulary.items), frequencies.zipf.tolist(), strict=True))

    def zipf_of_item(item: str) -> float:
        for spelling in (one_form(item), caseless(item)):
            if spelling in by_spelling:
                return by_spelling[spelling]
        return float(np.mean([by_spelling[w] for w in tokenize(item, "en") if w in by_spelling] or [np.nan]))

    zipf = np.array([zipf_of_item(item) for item in dataset.items])
    counts = 10.0**zipf / PER_BILLION * vocabulary.corpus_size
    digest = f"{vocabulary.content_digest}-{dataset.texts_digest}"
    return replace(frequencies, zipf=zipf, counts=counts, digest=digest)
