"""Hubs: items that stand among the nearest of many others. Reads cached embeddings; nothing is encoded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.encoders.cache import EmbeddingCache
from core.explore import EmbeddingsGone
from core.flows.store import StoredFlows
from core.numerics.hubness import HUB
from core.numerics.neighbors import k_occurrence
from core.numerics.similarity import Metric
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.transforms import TransformChain
from core.types import Int64

K = 10
MOST_QUERIES = 1_000  # of a dataset: about a second for 25,000 items of 384 dimensions on two cores


@dataclass(frozen=True, eq=False)
class Occurrences:
    """How often items stand among the ten nearest of queries.

    Attributes:
        counts: ``[n] int64`` by the item's number in the dataset; 0 for items that the run did not rank.
        queries: how many queries were looked at.
        mean: of an item that was ranked.
    """

    counts: Int64
    queries: int
    mean: float

    def times_average(self, item_no: int) -> float:
        """How many times as often as the average item."""
        return float(self.counts[item_no]) / self.mean if self.mean else 0.0

    def is_hub(self, item_no: int) -> bool:
        return self.times_average(item_no) >= HUB


def occurrences(run: RunRecord, queries: Int64, settings: Settings, repository: Repository) -> Occurrences:
    """Count, in the variant and by the similarity of a run, among the items that it ranked.

    Args:
        queries: item numbers; of more than ``MOST_QUERIES``, evenly spaced ones are taken.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    run.plan.check_fitted_on_its_items()
    embedded = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest)
    if embedded is None:
        raise EmbeddingsGone("the embeddings were deleted", remedy="run it again")
    support = repository.support(run.plan.support_digest) if run.plan.support_digest else None
    items = np.arange(len(embedded.matrix)) if support is None else np.flatnonzero(support)
    corpus = embedded.matrix if support is None else embedded.matrix[items]
    chain = TransformChain.parse(run.plan.variant.transform).fit(corpus, StoredFlows(settings.flows))
    vectors = np.asarray(chain.apply(corpus), dtype=np.float32)
    asked = np.intersect1d(queries, items)
    if len(asked) > MOST_QUERIES:
        asked = asked[np.linspace(0, len(asked) - 1, MOST_QUERIES).astype(np.int64)]
    k = min(K, len(items) - 1)
    found = k_occurrence(vectors, np.searchsorted(items, asked), k, Metric(run.plan.params["metric"]))
    counts = np.zeros(len(embedded.matrix), dtype=np.int64)
    counts[items] = found
    return Occurrences(counts, len(asked), float(found.mean()))
