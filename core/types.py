"""The nouns that more than one layer speaks of (DESIGN section 1)."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import Cancelled

Bool = NDArray[np.bool_]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class DatasetKind(StrEnum):
    """What a dataset's rows are."""

    PAIR_SET = "pair set"
    MINIMAL_PAIR_SET = "minimal-pair set"
    SCORED_PAIRS = "set of scored pairs"
    VOCABULARY = "vocabulary with frequencies"
    ANALOGIES = "set of analogies"
    CATEGORIES = "set of categories"
    LABELLED_TEXTS = "set of labelled texts"


def digest_of_strings(parts: Iterable[str]) -> str:
    """sha256 of an ordered list of strings; every string is length-prefixed, so boundaries count."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "little"))
        sha.update(data)
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Dataset(ABC):
    """What every kind of dataset has.

    Attributes:
        id: dataset id.
        items: the distinct texts, ``n`` of them; everything else speaks of them by their numbers.
    """

    id: str
    items: tuple[str, ...]

    kind: ClassVar[DatasetKind]

    @cached_property
    def texts_digest(self) -> str:
        """Digest of the texts and their order: datasets that share it share their embeddings."""
        return digest_of_strings(self.items)

    @property
    @abstractmethod
    def content_digest(self) -> str:
        """Digest of all that decides a diagnostic's numbers."""


@dataclass(frozen=True, eq=False)
class PairSet(Dataset):
    """Positive pairs and their background (EvalRank, Wang 2022, section 4.2).

    Attributes:
        queries: ``[m] int32``, index into ``items`` of each pair's query.
        mates: ``[m] int32``, index into ``items`` of each pair's mate.
    """

    queries: Int32
    mates: Int32

    kind = DatasetKind.PAIR_SET

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order and the pairs."""
        pairs = hashlib.sha256(self.queries.tobytes() + self.mates.tobytes()).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, pairs])


@dataclass(frozen=True, eq=False)
class MinimalPairSet(Dataset):
    """Originals, and for each of them one rewrite per named subset (HEROS, Chiang 2023, section 2).

    Attributes:
        originals: ``[n] int32``, index into ``items`` of each original.
        rewrites: per subset, in the order in which subsets are shown, ``[n] int32``: index into ``items`` of each
            original's rewrite.
    """

    originals: Int32
    rewrites: Mapping[str, Int32]

    kind = DatasetKind.MINIMAL_PAIR_SET

    @property
    def subsets(self) -> tuple[str, ...]:
        return tuple(self.rewrites)

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order, the originals, and the names and rewrites of the subsets."""
        parts = [self.kind, self.texts_digest, hashlib.sha256(self.originals.tobytes()).hexdigest()]
        for subset, numbers in self.rewrites.items():
            parts += [subset, hashlib.sha256(numbers.tobytes()).hexdigest()]
        return digest_of_strings(parts)


@dataclass(frozen=True, eq=False)
class ScoredPairs(Dataset):
    """Pairs that people scored, of one or several named sets with scales of their own.

    Attributes:
        sets: the names of the sets.
        set_numbers: ``[m] int32``, index into ``sets`` of each pair's set.
        firsts, seconds: ``[m] int32``, index into ``items`` of each pair's texts.
        scores: ``[m] float64``, each on its set's scale; more is more alike.
    """

    sets: tuple[str, ...]
    set_numbers: Int32
    firsts: Int32
    seconds: Int32
    scores: Float64

    kind = DatasetKind.SCORED_PAIRS

    @cached_property
    def content_digest(self) -> str:
        """Digest of the texts, their order, the sets and the pairs with their scores."""
        columns = (self.set_numbers, self.firsts, self.seconds, self.scores)
        pairs = hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, *self.sets, pairs])


