"""A small retrieval dataset with every oddity, and its scores by trec_eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pytrec_eval

from blindspot.datasets.kinds.retrieval import RetrievalDataset

NAME = "toy-retrieval"
TREC = {
    "ndcg@10": "ndcg_cut_10",
    "ndcg@100": "ndcg_cut_100",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "mrr": "recip_rank",
    "map": "map",
    "p@10": "P_10",
    "hits@1": "success_1",
    "hits@3": "success_3",
    "hits@5": "success_5",
    "hits@10": "success_10",
}
THINGS = (
    "apple",
    "boat",
    "castle",
    "desk",
    "engine",
    "forest",
    "garden",
    "harbor",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "mirror",
    "needle",
)


def dataset() -> RetrievalDataset:
    """Sixteen queries and their documents.

    Ids that sort otherwise as strings than as numbers, documents of the same text, a query with the text of a document,
    near-duplicate queries, a negative grade, a query without relevant documents, and one without judgments.
    """
    documents = [f"The {a} stands near the {b}." for a in THINGS for b in THINGS if a != b and hash_of(a, b) % 3 == 0]
    documents += [documents[0], documents[1]]
    queries = [f"Where is the {thing}?" for thing in THINGS] + ["where is the apple", documents[2]]
    judged: list[dict[int, int]] = []
    for number, query in enumerate(queries):
        words = set(query.lower().strip("?.").split())
        grades = {}
        for place, text in enumerate(documents):
            shared = words & set(text.lower().strip(".").split()) & set(THINGS)
            if shared:
                grades[place] = 2 if next(iter(shared)) in text.split()[1] else 1
            elif hash_of(query, text) % 7 == 0:
                grades[place] = -1 if place % 2 else 0
        judged.append(grades)
        if number == 8:
            judged[-1] = dict.fromkeys(grades, 0)
        if number == 9:
            judged[-1] = {}
    return made(NAME, queries, documents, judged)


def hash_of(*words: str) -> int:
    return sum(ord(letter) * (i + 1) for i, letter in enumerate("".join(words)))


def made(
    name: str, queries: Sequence[str], documents: Sequence[str], judged: Sequence[Mapping[int, int]]
) -> RetrievalDataset:
    """A dataset from texts, and grades by number of document for every query."""
    items = tuple(dict.fromkeys([*queries, *documents]))
    number = {text: i for i, text in enumerate(items)}
    return RetrievalDataset(
        id=name,
        items=items,
        query_ids=tuple(f"q{i}" for i in range(len(queries))),
        queries=np.array([number[text] for text in queries], dtype=np.int32),
        document_ids=tuple(f"d{i}" for i in range(len(documents))),
        documents=np.array([number[text] for text in documents], dtype=np.int32),
        titles=("",) * len(documents),
        offsets=np.array([0, *accumulate(len(grades) for grades in judged)], dtype=np.int32),
        judged=np.array([place for grades in judged for place in sorted(grades)], dtype=np.int32),
        grades=np.array([grades[place] for grades in judged for place in sorted(grades)], dtype=np.int32),
    )


def by_trec_eval(data: RetrievalDataset, scores: Any, *, only_judged: bool = False) -> dict[str, dict[int, float]]:
    """Our names of the scores, and by number of the query what trec_eval gives for ``scores [q, n]``.

    Args:
        only_judged: without unjudged documents in the run (condensed lists).
    """
    qrels, run = {}, {}
    for q in range(len(data.queries)):
        places, grades = data.judgments_of(q)
        if len(places):
            qrels[str(q)] = {data.document_ids[d]: int(g) for d, g in zip(places, grades, strict=True)}
            known = places.tolist() if only_judged else range(len(data.document_ids))
            run[str(q)] = {data.document_ids[d]: float(scores[q, d]) for d in known}
    measures = {"ndcg_cut.10,100", "recall.10,100", "recip_rank", "map", "P.10", "success.1,3,5,10"}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    return {name: {int(q): found[q][theirs] for q in found} for name, theirs in TREC.items()}
