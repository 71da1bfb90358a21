"""How frequent a dataset's items are, and by whose counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.frequency import zipf_of
from core.types import Bool, Dataset, Float64, Int64

PER_BILLION = 1e9  # Zipf frequency is log10 of occurrences per billion words (van Heuven et al. 2014)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How frequent items are in a corpus.

    Attributes:
        zipf: ``[k] float64``, log10 of occurrences per billion words; of an item of several words the mean over
            them. NaN where the source does not have the item.
        counts: ``[k] float64``, occurrences in ``corpus_size`` words; NaN likewise.
        corpus_size: in words.
        source: id of whose counts they are.
        about: one sentence on what they are, for readers; markdown without user text.
        digest: of all that decides them, as a key.
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
        """Those of some items only, ``[k] int64`` places."""
        return replace(self, zipf=self.zipf[items], counts=self.counts[items])


def by_wordfreq(dataset: Dataset) -> Frequencies:
    """Frequencies of all items by wordfreq, ``[n]``."""
    zipf = zipf_of(dataset.items)
    zipf = np.where(zipf > 0, zipf, np.nan)
    return Frequencies(
        zipf,
        10.0**zipf,
        PER_BILLION,
        "wordfreq",
        "Frequencies are wordfreq's (occurrences per billion words of English, from several corpora); of a text of "
        "several words the mean Zipf frequency of its words.",
        f"wordfreq-{dataset.texts_digest}",
    )
