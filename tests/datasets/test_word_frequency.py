"""Frequencies of texts by wordfreq and by vocabularies, and scores by bands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from wordfreq import zipf_frequency

from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published import vocabularies
from blindspot.datasets.word_frequency import BANDS, by_vocabulary, by_wordfreq, of_vocabulary, seems_english, zipf_of
from tests.support.tables import each

COUNTED = vocabularies.vocabulary("counted", ["the", "Paris", "cat", "mouse"], [1e6, 1e4, 1e3, 10.0], 1e7)


def test_the_bands_leave_no_gap() -> None:
    assert (BANDS[0].low, BANDS[-1].high) == (-math.inf, math.inf)
    assert [b.high for b in BANDS[:-1]] == [b.low for b in BANDS[1:]]


def test_a_text_is_as_frequent_as_its_words_on_average() -> None:
    the, cat, nothing, both = zipf_of(["the", "cat", "xqzvvk", "the cat!"])
    assert (the, cat, nothing) == (zipf_frequency("the", "en"), zipf_frequency("cat", "en"), 0.0)
    assert both == pytest.approx((the + cat) / 2)
    assert the > 5 > cat > 3
    assert zipf_of(["", "…"]).tolist() == [0.0, 0.0]


def test_wordfreq_says_nothing_of_what_it_lacks() -> None:
    texts = loaders.pair_set("t", [("the cat", "cat"), ("qzxqzxw", "!!")], [])
    found = by_wordfreq(texts)
    assert found.known.tolist() == [True, True, False, False]
    assert found.zipf[:2].tolist() == zipf_of(texts.items[:2]).tolist()
    assert found.zipf[0] == pytest.approx(zipf_of(["the", "cat"]).mean())
    assert found.counts[1] == pytest.approx(10 ** found.zipf[1])
    assert found.corpus_size == 1e9


def test_a_vocabularys_own_counts_are_taken_as_they_are() -> None:
    found = of_vocabulary(COUNTED, "about")
    assert found.counts.tolist() == COUNTED.counts.tolist()
    assert found.zipf.tolist() == pytest.approx([8.0, 6.0, 5.0, 3.0])
    assert found.source == "counted"


def test_other_texts_are_looked_up_word_by_word() -> None:
    texts = loaders.pair_set("t", [("Paris", "The"), ("the cat", "the dog"), ("dog", "Cat and mouse")], [])
    found = by_vocabulary(texts, COUNTED, "about")
    expected = {"Paris": 6.0, "The": 8.0, "the cat": 6.5, "the dog": 8.0, "dog": np.nan, "Cat and mouse": 4.0}
    np.testing.assert_allclose(found.zipf, [expected[t] for t in texts.items])
    np.testing.assert_allclose(found.counts, [10 ** expected[t] / 1e9 * 1e7 for t in texts.items])
    forms = vocabularies.vocabulary("forms", ["caf\u00e9", "the\u0301"], [1e6, 1e4], 1e7)
    again = by_vocabulary(loaders.pair_set("t", [("CAFE\u0301", "th\u00e9")], ["cafe"]), forms, "about")
    assert again.known.tolist() == [True, True, False]
    part = found.of(np.array([0, 4]))
    assert part.known.tolist() == [True, False]
    assert found.digest != of_vocabulary(COUNTED, "about").digest


@each(
    "texts, is_english",
    [
        (["How do I reset my password?", "The tenant may terminate this agreement early."], True),
        (["Reset router firmware via USB cable", "Printer driver crash on Windows startup"], True),
        (["Die Waschmaschine ist leise und sparsam.", "Wie setze ich mein Passwort zurück?"], False),
        (["La lavadora es muy silenciosa y consume poca energía"], False),
        (["la maison est très grande et le jardin est petit"], False),
        (["Пароль не работает на моём телефоне"], False),
        (["router", "refund", "xqzt"], True),  # words alone
        (["Waschmaschine", "Heizlüfter", "refund"], False),
    ],
)
def test_english_frequencies_are_known_to_be_of_other_languages(texts: list[str], is_english: bool) -> None:
    zipf = zipf_of(texts)
    assert seems_english(texts, np.where(zipf > 0, zipf, np.nan)) is is_english
