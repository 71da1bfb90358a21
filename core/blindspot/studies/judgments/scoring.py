"""Scores of variants by the votes of raters: shares of votes for their own options, and tests between two variants.

Intruder test (Schnabel et al. 2015, section 4): precision, micro-averaged, is votes for a variant's own intruder over
votes on its items. Comparative task (section 3.3): the win ratio is the mean over items of votes for the variant's own
neighbor over votes on the item. Both averages are computed for both tasks; ``VariantScore.headline`` is the task's.
"I don't know these words" is counted and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

import numpy as np

from blindspot.numerics.statistics import votes as voting
from blindspot.numerics.statistics.compare import corrected
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import Interval, chosen_among, level_of_each
from blindspot.numerics.statistics.votes import Mean, Population
from blindspot.studies.judgments.tallies import UNKNOWN, Tally
from blindspot.studies.judgments.types import NOT_ASKED, Item, Task
from blindspot.types import Bool, Float64, Int64
from blindspot.variants import Variant

UNKNOWN_GROUP = "unknown"
_BANDS = ("rare", "short", "medium", "frequent", "long")  # in this order


@dataclass(frozen=True)
class VariantScore:
    """What people's votes say about a variant.

    Attributes:
        items: number of items about the variant that have votes; ``queries`` is the number of their queries.
        votes: number of votes on these; ``own`` of them are for its own option (the automatic rater may share a vote).
        micro: ``own`` over ``votes``; like the next two, None without votes.
        item_mean: mean over items of the item's share of votes for the own option.
        normalised: ``item_mean`` over the sum of ``item_mean`` of all variants.
        chance: the score of guessing, the mean over the variant's items of 1 / number of options.
        as_best: ``headline`` with the interval to give if the variant is named as the best of all.
    """

    task: Task
    variant: Variant
    items: int
    queries: int
    votes: int
    own: float
    micro: Estimate | None
    item_mean: Estimate | None
    normalised: Estimate | None
    chance: float | None
    as_best: Estimate | None

    @property
    def headline(self) -> Estimate | None:
        """The paper's score of the task: micro-averaged precision, or the mean win ratio."""
        return self.micro if self.task is Task.INTRUDER else self.item_mean

    @property
    def value(self) -> float | None:
        return self.headline.value if self.headline else None

    @property
    def interval(self) -> Interval | None:
        return self.headline.interval if self.headline else None

    @property
    def refusal(self) -> str:
        """Why there is no interval although there are votes; "" if there is one."""
        return self.headline.refusal if self.headline else ""


@dataclass(frozen=True)
class Scores:
    """What people's votes say about all variants of a set, on all items or a part of them.

    Attributes:
        items: with votes; ``queries`` of them.
        raters: whose votes count.
        votes: that count; ``unknown`` is how many answers were "I don't know these words".
        population: the raters that intervals are about; ``why_these`` is why these are only those who voted, else "".
        tests: the raters that tests of two variants are about; may differ, as differences are not near a bound.
    """

    variants: tuple[VariantScore, ...]
    items: int
    queries: int
    raters: int
    votes: int
    unknown: int
    population: Population
    why_these: str
    tests: Population


def scores(tally: Tally) -> Scores:
    """Scores of all variants, with intervals."""
    everyone = range(len(tally.variants))
    return scores_of(tally, [tally.hits_of(v) for v in everyone], [tally.votes_on(v) for v in everyone])


