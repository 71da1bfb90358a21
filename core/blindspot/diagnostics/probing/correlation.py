"""Correlation of probing scores with transfer scores over models (Eger 2019, figure 3), measured and published.

``assets/reference/eger_probing.csv`` has what the paper's text says of its figure 3, which draws the correlations of
10 probing with 9 transfer tasks over the 11 encoders of Perone et al. (2018): the mean over all tasks, the highest and
the lowest mean of a probing task. The numbers of the other tasks are not printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from blindspot.files.reference import reference_rows
from blindspot.numerics.statistics import rankings
from blindspot.types import Float64
from blindspot.variants import Variant

FEWEST = 4  # models: with three, one order in six agrees by chance
OF_ALL = "mean"  # the published mean over all probing tasks

Scores = Mapping[str, Mapping[Variant, float]]  # by task and model


@dataclass(frozen=True, eq=False)
class WithTransfer:
    """Spearman's rho of each probing task with each transfer task, ``rho [p, t]``, over the models that have both; NaN
    for fewer than ``FEWEST`` models, or where all their scores are equal.

    Attributes:
        models: ``[p, t]``, how many models have both.
    """

    probes: tuple[str, ...]
    tasks: tuple[str, ...]
    rho: Float64
    models: Float64

    def of(self, kept: Sequence[bool]) -> WithTransfer:
        """The correlations of some of the probing tasks, ``kept [p] bool``."""
        rows = np.flatnonzero(np.array(kept, dtype=np.bool_))
        return WithTransfer(tuple(self.probes[i] for i in rows), self.tasks, self.rho[rows], self.models[rows])

    @property
    def means(self) -> Float64:
        """The mean rho of each probing task over transfer tasks, ``[p]``; NaN where there is none."""
        return np.array([row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in self.rho])

    @property
    def mean(self) -> float:
        """The mean rho over all pairs of tasks; NaN where there is none."""
        values = self.rho[~np.isnan(self.rho)]
        return float(values.mean()) if len(values) else float("nan")


def with_transfer(probes: Scores, tasks: Scores) -> WithTransfer:
    """Correlate every probing task with every transfer task."""
    rho = np.full((len(probes), len(tasks)), np.nan)
    models = np.zeros_like(rho)
    for i, scores in enumerate(probes.values()):
        for j, other in enumerate(tasks.values()):
            both = [variant for variant in scores if variant in other]
            models[i, j] = len(both)
            if len(both) >= FEWEST:
                values = np.array([[scores[variant], other[variant]] for variant in both])
                rho[i, j] = rankings.spearman(rankings.oriented(values, np.ones(2)))[0, 1]
    return WithTransfer(tuple(probes), tuple(tasks), rho, models)


@dataclass(frozen=True)
class Published:
    """A published mean correlation; ``task`` is the id of one of ``PROBES``, or ``OF_ALL``."""

    task: str
    spearman: float
    encoders: int
    transfer_tasks: int
    source: str


@lru_cache(maxsize=1)
def published() -> Sequence[Published]:
    """What the paper prints, in the order of the file."""
    return tuple(
        Published(
            row["task"],
            float(row["spearman"]),
            int(row["encoders"]),
            int(row["transfer_tasks"]),
            f"{row['source']}, figure {row['figure']}",
        )
        for row in reference_rows("eger_probing.csv")
    )
