"""Hubs are counted as a loop counts them, among the items that a run ranked; and what is said of an item."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.evalrank import reasons as hubs
from blindspot.diagnostics.evalrank.reasons import Occurrences, occurrences, reasons
from blindspot.numerics.similarity import Similarity, similarity_to_all
from blindspot.runs.embeddings import EmbeddingsGone
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.mark.parametrize("most", [1_000, 3])
def test_hubs_are_counted_in_the_variant_of_the_run(monkeypatch: pytest.MonkeyPatch, small: World, most: int) -> None:
    monkeypatch.setattr(hubs, "MOST_QUERIES", most)
    monkeypatch.setattr(hubs, "K", 2)
    run = small.run("evalrank", "trigrams~center", "small-pairs")
    queries = np.unique(SMALL_PAIRS.queries).astype(np.int64)
    got = occurrences(run, queries, small.settings, small.repository)
    asked = queries if most >= len(queries) else queries[np.linspace(0, len(queries) - 1, most).astype(int)]
    assert got.queries == len(asked)
    assert got.counts.sum() == 2 * len(asked)
    assert got.mean == pytest.approx(2 * len(asked) / len(SMALL_PAIRS.items))
    vectors = GramEncoder().encode(SMALL_PAIRS.items, None)
    vectors = vectors - vectors.mean(axis=0)
    low, high = np.zeros(len(vectors)), np.zeros(len(vectors))  # a tie for the second place may fall either way
    for query in asked:
        similarity = similarity_to_all(vectors, int(query), Similarity.COS)
        similarity[query] = -np.inf
        second = np.sort(similarity)[-2]
        low += similarity > second + 1e-6
        high += similarity > second - 1e-6
    assert ((low <= got.counts) & (got.counts <= high)).all()
    for file in small.settings.embeddings.iterdir():
        file.unlink()
    with pytest.raises(EmbeddingsGone):
        occurrences(run, queries, small.settings, small.repository)


def test_what_is_said_of_a_sentence() -> None:
    counted = Occurrences(np.array([0, 40, 3]), 100, 0.5)
    texts = ["A dog  runs.", "the cat sleeps on the dog", "rain falls"]
    got = reasons("a dog sleeps", [0, 1, 2], texts, of_words=False, hubs=counted)
    assert got == [
        ("2 of 3 words", "same length"),
        ("2 of 3 words", "hub: near 40 of 100 queries"),
        (),
    ]


def test_what_is_said_of_a_word() -> None:
    assert reasons("dog", [0, 1], ["house", "abseil"], of_words=True, hubs=None) == [("frequent word",), ()]
    assert not Occurrences(np.zeros(3, dtype=np.int64), 0, 0.0).is_hub(1)