def scores_of(tally: Tally, hits: Sequence[Float64], votes: Sequence[Float64]) -> Scores:
    """Scores from hits and votes per variant, ``[n, r]`` each, of the items and raters of a tally.

    Items without votes and raters without votes say nothing.
    """
    answered = np.asarray(tally.known.any(axis=1), dtype=np.bool_)
    voters = np.asarray(tally.known.any(axis=0), dtype=np.bool_)
    query = np.unique(tally.units[answered], return_inverse=True)[1].astype(np.int64)
    hits = [h[answered][:, voters] for h in hits]
    votes = [v[answered][:, voters] for v in votes]
    items = _only(tally.items, answered)
    micros = [voting.micro(h, v) for h, v in zip(hits, votes, strict=True)]
    means = [voting.item_mean(h, v) for h, v in zip(hits, votes, strict=True)]
    all_means = [m for m in means if m is not None]
    population, why_these = voting.population(votes, [m.value for m in micros if m is not None])

    def share(mean: Mean | None, many: int = 1) -> Estimate | None:
        return None if mean is None else voting.share(mean, query, population, level_of_each(many))

    scored = chosen_among(len(all_means))

    variant_scores = []
    for index, variant in enumerate(tally.variants):
        about = np.asarray((votes[index] > 0).any(axis=1), dtype=np.bool_)
        own_items = _only(items, about)
        mean = means[index]
        variant_scores.append(
            VariantScore(
                tally.task,
                variant,
                items=len(own_items),
                queries=len(np.unique(query[about])),
                votes=int(votes[index].sum()),
                own=float(hits[index].sum()),
                micro=share(micros[index]),
                item_mean=share(mean),
                normalised=share(None if mean is None else voting.share_of(mean, all_means)),
                chance=float(np.mean([1 / len(i.options) for i in own_items])) if own_items else None,
                as_best=share(micros[index] if tally.task is Task.INTRUDER else mean, scored),
            )
        )
    return Scores(
        tuple(variant_scores),
        int(answered.sum()),
        len(np.unique(query)),
        int(voters.sum()),
        int(tally.known.sum()),
        tally.unknown,
        population,
        why_these,
        voting.population(votes)[0],
    )


def _only(items: Sequence[Item], keep: Bool) -> list[Item]:
    return [item for item, kept in zip(items, keep, strict=True) if kept]


# --- by what the queries are


class By(StrEnum):
    """What scores are broken down by."""

    BAND = "band"
    K = "k"
    PART_OF_SPEECH = "part-of-speech"
    CONCRETENESS = "concreteness"


@dataclass(frozen=True)
class Group:
    """The scores on a part of the items; ``name`` is "unknown" if this property of the queries is not known."""

    name: str
    scores: Scores


def breakdown(tally: Tally, by: By) -> tuple[Group, ...]:
    """Scores per group of items, in the groups' natural order, "unknown" last."""
    names = np.array([_group(item, by) for item in tally.items], dtype=object)
    return tuple(
        Group(name, scores(tally.part(np.asarray(names == name, dtype=np.bool_))))
        for name in sorted(set(names), key=_place)
    )


def groups(items: Sequence[Item], by: By) -> int:
    """The number of groups, without "unknown"."""
    return len({_group(item, by) for item in items} - {UNKNOWN_GROUP})


def _group(item: Item, by: By) -> str:
    match by:
        case By.BAND:
            name = item.band
        case By.K:
            name = "" if item.k is None else str(item.k)
        case By.PART_OF_SPEECH:
            name = item.query.part_of_speech
        case By.CONCRETENESS:
            name = item.query.concreteness
    return name or UNKNOWN_GROUP


def _place(name: str) -> tuple[bool, int, int, str]:
    band = _BANDS.index(name) if name in _BANDS else len(_BANDS)
    return name == UNKNOWN_GROUP, band, int(name) if name.isdecimal() else 0, name


# --- whether two differ


@dataclass(frozen=True)
class PairTest:
    """A test of two variants against each other, on the items that have votes for both.

    Attributes:
        compared: number of items of the comparative task, or of queries of the intruder test; of ``queries`` queries.
        left_out: number of those with votes for only one of the two.
        estimate: mean over ``compared`` of the first one's share of votes less the second one's; None if there are
            none. Its interval excludes 0 if ``p_value`` is below 0.05.
        p_value: two-sided, of the difference over its standard error by queries and raters (``votes.spread``), so
            that neither the ranks of one query nor the votes of one rater count as independent; ``p_corrected`` is
            Holm's, over all pairs that could be tested.
        population: the raters that the test is about.
    """

    first: Variant
    second: Variant
    compared: int
    left_out: int
    estimate: Estimate | None = None
    p_value: float | None = None
    p_corrected: float | None = None
    queries: int = 0
    population: Population = Population.THESE

    @property
    def difference(self) -> float | None:
        return self.estimate.value if self.estimate else None

    @property
    def interval(self) -> Interval | None:
        return self.estimate.interval if self.estimate else None

    @property
    def refusal(self) -> str:
        """Why there is no interval and no p-value; "" if there are."""
        return self.estimate.refusal if self.estimate else "nothing has votes for both"


