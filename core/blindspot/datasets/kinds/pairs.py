"""Sets of positive pairs (EvalRank, Wang 2022, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.errors import InputError
from blindspot.types import Int32, Int64


@dataclass(frozen=True)
class PairCounts:
    """Counts of a pair set.

    Attributes:
        pairs: directed pairs, repeated ones included.
        self_pairs: pairs of a text with itself.
        repeated_pairs: pairs that an earlier row has too.
        items: distinct texts.
        queries: distinct queries.
        several_mates: queries with more than one distinct match; only one of them can be ranked first.
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
class PairSet(Dataset):
    """Positive pairs and their background (EvalRank, Wang 2022, section 4.2).

    Attributes:
        queries: ``[m] int32``, index into ``items`` of each pair's query.
        matches: ``[m] int32``, index into ``items`` of each pair's match.
    """

    queries: Int32
    mates: Int32

    kind = DatasetKind.PAIR_SET
    headings = ("pair", "query", "mate")
    counted = "pairs"
    stored_as = "pair"
    item_columns = ("queries", "mates")

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.queries, self.mates])

    def rows_in_any_order(self) -> Iterable[Sequence[object]]:
        pairs = zip(self.queries.tolist(), self.mates.tolist(), strict=True)
        yield from ((self.items[query], self.items[mate]) for query, mate in pairs)
        yield from ((self.items[number],) for number in self._background.tolist())

    @cached_property
    def asking(self) -> Int64:
        return np.unique(self.queries).astype(np.int64)

    def nothing_left(self, covered: int, whose: str) -> InputError:
        return no_pair(self, covered, whose, "ranked")

    @cached_property
    def counts(self) -> PairCounts:
        distinct = np.unique(np.stack([self.queries, self.mates]), axis=1)
        mates_per_query = np.unique(distinct[0], return_counts=True)[1]
        return PairCounts(
            pairs=len(self.queries),
            self_pairs=int((self.queries == self.mates).sum()),
            repeated_pairs=len(self.queries) - distinct.shape[1],
            items=len(self.items),
            queries=len(mates_per_query),
            several_mates=int((mates_per_query > 1).sum()),
            background_only=len(self._background),
        )

    @cached_property
    def _background(self) -> Int32:
        """Numbers of the items that are in no pair: ``[counts.background_only] int32``."""
        everything = np.arange(len(self.items), dtype=np.int32)
        return np.setdiff1d(everything, np.concatenate([self.queries, self.mates]), assume_unique=False)

    def background(self, n: int, seed: int) -> list[str]:
        """``n`` random items that are in no pair, or all of them where they are fewer; the same for the same seed."""
        chosen = np.random.default_rng(seed).permutation(self._background)[:n]
        return [self.items[number] for number in chosen]

    def rows(self, start: int, stop: int) -> Sequence[tuple[int, str, str]]:
        """Number, query and match."""
        items, queries, mates = self.items, self.queries, self.mates
        return [(n, items[queries[n]], items[mates[n]]) for n in range(start, min(stop, len(queries)))]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.queries), dtype=np.int32),
            "query_no": self.queries,
            "mate_no": self.mates,
        }

    def related(self, item: int) -> dict[int, str]:
        return {int(mate): "mate" for mate in self.mates[self.queries == item] if mate != item}


def no_pair(dataset: Dataset, covered: int, whose: str, done: str) -> InputError:
    """The error if no pair has both of its texts among the ``covered`` items."""
    return InputError(
        f"no pair of '{dataset.id}' can be {done}: {covered:,} of {len(dataset.items):,} items have "
        f"a vector from {whose}, and no pair has both of its texts among them",
        expected="an encoder that knows the dataset's texts",
    )
