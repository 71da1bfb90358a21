"""Kinds of query, and the scores on each: which queries are hard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.datasets.kinds import own_columns
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.encoders.rankings.bm25 import terms
from blindspot.numerics.statistics import groups as statistics
from blindspot.numerics.statistics.groups import SHARES, Group, Grouping, binned, by_value, up_to, whole
from blindspot.texts import is_negated, length
from blindspot.types import Bool, Float64, Int64

MEASURES = ("ndcg@10", "recall@100", "mrr@10", "hits@10")
UNIT = "queries"
NEGATED, PLAIN = "with a negation", "without a negation"


class Kind(StrEnum):
    """A way to group queries; the values are part of addresses."""

    LENGTH = "length"
    OVERLAP = "overlap"
    RARE = "rare words"
    RELEVANT = "relevant documents"
    NEGATION = "negation"


AXES = {
    Kind.LENGTH: "words in the query",
    Kind.OVERLAP: "share of the query's words that are in its relevant document",
    Kind.RARE: "documents with the rarest word of the query",
    Kind.RELEVANT: "relevant documents of the query",
    Kind.NEGATION: "query",
}
BINS = {
    Kind.LENGTH: up_to(3, 5, 10, 15, 20),
    Kind.OVERLAP: SHARES,
    Kind.RARE: whole(0, 1, 5, 10, 100, 1_000),
    Kind.RELEVANT: whole(1, 2, 5, 10),
}


@dataclass(frozen=True, eq=False)
class Features:
    """What decides the kind of each of q queries.

    Attributes:
        length: ``[q]``, words.
        overlap: ``[q]``, share of the query's distinct words that its relevant document has; with several, the highest
            share. NaN without a relevant document or without words.
        rarest: ``[q]``, number of documents that have the query's rarest word; NaN without words.
        relevant: ``[q]``, number of relevant documents.
        negated: ``[q] bool``.

    In overlap and rarest, words are the terms of keyword search (``bm25.terms``), without stop words.
    """

    length: Float64
    overlap: Float64
    rarest: Float64
    relevant: Float64
    negated: Bool

    @classmethod
    def of(cls, dataset: RetrievalDataset) -> Features:
        """Features of all queries of a dataset; its documents are split into words once."""
        asked = [frozenset(words) for words in terms(dataset.query_texts)]
        documents = [frozenset(words) for words in terms(dataset.document_texts)]
        wanted = frozenset[str]().union(*asked)
        holding = Counter(word for words in documents for word in words & wanted)
        overlap, rarest = np.full((2, len(asked)), np.nan)
        for query, words in enumerate(asked):
            if not words:
                continue
            rarest[query] = min(holding[word] for word in words)
            judged, grades = dataset.judgments_of(query)
            shares = [len(words & documents[i]) / len(words) for i in judged[grades >= 1].tolist()]
            if shares:
                overlap[query] = max(shares)
        texts = dataset.query_texts
        return cls(
            np.array([length(text) for text in texts], dtype=np.float64),
            overlap,
            rarest,
            dataset.relevant_counts.astype(np.float64),
            np.array([is_negated(text) for text in texts], dtype=np.bool_),
        )


def grouping(kind: Kind, features: Features, numbers: Int64) -> Grouping:
    """Group queries, given by their numbers in the dataset ``[m]``."""
    axis = {"query": AXES[kind]}
    if kind is Kind.NEGATION:
        negated = features.negated[numbers]
        both = (Group("query", PLAIN, ~negated), Group("query", NEGATED, negated))
        return Grouping(axis, False, tuple(group for group in both if group.inside.any()))
    values = {
        Kind.LENGTH: features.length,
        Kind.OVERLAP: features.overlap,
        Kind.RARE: features.rarest,
        Kind.RELEVANT: features.relevant,
    }
    return Grouping(axis, True, binned("query", values[kind][numbers], BINS[kind]))


def grouping_by(
    by: str, user_columns: Mapping[str, OwnColumn], features: Callable[[], Features], numbers: Int64
) -> Grouping:
    """Group queries by an own column of their file or by a kind, which takes features."""
    if by in user_columns:
        return by_value("query", user_columns[by].name, user_columns[by].groups(numbers))
    return grouping(Kind(by), features(), numbers)


def choices_of(columns: Sequence[OwnColumn]) -> dict[str, OwnColumn]:
    """Own columns by the name that selects them beside the kinds."""
    return own_columns.choices_of(columns, list(map(str, Kind)))


def scores_by_kind(groups: Grouping, table: QueryTable, side: Side) -> list[dict[str, object]]:
    """Scores of a ranking on each group of the table's queries; see ``blindspot.numerics.statistics.groups.scores``."""
    values = {name: table.scores(side, name) for name in MEASURES}
    return statistics.scores(groups, values, table.known, UNIT)
