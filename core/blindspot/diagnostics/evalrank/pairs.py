"""Stored ranks pair by pair, of one run or of several side by side, and the ranking of a query behind one of them.

Reads only; similarities are float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.definition import ALL, CANDIDATES, ENTRY
from blindspot.numerics.ranking.problem import TAU, RankCounts, Relation
from blindspot.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from blindspot.numerics.ranking.rescoring import rescored, without_shift
from blindspot.numerics.similarity import Similarity, similarity_to_all
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.embeddings import vectors_of_two
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import near_duplicate_key
from blindspot.types import Bool, Float64, Int64


@dataclass(frozen=True)
class RankedItem:
    """An item in the ranking of a query.

    Attributes:
        position: 1 for the most similar item; the query itself is left out.
        left_out: why filtered ranks ignore it: ``another match``, ``near-duplicate`` or "".
    """

    position: int
    item_no: int
    text: str
    similarity: float
    relation: Relation
    left_out: str


def candidates_of(run: RunRecord, items: Int64, repository: Repository) -> Int64:
    """Numbers of the items that a run ranked matches among, ascending: all its ``items``, or the matches."""
    if CANDIDATES.value_in(run.plan.params) == ALL:
        return items
    rows = repository.items(ENTRY, [run.run_id], texts=True)
    return np.unique(rows["match_no"].to_numpy(dtype=np.int64))


def around_match(
    run: RunRecord,
    query_no: int,
    match_no: int,
    settings: Settings,
    repository: Repository,
    limit: int = 20,
    below: int = 3,
) -> list[RankedItem]:
    """At most ``limit`` items above a query's match, the match itself, and ``below`` items below it.

    In a rescored run, an item that is compared again has the finer similarity.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    searched, finer = vectors_of_two(run, settings, repository)
    items, metric = searched.items, Similarity(run.plan.params["metric"])
    among, again = (
        similarity_to_all(space.vectors, int(space.places_of_queries(np.array([query_no]))[0]), metric)[: len(items)]
        for space in (searched, finer)
    )
    if depth := run.plan.variant.chain.rescored:
        is_candidate = np.isin(items, candidates_of(run, items, repository)) & (items != query_no)
        among = rescored(np.where(is_candidate, among, -np.inf), again, depth)
        among[items == match_no] = np.where(query_no == match_no, again, among)[items == match_no]
    similarity = np.full(run.coverage["items"], -np.inf)
    similarity[items] = among
    match_similarity = similarity[match_no]
    order = items[np.argsort(-among, kind="stable")]
    order = order[np.isin(order, candidates_of(run, items, repository))]
    order = order[(order != query_no) & (order != match_no)]
    # Among the tied, the match comes first: what is listed above it is surely above it.
    above = order[similarity[order] > match_similarity + TAU]
    order = np.concatenate([above, [match_no], order[len(above) :]])
    rank = len(above)
    shown = sorted({*range(min(limit, rank)), *range(rank, min(rank + 1 + below, len(order)))})

    numbers = [int(order[i]) for i in shown]
    texts = repository.texts(run.plan.dataset_digest, [*numbers, query_no, match_no])
    matches = repository.matches(run.plan.dataset_digest, query_no)
    copies = {near_duplicate_key(texts[query_no]), near_duplicate_key(texts[match_no])} - {""}
    out = []
    for i, item in zip(shown, numbers, strict=True):
        if item == match_no:
            relation, left_out = Relation.MATCH, ""
        else:
            relation = (
                Relation.ABOVE
                if i < rank
                else Relation.TIED
                if abs(similarity[item] - match_similarity) <= TAU
                else Relation.BELOW
            )
            is_copy = near_duplicate_key(texts[item]) in copies
            left_out = "another match" if item in matches else "near-duplicate" if is_copy else ""
        out.append(RankedItem(i + 1, item, texts[item], without_shift(float(similarity[item])), relation, left_out))
    return out


@dataclass(frozen=True)
class MeanScore:
    """MRR and Hits@1 over some pairs; NaN over none."""

    mrr: float
    hits_at_1: float
    pairs: int

    @classmethod
    def of(cls, reciprocal_ranks: Float64, hits: Float64) -> MeanScore:
        """The means over pairs ``[m]``."""
        if not len(hits):
            return cls(float("nan"), float("nan"), 0)
        return cls(float(reciprocal_ranks.mean()), float(hits.mean()), len(hits))

    def as_json(self) -> dict[str, float | int | None]:
        mrr, hits = (None if math.isnan(value) else value for value in (self.mrr, self.hits_at_1))
        return {"mrr": mrr, "hits@1": hits, "pairs": self.pairs}


