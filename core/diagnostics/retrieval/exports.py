"""Files for other tools: a run's top documents as a TREC run, and hard negatives to train on."""

from __future__ import annotations

import json

from core.datasets.kinds.retrieval import RetrievalDataset
from core.diagnostics.retrieval.outcomes import QueryTable, Side
from core.errors import InputError

TAG = "blindspot"


def trec_run(table: QueryTable, side: Side) -> bytes:
    """The top 100 of every query: query, ``Q0``, document, rank, score and tag in each line, separated by spaces.

    Equal scores are in the order of the file; ``trec_eval`` sorts them by the documents' ids.

    Raises:
        InputError: an id has white space.
    """
    lines = []
    for row, query in enumerate(table.about["query_id"].tolist()):
        for rank, (document, score) in enumerate(table.top(side, row), start=1):
            for name in (query, document):
                if len(name.split()) != 1:
                    raise InputError(f"the id '{name}' has white space", expected="ids without it, as a TREC run has")
            lines.append(f"{query} Q0 {document} {rank} {score:.6f} {TAG}\n")
    return "".join(lines).encode()


def hard_negatives(table: QueryTable, side: Side, dataset: RetrievalDataset) -> bytes:
    """Queries with the documents ranked above their first relevant one, as JSONL: ``query, positives, negatives``.

    Negatives are judged irrelevant or not judged at all, best first; queries without any, or without a relevant
    document, are left out. An unjudged document may be relevant: read before training.
    """
    texts = dict(zip(dataset.document_ids, dataset.document_texts, strict=True))
    lines = []
    for row, query in enumerate(table.about["query"].tolist()):
        relevant = [one.document for one in table.judged(side.run_id, row) if one.grade >= 1]
        above = []
        for document, _ in table.top(side, row):
            if document in relevant:
                break
            above.append(document)
        if relevant and above:
            found = {"query": query, "positives": relevant, "negatives": above}
            lines.append(json.dumps({k: v if k == "query" else [texts[i] for i in v] for k, v in found.items()}) + "\n")
    return "".join(lines).encode()
