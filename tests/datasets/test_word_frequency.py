"""How frequent texts are, and scores by bands of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from wordfreq import zipf_frequency

from core.datasets.word_frequency import BANDS, band_scores, zipf_of


def test_the_bands_leave_no_gap() -> None:
    assert (BANDS[0].low, BANDS[-1].high) == (-math.inf, math.inf)
    assert [b.high for b in BANDS[:-1]] == [b.low for b in BANDS[1:]]


def test_a_text_is_as_frequent_as_its_words_on_average() -> None:
    the, cat, nothing, both = zipf_of(["the", "cat", "xqzvvk", "the cat!"])
    assert (the, cat, nothing) == (zipf_frequency("the", "en"), zipf_frequency("cat", "en"), 0.0)
    assert both == pytest.approx((the + cat) / 2)
    assert the > 5 > cat > 3
    assert zipf_of(["", "…"]).tolist() == [0.0, 0.0]


def test_scores_by_hand() -> None:
    zipf = np.array([0.0, 2.9, 3.0, 4.5, 4.5, 7.0])
    reciprocal = np.array([1.0, 0.5, 0.2, np.nan, 0.25, np.nan])
    bands = band_scores(zipf, reciprocal)
    assert bands["band"].tolist() == [b.label for b in BANDS]
    assert bands["pairs"].tolist() == [2, 1, 1, 0]
    assert bands["mrr"].tolist()[:3] == [0.75, 0.2, 0.25]
    assert math.isnan(bands["mrr"][3])
