"""How far raters agree on which option to choose, against what guessing would give.

Over the chosen option: cards are shuffled for every rater, so that positions say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.judgement.tallies import Tally
from core.numerics import crossed
from core.numerics.resampling import bootstrap_means
from core.numerics.stats import RESAMPLES, Interval
from core.types import Float64


@dataclass(frozen=True)
class Agreement:
    """Pairs of raters of one item.

    Attributes:
        items: with at least two votes and at least two options; what follows is over these.
        observed: mean over items of the share of pairs of raters that chose the same option.
        by_chance: mean over items of 1 / number of options.
        kappa: (observed - by_chance) / (1 - by_chance), the free-marginal kappa of several raters (Randolph 2005;
            Brennan and Prediger 1981): 0 is guessing, 1 full agreement.
        interval: 95% of kappa, bootstrap over queries; None where there are fewer than two or all items are alike.
    """

    items: int
    observed: float
    by_chance: float
    kappa: float
    interval: Interval | None


def agreement(tally: Tally, resamples: int = RESAMPLES, seed: int = crossed.SEED) -> Agreement | None:
    """Agreement of a tally's raters; None where no item has two votes."""
    options = np.array([len(item.options) for item in tally.items], dtype=np.int64)
    votes = tally.known.sum(axis=1)
    used = (votes >= 2) & (options >= 2)  # with one option there is nothing to agree on
    if not used.any():
        return None
    alike = np.zeros(len(options))
    for option in range(int(options.max())):
        chose = (tally.chosen == option).sum(axis=1)
        alike += chose * (chose - 1)
    observed = alike[used] / (votes[used] * (votes[used] - 1))
    chance = 1.0 / options[used]
    _, unit = np.unique(tally.units[used], return_inverse=True)
    interval = None
    if unit.max() > 0:
        means = bootstrap_means(np.column_stack([observed, chance]), unit, resamples, seed)
        interval = crossed.middle(_kappa(means[:, 0], means[:, 1]))
    po, pe = float(observed.mean()), float(chance.mean())
    return Agreement(int(used.sum()), po, pe, float(_kappa(np.array(po), np.array(pe))), interval)


def _kappa(observed: Float64, chance: Float64) -> Float64:
    return np.asarray((observed - chance) / (1.0 - chance))
