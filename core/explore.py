"""Looking into cached embeddings behind a stored run. Reads only; float64 throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import numpy as np
import pandas as pd

from core.diagnostics.base import DiagnosticEntry
from core.encoders.cache import EmbeddingCache
from core.errors import BlindspotError
from core.flows.store import StoredFlows
from core.numerics.rank_problem import TAU
from core.numerics.ranking import expected_reciprocal_rank
from core.numerics.similarity import Metric, similarity_to_all
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.texts import near_duplicate_key
from core.transforms import FittedChain, TransformChain
from core.types import Float64, Int64


class EmbeddingsGone(BlindspotError):
    """The run is stored, but the embeddings it stands on were deleted from the cache."""


class Relation(StrEnum):
    """How an item stands to the mate."""

    ABOVE = "above the mate"
    TIED = "tied with the mate"
    MATE = "the mate"
    BELOW = "below the mate"


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
    run.plan.check_fitted_on_its_items()
    digest = run.plan.embedding_digest
    embedded = EmbeddingCache(settings.embeddings).read(digest)
    if embedded is None:
        raise EmbeddingsGone(
            f"the embeddings of '{run.plan.variant.encoder}' on '{run.plan.dataset}' are no longer in the cache",
            remedy="run it again: they are encoded anew, the stored ranks stay",
        )
    support = repository.support(run.plan.support_digest) if run.plan.support_digest else None
    items = np.flatnonzero(support) if support is not None else np.arange(len(embedded.matrix))
    vectors = embedded.matrix if support is None else embedded.matrix[items]
    chain = _fitted(digest, run.plan.variant.transform, settings, _Items(run.plan.support_digest, items))
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


@dataclass(frozen=True)
class _Items:
    """Which items a run ranked: compared by the digest, so that it can be a key of a cache."""

    support_digest: str
    numbers: Int64 = field(compare=False)


@lru_cache(maxsize=8)
def _fitted(embedding_digest: str, transform: str, settings: Settings, items: _Items) -> FittedChain:
    """A transform fitted on the items of a run; kept, few of them: a step holds up to ``[d, d]`` numbers."""
    embedded = EmbeddingCache(settings.embeddings).read(embedding_digest)
    if embedded is None:
        raise EmbeddingsGone("the embeddings were deleted meanwhile", remedy="run it again")
    corpus = embedded.matrix[items.numbers] if items.support_digest else embedded.matrix
    return TransformChain.parse(transform).fit(corpus, StoredFlows(settings.flows))


@dataclass(frozen=True, eq=False)
class PairTable:
    """Every pair of a dataset with its rank in several runs.

    ``frame`` has ``item_no, query_no, mate_no, query, mate`` and, per run id, ``<run_id> rank`` (shown rank,
    raw), ``<run_id> filtered rank``, ``<run_id> reciprocal rank`` and ``<run_id> filtered reciprocal rank``
    (expected values), ``<run_id> similarity``, ``<run_id> greater`` and ``<run_id> ties`` (items above the mate, and
    tied with it), ``<run_id> filtered greater`` and ``<run_id> filtered ties``.
    """

    frame: pd.DataFrame

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