def pair_tests(tally: Tally) -> tuple[PairTest, ...]:
    """A test of every two variants, in the order of the set."""
    unit = _test_units(tally)
    votes = [tally.votes_on(v) for v in range(len(tally.variants))]
    hits = [tally.hits_of(v) for v in range(len(tally.variants))]
    tests = [_pair_test(tally, unit, hits, votes, a, b) for a, b in combinations(range(len(tally.variants)), 2)]
    p = corrected([test.p_value for test in tests])
    return tuple(replace(test, p_corrected=p) for test, p in zip(tests, p, strict=True))


def _pair_test(
    tally: Tally, unit: Int64, hits: Sequence[Float64], votes: Sequence[Float64], first: int, second: int
) -> PairTest:
    """The test of two variants, without Holm's correction."""
    has = [np.bincount(unit, weights=votes[v].sum(axis=1)) > 0 for v in (first, second)]
    common = has[0] & has[1]
    test = PairTest(
        tally.variants[first], tally.variants[second], compared=int(common.sum()), left_out=int((has[0] ^ has[1]).sum())
    )
    if not common.any():
        return test
    kept = common[unit]
    first_hits, other = (
        voting.weighted(hits[v][kept], _unit_weights(votes[v][kept], unit[kept])) for v in (first, second)
    )
    mean = voting.difference(first_hits, other)
    query = np.unique(tally.units[kept], return_inverse=True)[1].astype(np.int64)
    population, _ = voting.population([votes[v][kept] for v in (first, second)])
    estimate, p_value = voting.difference_of(mean, query, population)
    queries = int(query.max()) + 1
    return replace(test, estimate=estimate, p_value=p_value, queries=queries, population=population)


def _test_units(tally: Tally) -> Int64:
    """Number of the query (comparative: and rank) of each item, ``[n]`` from 0.

    In the intruder test the items of one query, one of each variant, belong together; in the comparative task one item
    is about all variants.
    """
    numbers: dict[tuple[str, int | None], int] = {}
    return np.array([numbers.setdefault((i.query.text, i.k), len(numbers)) for i in tally.items], dtype=np.int64)


def _unit_weights(votes: Float64, unit: Int64) -> Float64:
    """The weight of each vote, ``[n, r]``, in the mean over units of the mean of the shares of a unit's items."""
    of_item = votes.sum(axis=1)
    items = np.bincount(unit, weights=of_item > 0)[unit]  # with votes, of each one's unit
    below = of_item * items * len(np.unique(unit))
    return np.asarray(np.divide(votes, below[:, np.newaxis], out=np.zeros_like(votes), where=votes > 0))


# --- what people miss


@dataclass(frozen=True)
class Missed:
    """How an item went for a variant: ``own`` of ``votes`` chose its own option."""

    item: Item
    own: int
    votes: int
    unknown: int
    per_option: tuple[int, ...]

    @property
    def share(self) -> float:
        return self.own / self.votes


def most_missed(tally: Tally, variant: int) -> list[Missed]:
    """Items with votes that are about a variant: the smallest share for its own option first, then the most votes."""
    missed = []
    for item, row in zip(tally.items, tally.chosen, strict=True):
        if item.own[variant] == NOT_ASKED or not (row >= 0).any():
            continue
        counts = np.bincount(row[row >= 0], minlength=len(item.options))
        unknown = int((row == UNKNOWN).sum())
        missed.append(
            Missed(item, int(counts[item.own[variant]]), int(counts.sum()), unknown, tuple(int(c) for c in counts))
        )
    return sorted(missed, key=lambda m: (m.share, -m.votes, m.item.item_no))
