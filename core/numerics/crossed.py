"""Shares of votes that two things decide: what was asked, and who answered. Their bootstrap draws both.

Items and raters are *crossed*: a rater answers many items and an item has many raters, so that votes depend on each
other along both. A resample draws units of items (all items of one query together) and raters, each with replacement
and as many as there are; a vote counts as often as its item's unit was drawn times as often as its rater was (Owen
2007, The Pigeonhole Bootstrap). This errs on the wide side.

Arrays in, arrays out, float64. ``hits, votes [n, r]`` are of n items and r raters: how much of a vote went to what is
scored (0 to 1), and 1 where there is a vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.numerics.stats import RESAMPLES, Interval, percentile_interval, resample_counts
from core.types import Float64, Int64

SEED = 20_150_905  # of every draw here: the same votes give the same interval
_NUMBERS_AT_A_TIME = 500_000  # of a matrix of resamples by items


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each unit and each rater was drawn, the same for all that is compared.

    Attributes:
        units: ``[resamples, u]``.
        raters: ``[resamples, r]``.
    """

    units: Float64
    raters: Float64


def draw(units: int, raters: int, resamples: int = RESAMPLES, seed: int = SEED) -> Draws:
    """Draws of both; a single rater is in every resample once, so that only items are drawn."""
    rng = np.random.default_rng(seed)
    drawn = resample_counts(units, resamples, rng)
    return Draws(drawn, resample_counts(raters, resamples, rng) if raters > 1 else np.ones((resamples, raters)))


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of votes, one per resample ``[resamples]`` or a single one ``[1]``; NaN where there is no vote.

    Attributes:
        micro: hits over votes, all items together.
        item_mean: mean over the items that have votes of hits over votes.
    """

    micro: Float64
    item_mean: Float64


def shares(hits: Float64, votes: Float64) -> Shares:
    """As the votes are."""
    return _weighted(hits, votes, np.ones((1, len(votes))), np.ones((1, votes.shape[1])))


def resampled_shares(hits: Float64, votes: Float64, unit: Int64, draws: Draws) -> Shares:
    """In every resample; ``unit [n]`` numbers each item's unit among those drawn."""
    at_a_time = max(1, _NUMBERS_AT_A_TIME // max(len(votes), 1))
    parts = [
        _weighted(hits, votes, draws.units[first : first + at_a_time][:, unit], draws.raters[first : first + at_a_time])
        for first in range(0, len(draws.units), at_a_time)
    ]
    return Shares(np.concatenate([p.micro for p in parts]), np.concatenate([p.item_mean for p in parts]))


def _weighted(hits: Float64, votes: Float64, items: Float64, raters: Float64) -> Shares:
    """Shares under weights ``items [b, n]`` and ``raters [b, r]``, ``[b]`` each."""
    number, own = raters @ votes.T, raters @ hits.T  # of each item, [b, n]
    share = np.divide(own, number, out=np.zeros_like(own), where=number > 0)
    return Shares(
        _over((items * own).sum(axis=1), (items * number).sum(axis=1)),
        _over((items * share).sum(axis=1), (items * (number > 0)).sum(axis=1)),
    )


def _over(above: Float64, below: Float64) -> Float64:
    return np.asarray(np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0))


def middle(values: Float64) -> Interval | None:
    """The middle 95% of ``[resamples]``, of those that are defined.

    None where fewer than half of them are, or all are the same: then nothing tells how far they could spread.
    """
    defined = values[~np.isnan(values)]
    if len(defined) < max(2, len(values) / 2) or np.ptp(defined) < 1e-12:
        return None
    return percentile_interval(defined)
