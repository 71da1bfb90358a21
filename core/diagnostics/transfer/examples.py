"""The examples on which classifiers on two encoders' embeddings agree and disagree.

*A* and *B* are the two runs that a reader compares; B may be missing. A *mistake* is sure when the classifier gave the
wrong class a high probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np
import pandas as pd

from core import texts
from core.diagnostics.transfer.outcomes import Outcomes
from core.types import Bool, Variant

NUMBER, TEXT, SECOND, GOLD, OVERLAP, SUREST = "no", "text", "second text", "gold", "overlap", "surest mistake"


class Which(StrEnum):
    """Filters of examples; the values also stand in addresses."""

    ALL = "all"
    ONLY_A = "only A right"
    ONLY_B = "only B right"
    ALIKE = "both wrong alike"
    BOTH_WRONG = "both wrong"
    BOTH_RIGHT = "both right"
    WRONG = "A wrong"
    RIGHT = "A right"


OF_ONE = (Which.ALL, Which.WRONG, Which.RIGHT)
OF_TWO = (Which.ONLY_A, Which.ONLY_B, Which.ALIKE, Which.BOTH_WRONG, Which.BOTH_RIGHT, Which.ALL)


class Order(StrEnum):
    """What comes first; the values also stand in addresses."""

    MISTAKE = "surest mistake"
    UNSURE = "least sure"
    NUMBER = "number"


def predicted(side: str) -> str:
    return f"{side} predicts"


def probability(side: str) -> str:
    return f"{side}'s probability"


def described(found: Outcomes, sides: Mapping[str, str]) -> pd.DataFrame:
    """A row per example: ``no, text, second text`` (of pairs), ``gold``, what each side predicts and how probable
    that is, ``overlap``, and ``surest mistake``: the highest probability that a side gave to a wrong class, NaN
    without any.

    Args:
        sides: run ids by "A" and, where there are two, "B".
    """
    classes = np.array(found.classes, dtype=object)
    out = pd.DataFrame({NUMBER: found.numbers, TEXT: list(found.first)})
    if len(found.second):
        out[SECOND] = list(found.second)
    out[GOLD] = classes[found.labels]
    mistakes = []
    for side, run_id in sides.items():
        out[predicted(side)] = classes[found.predicted[run_id]]
        out[probability(side)] = found.probability[run_id]
        mistakes.append(np.where(found.right(run_id), np.nan, found.probability[run_id]))
    out[OVERLAP] = found.repeated
    out[SUREST] = np.fmax.reduce(mistakes)
    return out


def kept(rows: pd.DataFrame, which: Which) -> Bool:
    """Which rows of ``described`` a filter keeps, ``[m] bool``."""
    a = (rows[predicted("A")] == rows[GOLD]).to_numpy()
    if which is Which.ALL:
        return np.ones(len(rows), dtype=np.bool_)
    if which in OF_ONE:
        return np.asarray(a if which is Which.RIGHT else ~a)
    b = (rows[predicted("B")] == rows[GOLD]).to_numpy()
    same = (rows[predicted("A")] == rows[predicted("B")]).to_numpy()
    masks = {
        Which.ONLY_A: a & ~b,
        Which.ONLY_B: b & ~a,
        Which.ALIKE: ~a & ~b & same,
        Which.BOTH_WRONG: ~a & ~b,
        Which.BOTH_RIGHT: a & b,
    }
    return np.asarray(masks[which])


def containing(rows: pd.DataFrame, wanted: str) -> Bool:
    """Which rows have ``wanted`` in a text (``core.texts.containing``), ``[m] bool``."""
    hit = np.zeros(len(rows), dtype=np.bool_)
    for name in (TEXT, SECOND):
        if name in rows:
            hit |= np.array(texts.containing(rows[name], wanted), dtype=np.bool_)
    return hit


def ordered(rows: pd.DataFrame, order: Order) -> pd.DataFrame:
    """The rows with those that are asked for first; among equals in the dataset's order, without mistake last."""
    if order is Order.NUMBER:
        return rows.sort_values(NUMBER, kind="stable")
    if order is Order.MISTAKE:
        return rows.sort_values(SUREST, ascending=False, kind="stable", na_position="last")
    sure = rows[[name for name in (probability("A"), probability("B")) if name in rows]].min(axis=1)
    return rows.loc[sure.sort_values(kind="stable").index]


def for_export(rows: pd.DataFrame, variants: Mapping[str, Variant]) -> pd.DataFrame:
    """The rows for a file, with the variants' names in place of A and B.

    Args:
        variants: by side.
    """
    names = {NUMBER: "item_no", TEXT: "first", SECOND: "second", GOLD: "label", OVERLAP: "repeated"}
    for side, variant in variants.items():
        names |= {predicted(side): f"predicted {variant}", probability(side): f"probability {variant}"}
    return rows.rename(columns=names).drop(columns=SUREST)
