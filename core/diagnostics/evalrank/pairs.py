"""Looking into cached embeddings behind a stored run. Reads only; float64 throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.diagnostic import DiagnosticEntry
from core.numerics.ranking.problem import TAU, RankCounts, Relation
from core.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from core.numerics.similarity import Metric, similarity_to_all
from core.runs.embeddings import embedded_of, fitted_chain, items_of
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.texts import near_duplicate_key
from core.types import Bool, Float64, Int64


@dataclass(frozen=True)
class RankedItem:
    """An item in the ranking of a query.

    Attributes:
        position: 1 for the most similar item; the query itself is left out.
        left_out: why filtered ranks ignore it: ``another mate``, ``twin`` or "".
    """

    position: int
    item_no: int
    text: str
    similarity: float
    relation: Relation
    left_out: str


def around_mate(
    run: RunRecord,
    query_no: int,
    mate_no: int,
    settings: Settings,
    repository: Repository,
    limit: int = 20,
    below: int = 3,
) -> list[RankedItem]:
    """What an encoder puts above a query's mate, the mate itself, and a few items below it.

    Args:
        limit: at most so many items from the top; the mate and what follows it come in any case.
        below: items after the mate.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    embedded = embedded_of(run, settings)
    items = items_of(run, embedded, repository)
    vectors = embedded.matrix[items] if run.plan.support_digest else embedded.matrix
    chain = fitted_chain(run, settings, items)
    among = similarity_to_all(
        chain.apply(vectors), int(np.searchsorted(items, query_no)), Metric(run.plan.params["metric"])
    )
    similarity = np.full(len(embedded.matrix), -np.inf)
    similarity[items] = among
    mate_similarity = similarity[mate_no]
    order = items[np.argsort(-among, kind="stable")]
    order = order[(order != query_no) & (order != mate_no)]
    # Among the tied, the mate comes first: what is listed above it is surely above it.
    above = order[similarity[order] > mate_similarity + TAU]
    order = np.concatenate([above, [mate_no], order[len(above) :]])
    place = len(above)
    shown = sorted({*range(min(limit, place)), *range(place, min(place + 1 + below, len(order)))})

    numbers = [int(order[i]) for i in shown]
    texts = repository.texts(run.plan.dataset_digest, [*numbers, query_no, mate_no])
    mates = repository.mates(run.plan.dataset_digest, query_no)
    twins = {near_duplicate_key(texts[query_no]), near_duplicate_key(texts[mate_no])} - {""}
    out = []
    for i, item in zip(shown, numbers, strict=True):
        if item == mate_no:
            relation, left_out = Relation.MATE, ""
        else:
            relation = (
                Relation.ABOVE
                if i < place
                else Relation.TIED
                if abs(similarity[item] - mate_similarity) <= TAU
                else Relation.BELOW
            )
            left_out = "another mate" if item in mates else "twin" if near_duplicate_key(texts[item]) in twins else ""
        out.append(RankedItem(i + 1, item, texts[item], float(similarity[item]), relation, left_out))
    return out


@dataclass(frozen=True, eq=False)
class PairTable:
    """Every pair of a dataset with its rank in several runs.

    ``frame`` has ``item_no, query_no, mate_no, query, mate`` and, per run id, ``<run_id> rank`` (shown rank,
    raw), ``<run_id> filtered rank``, ``<run_id> reciprocal rank`` and ``<run_id> filtered reciprocal rank``
    (expected values), ``<run_id> similarity``, ``<run_id> greater`` and ``<run_id> ties`` (items above the mate, and
    tied with it), ``<run_id> filtered greater`` and ``<run_id> filtered ties``.
    """

    frame: pd.DataFrame

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Of the runs, in the order in which they were asked for."""
        ends = " similarity"
        return tuple(name.removesuffix(ends) for name in self.frame.columns if name.endswith(ends))

    def ranks(self, run_id: str, *, filtered: bool) -> Float64:
        """Shown ranks, ``[m] float64``, NaN for pairs that the run did not rank."""
        return np.asarray(self.frame[f"{run_id} {'filtered rank' if filtered else 'rank'}"], dtype=np.float64)

    def reciprocal_ranks(self, run_id: str, *, filtered: bool) -> Float64:
        """Expected 1/rank, ``[m] float64``, NaN for pairs that the run did not rank."""
        name = f"{run_id} {'filtered ' if filtered else ''}reciprocal rank"
        return np.asarray(self.frame[name], dtype=np.float64)

    def counts(self, run_id: str, *, filtered: bool) -> tuple[Float64, Float64]:
        """How many items are above the mate and how many are tied with it, ``[m] float64`` each, NaN likewise."""
        way = f"{run_id} {'filtered ' if filtered else ''}"
        greater, ties = (np.asarray(self.frame[f"{way}{name}"], dtype=np.float64) for name in ("greater", "ties"))
        return greater, ties


def pair_table(entry: DiagnosticEntry, run_ids: Sequence[str], repository: Repository) -> PairTable:
    """The stored per-pair rows of runs over one dataset, side by side.

    A pair that a run did not rank, having no vector for one of its texts, has NaN there; pairs that none of them
    ranked are left out.
    """
    rows = repository.items(entry, run_ids, texts=False)
    texts = repository.items(entry, run_ids[:1], texts=True)
    if not rows["item_no"].isin(texts["item_no"]).all():  # the first run ranked fewer pairs than another
        texts = repository.items(entry, run_ids, texts=True).drop_duplicates("item_no", ignore_index=True)
    frame = texts[["item_no", "query_no", "mate_no", "query", "mate"]].copy()
    columns = {}
    for run_id in run_ids:
        one = rows[rows["run_id"] == run_id].set_index("item_no").reindex(frame["item_no"])
        for way, suffix in (("", ""), ("filtered ", "_filtered")):
            greater, ties = one[f"greater{suffix}"].to_numpy(), one[f"ties{suffix}"].to_numpy()
            columns[f"{run_id} {way}rank"] = 1 + greater + ties / 2
            columns[f"{run_id} {way}reciprocal rank"] = expected_reciprocal_rank(greater, ties)
            columns[f"{run_id} {way}greater"], columns[f"{run_id} {way}ties"] = greater, ties
        columns[f"{run_id} similarity"] = one["similarity"].to_numpy()
    return PairTable(pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1))


# The stored rows of EvalRank's runs, pair by pair, and the scores that follow from them.


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
