"""Reasons why a text may be near a query: shared words, equal length, a frequent word, a hub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets.word_frequency import zipf_of
from blindspot.numerics.neighbors.hubness import HUB
from blindspot.numerics.neighbors.occurrences import k_occurrence
from blindspot.numerics.similarity import Similarity
from blindspot.runs.embeddings import vectors_of
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import length, words
from blindspot.types import Int64

K = 10
MOST_QUERIES = 1_000  # of a dataset: about a second for 25,000 items of 384 dimensions on two cores
FREQUENT = 5.0  # Zipf: a hundred occurrences per million words


@dataclass(frozen=True, eq=False)
class Occurrences:
    """How often items are among the ten nearest of queries.

    Attributes:
        counts: ``[n] int64`` by the item's number in the dataset; 0 for items that the run did not rank.
        queries: how many.
        mean: over the ranked items.
    """

    counts: Int64
    queries: int
    mean: float

    def is_hub(self, item_no: int) -> bool:
        return self.mean > 0 and float(self.counts[item_no]) / self.mean >= HUB


def occurrences(run: RunRecord, queries: Int64, settings: Settings, repository: Repository) -> Occurrences:
    """Count occurrences under a run's variant and similarity, among the items that it ranked.

    Of more than ``MOST_QUERIES`` queries (item numbers), evenly spaced ones are taken.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
    """
    ranked = vectors_of(run, settings, repository)
    items = ranked.items
    asked = np.intersect1d(queries, items if ranked.asking is None else ranked.asking)
    if len(asked) > MOST_QUERIES:
        asked = asked[np.linspace(0, len(asked) - 1, MOST_QUERIES).astype(np.int64)]
    k = min(K, len(items) - 1)
    rows = np.asarray(ranked.vectors, dtype=np.float32)
    metric = Similarity(run.plan.params["metric"])
    hits = k_occurrence(rows, ranked.places_of_queries(asked), k, metric, ranked.places(asked), len(items))
    counts = np.zeros(run.coverage["items"], dtype=np.int64)
    counts[items] = hits
    return Occurrences(counts, len(asked), float(hits.mean()))


def reasons(
    query: str, item_nos: Sequence[int], texts: Sequence[str], *, of_words: bool, hubs: Occurrences | None
) -> list[tuple[str, ...]]:
    """The reasons of each item, in short phrases; for single words (``of_words``) frequency, not words and length.

    ``hubs`` is None where they were not counted.
    """
    asked = frozenset(words(query))
    frequency = zipf_of(texts) if of_words else [0.0] * len(texts)
    out = []
    for item, text, zipf in zip(item_nos, texts, frequency, strict=True):
        reasons_here = []
        if not of_words:
            if shared := len(asked & frozenset(words(text))):
                reasons_here.append(f"{shared} of {len(asked)} words")
            if length(text) == length(query):
                reasons_here.append("same length")
        elif zipf >= FREQUENT:
            reasons_here.append("frequent word")
        if hubs is not None and hubs.is_hub(item):
            reasons_here.append(f"hub: near {hubs.counts[item]:,} of {hubs.queries:,} queries")
        out.append(tuple(reasons_here))
    return out
