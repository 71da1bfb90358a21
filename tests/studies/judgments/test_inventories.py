"""Inventories of queries: the paper's design, SimLex-999, sentences, and what is found of them in a vocabulary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published import simlex
from blindspot.errors import DataCorrupt, InputError
from blindspot.settings import Settings
from blindspot.studies.judgments import inventories
from blindspot.studies.judgments.inventories import RARE, Inventory
from blindspot.studies.judgments.types import Query
from blindspot.texts import near_duplicate_key
from blindspot.types import Int64

PAIRS = loaders.pair_set(
    "texts",
    pairs=[("The dog runs in parks.", "the dog runs in parks")],
    background=["Dog", "dog", "DOG", "cat", "a b c", "one two three four", "five six seven eight nine"],
)


def every(n: int) -> Int64:
    return np.arange(n, dtype=np.int64)


def named(*words: str) -> Inventory:
    return Inventory("x", "X", tuple(Query(w, "noun") for w in words), "")


def test_the_default_has_the_papers_design() -> None:
    """Section 3.3: 100 words, ten categories of ten: one of adjectives and adverbs each, four of nouns and verbs."""
    queries = inventories.default().queries
    assert len({near_duplicate_key(q.text) for q in queries}) == 100
    categories = {q.category: (q.part_of_speech, q.concreteness) for q in queries}
    assert Counter(q.category for q in queries) == dict.fromkeys(categories, 10)
    assert {(q.category, q.part_of_speech, q.concreteness) for q in queries} == {(c, *a) for c, a in categories.items()}
    assert Counter(part for part, _ in categories.values()) == {"adjective": 1, "adverb": 1, "noun": 4, "verb": 4}
    assert Counter(concreteness for _, concreteness in categories.values()) == {"abstract": 5, "concrete": 5}


@pytest.mark.parametrize("dataset", ["vocab-wordfreq", pytest.param("vocab-wiki", marks=pytest.mark.realdata)])
def test_exactly_three_of_each_ten_are_rare(shared_settings: Settings, dataset: str) -> None:
    vocabulary = fetch.load(find_dataset(dataset), shared_settings)
    assert isinstance(vocabulary, Vocabulary)
    per_billion = dict(zip(vocabulary.items, vocabulary.counts / vocabulary.corpus_size * 1e9, strict=True))
    queries = inventories.default().queries
    rare = Counter(q.category for q in queries if per_billion[q.text] < RARE)
    assert {q.category: rare[q.category] for q in queries} == dict.fromkeys({q.category for q in queries}, 3)


SIMLEX = (
    "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)\r\n"
    "calm\ttable\tA\t1.5\t3.0\t4.9\t2\t7.25\t1\t0.41\r\n"
    "calm\twalk\tN\t9.2\t3.5\t3.01\t1\t7.11\t1\t0.67\r\n"
)


def test_simlex_words_have_part_of_speech_and_concreteness(tmp_path: Path) -> None:
    path = tmp_path / "SimLex.txt"
    path.write_bytes(SIMLEX.encode())
    inventory = inventories.of_simlex(simlex.read(path))
    assert [(q.text, q.part_of_speech, q.concreteness) for q in inventory.queries] == [
        ("calm", "adjective", "abstract"),  # 3.0 is the middle, not above it; as a noun it comes second
        ("table", "adjective", "concrete"),
        ("walk", "noun", "concrete"),
    ]
    assert "The 3 words" in inventory.about
    assert "as several parts of speech" in inventory.about


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begins with ''"),
        ("a\tb\n", "expected the header of SimLex-999"),
        (SIMLEX + "one\ttwo\tX\t1\t1\t1\r\n", "line 4"),
        (SIMLEX + "one\ttwo\tA\t1\t1\r\n", "line 4"),
    ],
)
def test_another_file_is_not_taken_for_simlex(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "SimLex.txt"
    path.write_bytes(text.encode())
    with pytest.raises(DataCorrupt, match=said):
        simlex.read(path)


@pytest.mark.realdata
def test_simlex_as_published(shared_settings: Settings) -> None:
    inventory = inventories.load_simlex(shared_settings)
    assert len(inventory.queries) == len({q.text for q in inventory.queries}) == 1_028
    assert {q.part_of_speech for q in inventory.queries} == {"adjective", "noun", "verb"}
    by_text = {q.text: q.concreteness for q in inventory.queries}
    assert (by_text["dog"], by_text["belief"]) == ("concrete", "abstract")


def test_sentences_are_a_seeded_sample_without_near_duplicates() -> None:
    found = inventories.sentences(PAIRS, 2, seed=1)
    assert found == inventories.sentences(PAIRS, 2, seed=1)
    assert len(found.queries) == 2
    every_one = inventories.sentences(PAIRS, 100, seed=1)
    assert {q.text for q in every_one.queries} == {
        "The dog runs in parks.",
        "one two three four",
        "five six seven eight nine",
    }
    assert len({inventories.sentences(PAIRS, 1, seed).queries for seed in range(30)}) == 3
    with pytest.raises(InputError, match="0 queries are asked for"):
        inventories.sentences(PAIRS, 0, 1)
    words = loaders.pair_set("words", [("a", "b")], [])
    with pytest.raises(InputError, match="'words' has no item of at least 4 words"):
        inventories.sentences(words, 5, 1)


def test_queries_are_found_to_the_letter_else_in_any_capitals() -> None:
    found = inventories.find(named("dog", "CAT", "bird", "Dog", "cat"), PAIRS, every(len(PAIRS.items)))
    assert [(q.text, q.part_of_speech, PAIRS.items[i]) for q, i in zip(found.queries, found.items, strict=True)] == [
        ("dog", "noun", "dog"),
        ("cat", "noun", "cat"),
        ("Dog", "noun", "Dog"),
    ]
    assert (found.unknown, found.repeated) == (("bird",), 1)
    forms = loaders.pair_set("forms", [("cafe", "Cafe\u0301")], [])
    assert inventories.find(named("caf\u00e9"), forms, every(2)).items.tolist() == [1], "in another Unicode form"


def test_an_item_without_a_vector_is_not_found() -> None:
    kept = np.array([i for i, text in enumerate(PAIRS.items) if text not in {"cat", "dog"}], dtype=np.int64)
    found = inventories.find(named("cat", "dog"), PAIRS, kept)
    assert [q.text for q in found.queries] == ["Dog"], "the first in other capitals"
    assert found.unknown == ("cat",)
    with pytest.raises(InputError, match=r"none of the 12 queries of 'X' is an item of texts: 0, 1, .*, 9; expected"):
        inventories.find(named(*map(str, range(12))), PAIRS, kept)


def test_a_sample_of_queries_keeps_their_order() -> None:
    found = inventories.find(named("cat", "dog", "Dog", "DOG"), PAIRS, every(len(PAIRS.items)))
    some = inventories.sample(found, 2, seed=3)
    assert inventories.sample(found, 2, seed=3).queries == some.queries
    assert [found.queries.index(q) for q in some.queries] == sorted(found.queries.index(q) for q in some.queries)
    assert [PAIRS.items[i] for i in some.items] == [q.text for q in some.queries]
    assert inventories.sample(found, 4, 0) is inventories.sample(found, None, 0) is found
    assert len({inventories.sample(found, 2, seed).queries for seed in range(60)}) == 6


def test_the_digest_is_of_the_queries() -> None:
    one = named("a", "b")
    assert one.digest == Inventory("y", "Y", one.queries, "other words").digest
    assert len({one.digest, named("b", "a").digest, named("ab").digest, named("a").digest}) == 4