@dataclass(frozen=True, eq=False)
class RunRows:
    """The stored counts of every pair that a run ranked."""

    item_no: Int64
    raw: RankCounts
    filtered: RankCounts

    @classmethod
    def of(cls, rows: pd.DataFrame) -> RunRows:
        """The counts from one run's rows in the store."""
        raw, filtered = (
            RankCounts(
                rows["similarity"].to_numpy(np.float64),
                rows[f"greater{way}"].to_numpy(np.int64),
                rows[f"ties{way}"].to_numpy(np.int64),
            )
            for way in ("", "_filtered")
        )
        return cls(rows["item_no"].to_numpy(np.int64), raw, filtered)

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

    def score(self, filtered: bool, among: Bool | None = None) -> MeanScore:
        """The score over all pairs, or over those in ``among`` ``[m] bool``."""
        keep = np.ones(len(self.item_no), dtype=np.bool_) if among is None else among
        return MeanScore.of(self.reciprocal_ranks(filtered)[keep], self.hits_at_1(filtered)[keep])

    def aligned(self, item_numbers: Int64, filtered: bool) -> pd.DataFrame:
        """Columns ``mrr`` and ``hits@1`` of these pairs, NaN for those that the run did not rank."""
        values = {"mrr": self.reciprocal_ranks(filtered), "hits@1": self.hits_at_1(filtered)}
        return pd.DataFrame(values, index=self.item_no).reindex(item_numbers)


def rows_of_runs(entry: Diagnostic, run_ids: Sequence[str], repository: Repository) -> dict[str, RunRows]:
    """The stored rows per run id, each in the order of ``item_no``."""
    rows = repository.items(entry, run_ids, texts=False)  # sorted so
    places = rows.groupby("run_id").indices
    none = np.empty(0, dtype=np.int64)
    return {run_id: RunRows.of(rows.iloc[places.get(run_id, none)]) for run_id in run_ids}


@dataclass(frozen=True, eq=False)
class PairTable:
    """Every pair of a dataset that some run ranked, and what the runs say of them.

    Attributes:
        frame: ``item_no`` (ascending), ``query_no, match_no, query, match``.
        rows: of each run by its id, in the order of the runs.
    """

    frame: pd.DataFrame
    rows: Mapping[str, RunRows]

    @cached_property
    def dependence(self) -> Dependence:
        """Which pairs are independent."""
        return Dependence.of_texts(self.frame["query"], self.frame["match"])

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(self.rows)

    @cached_property
    def numbers(self) -> Int64:
        """``[m]``, ascending."""
        return self.frame["item_no"].to_numpy(dtype=np.int64)

    def ranks(self, run_id: str, *, filtered: bool) -> Float64:
        """Shown ranks, ``[m] float64``, NaN for pairs that the run did not rank."""
        return self._of_all(run_id, self.rows[run_id].counts(filtered).shown)

    def reciprocal_ranks(self, run_id: str, *, filtered: bool) -> Float64:
        """Expected 1/rank, ``[m] float64``, NaN for pairs that the run did not rank."""
        return self._of_all(run_id, self.rows[run_id].reciprocal_ranks(filtered))

    def counts(self, run_id: str, *, filtered: bool) -> tuple[Float64, Float64]:
        """Items above the match and items tied with it, ``[m] float64`` each, NaN for pairs that the run lacks."""
        counts = self.rows[run_id].counts(filtered)
        return self._of_all(run_id, counts.greater), self._of_all(run_id, counts.ties)

    def similarity(self, run_id: str) -> Float64:
        """Similarity of query and match, ``[m] float64``, NaN for pairs that the run did not rank."""
        return self._of_all(run_id, self.rows[run_id].raw.similarity)

    def _of_all(self, run_id: str, values: Float64 | Int64) -> Float64:
        out = np.full(len(self.frame), np.nan)
        out[np.searchsorted(self.numbers, self.rows[run_id].item_no)] = values
        return out


def pair_table(entry: Diagnostic, run_ids: Sequence[str], repository: Repository) -> PairTable:
    """The stored rows of runs over one dataset; pairs that no run ranked are left out."""
    rows = rows_of_runs(entry, run_ids, repository)
    texts = repository.items(entry, run_ids[:1], texts=True)
    if not np.isin(np.concatenate([row.item_no for row in rows.values()]), texts["item_no"]).all():
        texts = repository.items(entry, run_ids, texts=True)  # the first run ranked fewer pairs than another
        texts = texts.drop_duplicates("item_no").sort_values("item_no", ignore_index=True)
    return PairTable(texts[["item_no", "query_no", "match_no", "query", "match"]], rows)
