"""Inventories of queries, words or sentences, for judging their neighbors (Schnabel et al. 2015, section 3.3)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import SOURCES
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.published import simlex
from blindspot.datasets.published.simlex import SimLexPair
from blindspot.errors import InputError
from blindspot.settings import ASSETS, Settings
from blindspot.studies.judgments.types import Query
from blindspot.texts import near_duplicate_key, same_text
from blindspot.types import CancelToken, Int64, Progress, digest_of_strings, no_progress

RARE = 2_500.0  # occurrences per billion words: the paper's "fewer than 2500 times" for corpora of any size
FREQUENT = 25_000.0
CONCRETE_ABOVE = 3.0  # the middle of SimLex-999's scale from 1 (abstract) to 5 (concrete)
SHORTEST_SENTENCE = 4  # words
SENTENCES = 100  # as many as the default has words
NAMED = 10  # queries that a vocabulary lacks
_OWN_WORDS = ASSETS / "judgments" / "queries.csv"


class Ready(StrEnum):
    """Inventories that need no list from the user."""

    DEFAULT = "default"
    SIMLEX = "simlex999"
    SENTENCES = "sentences"  # of the dataset itself


@dataclass(frozen=True)
class Inventory:
    """Distinct queries, in the order in which items are made; ``about`` tells their source as plain text."""

    id: str
    title: str
    queries: tuple[Query, ...]
    about: str

    @cached_property
    def digest(self) -> str:
        return digest_of_strings([part for query in self.queries for part in astuple(query)])[:16]


@dataclass(frozen=True, eq=False)
class Found:
    """The queries of an inventory among the items of a dataset.

    Attributes:
        queries: distinct items in the dataset's spelling; ``items [q] int64`` are their numbers.
        unknown: texts that the dataset lacks, in the inventory's order.
        repeated: how many queries were left out because they are the item of an earlier query.
    """

    queries: tuple[Query, ...]
    items: Int64
    unknown: tuple[str, ...]
    repeated: int


@lru_cache(maxsize=1)
def default() -> Inventory:
    """100 words in the paper's design: ten categories of ten words, three of them rare in each."""
    rows = csv.DictReader(io.StringIO(_OWN_WORDS.read_text("utf-8"), newline=""))
    queries = tuple(Query(r["word"], r["part_of_speech"], r["concreteness"], r["category"]) for r in rows)
    about = (
        "100 words of our own choosing, ten of each of ten categories: one of adjectives, one of adverbs, four of "
        "nouns, four of verbs, half of them abstract and half concrete. Three of each ten are rare, with fewer than "
        f"{RARE:,.0f} occurrences in a billion words."
    )
    return Inventory(Ready.DEFAULT, "100 words, balanced", queries, about)


def of_simlex(pairs: Sequence[SimLexPair]) -> Inventory:
    """SimLex-999's words, each once; concrete if rated above the middle of the scale."""
    queries: dict[str, Query] = {}
    several: set[str] = set()
    for pair in pairs:
        for word in pair.words:
            concreteness = "concrete" if word.concreteness > CONCRETE_ABOVE else "abstract"
            first = queries.setdefault(word.text, Query(word.text, word.part_of_speech, concreteness))
            if first.part_of_speech != word.part_of_speech:
                several.add(word.text)
    about = (
        f"The {len(queries):,} words of SimLex-999 (Hill, Reichart and Korhonen 2015) with its parts of speech. "
        f"Concrete are those that people rated above {CONCRETE_ABOVE:g} on its scale from 1 to 5. "
        f"{len(several)} are there as several parts of speech, here as the first of them."
    )
    return Inventory(Ready.SIMLEX, "Words of SimLex-999", tuple(queries.values()), about)


def load_simlex(settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None) -> Inventory:
    """SimLex-999's words; downloads the file if needed.

    Raises:
        DataMissing: it cannot be downloaded now.
        DataCorrupt: it is not the published file.
    """
    paths = fetch.fetch_dataset(SOURCES["simlex999-words"], settings, progress, cancel)
    return of_simlex(simlex.read(paths[0]))


def sentences(dataset: Dataset, n: int, seed: int) -> Inventory:
    """A seeded sample of a dataset's items of at least four words, without near-duplicates, in random order.

    Raises:
        InputError: it has no such item, or n is below 1.
    """
    check_sample(n)
    long_enough: dict[str, str] = {}
    for text in dataset.items:
        if len(text.split()) >= SHORTEST_SENTENCE and (key := near_duplicate_key(text)):
            long_enough.setdefault(key, text)
    texts = list(long_enough.values())
    if not texts:
        raise InputError(
            f"'{dataset.id}' has no item of at least {SHORTEST_SENTENCE} words",
            expected="sentences",
            remedy="choose a dataset of sentences, or an inventory of words",
        )
    chosen = np.random.default_rng(seed).permutation(len(texts))[:n]
    about = (
        f"{len(chosen):,} of {len(texts):,} different items of {dataset.id} with at least {SHORTEST_SENTENCE} words, "
        f"drawn at random (seed {seed})."
    )
    title = f"{len(chosen):,} sentences"
    return Inventory(Ready.SENTENCES, title, tuple(Query(texts[i]) for i in chosen), about)


def check_sample(n: int) -> None:
    """Raise ``InputError`` for less than one query."""
    if n < 1:
        raise InputError(f"{n} queries are asked for", expected="at least 1")


def find(inventory: Inventory, dataset: Dataset, items: Int64) -> Found:
    """Find the queries among the items ``[k] int64`` of a dataset: exactly, else the first that is ``same_text``.

    Raises:
        InputError: none is found.
    """
    exactly = {dataset.items[i]: int(i) for i in items}
    anyhow: dict[str, int] = {}
    for text, number in exactly.items():
        anyhow.setdefault(same_text(text), number)
    queries: dict[int, Query] = {}
    unknown, repeated = [], 0
    for query in inventory.queries:
        number = exactly.get(query.text, anyhow.get(same_text(query.text), -1))
        if number < 0:
            unknown.append(query.text)
        elif number in queries:
            repeated += 1
        else:
            queries[number] = replace(query, text=dataset.items[number])
    out = Found(tuple(queries.values()), np.array(list(queries), dtype=np.int64), tuple(unknown), repeated)
    if not queries:
        raise InputError(
            f"none of the {len(inventory.queries):,} queries of '{inventory.title}' is an item of {dataset.id}: "
            + ", ".join(unknown[:NAMED]),
            expected="queries that the dataset has and that all encoders have a vector for",
            remedy="choose another inventory or dataset",
        )
    return out


def sample(query_list: Found, n: int | None, seed: int) -> Found:
    """A seeded sample of n queries, in their order; all of them if there are no more, or n is None."""
    if n is None or n >= len(query_list.queries):
        return query_list
    check_sample(n)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(query_list.queries))[:n])
    return Found(
        tuple(query_list.queries[i] for i in chosen), query_list.items[chosen], query_list.unknown, query_list.repeated
    )