@dataclass(frozen=True, eq=False)
class Vocabulary(Dataset):
    """Words and how often each stands in a corpus (Schnabel 2015, section 5); ``items`` are the words.

    Attributes:
        counts: ``[n] float64``, occurrences in ``corpus_size`` words, above 0; need not be whole.
        corpus_size: in words.
        queries: ``[q] int32``, index into ``items`` of those words of WordSim-353 that it has: whose neighbours the
            paper looks at.
    """

    counts: Float64
    corpus_size: float
    queries: Int32

    kind = DatasetKind.VOCABULARY

    @cached_property
    def content_digest(self) -> str:
        """Digest of the words, their order, the counts and the query words."""
        numbers = hashlib.sha256(self.counts.tobytes() + self.queries.tobytes()).hexdigest()
        return digest_of_strings([self.kind, self.texts_digest, repr(float(self.corpus_size)), numbers])


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a dataset whose items all have a vector (DESIGN 4.1, coverage).

    Attributes:
        dataset: that part, its items numbered anew.
        items: ``[k] int64``, the numbers that its items have in the whole.
        support: ``[n] bool``, per item of the whole whether it is in.
    """

    dataset: Dataset
    items: Int64
    support: Bool

    @property
    def digest(self) -> str:
        """Digest of which items are in; "" for all of them."""
        return "" if self.support.all() else hashlib.sha256(np.packbits(self.support).tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class CoveredWords(Part):
    """The part of a vocabulary whose words have a vector; the corpus stays the whole one."""

    dataset: Vocabulary

    @classmethod
    def of(cls, whole: Vocabulary, support: Bool) -> CoveredWords:
        """Leave out the words outside of ``support``, ``[n] bool``."""
        items = np.flatnonzero(support)
        if len(items) == len(whole.items):
            return cls(whole, items, support)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = Vocabulary(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.counts[items],
            whole.corpus_size,
            numbers[whole.queries[support[whole.queries]]],
        )
        return cls(part, items, support)


@dataclass(frozen=True, eq=False)
class CoveredPairs(Part):
    """The part of a set of scored pairs whose texts all have a vector.

    Attributes:
        pairs: ``[m] int64``, the numbers that its pairs have in the whole.
    """

    dataset: ScoredPairs
    pairs: Int64

    @classmethod
    def of(cls, whole: ScoredPairs, support: Bool) -> CoveredPairs:
        """Leave out the items outside of ``support``, ``[n] bool``, and the pairs that touch them."""
        items = np.flatnonzero(support)
        pairs = np.flatnonzero(support[whole.firsts] & support[whole.seconds])
        if len(items) == len(whole.items):
            return cls(whole, items, support, pairs)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = ScoredPairs(
            whole.id,
            tuple(whole.items[i] for i in items),
            whole.sets,
            whole.set_numbers[pairs],
            numbers[whole.firsts[pairs]],
            numbers[whole.seconds[pairs]],
            whole.scores[pairs],
        )
        return cls(part, items, support, pairs)


@dataclass(frozen=True, eq=False)
class RankedPairs(Part):
    """The part of a pair set whose items all have a vector: candidates and pairs of a run (DESIGN 4.1, coverage).

    Attributes:
        pairs: ``[m] int64``, the numbers that its pairs have in the whole.
    """

    dataset: PairSet
    pairs: Int64

    @classmethod
    def of(cls, whole: PairSet, support: Bool) -> RankedPairs:
        """Leave out the items outside of ``support`` and the pairs that touch them."""
        items = np.flatnonzero(support)
        pairs = np.flatnonzero(support[whole.queries] & support[whole.mates])
        if len(items) == len(whole.items):
            return cls(whole, items, support, pairs)
        numbers = np.cumsum(support, dtype=np.int32) - np.int32(1)
        part = PairSet(
            whole.id,
            tuple(whole.items[i] for i in items),
            numbers[whole.queries[pairs]],
            numbers[whole.mates[pairs]],
        )
        return cls(part, items, support, pairs)


@dataclass(frozen=True)
class Variant:
    """An encoder with a transform chain; its id is ``<encoder reference>~<transform chain>``."""

    encoder: str
    transform: str

    SEPARATOR = "~"

    def __str__(self) -> str:
        return f"{self.encoder}{self.SEPARATOR}{self.transform}"

    @property
    def label(self) -> str:
        """For people: the encoder alone where nothing was done to its embeddings; of a path only the last part."""
        scheme, colon, path = self.encoder.partition(":/")
        encoder = f"{scheme}:{path.rpartition('/')[2]}" if colon else self.encoder
        return encoder if self.transform == "none" else f"{encoder} + {self.transform}"

    @classmethod
    def parse(cls, text: str) -> Variant:
        encoder, separator, transform = text.rpartition(cls.SEPARATOR)
        return cls(encoder, transform) if separator else cls(text, "none")


class Progress(Protocol):
    """Told how far a piece of work is: ``stage`` in words, ``done`` of ``total`` units of it.

    ``fraction`` is the share of the stage's *work*, where the units differ in cost (long texts come first).
    """

    def __call__(self, stage: str, done: int, total: int, fraction: float | None = None) -> None: ...


def no_progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
    """A listener that does not listen."""


class CancelToken:
    """Set from any thread; the work looks at it at every batch."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise ``Cancelled`` once ``cancel`` was called."""
        if self._event.is_set():
            raise Cancelled


@dataclass
class Stopwatch:
    """Seconds spent per named stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        from time import perf_counter

        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
