"""What the votes say of the variants: shares of votes for their own, and whether two of them differ.

Intruder test (Schnabel et al. 2015, section 4): precision, micro-averaged, is votes for a variant's own intruder over
votes on its items. Comparative task (section 3.3): the win ratio is the mean over items of votes for the variant's own
neighbour over votes on the item. Both averages are computed for both tasks; ``VariantScore.headline`` is the task's.
"I don't know these words" is counted and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from core.judgement.tallies import UNKNOWN, Tally
from core.judgement.types import NOT_ASKED, Item, Task
from core.numerics import crossed
from core.numerics.resampling import FLIPS, sign_flip_p_values
from core.numerics.stats import RESAMPLES, Interval, holm
from core.types import Bool, Float64, Int64, Variant

ALPHA = 0.05
FEWEST_QUERIES = 2  # for an interval
UNKNOWN_GROUP = "unknown"
_BANDS = ("rare", "short", "medium", "frequent", "long")  # in this order


@dataclass(frozen=True)
class Estimate:
    """A share of votes with its 95% interval; None where votes are missing or too few."""

    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class VariantScore:
    """What people say of a variant.

    Attributes:
        items: that are about it and have votes; ``queries`` of them.
        votes: on these; ``own`` of them for its own option (halves where the automatic rater shares its vote).
        micro: own over votes.
        item_mean: mean over items of the same.
        normalised: ``item_mean`` over the sum of all variants'.
        chance: what guessing would get, the mean over its items of 1 / number of options.
    """

    task: Task
    variant: Variant
    items: int
    queries: int
    votes: int
    own: float
    micro: Estimate
    item_mean: Estimate
    normalised: Estimate
    chance: float | None

    @property
    def headline(self) -> Estimate:
        """The paper's score of the task: micro-averaged precision, or the mean win ratio."""
        return self.micro if self.task is Task.INTRUDER else self.item_mean


@dataclass(frozen=True)
class Scores:
    """What people say of all variants of a set, or of a part of its items.

    Attributes:
        items: with votes; ``queries`` of them.
        raters: whose votes count.
        votes: that count; ``unknown`` is how many answers were "I don't know these words".
    """

    variants: tuple[VariantScore, ...]
    items: int
    queries: int
    raters: int
    votes: int
    unknown: int


def scores(tally: Tally, resamples: int = RESAMPLES, seed: int = crossed.SEED) -> Scores:
    """Scores of all variants, with intervals from the same draws."""
    everyone = range(len(tally.variants))
    return scores_of(
        tally, [tally.hits_of(v) for v in everyone], [tally.votes_on(v) for v in everyone], resamples, seed
    )


def scores_of(
    tally: Tally,
    hits: Sequence[Float64],
    votes: Sequence[Float64],
    resamples: int = RESAMPLES,
    seed: int = crossed.SEED,
) -> Scores:
    """Scores from hits and votes per variant, ``[n, r]`` each, of the items and raters of a tally.

    Items without votes and raters without votes are not drawn: they say nothing.
    """
    answered = np.asarray(tally.known.any(axis=1), dtype=np.bool_)
    voters = np.asarray(tally.known.any(axis=0), dtype=np.bool_)
    unit = np.unique(tally.units[answered], return_inverse=True)[1].astype(np.int64)
    hits = [h[answered][:, voters] for h in hits]
    votes = [v[answered][:, voters] for v in votes]
    points = [crossed.shares(h, v) for h, v in zip(hits, votes, strict=True)]
    queries = len(np.unique(unit))
    drawn = _drawn(hits, votes, unit, resamples, seed) if queries >= FEWEST_QUERIES else None
    total = float(np.sum([p.item_mean[0] for p in points]))
    totals = np.sum([d.item_mean for d in drawn], axis=0) if drawn else None
    found = []
    for place, (variant, point) in enumerate(zip(tally.variants, points, strict=True)):
        about = np.asarray((votes[place] > 0).any(axis=1), dtype=np.bool_)
        own_queries = len(np.unique(unit[about]))
        of = drawn[place] if drawn and own_queries >= FEWEST_QUERIES else None
        own_items = [i for i, kept in zip(_only(tally.items, answered), about, strict=True) if kept]
        found.append(
            VariantScore(
                tally.task,
                variant,
                items=len(own_items),
                queries=own_queries,
                votes=int(votes[place].sum()),
                own=float(hits[place].sum()),
                micro=_estimate(float(point.micro[0]), of.micro if of else None),
                item_mean=_estimate(float(point.item_mean[0]), of.item_mean if of else None),
                normalised=_estimate(
                    _ratio(float(point.item_mean[0]), total),
                    _ratios(of.item_mean, totals) if of and totals is not None else None,
                ),
                chance=float(np.mean([1 / len(i.options) for i in own_items])) if own_items else None,
            )
        )
    return Scores(tuple(found), int(answered.sum()), queries, int(voters.sum()), int(tally.known.sum()), tally.unknown)


