"""Sets of positive pairs (EvalRank, Wang 2022, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.types import Int32, Int64


def no_pair(done: str) -> tuple[str, str]:
    """``Dataset.lacks`` if no pair has both of its texts."""
    return (
        f"no pair of '{{id}}' can be {done}: {{covered:,}} of {{items:,}} items have a vector from {{whose}}, and no "
        "pair has both of its texts among them",
        "an encoder that knows the dataset's texts",
    )


@dataclass(frozen=True)
class PairCounts:
    """Counts of a pair set.

    Attributes:
        pairs: directed pairs, repeated ones included.
        self_pairs: pairs of a text with itself.
        repeated_pairs: pairs that an earlier row has too.
        items: distinct texts.
        queries: distinct queries.
        several_matches: queries with more than one distinct match; only one of them can be ranked first.
        background_only: items that are in no pair.
    """

    pairs: int
    self_pairs: int
    repeated_pairs: int
    items: int
    queries: int
    several_matches: int
    background_only: int


@dataclass(frozen=True, eq=False)
class PairSet(Dataset):
    """Positive pairs and their background (EvalRank, Wang 2022, section 4.2).

    Attributes:
        queries: ``[m] int32``, index into ``items`` of each pair's query.
        matches: ``[m] int32``, index into ``items`` of each pair's match.
    """

    queries: Int32
    matches: Int32

    kind = DatasetKind.PAIR_SET
    headings = ("pair", "query", "match")
    lacks = no_pair("ranked")
    counted = "pairs"
    stored_as = "pair"
    item_columns = ("queries", "matches")

    @property
    def content_parts(self) -> list[str]:
        return self._parts([self.queries, self.matches])

    def rows_in_any_order(self) -> Iterable[Sequence[object]]:
        pairs = zip(self.queries.tolist(), self.matches.tolist(), strict=True)
        yield from ((self.items[query], self.items[match]) for query, match in pairs)
        yield from ((self.items[number],) for number in self._background.tolist())

    @cached_property
    def asking(self) -> Int64:
        return np.unique(self.queries).astype(np.int64)

    @cached_property
    def counts(self) -> PairCounts:
        distinct = np.unique(np.stack([self.queries, self.matches]), axis=1)
        matches_per_query = np.unique(distinct[0], return_counts=True)[1]
        return PairCounts(
            pairs=len(self.queries),
            self_pairs=int((self.queries == self.matches).sum()),
            repeated_pairs=len(self.queries) - distinct.shape[1],
            items=len(self.items),
            queries=len(matches_per_query),
            several_matches=int((matches_per_query > 1).sum()),
            background_only=len(self._background),
        )

    @cached_property
    def _background(self) -> Int32:
        """Numbers of the items that are in no pair: ``[counts.background_only] int32``."""
        everything = np.arange(len(self.items), dtype=np.int32)
        return np.setdiff1d(everything, np.concatenate([self.queries, self.matches]), assume_unique=False)

    def background(self, n: int, seed: int) -> list[str]:
        """``n`` random items that are in no pair, or all if there are fewer; the same for the same seed."""
        chosen = np.random.default_rng(seed).permutation(self._background)[:n]
        return [self.items[number] for number in chosen]

    def rows(self, start: int, stop: int) -> Sequence[tuple[int, str, str]]:
        """Number, query and match."""
        items, queries, matches = self.items, self.queries, self.matches
        return [(n, items[queries[n]], items[matches[n]]) for n in range(start, min(stop, len(queries)))]

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.queries), dtype=np.int32),
            "query_no": self.queries,
            "match_no": self.matches,
        }

    def related(self, item: int) -> dict[int, str]:
        return {int(match): "match" for match in self.matches[self.queries == item] if match != item}
