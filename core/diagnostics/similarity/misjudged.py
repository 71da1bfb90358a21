"""The scored pairs that an encoder misjudges, and those on which two encoders disagree.

A similarity is no score: one encoder's 0.7 may be another's 0.3. So each encoder's similarities are first put on the
scale of the scores, by the fit that leaves the least squares: a monotone step function (what Spearman and Kendall let
pass) or a straight line (what Pearson does). What is left is the *residual*, fitted less given: above 0 where the
encoder finds the texts more alike than people do.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np
import pandas as pd

from core.diagnostics.similarity.pairs import ScoredTable
from core.types import Float64

PAIR, SET, SCORE, FIRST, SECOND = "pair", "set", "score", "first text", "second text"
DISAGREEMENT = "A − B"


class Fit(StrEnum):
    """The values also stand in addresses."""

    MONOTONE = "monotone"
    LINE = "line"


class Order(StrEnum):
    """Which pairs come first; the values also stand in addresses."""

    WORST = "A misjudges most"
    TOO_ALIKE = "too alike for A"
    TOO_DIFFERENT = "too different for A"
    DISAGREE = "A and B disagree"


def fitted(similarity: Float64, gold: Float64, fit: Fit) -> Float64:
    """The scores that similarities stand for, ``[m]``: the least-squares fit of one kind, never falling if monotone."""
    if fit is Fit.LINE:
        if np.ptp(similarity) == 0:
            return np.full(len(gold), gold.mean())
        slope, intercept = np.polyfit(similarity, gold, 1)
        return np.asarray(slope * similarity + intercept)
    from sklearn.isotonic import IsotonicRegression

    return np.asarray(IsotonicRegression(increasing=True).fit_transform(similarity, gold), dtype=np.float64)


def described(table: ScoredTable, sides: Mapping[str, str], fit: Fit) -> pd.DataFrame:
    """A row per pair: ``pair, set, score``, per side ``similarity in A``, ``fitted in A`` and ``residual in A``, with
    two sides ``A − B`` (of the fitted), then both texts.

    Args:
        sides: run ids by "A" and, where there are two, "B".
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


def ordered(rows: pd.DataFrame, order: Order) -> pd.DataFrame:
    """The rows of ``described`` with those that are asked for first; among equals in the dataset's order."""
    keys = {
        Order.WORST: lambda: -rows["residual in A"].abs(),
        Order.TOO_ALIKE: lambda: -rows["residual in A"],
        Order.TOO_DIFFERENT: lambda: rows["residual in A"],
        Order.DISAGREE: lambda: -rows[DISAGREEMENT].abs(),
    }
    return rows.loc[keys[order]().sort_values(kind="stable").index]
