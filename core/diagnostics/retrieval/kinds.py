"""Kinds of queries: by length, relevant documents, words shared with them, and negation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.datasets.kinds.retrieval import RetrievalDataset
from core.diagnostics.retrieval.outcomes import QueryTable
from core.texts import is_negated, words
from core.types import Bool

Kinds = Mapping[str, Mapping[str, Bool]]
FEWEST = 5  # queries of a kind


def kinds_of(table: QueryTable, dataset: RetrievalDataset) -> Kinds:
    """By way to group queries, the names of the groups and which queries are in each, ``[m] bool``.

    Ways with fewer than two groups of ``FEWEST`` queries are left out, and so are smaller groups. Shared words are the
    share of the query's different words that occur in the relevant document that has most of them.
    """
    queries = table.about["query"].tolist()
    length = np.array([len(words(text)) for text in queries])
    relevant = table.about["relevant"].to_numpy()
    negated = np.array([is_negated(text) for text in queries], dtype=np.bool_)
    shared = _shared(table, dataset)
    ways: dict[str, dict[str, Bool]] = {
        "words of the query": {
            "1 to 4 words": length <= 4,
            "5 to 9 words": (length > 4) & (length < 10),
            "10 words or more": length >= 10,
        },
        "relevant documents": {
            "1 relevant document": relevant == 1,
            "2 to 5": (relevant > 1) & (relevant < 6),
            "6 or more": relevant > 5,
        },
        "words shared with a relevant document": {
            "under a third shared": shared < 1 / 3,
            "a third to two thirds": (shared >= 1 / 3) & (shared < 2 / 3),
            "two thirds or more": shared >= 2 / 3,
        },
        "negation": {"without a negation": ~negated, "with a negation": negated},
    }
    out = {}
    for way, found in ways.items():
        large = {name: mask for name, mask in found.items() if np.count_nonzero(mask) >= FEWEST}
        if len(large) > 1:
            out[way] = large
    return out


def _shared(table: QueryTable, dataset: RetrievalDataset) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Share of each query's words in the relevant document that has most of them; NaN without a relevant one."""
    numbers = {document: number for number, document in enumerate(dataset.document_ids)}
    out = np.full(len(table), np.nan)
    run_id = table.run_ids[0]
    for row, query in enumerate(table.about["query"].tolist()):
        asked = set(words(query))
        relevant = [one.document for one in table.judged(run_id, row) if one.grade >= 1 and one.document in numbers]
        shares = [
            len(asked & set(words(dataset.document_texts[numbers[document]]))) / len(asked)
            for document in relevant
            if asked
        ]
        out[row] = max(shares, default=np.nan)
    return out
