"""A vocabulary of 300 words and two encoders that take no time, for tests of what makes items."""

from __future__ import annotations

import numpy as np
import pytest

from core.datasets import packaged, vocabularies
from core.judgement.inventories import Inventory
from core.judgement.types import Query
from core.types import Variant, Vocabulary
from tests.small_world import GramEncoder, register_dataset, register_encoder

WORDS = packaged.frequent_words(300)
COUNTS = np.round(10 ** np.random.default_rng(0).uniform(3, 5, len(WORDS)))
WORDS_300 = vocabularies.vocabulary("words-300", WORDS, COUNTS.tolist(), 1e9)
A, B, CENTERED = Variant("trigrams", "none"), Variant("bigrams", "none"), Variant("trigrams", "center")
NEITHER = ("zebra", "xylophone")  # not among the words
OWN = Inventory("own", "Mine", tuple(Query(w) for w in (*NEITHER, *WORDS[:60])), "Two words and 60 others.")


def register(patch: pytest.MonkeyPatch) -> Vocabulary:
    """Give the vocabulary and the encoders a place in the catalogs."""
    register_encoder(patch, GramEncoder())
    register_encoder(patch, GramEncoder("bigrams", size=2))
    return register_dataset(patch, WORDS_300)
