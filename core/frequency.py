"""How frequent texts are in English, and scores by bands of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.types import Float64


@dataclass(frozen=True)
class Band:
    """Texts of a Zipf frequency from ``low`` (in) to ``high`` (out)."""

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
    """Zipf frequency of each text by wordfreq, ``[n] float64``: of several words the mean; 0 for words it lacks."""
    from wordfreq import zipf_frequency
    from wordfreq.tokens import tokenize

    known: dict[str, float] = {}

    def of_word(word: str) -> float:
        if word not in known:
            known[word] = zipf_frequency(word, "en")
        return known[word]

    return np.array([np.mean([of_word(w) for w in tokenize(text, "en")] or [0.0]) for text in texts])


def band_scores(zipf: Float64, reciprocal_ranks: Float64) -> pd.DataFrame:
    """Mean reciprocal rank per band: columns ``band, pairs, mrr``; NaN where a band has no pairs.

    Args:
        zipf: ``[m]``, of each pair's query or mate.
        reciprocal_ranks: ``[m]``; NaN for a pair that was not ranked, which counts nowhere.
    """
    ranked = ~np.isnan(reciprocal_ranks)
    rows = []
    for band in BANDS:
        inside = ranked & (zipf >= band.low) & (zipf < band.high)
        mrr = float(reciprocal_ranks[inside].mean()) if inside.any() else np.nan
        rows.append({"band": band.label, "pairs": int(inside.sum()), "mrr": mrr})
    return pd.DataFrame(rows)
