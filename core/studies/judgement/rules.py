"""Which words are laid before people: the rules of the intruder test and the comparative task (DESIGN 4.3).

Pure: arrays of neighbours in, items out. A neighbour list is of distinct texts: the query's twins (near-duplicates,
``core.texts``) are no neighbours of it, and of neighbours that are twins the nearest stands for all. Rank 1 is the
nearest of that list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.errors import InputError
from core.studies.judgement.types import NOT_ASKED, Item, Query
from core.texts import near_duplicate_key
from core.types import Bool, Float64, Int64

VERSION = 2  # raised when the same neighbours can lead to other items
INTRUDERS_FROM = 100  # rank of the first neighbour that can be an intruder (section 4)
NEIGHBOURS = 2  # that stand beside the query
RANKS = (1, 5, 50)  # of the neighbours that are compared (section 3.3)
LOG10_TOLERANCE = 0.1
COUNT_TOLERANCE = 500.0


class Reason(StrEnum):
    """Why there is no item."""

    TOO_FEW = "too few neighbours"
    UNKNOWN = "frequency unknown"
    NO_INTRUDER = "no intruder of like frequency"
    SAME = "all variants give the same"


class Closeness(StrEnum):
    """How near the intruder's frequency must be to the mean of the three words'."""

    LOG10 = "log10"
    COUNT = "count"


@dataclass(frozen=True)
class Rule:
    """When frequencies f and m are close: ``|log10 f - log10 m| <= tolerance``, or ``|f - m| <= tolerance`` counts."""

    closeness: Closeness = Closeness.LOG10
    tolerance: float = LOG10_TOLERANCE

    @classmethod
    def of(cls, closeness: Closeness) -> Rule:
        """With its usual tolerance: 0.1, or the paper's 500 counts."""
        return cls(closeness, LOG10_TOLERANCE if closeness is Closeness.LOG10 else COUNT_TOLERANCE)

    def close(self, counts: Float64, mean: float) -> Bool:
        """Whether each of ``[m]`` counts is close to a mean above 0; an unknown one (NaN) is not."""
        if self.closeness is Closeness.COUNT:
            return np.asarray(np.abs(counts - mean) <= self.tolerance)
        return np.asarray(np.abs(np.log10(counts) - np.log10(mean)) <= self.tolerance)


@dataclass(frozen=True, eq=False)
class Pool:
    """The items that can be queries, neighbours and intruders.

    Attributes:
        texts: n of them.
        twins: ``[n] int64``, equal for near-duplicates.
        counts: ``[n] float64``, occurrences in a corpus, or lengths in words; above 0, NaN where unknown.
    """

    texts: tuple[str, ...]
    twins: Int64
    counts: Float64

    @classmethod
    def of(cls, texts: Sequence[str], counts: Float64) -> Pool:
        """A text of punctuation only has no twin."""
        numbers: dict[str, int] = {}
        keys = (near_duplicate_key(text) or f"\0{text}" for text in texts)
        twins = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
        return cls(tuple(texts), twins, counts)


@dataclass(frozen=True, eq=False)
class Asked:
    """A query and its item's number in the pool; ``band`` as ``Item`` has it."""

    query: Query
    item: int
    band: str


@dataclass(frozen=True)
class Quartet:
    """What a variant asks in the intruder test: two neighbours and an intruder, as numbers of items."""

    neighbours: tuple[int, ...]
    intruder: int


def distinct(item: int, ranked: Int64, twins: Int64) -> Int64:
    """A neighbour list without the query's twins, and of twins only the nearest.

    Args:
        ranked: ``[m] int64``, items from the nearest on.
        twins: as ``Pool`` has them.
    """
    own = ranked[twins[ranked] != twins[item]]
    _, first = np.unique(twins[own], return_index=True)
    return np.asarray(own[np.sort(first)])


def quartet(item: int, neighbours: Int64, counts: Float64, rule: Rule, start: int = INTRUDERS_FROM) -> Quartet | Reason:
    """The intruder and the two neighbours that it is set among, or why there is none (section 4).

    Args:
        neighbours: ``[m] int64`` as ``distinct`` gives it.
        counts: as ``Pool`` has them.
        start: rank of the first neighbour that can be an intruder, from 1.
    """
    if len(neighbours) < max(start, NEIGHBOURS + 1):
        return Reason.TOO_FEW
    nearest = neighbours[:NEIGHBOURS]
    shown = counts[[item, *nearest]]
    if np.isnan(shown).any():
        return Reason.UNKNOWN
    far = neighbours[max(start - 1, NEIGHBOURS) :]
    qualify = np.flatnonzero(rule.close(counts[far], float(shown.mean())))
    if not len(qualify):
        return Reason.NO_INTRUDER
    return Quartet(tuple(nearest.tolist()), int(far[qualify[0]]))


