"""Whose neighbours are judged: inventories of query words or sentences (Schnabel et al. 2015, section 3.3)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.base import Dataset
from core.datasets.published import simlex
from core.datasets.published.simlex import SimLexPair
from core.errors import InputError
from core.settings import ASSETS, Settings
from core.studies.judgement.types import Query
from core.texts import near_duplicate_key, same_text
from core.types import CancelToken, Int64, Progress, digest_of_strings, no_progress

RARE = 2_500.0  # occurrences per billion words; the paper's "fewer than 2500 times", made independent of the corpus
FREQUENT = 25_000.0  # ten times that
CONCRETE_ABOVE = 3.0  # the middle of SimLex-999's scale from 1 (abstract) to 5 (concrete)
SHORTEST_SENTENCE = 4  # words
SENTENCES = 100  # as many as the default has words
NAMED = 10  # of the queries that a vocabulary does not have
_OWN_WORDS = ASSETS / "judgement" / "queries.csv"


class Ready(StrEnum):
    """Inventories that need nothing from the user."""

    DEFAULT = "default"
    SIMLEX = "simlex999"
    SENTENCES = "sentences"  # of the dataset itself


@dataclass(frozen=True)
class Inventory:
    """Queries, in the order in which items are made.

    Attributes:
        id: short, for commands.
        title: for people.
        queries: distinct texts.
        about: where they come from and what was left out, in a sentence or two; plain text.
    """

    id: str
    title: str
    queries: tuple[Query, ...]
    about: str

    @cached_property
    def digest(self) -> str:
        """Of the queries, their order and what is known of them."""
        return digest_of_strings([part for query in self.queries for part in astuple(query)])[:16]


@dataclass(frozen=True, eq=False)
class Found:
    """The queries of an inventory among the items of a vocabulary.

    Attributes:
        queries: with the vocabulary's spelling, distinct items.
        items: ``[q] int64``, their numbers in the dataset.
        unknown: texts that it does not have, in the inventory's order.
        repeated: how many were left out because they are the same item as one before.
    """

    queries: tuple[Query, ...]
    items: Int64
    unknown: tuple[str, ...] = field(default=())
    repeated: int = 0

    @property
    def told(self) -> str:
        """What is missing, in words; "" where nothing is."""
        if not self.unknown:
            return ""
        more = len(self.unknown) - NAMED
        return f"not in the vocabulary: {', '.join(self.unknown[:NAMED])}" + (f" and {more:,} more" if more > 0 else "")


@lru_cache(maxsize=1)
def default() -> Inventory:
    """100 words of our own in the paper's design: ten categories of ten words, exactly three of them rare."""
    rows = csv.DictReader(io.StringIO(_OWN_WORDS.read_text("utf-8"), newline=""))
    queries = tuple(Query(r["word"], r["part_of_speech"], r["concreteness"], r["category"]) for r in rows)
    about = (
        "100 words of our own choosing, ten of each of ten categories: one of adjectives, one of adverbs, four of "
        "nouns, four of verbs, half of them abstract and half concrete. Three of each ten are rare, with fewer than "
        f"{RARE:,.0f} occurrences in a billion words."
    )
    return Inventory(Ready.DEFAULT, "100 words, balanced", queries, about)


def of_simlex(pairs: Sequence[SimLexPair]) -> Inventory:
    """SimLex-999's words, each once; concrete where people rated it above the middle of the scale."""
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
        f"{len(several)} stand there as several parts of speech, here as the first of them."
    )
    return Inventory(Ready.SIMLEX, "Words of SimLex-999", tuple(queries.values()), about)


def load_simlex(settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None) -> Inventory:
    """SimLex-999's words; the file is fetched where it is not here.

    Raises:
        DataMissing: it cannot be had now.
        DataCorrupt: it is not the file that we know.
    """
    paths = fetch.fetch_dataset(datasets.find("simlex999-words"), settings, progress, cancel)
    return of_simlex(simlex.read(paths[0]))


def sentences(dataset: Dataset, n: int, seed: int) -> Inventory:
    """A seeded sample of a dataset's items of at least four words, without near-duplicates, in random order.

    Raises:
        InputError: it has no such item, or n is no number above 0.
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
    """Raise ``InputError`` unless n is a number of queries that can be drawn."""
    if n < 1:
        raise InputError(f"{n} queries are asked for", expected="at least 1")


def find(inventory: Inventory, dataset: Dataset, items: Int64) -> Found:
    """Look the queries up among some items of a dataset: to the letter, else as ``same_text`` (the first such).

    Args:
        items: ``[k] int64``, numbers of the items that all variants have a vector for, ascending.

    Raises:
        InputError: none of them is there.
    """
    exactly = {dataset.items[i]: int(i) for i in items}
    anyhow: dict[str, int] = {}
    for text, number in exactly.items():
        anyhow.setdefault(same_text(text), number)
    found: dict[int, Query] = {}
    unknown, repeated = [], 0
    for query in inventory.queries:
        number = exactly.get(query.text, anyhow.get(same_text(query.text), -1))
        if number < 0:
            unknown.append(query.text)
        elif number in found:
            repeated += 1
        else:
            text = dataset.items[number]
            found[number] = Query(text, query.part_of_speech, query.concreteness, query.category)
    out = Found(tuple(found.values()), np.array(list(found), dtype=np.int64), tuple(unknown), repeated)
    if not found:
        raise InputError(
            f"none of the {len(inventory.queries):,} queries of '{inventory.title}' is an item of {dataset.id}: "
            + ", ".join(unknown[:NAMED]),
            expected="queries that the dataset has and that all encoders have a vector for",
            remedy="choose another inventory or dataset",
        )
    return out


def sample(found: Found, n: int | None, seed: int) -> Found:
    """A seeded sample of n queries, in their order; all of them where there are no more, or n is None."""
    if n is None or n >= len(found.queries):
        return found
    check_sample(n)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(found.queries))[:n])
    return Found(tuple(found.queries[i] for i in chosen), found.items[chosen], found.unknown, found.repeated)
