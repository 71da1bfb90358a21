"""A vocabulary of 300 words and two encoders that take no time, for tests of what makes items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets import packaged
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.published import vocabularies
from blindspot.studies.judgments import inventories
from blindspot.studies.judgments.inventories import Inventory
from blindspot.studies.judgments.types import Query
from blindspot.variants import Variant
from tests.support.small_world import GramEncoder, dataset_entry, register_encoder

_OURS = [q.text for q in inventories.default().queries]
_FREQUENT = [word for word in packaged.frequent_words(300) if word not in _OURS][:260]
WORDS = [*_FREQUENT, *_OURS[::3], *_OURS[1::3]][:300]
COUNTS = np.round(10 ** np.random.default_rng(0).uniform(3, 5, len(WORDS)))
WORDS_300 = vocabularies.vocabulary("words-300", WORDS, COUNTS.tolist(), 1e9)
A, B, CENTERED = Variant("trigrams", "none"), Variant("bigrams", "none"), Variant("trigrams", "center")
NEITHER = ("zebra", "xylophone")  # not among the words
OWN = Inventory("own", "Mine", tuple(Query(w) for w in (*NEITHER, *WORDS[:60])), "Two words and 60 others.")


def register(patch: pytest.MonkeyPatch) -> None:
    """Give the vocabulary and the encoders a place in the catalogs."""
    register_encoder(patch, GramEncoder())
    register_encoder(patch, GramEncoder("bigrams", size=2))
    patch.setitem(DATASETS, WORDS_300.id, replace(dataset_entry(WORDS_300), unit="word"))