def _drawn(
    hits: Sequence[Float64], votes: Sequence[Float64], unit: Int64, resamples: int, seed: int
) -> list[crossed.Shares]:
    draws = crossed.draw(int(unit.max()) + 1, hits[0].shape[1], resamples, seed)
    out = []
    for h, v in zip(hits, votes, strict=True):
        about = (v > 0).any(axis=1)
        out.append(crossed.resampled_shares(h[about], v[about], unit[about], draws))
    return out


def _estimate(value: float, resampled: Float64 | None) -> Estimate:
    if np.isnan(value):
        return Estimate(None)
    return Estimate(value, None if resampled is None else crossed.middle(resampled))


def _ratio(value: float, total: float) -> float:
    return value / total if total > 0 else float("nan")  # a NaN stays one: nothing is above it


def _ratios(values: Float64, totals: Float64) -> Float64:
    return np.asarray(np.divide(values, totals, out=np.full_like(values, np.nan), where=totals > 0))


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
    """The scores of a part of the items; ``name`` is "unknown" where nothing is known of their queries."""

    name: str
    scores: Scores


def breakdown(tally: Tally, by: By, resamples: int = RESAMPLES, seed: int = crossed.SEED) -> tuple[Group, ...]:
    """Scores per group of items, in the groups' natural order, "unknown" last."""
    names = np.array([_group(item, by) for item in tally.items], dtype=object)
    return tuple(
        Group(name, scores(tally.part(np.asarray(names == name, dtype=np.bool_)), resamples, seed))
        for name in sorted(set(names), key=_place)
    )


def groups(items: Sequence[Item], by: By) -> int:
    """How many groups there are with a name."""
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
    """Two variants against each other, on what has votes for both.

    Attributes:
        difference: mean over ``compared`` of the first one's share of votes less the second one's; None without any.
        compared: items of the comparative task, queries of the intruder test.
        left_out: those of which only one of the two has votes.
        p_value: two-sided, of a permutation test that permutes labels within items; ``p_corrected`` is Holm's, over
            all pairs that could be tested.
    """

    first: Variant
    second: Variant
    difference: float | None
    compared: int
    left_out: int
    p_value: float | None
    p_corrected: float | None


def pair_tests(tally: Tally, flips: int = FLIPS) -> tuple[PairTest, ...]:
    """Every two variants, in the order of the set."""
    per_unit = _shares_per_unit(tally)
    has = ~np.isnan(per_unit)
    pairs = list(combinations(range(len(tally.variants)), 2))
    if not pairs:
        return ()
    # Where one of the two has no votes the difference is set to 0 for the test: turning its sign changes no sum.
    differences = np.stack(
        [np.where(has[:, a] & has[:, b], per_unit[:, a] - per_unit[:, b], 0.0) for a, b in pairs], axis=1
    )
    common = np.array([int((has[:, a] & has[:, b]).sum()) for a, b in pairs])
    p = sign_flip_p_values(differences, np.arange(len(differences)), flips) if len(differences) else np.ones(len(pairs))
    tested = common > 0
    corrected = np.ones(len(pairs))
    corrected[tested] = holm(p[tested])
    return tuple(
        PairTest(
            tally.variants[a],
            tally.variants[b],
            float(differences[:, place].sum() / common[place]) if tested[place] else None,
            int(common[place]),
            int((has[:, a] ^ has[:, b]).sum()),
            float(p[place]) if tested[place] else None,
            float(corrected[place]) if tested[place] else None,
        )
        for place, (a, b) in enumerate(pairs)
    )


def _shares_per_unit(tally: Tally) -> Float64:
    """Per query (comparative: and rank) and variant the share of votes for its own, ``[u, v]``; NaN without votes.

    In the intruder test the items of one query, one of each variant, belong together; in the comparative task one item
    has all of them. Where a query has several items of one variant, their mean stands for it.
    """
    numbers: dict[tuple[str, int | None], int] = {}
    unit = np.array([numbers.setdefault((i.query.text, i.k), len(numbers)) for i in tally.items], dtype=np.int64)
    out = np.full((len(numbers), len(tally.variants)), np.nan)
    for variant in range(len(tally.variants)):
        votes = tally.votes_on(variant).sum(axis=1)
        has = votes > 0
        share = tally.hits_of(variant).sum(axis=1)[has] / votes[has]
        number = np.bincount(unit[has], minlength=len(numbers))
        total = np.bincount(unit[has], weights=share, minlength=len(numbers))
        out[number > 0, variant] = total[number > 0] / number[number > 0]
    return out


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
    """Items with votes that are about a variant: the smallest share for its own first, then the most votes."""
    found = []
    for item, row in zip(tally.items, tally.chosen, strict=True):
        if item.own[variant] == NOT_ASKED or not (row >= 0).any():
            continue
        counts = np.bincount(row[row >= 0], minlength=len(item.options))
        unknown = int((row == UNKNOWN).sum())
        found.append(
            Missed(item, int(counts[item.own[variant]]), int(counts.sum()), unknown, tuple(int(c) for c in counts))
        )
    return sorted(found, key=lambda m: (m.share, -m.votes, m.item.item_no))
