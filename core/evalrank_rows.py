"""The stored rows of EvalRank's runs, pair by pair, and the scores that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.diagnostics.base import DiagnosticEntry
from core.numerics.rank_problem import RankCounts
from core.numerics.ranking import expected_hit, expected_reciprocal_rank
from core.store.repository import Repository
from core.types import Bool, Float64, Int64


@dataclass(frozen=True)
class Score:
    """MRR and Hits@1 over some pairs; NaN over none."""

    mrr: float
    hits_at_1: float
    pairs: int

    @classmethod
    def of(cls, reciprocal_ranks: Float64, hits: Float64) -> Score:
        """The means over pairs ``[m]``."""
        if not len(hits):
            return cls(float("nan"), float("nan"), 0)
        return cls(float(reciprocal_ranks.mean()), float(hits.mean()), len(hits))


@dataclass(frozen=True, eq=False)
class RunRows:
    """What a run stored of each pair that it ranked, in the order of ``item_no``."""

    item_no: Int64
    raw: RankCounts
    filtered: RankCounts

    def counts(self, filtered: bool) -> RankCounts:
        return self.filtered if filtered else self.raw

    def reciprocal_ranks(self, filtered: bool) -> Float64:
        """Expected 1/rank, ``[m] float64``."""
        counts = self.counts(filtered)
        return expected_reciprocal_rank(counts.greater, counts.ties)

    def hits_at_1(self, filtered: bool) -> Float64:
        """Expected hit@1, ``[m] float64``."""
        counts = self.counts(filtered)
        return expected_hit(counts.greater, counts.ties, 1)

    def score(self, filtered: bool, among: Bool | None = None) -> Score:
        """Over all pairs, or over those in ``among`` ``[m] bool``."""
        keep = np.ones(len(self.item_no), dtype=np.bool_) if among is None else among
        return Score.of(self.reciprocal_ranks(filtered)[keep], self.hits_at_1(filtered)[keep])

    def aligned(self, item_numbers: Int64, filtered: bool) -> pd.DataFrame:
        """Columns ``mrr`` and ``hits@1`` of the pairs of these numbers, NaN for those that the run did not rank."""
        values = {"mrr": self.reciprocal_ranks(filtered), "hits@1": self.hits_at_1(filtered)}
        return pd.DataFrame(values, index=self.item_no).reindex(item_numbers)


def rows_of_runs(entry: DiagnosticEntry, run_ids: Sequence[str], repository: Repository) -> dict[str, RunRows]:
    """The stored rows per run id."""
    rows = repository.items(entry, run_ids, texts=False)
    out = {}
    for run_id in run_ids:
        one = rows[rows["run_id"] == run_id].sort_values("item_no")
        similarity, greater, ties, greater_filtered, ties_filtered = (
            one[name].to_numpy() for name in ("similarity", "greater", "ties", "greater_filtered", "ties_filtered")
        )
        raw = RankCounts(similarity, greater.astype(np.int64), ties.astype(np.int64))
        filtered = RankCounts(similarity, greater_filtered.astype(np.int64), ties_filtered.astype(np.int64))
        out[run_id] = RunRows(one["item_no"].to_numpy(dtype=np.int64), raw, filtered)
    return out
