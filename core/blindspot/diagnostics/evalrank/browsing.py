"""Filters and orders of the stored pairs of runs *A* and *B*.

A missing rank is NaN: no filter but *all* keeps it, and it is last in every order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from blindspot import texts
from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.texts import are_words, length, lexical_overlap
from blindspot.types import Bool
from blindspot.variants import Variant


class Which(StrEnum):
    """Filters of pairs; the values are part of URLs."""

    ALL = "all"
    ONLY_A = "only A finds it"
    ONLY_B = "only B finds it"
    WORST = "worst for A"
    REGRESSIONS = "B worse than A"
    TIED = "tied"
    SELF = "text with itself"


MEANING: Mapping[Which, str] = {
    Which.ALL: "every pair",
    Which.ONLY_A: "rank 1 in A, a higher rank in B",
    Which.ONLY_B: "rank 1 in B, a higher rank in A",
    Which.WORST: "the match is not first in A; the worst ranks come first",
    Which.REGRESSIONS: "the rank in B is higher than in A; the largest regressions come first",
    Which.TIED: "another text is as similar as the match, in A or in B, among all texts",
    Which.SELF: "query and match are the same text",
}
NEED_B = frozenset({Which.ONLY_A, Which.ONLY_B, Which.REGRESSIONS})


def text_features(queries: Sequence[str], matches: Sequence[str]) -> pd.DataFrame:
    """A row per pair: ``overlap``, ``words in query``, ``words in match``.

    Where the texts are words, also ``frequency of query`` and ``frequency of match`` (Zipf).
    """
    frame = pd.DataFrame(
        {
            "overlap": lexical_overlap(queries, matches),
            "words in query": [length(text) for text in queries],
            "words in match": [length(text) for text in matches],
        }
    )
    if are_words([*queries, *matches]):
        frame["frequency of query"], frame["frequency of match"] = zipf_of(queries), zipf_of(matches)
    return frame


@dataclass(frozen=True)
class Compared:
    """The run ids of A and, where there are two, B; and whether their ranks are the filtered ones."""

    a: str
    b: str | None
    filtered: bool


def described(table: PairTable, features: pd.DataFrame, run_ids: Sequence[str], compared: Compared) -> pd.DataFrame:
    """A row per pair: ``pair`` (its number), ``query_no, match_no, query, match``, ``worst rank`` among the runs, the
    features, the rank in each run by run id, and the comparison.

    The comparison is ``rank in A``, ``similarity in A``, ``ties in A``, the same for B, ``rank difference`` (A minus B:
    positive where B is better) and ``1/rank difference`` (expected values, B minus A: what the pair adds to B's lead in
    MRR, times the number of pairs).
    """
    ranks = {run_id: table.ranks(run_id, filtered=compared.filtered) for run_id in run_ids}
    out = table.frame[["item_no", "query_no", "match_no", "query", "match"]].rename(columns={"item_no": "pair"})
    out["worst rank"] = pd.DataFrame(ranks).max(axis=1).to_numpy()
    sides = {"A": compared.a} | ({} if compared.b is None else {"B": compared.b})
    for side, run_id in sides.items():
        out[f"rank in {side}"] = ranks[run_id]
        out[f"similarity in {side}"] = table.similarity(run_id)
        out[f"ties in {side}"] = table.counts(run_id, filtered=False)[1]
    if compared.b is not None:
        out["rank difference"] = out["rank in A"] - out["rank in B"]
        reciprocal = [table.reciprocal_ranks(i, filtered=compared.filtered) for i in (compared.a, compared.b)]
        out["1/rank difference"] = reciprocal[1] - reciprocal[0]
    return pd.concat([out.reset_index(drop=True), features, pd.DataFrame(ranks)], axis=1)


def outcomes(described: pd.DataFrame) -> Outcomes:
    """Who wins each pair, by 1/rank. Rank 1 is right (Hits@1); a tie for first place is not."""
    right = np.asarray(described["rank in A"] <= 1, dtype=np.bool_)
    return Outcomes.of_gains(-described["1/rank difference"].to_numpy(dtype=np.float64), right)


def orders(described: pd.DataFrame) -> list[str]:
    """The columns that pairs can be sorted by, the worst rank first."""
    orders_all = ["worst rank", "pair", "rank in A", "rank in B", "rank difference", "1/rank difference"]
    orders_all += ["similarity in A", "similarity in B", "ties in A", "ties in B"]
    orders_all += [
        "overlap",
        "words in query",
        "words in match",
        "frequency of query",
        "frequency of match",
        "query",
        "match",
    ]
    return [name for name in orders_all if name in described]


def kept(described: pd.DataFrame, which: Which) -> Bool:
    """Which pairs a filter keeps, ``[m] bool``."""
    a = described["rank in A"].to_numpy()
    if which is Which.ALL:
        return np.ones(len(described), dtype=np.bool_)
    if which is Which.SELF:
        return np.asarray(described["query_no"] == described["match_no"], dtype=np.bool_)
    if which is Which.TIED:
        ties = described[[name for name in ("ties in A", "ties in B") if name in described]]
        return np.asarray((ties > 0).any(axis=1), dtype=np.bool_)
    if which is Which.WORST:
        return np.asarray(a > 1, dtype=np.bool_)
    b = described["rank in B"].to_numpy()
    masks = {Which.ONLY_A: (a == 1) & (b > 1), Which.ONLY_B: (b == 1) & (a > 1), Which.REGRESSIONS: b > a}
    return np.asarray(masks[which], dtype=np.bool_)


def containing(described: pd.DataFrame, wanted: str) -> Bool:
    """Which pairs have ``wanted`` in query or match (``blindspot.texts.containing``), ``[m] bool``."""
    if not wanted:
        return np.ones(len(described), dtype=np.bool_)
    query, match = (np.array(texts.containing(described[side], wanted), dtype=np.bool_) for side in ("query", "match"))
    return np.asarray(query | match)


def in_order(described: pd.DataFrame, order: str, *, descending: bool) -> pd.DataFrame:
    """The rows by a column; equal ones in the dataset's order, missing values last."""
    key = (lambda column: column.str.casefold()) if order in {"query", "match"} else None
    return described.sort_values(order, ascending=not descending, kind="stable", na_position="last", key=key)


def for_export(
    table_shown: pd.DataFrame, table: PairTable, variants: Mapping[str, Variant], features: Sequence[str]
) -> pd.DataFrame:
    """The pairs of ``table_shown`` in its order with their stored ranks and ``features`` (columns of ``table_shown``).

    Columns have their names in the store; a run's columns end in its variant (``variants`` by run id).
    """
    rows = np.searchsorted(table.numbers, table_shown["pair"])
    out = table_shown[["pair", "query_no", "match_no", "query", "match"]].rename(columns={"pair": "item_no"})
    out = out.reset_index(drop=True)
    for run_id, variant in variants.items():
        for filtered, way in ((False, ""), (True, "filtered_")):
            out[f"{way}rank {variant}"] = table.ranks(run_id, filtered=filtered)[rows]
        for filtered, way in ((False, ""), (True, "filtered_")):
            out[f"{way}reciprocal_rank {variant}"] = table.reciprocal_ranks(run_id, filtered=filtered)[rows]
        out[f"similarity {variant}"] = table.similarity(run_id)[rows]
        out[f"ties {variant}"] = table.counts(run_id, filtered=False)[1][rows]
    for name in features:
        out[name.replace(" ", "_")] = table_shown[name].to_numpy()
    return out