@dataclass(frozen=True)
class Made:
    """Items, and how many queries (in the comparative task: questions) gave none, by reason."""

    items: tuple[Item, ...]
    skipped: Mapping[str, int]


def intruder_items(asked: Sequence[Asked], found: Sequence[Sequence[Quartet | Reason]], pool: Pool) -> Made:
    """An item per query and variant, those that show the same four as one.

    A query for which one variant has no intruder is skipped for all, under the reason of the first such variant.

    Args:
        found: per query, per variant.
    """
    items: list[Item] = []
    skipped: Counter[str] = Counter()
    for query, quartets in zip(asked, found, strict=True):
        if reasons := [q for q in quartets if isinstance(q, Reason)]:
            skipped[reasons[0].value] += 1
            continue
        together: dict[frozenset[int], dict[int, Quartet]] = {}
        for variant, one in enumerate(quartets):
            if isinstance(one, Quartet):
                shown = frozenset(int(pool.twins[i]) for i in (query.item, *one.neighbours, one.intruder))
                together.setdefault(shown, {})[variant] = one
        for by_variant in together.values():
            first = next(iter(by_variant.values()))
            members = (query.item, *first.neighbours, first.intruder)
            own = {variant: one.intruder for variant, one in by_variant.items()}
            items.append(_item(len(items), query, None, members, own, len(quartets), pool))
    return Made(tuple(items), dict(skipped))


def comparative_items(
    asked: Sequence[Asked], found: Sequence[Sequence[Int64]], ranks: Sequence[int], pool: Pool
) -> Made:
    """An item per query and rank: the neighbours that the variants have there, each once (section 3.3).

    A rank that a variant's list does not reach, or at which all have the same, makes no question and is counted.

    Args:
        found: per query, per variant the list as ``distinct`` gives it, ``[m] int64``.
        ranks: from 1.
    """
    items: list[Item] = []
    skipped: Counter[str] = Counter()
    for query, lists in zip(asked, found, strict=True):
        for k in ranks:
            if any(len(neighbours) < k for neighbours in lists):
                skipped[Reason.TOO_FEW.value] += 1
                continue
            own = {variant: int(neighbours[k - 1]) for variant, neighbours in enumerate(lists)}
            members: dict[int, int] = {}
            for item in own.values():
                members.setdefault(int(pool.twins[item]), item)
            if len(members) < 2:
                skipped[Reason.SAME.value] += 1
                continue
            items.append(_item(len(items), query, k, tuple(members.values()), own, len(lists), pool))
    return Made(tuple(items), dict(skipped))


def _item(
    number: int,
    query: Asked,
    k: int | None,
    members: Sequence[int],
    own: Mapping[int, int],
    variants: int,
    pool: Pool,
) -> Item:
    """An item of these members; ``own`` is per variant a member, or a twin of one."""
    ordered = sorted(members, key=lambda i: pool.texts[i])
    place = {int(pool.twins[i]): number for number, i in enumerate(ordered)}
    options = tuple(pool.texts[i] for i in ordered)
    chosen = tuple(place[int(pool.twins[own[v]])] if v in own else NOT_ASKED for v in range(variants))
    return Item(number, query.query, query.band, k, options, chosen)


def bands_of_words(counts: Float64, corpus_size: float, rare: float, frequent: float) -> tuple[str, ...]:
    """Per word "rare", "medium" or "frequent"; "" where its count is unknown.

    Args:
        counts: ``[q] float64``, in ``corpus_size`` words; NaN where unknown.
        rare, frequent: occurrences per billion words below which a word is rare, and from which it is frequent.
    """
    names = ("rare", "medium", "frequent")
    per_billion = counts / corpus_size * 1e9
    places = np.digitize(per_billion, [rare, frequent])
    return tuple("" if np.isnan(f) else names[p] for f, p in zip(per_billion, places, strict=True))


def bands_of_lengths(lengths: Float64) -> tuple[str, ...]:
    """Per sentence "short", "medium" or "long": by the terciles of ``[q]`` lengths in words, at these "medium"."""
    low, high = np.quantile(lengths, [1 / 3, 2 / 3])
    return tuple("short" if n < low else "long" if n > high else "medium" for n in lengths)


def check_ranks(ranks: Sequence[int]) -> None:
    """Raise ``InputError`` unless there are ranks, distinct and from 1."""
    if not ranks or min(ranks) < 1 or len(set(ranks)) < len(ranks):
        raise InputError(
            f"the ranks are {', '.join(map(str, ranks)) or 'none'}", expected="different numbers from 1, as 1, 5, 50"
        )


def blocks(total: int, size: int) -> Iterator[slice]:
    """Slices of ``size`` that cover ``total``."""
    return (slice(start, min(start + size, total)) for start in range(0, total, size))
