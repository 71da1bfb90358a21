"""Why an item may stand near a query: words that both have, the same length, a frequent word, a hub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.datasets.word_frequency import zipf_of
from core.numerics.neighbours.hubness import HUB
from core.numerics.neighbours.occurrences import k_occurrence
from core.numerics.similarity import Metric
from core.runs.embeddings import embedded_of, fitted_chain, items_of
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.texts import length, words
from core.types import Int64

# Hubs: items that stand among the nearest of many others. Reads cached embeddings; nothing is encoded.

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
    embedded = embedded_of(run, settings)
    items = items_of(run, embedded, repository)
    corpus = embedded.matrix[items] if run.plan.support_digest else embedded.matrix
    vectors = np.asarray(fitted_chain(run, settings, items).apply(corpus), dtype=np.float32)
    asked = np.intersect1d(queries, items)
    if len(asked) > MOST_QUERIES:
        asked = asked[np.linspace(0, len(asked) - 1, MOST_QUERIES).astype(np.int64)]
    k = min(K, len(items) - 1)
    found = k_occurrence(vectors, np.searchsorted(items, asked), k, Metric(run.plan.params["metric"]))
    counts = np.zeros(len(embedded.matrix), dtype=np.int64)
    counts[items] = found
    return Occurrences(counts, len(asked), float(found.mean()))


FREQUENT = 5.0  # Zipf: a hundred occurrences per million words


def reasons(
    query: str, item_nos: Sequence[int], texts: Sequence[str], *, of_words: bool, hubs: Occurrences | None
) -> list[tuple[str, ...]]:
    """Per item what speaks for it, in short phrases.

    Args:
        of_words: the dataset is one of words: frequency matters, shared words and length do not.
        hubs: None where they were not counted.
    """
    asked = frozenset(words(query))
    frequency = zipf_of(texts) if of_words else [0.0] * len(texts)
    out = []
    for item, text, zipf in zip(item_nos, texts, frequency, strict=True):
        found = []
        if not of_words:
            if shared := len(asked & frozenset(words(text))):
                found.append(f"{shared} of {len(asked)} words")
            if length(text) == length(query):
                found.append("same length")
        elif zipf >= FREQUENT:
            found.append("frequent word")
        if hubs is not None and hubs.is_hub(item):
            found.append(f"hub: near {hubs.counts[item]:,} of {hubs.queries:,} queries")
        out.append(tuple(found))
    return out
