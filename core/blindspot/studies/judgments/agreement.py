"""Agreement of raters on which option to choose, compared with guessing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.numerics.statistics import votes as voting
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.votes import Population
from blindspot.studies.judgments.tallies import Tally


@dataclass(frozen=True)
class Agreement:
    """Agreement over the items with at least two votes and two options.

    Attributes:
        observed: mean over items of the share of pairs of raters that chose the same option.
        by_chance: mean over items of 1 / number of options.
        kappa: (observed - by_chance) / (1 - by_chance), the free-marginal kappa of several raters (Randolph 2005;
            Brennan and Prediger 1981): 0 is guessing, 1 full agreement.
        interval: 95% of kappa over queries, for these raters; None with fewer than ten queries or no variance.
    """

    items: int
    observed: float
    by_chance: float
    kappa: float
    interval: Interval | None


def agreement(tally: Tally) -> Agreement | None:
    """Agreement of a tally's raters; None if no item has two votes."""
    options = np.array([len(item.options) for item in tally.items], dtype=np.int64)
    votes = tally.known.sum(axis=1)
    used = (votes >= 2) & (options >= 2)
    if not used.any():
        return None
    alike = np.zeros(len(options))
    for option in range(int(options.max())):
        chose = (tally.chosen == option).sum(axis=1)
        alike += chose * (chose - 1)
    observed = alike[used] / (votes[used] * (votes[used] - 1))
    chance = 1.0 / options[used]
    po, pe = float(observed.mean()), float(chance.mean())
    kappa = (po - pe) / (1 - pe)
    query = np.unique(tally.units[used], return_inverse=True)[1].astype(np.int64)
    # An item's influence on kappa, to first order: d(po - pe) / (1 - pe) at fixed kappa.
    influence = ((observed - po) - (1 - kappa) * (chance - pe)) / (1 - pe) / len(observed)
    equal = np.full((len(observed), 1), 1 / len(observed))
    mean = voting.Mean(kappa, equal, influence[:, np.newaxis])
    interval = voting.difference_of(mean, query, Population.THESE)[0].interval  # for values from -1 to 1
    if interval is not None:
        ends = Interval(min(interval.low, kappa), max(interval.high, kappa))
        interval = ends if np.ptp(observed) > 0 else None
    return Agreement(int(used.sum()), po, pe, kappa, interval)
