"""The items that raters are shown: the rules of the intruder test and the comparative task, as pure functions.

A neighbor list has distinct texts: near-duplicates (``blindspot.texts``) of the query are left out, and of neighbors
that are near-duplicates only the nearest is kept. Rank 1 is the nearest of that list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.errors import InputError
from blindspot.studies.judgments.types import NOT_ASKED, Item, Query
from blindspot.texts import near_duplicate_key
from blindspot.types import Bool, Float64, Int64

VERSION = 2  # raised when the same neighbors can lead to other items
INTRUDERS_FROM = 100  # rank of the first neighbor that can be an intruder (section 4)
NEIGHBORS = 2  # shown with the query
RANKS = (1, 5, 50)  # of the neighbors that are compared (section 3.3)
LOG10_TOLERANCE = 0.1
COUNT_TOLERANCE = 500.0


class Reason(StrEnum):
    """Why there is no item; manifests of item sets have it as it is."""

    TOO_FEW = "too few neighbors"
    UNKNOWN = "frequency unknown"
    NO_INTRUDER = "no intruder of like frequency"
    SAME = "all variants give the same"


def in_words(reason: str) -> str:
    """The reason as people read it."""
    return {str(Reason.TOO_FEW): "too few neighbors", str(Reason.SAME): "all models give the same"}.get(reason, reason)


class Closeness(StrEnum):
    """The measure of distance between the intruder's frequency and the mean of the three words'."""

    LOG10 = "log10"
    COUNT = "count"


@dataclass(frozen=True)
class Rule:
    """When frequencies f and m are close: ``|log10 f - log10 m| <= tolerance``, or ``|f - m| <= tolerance`` counts."""

    closeness: Closeness = Closeness.LOG10
    tolerance: float = LOG10_TOLERANCE

    @classmethod
    def of(cls, closeness: Closeness) -> Rule:
        """The rule with the usual tolerance: 0.1, or the paper's 500 counts."""
        return cls(closeness, LOG10_TOLERANCE if closeness is Closeness.LOG10 else COUNT_TOLERANCE)

    def close(self, counts: Float64, mean: float) -> Bool:
        """Whether each of ``[m]`` counts is close to a mean above 0; NaN is not."""
        if self.closeness is Closeness.COUNT:
            return np.asarray(np.abs(counts - mean) <= self.tolerance)
        return np.asarray(np.abs(np.log10(counts) - np.log10(mean)) <= self.tolerance)


@dataclass(frozen=True, eq=False)
class Pool:
    """The n items that can be queries, neighbors and intruders.

    Attributes:
        twins: ``[n] int64``, equal for near-duplicates.
        counts: ``[n] float64``, occurrences in a corpus, or lengths in words; above 0, NaN if unknown.
    """

    texts: tuple[str, ...]
    copies: Int64
    counts: Float64

    @classmethod
    def of(cls, texts: Sequence[str], counts: Float64) -> Pool:
        """The pool of some texts; texts of punctuation only have no near-duplicates."""
        numbers: dict[str, int] = {}
        keys = (near_duplicate_key(text) or f"\0{text}" for text in texts)
        copies = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
        return cls(tuple(texts), copies, counts)


@dataclass(frozen=True, eq=False)
class Asked:
    """A query with its number in the pool."""

    query: Query
    item: int
    band: str


@dataclass(frozen=True)
class Quartet:
    """A variant's question in the intruder test, as numbers in the pool."""

    neighbors: tuple[int, ...]
    intruder: int


def distinct(item: int, ranked: Int64, copies: Int64) -> Int64:
    """The neighbor list of an item, from ``ranked [m] int64``: all other items, the nearest first."""
    others = ranked[copies[ranked] != copies[item]]
    _, first = np.unique(copies[others], return_index=True)
    return np.asarray(others[np.sort(first)])


def quartet(item: int, neighbors: Int64, counts: Float64, rule: Rule, start: int = INTRUDERS_FROM) -> Quartet | Reason:
    """The intruder and the two nearest neighbors, or why there is no intruder (section 4).

    Args:
        neighbors: ``[m] int64`` from ``distinct``.
        start: rank of the first neighbor that can be an intruder, from 1.
    """
    if len(neighbors) < max(start, NEIGHBORS + 1):
        return Reason.TOO_FEW
    nearest = neighbors[:NEIGHBORS]
    shown = counts[[item, *nearest]]
    if np.isnan(shown).any():
        return Reason.UNKNOWN
    far = neighbors[max(start - 1, NEIGHBORS) :]
    qualify = np.flatnonzero(rule.close(counts[far], float(shown.mean())))
    if not len(qualify):
        return Reason.NO_INTRUDER
    return Quartet(tuple(nearest.tolist()), int(far[qualify[0]]))


