"""A dataset before anything is run on it: counts, and some of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from core.datasets.kinds.base import Dataset
from core.datasets.kinds.labelled_texts import SPLITS, UNSPLIT, LabelledTexts
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.pairs import PairSet
from core.datasets.kinds.relations import Analogies, Categories
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.labelled_counts import LabelledCounts
from core.texts import one_form
from core.types import Int32, Int64


@dataclass(frozen=True)
class PairCounts:
    """What a pair set holds.

    Attributes:
        pairs: directed pairs, repeated ones included.
        self_pairs: pairs of a text with itself.
        repeated_pairs: pairs that stand in the dataset before.
        items: distinct texts.
        queries: distinct queries.
        several_mates: queries with more than one distinct mate; only one of them can be ranked first.
        background_only: items that are in no pair.
    """

    pairs: int
    self_pairs: int
    repeated_pairs: int
    items: int
    queries: int
    several_mates: int
    background_only: int


@dataclass(frozen=True, eq=False)
class PairPreview:
    """A pair set to look at."""

    dataset: PairSet

    @cached_property
    def counts(self) -> PairCounts:
        queries, mates = self.dataset.queries, self.dataset.mates
        distinct = np.unique(np.stack([queries, mates]), axis=1)
        mates_per_query = np.unique(distinct[0], return_counts=True)[1]
        return PairCounts(
            pairs=len(queries),
            self_pairs=int((queries == mates).sum()),
            repeated_pairs=len(queries) - distinct.shape[1],
            items=len(self.dataset.items),
            queries=len(mates_per_query),
            several_mates=int((mates_per_query > 1).sum()),
            background_only=len(self._background),
        )

    @cached_property
    def _background(self) -> Int32:
        """Numbers of the items that are in no pair: ``[counts.background_only] int32``."""
        everything = np.arange(len(self.dataset.items), dtype=np.int32)
        paired = np.concatenate([self.dataset.queries, self.dataset.mates])
        return np.setdiff1d(everything, paired, assume_unique=False)

    def rows(self, start: int, stop: int) -> list[tuple[int, str, str]]:
        """Number, query and mate of the pairs from ``start`` to before ``stop``, as far as there are any."""
        items, queries, mates = self.dataset.items, self.dataset.queries, self.dataset.mates
        return [(n, items[queries[n]], items[mates[n]]) for n in range(start, min(stop, len(queries)))]

    def background(self, n: int, seed: int) -> list[str]:
        """``n`` random items that are in no pair, or all of them where they are fewer; the same for the same seed."""
        chosen = np.random.default_rng(seed).permutation(self._background)[:n]
        return [self.dataset.items[number] for number in chosen]


@dataclass(frozen=True, eq=False)
class MinimalPairPreview:
    """A minimal-pair set to look at."""

    dataset: MinimalPairSet

    @property
    def originals(self) -> int:
        return len(self.dataset.originals)

    @cached_property
    def same(self) -> dict[str, int]:
        """Per subset, how many rewrites are the same text as their original; such a pair tells nothing."""
        forms = [one_form(text) for text in self.dataset.items]
        originals = self.dataset.originals.tolist()
        return {
            subset: sum(forms[a] == forms[b] for a, b in zip(originals, rewrites.tolist(), strict=True))
            for subset, rewrites in self.dataset.rewrites.items()
        }

    def rows(self, start: int, stop: int) -> list[tuple[int, str, str, str]]:
        """Number, original, subset and rewrite for the originals from ``start`` to before ``stop``."""
        items, originals = self.dataset.items, self.dataset.originals
        return [
            (n, items[originals[n]], subset, items[rewrites[n]])
            for n in range(start, min(stop, self.originals))
            for subset, rewrites in self.dataset.rewrites.items()
        ]


@dataclass(frozen=True, eq=False)
class VocabularyPreview:
    """A vocabulary to look at."""

    dataset: Vocabulary

    @property
    def words(self) -> int:
        return len(self.dataset.items)

    def rows(self, start: int, stop: int) -> list[tuple[int, str, float, float]]:
        """Number, word, count and occurrences per million words, from ``start`` to before ``stop``."""
        data = self.dataset
        return [
            (n, data.items[n], float(data.counts[n]), float(data.counts[n] / data.corpus_size * 1e6))
            for n in range(start, min(stop, self.words))
        ]


@dataclass(frozen=True, eq=False)
class ScoredPreview:
    """A set of scored pairs to look at."""

    dataset: ScoredPairs

    @property
    def pairs(self) -> int:
        return len(self.dataset.scores)

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(self.dataset.scores.min()), float(self.dataset.scores.max())

    def rows(self, start: int, stop: int) -> list[tuple[int, str, float, str, str]]:
        """Number, set, score and both texts of the pairs from ``start`` to before ``stop``, as far as there are any."""
        data = self.dataset
        return [
            (
                n,
                data.sets[data.set_numbers[n]],
                float(data.scores[n]),
                data.items[data.firsts[n]],
                data.items[data.seconds[n]],
            )
            for n in range(start, min(stop, self.pairs))
        ]


@dataclass(frozen=True)
class LabelledRow:
    """An example: ``second`` is "" where it is one text, ``split`` where none is prescribed; ``elsewhere`` says where
    the same text stands too ("in training", "elsewhere", or "")."""

    number: int
    label: str
    split: str
    first: str
    second: str
    elsewhere: str


@dataclass(frozen=True, eq=False)
class LabelledPreview:
    """A set of labelled texts to look at."""

    dataset: LabelledTexts

    @cached_property
    def counts(self) -> LabelledCounts:
        return LabelledCounts.of(self.dataset)

    def numbers(self, label: str = "", overlapping: bool = False) -> Int64:
        """Which examples there are to page through, ``[k] int64``.

        Args:
            label: only those of a class; "" for all.
            overlapping: only those that leak, as ``LabelledTexts.overlaps`` says.
        """
        kept = self.dataset.overlaps.copy() if overlapping else np.ones(len(self.dataset.labels), dtype=np.bool_)
        if label:
            kept &= self.dataset.labels == self.dataset.classes.index(label)
        return np.flatnonzero(kept)

    def rows(self, numbers: Sequence[int] | Int64) -> list[LabelledRow]:
        """The examples of these numbers."""
        data = self.dataset
        where = "in training" if data.is_split else "elsewhere"
        return [
            LabelledRow(
                n,
                data.classes[data.labels[n]],
                "" if data.splits[n] == UNSPLIT else SPLITS[data.splits[n]],
                data.items[data.firsts[n]],
                data.items[data.seconds[n]] if data.has_pairs else "",
                where if data.overlaps[n] else "",
            )
            for n in (int(number) for number in numbers)
        ]


@dataclass(frozen=True)
class Rows:
    """The first rows of a dataset, for a table: headings and as many cells in each row."""

    headings: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]


def first_rows(dataset: Dataset, n: int) -> Rows:
    """The first ``n`` rows of a dataset of any kind, or all where they are fewer."""
    items = dataset.items
    headings: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    match dataset:
        case PairSet():
            headings, rows = ("pair", "query", "mate"), PairPreview(dataset).rows(0, n)
        case MinimalPairSet():
            headings, rows = ("number", "original", "subset", "rewrite"), MinimalPairPreview(dataset).rows(0, n)
        case ScoredPairs():
            headings, rows = ("pair", "set", "score", "first text", "second text"), ScoredPreview(dataset).rows(0, n)
        case LabelledTexts():
            found = [asdict(row) for row in LabelledPreview(dataset).rows(range(min(n, len(dataset.labels))))]
            headings = ("number", "label", "split", "first", "second", "elsewhere")
            headings = tuple(h for h in headings if any(row[h] != "" for row in found))
            rows = [[row[h] for h in headings] for row in found]
        case Analogies():
            four = np.column_stack([dataset.questions, dataset.answers])[:n]
            headings, rows = ("a", "b", "c", "right"), [[items[i] for i in row] for row in four]
        case Categories():
            members = zip(dataset.members[:n], dataset.class_numbers[:n], strict=True)
            headings, rows = ("word", "class"), [(items[i], dataset.classes[c]) for i, c in members]
        case Vocabulary():
            headings = ("number", "word", "count", "per million words")
            rows = VocabularyPreview(dataset).rows(0, n)
        case _:
            raise TypeError(f"there is no preview of a {dataset.kind}")
    return Rows(headings, tuple(tuple(row) for row in rows))
