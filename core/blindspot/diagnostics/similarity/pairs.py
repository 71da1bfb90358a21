"""Scored pairs with the similarities of several runs, and the pairs that encoders misjudge.

One encoder's 0.7 may be another's 0.3. So an encoder's similarities are first put on the scale of the scores by a
least-squares fit: a monotone step function (all that Spearman and Kendall see) or a straight line (as Pearson assumes).
The *residual* is the fitted score minus the given one: above 0, the encoder finds the texts more alike than people do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.numerics.statistics.isotonic import isotonic
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.store.repository import Repository
from blindspot.texts import numbered
from blindspot.types import Float64, Int64

PAIR, SET, SCORE, FIRST, SECOND = "pair", "set", "score", "first text", "second text"
DISAGREEMENT = "A − B"
OFF = 0.2  # share of the scores' range beyond which a pair is misjudged
SIDE_COLUMNS = ["item_no", "set_name", "gold", "first", "second"]


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The pairs that all of some runs scored.

    Attributes:
        frame: columns ``item_no`` (the pair's number in the dataset), ``set_name, gold, first, second``.
        similarity: by run id ``[m] float64``, in the order of the rows.
    """

    frame: pd.DataFrame
    similarity: dict[str, Float64]

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(self.similarity)

    @property
    def gold(self) -> Float64:
        """The scores that people gave, ``[m]``."""
        return self.frame["gold"].to_numpy(dtype=np.float64)

    @cached_property
    def ends(self) -> tuple[Int64, Int64]:
        """Numbers of each pair's texts, ``[m]`` each."""
        firsts, seconds = numbered(self.frame["first"], self.frame["second"])
        return firsts, seconds

    @cached_property
    def dependence(self) -> Dependence:
        """Which pairs are independent."""
        return Dependence.of(*self.ends)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets, in order of appearance."""
        return tuple(self.frame["set_name"].unique())


def scored_table(entry: Diagnostic, run_ids: Sequence[str], repository: Repository) -> ScoredTable:
    """The stored similarities of runs over one dataset, for the pairs that all of them scored."""
    rows = repository.items(entry, run_ids, texts=True)
    wide = rows.pivot(index="item_no", columns="run_id", values="similarity").dropna()
    texts = rows.drop_duplicates("item_no").set_index("item_no").loc[wide.index].reset_index()
    return ScoredTable(
        texts[SIDE_COLUMNS].reset_index(drop=True),
        {run_id: wide[run_id].to_numpy(dtype=np.float64) for run_id in run_ids},
    )


class Fit(StrEnum):
    """The values are part of addresses."""

    MONOTONE = "monotone"
    LINE = "line"


class Order(StrEnum):
    """Which pairs come first; the values are part of addresses."""

    WORST = "A misjudges most"
    TOO_ALIKE = "too alike for A"
    TOO_DIFFERENT = "too different for A"
    DISAGREE = "A and B disagree"


def fitted(similarity: Float64, gold: Float64, fit: Fit) -> Float64:
    """Similarities ``[m]`` on the scale of the scores, by a least-squares fit."""
    if fit is Fit.LINE:
        if np.ptp(similarity) == 0:
            return np.full(len(gold), gold.mean())
        slope, intercept = np.polyfit(similarity, gold, 1)
        return np.asarray(slope * similarity + intercept)
    return isotonic(similarity, gold)


def described(table: ScoredTable, sides: Mapping[str, str], fit: Fit) -> pd.DataFrame:
    """A row per pair: ``pair, set, score``, per side ``similarity in A``, ``fitted in A`` and ``residual in A``, with
    two sides ``A − B`` (of the fitted scores), then both texts.

    Args:
        sides: run ids by "A" and, with two runs, "B".
    """
    frame = table.frame
    out = pd.DataFrame({PAIR: frame["item_no"], SET: frame["set_name"], SCORE: frame["gold"]})
    for side, run_id in sides.items():
        similarity = table.similarity[run_id]
        out[f"similarity in {side}"] = similarity
        out[f"fitted in {side}"] = fitted(similarity, table.gold, fit)
        out[f"residual in {side}"] = out[f"fitted in {side}"] - out[SCORE]
    if "B" in sides:
        out[DISAGREEMENT] = out["fitted in A"] - out["fitted in B"]
    out[FIRST], out[SECOND] = frame["first"], frame["second"]
    return out


def became(rows: pd.DataFrame) -> Outcomes:
    """Who wins each pair of ``described``; a run is right if its residual is within ``OFF`` of the range of scores."""
    scale = float(np.ptp(rows[SCORE])) if len(rows) else 1.0
    a, b = (rows[f"residual in {side}"].abs().to_numpy(dtype=np.float64) / scale for side in "AB")
    return Outcomes.of_gains(agreement_gain(a, b), a <= OFF)


def agreement_gain(a: Float64, b: Float64) -> Float64:
    """How much nearer A's scores are than B's if just one of the two misjudges a pair, ``[m]``; else 0.

    Args:
        a, b: by how much their fitted scores are off, as shares of the range of scores.
    """
    return np.where((a > OFF) != (b > OFF), b - a, 0.0)


def ordered(rows: pd.DataFrame, order: Order) -> pd.DataFrame:
    """The rows of ``described`` sorted; ties keep the dataset's order."""
    keys = {
        Order.WORST: lambda: -rows["residual in A"].abs(),
        Order.TOO_ALIKE: lambda: -rows["residual in A"],
        Order.TOO_DIFFERENT: lambda: rows["residual in A"],
        Order.DISAGREE: lambda: -rows[DISAGREEMENT].abs(),
    }
    return rows.loc[keys[order]().sort_values(kind="stable").index]