@dataclass(frozen=True)
class Made:
    """Items, and by reason how many queries (in the comparative task: queries and ranks) gave none."""

    items: tuple[Item, ...]
    skipped: Mapping[str, int]


def intruder_items(asked: Sequence[Asked], outcomes: Sequence[Sequence[Quartet | Reason]], pool: Pool) -> Made:
    """An item per query and variant, or one item for variants that show the same four texts.

    A query for which some variant has no intruder is skipped, for the reason of the first such variant.

    Args:
        outcomes: per query, per variant.
    """
    items: list[Item] = []
    skipped: Counter[str] = Counter()
    for query, quartets in zip(asked, outcomes, strict=True):
        if reasons := [q for q in quartets if isinstance(q, Reason)]:
            skipped[reasons[0].value] += 1
            continue
        together: dict[frozenset[int], dict[int, Quartet]] = {}
        for variant, outcome in enumerate(quartets):
            if isinstance(outcome, Quartet):
                shown = frozenset(int(pool.copies[i]) for i in (query.item, *outcome.neighbors, outcome.intruder))
                together.setdefault(shown, {})[variant] = outcome
        for by_variant in together.values():
            first = next(iter(by_variant.values()))
            members = (query.item, *first.neighbors, first.intruder)
            intruders = {variant: quartet.intruder for variant, quartet in by_variant.items()}
            items.append(_item(len(items), query, None, members, intruders, len(quartets), pool))
    return Made(tuple(items), dict(skipped))


def comparative_items(
    asked: Sequence[Asked], neighbors: Sequence[Sequence[Int64]], ranks: Sequence[int], pool: Pool
) -> Made:
    """An item per query and rank: the variants' neighbors at that rank, each once (section 3.3).

    A rank is skipped if some list does not reach it or all variants have the same neighbor there.

    Args:
        neighbors: per query, per variant the list from ``distinct``, ``[m] int64``.
        ranks: from 1.
    """
    items: list[Item] = []
    skipped: Counter[str] = Counter()
    for query, lists in zip(asked, neighbors, strict=True):
        for k in ranks:
            if any(len(neighbors) < k for neighbors in lists):
                skipped[Reason.TOO_FEW.value] += 1
                continue
            neighbor_of = {variant: int(neighbors[k - 1]) for variant, neighbors in enumerate(lists)}
            members: dict[int, int] = {}
            for item in neighbor_of.values():
                members.setdefault(int(pool.copies[item]), item)
            if len(members) < 2:
                skipped[Reason.SAME.value] += 1
                continue
            items.append(_item(len(items), query, k, tuple(members.values()), neighbor_of, len(lists), pool))
    return Made(tuple(items), dict(skipped))


def _item(
    number: int,
    query: Asked,
    k: int | None,
    members: Sequence[int],
    options_of_variants: Mapping[int, int],
    variants: int,
    pool: Pool,
) -> Item:
    """An item of these members; ``options_of_variants`` is per variant a member or its near-duplicate."""
    ordered = sorted(members, key=lambda i: pool.texts[i])
    number_of = {int(pool.copies[i]): number for number, i in enumerate(ordered)}
    options = tuple(pool.texts[i] for i in ordered)
    chosen = tuple(
        number_of[int(pool.copies[options_of_variants[v]])] if v in options_of_variants else NOT_ASKED
        for v in range(variants)
    )
    return Item(number, query.query, query.band, k, options, chosen)


def bands_of_words(counts: Float64, corpus_size: float, rare: float, frequent: float) -> tuple[str, ...]:
    """Per word "rare", "medium" or "frequent"; "" if its count ``[q]``, in ``corpus_size`` words, is NaN.

    Args:
        rare, frequent: limits in occurrences per billion words: rare is below the first, frequent from the second on.
    """
    names = ("rare", "medium", "frequent")
    per_billion = counts / corpus_size * 1e9
    places = np.digitize(per_billion, [rare, frequent])
    return tuple("" if np.isnan(f) else names[p] for f, p in zip(per_billion, places, strict=True))


def bands_of_lengths(lengths: Float64) -> tuple[str, ...]:
    """Per sentence "short", "medium" or "long", by the terciles of ``[q]`` lengths in words, which are "medium"."""
    low, high = np.quantile(lengths, [1 / 3, 2 / 3])
    return tuple("short" if n < low else "long" if n > high else "medium" for n in lengths)


def check_ranks(ranks: Sequence[int]) -> None:
    """Raise ``InputError`` unless there is at least one rank, and all are distinct and at least 1."""
    if not ranks or min(ranks) < 1 or len(set(ranks)) < len(ranks):
        raise InputError(
            f"the ranks are {', '.join(map(str, ranks)) or 'none'}", expected="different numbers from 1, as 1, 5, 50"
        )
