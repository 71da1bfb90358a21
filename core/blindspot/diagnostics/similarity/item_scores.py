"""Shares of each pair in Spearman's rho, and which pairs a run misjudges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blindspot.diagnostics.similarity.definition import ENTRY, NAMES
from blindspot.diagnostics.similarity.pairs import Fit, agreement_gain, fitted, scored_table
from blindspot.numerics.statistics.association import spearman
from blindspot.numerics.statistics.compare import Correlation, Item, ItemScores
from blindspot.numerics.statistics.correlations import spearman_influences
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64, Int64


@dataclass(frozen=True, eq=False)
class Agreement(Correlation):
    """A correlation of similarities with people's scores ``gold``, ``[m]`` each.

    A pair is won if just one of two runs misjudges it (``pairs.OFF``).
    """

    similarity: Float64
    gold: Float64

    @cached_property
    def fitted(self) -> Float64:
        return fitted(self.similarity, self.gold, Fit.MONOTONE)

    @property
    def off(self) -> Float64:
        """How far the fitted scores are off, as a share of the scale, ``[m]``."""
        return np.asarray(np.abs(self.fitted - self.gold) / np.ptp(self.gold))

    def gain(self, a: ItemScores, b: ItemScores) -> Float64:
        off = [of.statistic.off for of in (a, b) if isinstance(of.statistic, Agreement)]
        return agreement_gain(off[0], off[1])

    def among(self, places: Int64) -> Agreement:
        return Agreement(self.similarity[places], self.gold[places])


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a pair, with its influence on Spearman's rho."""
    table = scored_table(ENTRY, [run.run_id for run in runs], repository)
    gold, frame = table.gold, table.frame
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    dependence = table.dependence

    def texts() -> list[str]:
        return [f"{first} ↔ {second}" for first, second in zip(frame["first"], frame["second"], strict=True)]

    def score(run: RunRecord) -> ItemScores:
        predicted = table.similarity[run.run_id]
        of = Agreement(predicted, gold)

        def describe(index: int) -> Item:
            two = (("first text", str(frame["first"].iloc[index])), ("second text", str(frame["second"].iloc[index])))
            return Item(two, f"{of.fitted[index]:.2f} (people: {gold[index]:.2f})")

        return scores(
            ENTRY,
            "spearman",
            NAMES["spearman"],
            spearman_influences(predicted, gold),
            numbers,
            dependence,
            texts,
            value=spearman(predicted, gold).value,
            statistic=of,
            describe=describe,
        )

    return [{"spearman": score(run)} for run in runs]
