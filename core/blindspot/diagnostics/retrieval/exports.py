"""Files from a stored ranking: hard negatives and triplets to train with, and TREC's run for other tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pandas as pd

from blindspot.datasets import fetch
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.errors import InputError
from blindspot.numerics.ranking.judged import TOP
from blindspot.numerics.ranking.problem import TAU
from blindspot.runs.training_data.examples import Triplet
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

MOST = 5  # hard negatives per query
TEXTS = ("query", "positive", "negative")
IDS = ("query_id", "positive_id", "negative_id")
_SPACE = re.compile(r"\s")


def outranking(top: Sequence[tuple[str, float]], relevant: Collection[str]) -> list[tuple[str, float]]:
    """The documents of a top list that score higher than the first relevant one, best first; none of them is relevant.

    Without a relevant document in the list: all documents if the list is not full, since it then has all that were
    found; if it is full, those that score higher than the last. A tied document does not outrank.
    """
    if not top or not relevant:
        return []
    last = top[-1][1] if len(top) >= TOP else -np.inf
    threshold = next((score for document, score in top if document in relevant), last)
    return [(document, score) for document, score in top if score > threshold]


def hard_negatives(table: QueryTable, side: Side, dataset: RetrievalDataset, most: int = MOST) -> pd.DataFrame:
    """Each query's unjudged or irrelevant documents above the first relevant one, at most ``most``, the highest first.

    Queries without a relevant document, or with one at the top, have no rows.

    Returns:
        A row per negative: the texts of ``TEXTS``, the ids of ``IDS``, ``positive_rank`` (of the best relevant
        document; None below the stored 100), ``negative_rank``, and whether the negative is ``judged`` irrelevant.

    Raises:
        InputError: the dataset lacks a document of the run.
    """
    numbers = {document: number for number, document in enumerate(dataset.document_ids)}

    def text(document: str) -> str:
        if document not in numbers:
            raise InputError(
                f"the dataset '{dataset.id}' no longer has document '{document}'", remedy="run the model on it again"
            )
        return dataset.document_texts[numbers[document]]

    out = []
    for row, (query_id, query) in enumerate(zip(table.about["query_id"], table.about["query"], strict=True)):
        grades = {judgment.document: judgment.grade for judgment in table.judged(side.run_id, row)}
        relevant = [document for document, grade in grades.items() if grade >= RELEVANT]
        top = table.top(side, row)
        if not (above := outranking(top, relevant)):
            continue
        ranks = {document: rank for rank, (document, _) in enumerate(top, start=1)}
        positive = min(relevant, key=lambda document: (ranks.get(document, np.inf), -grades[document]))
        out += [
            (query, text(positive), text(negative), query_id, positive, negative, ranks.get(positive), ranks[negative],
             negative in grades)
            for negative, _ in above[:most]
        ]  # fmt: skip
    table_of_negatives = pd.DataFrame(out, columns=[*TEXTS, *IDS, "positive_rank", "negative_rank", "judged"])
    return table_of_negatives.astype({"positive_rank": "Int64", "negative_rank": "int64", "judged": "bool"})


def triplets(
    run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
) -> Iterator[Triplet]:
    """Queries, their best relevant document, and others that score higher, or lower by at most ``margin``.

    Only the first 100 documents are stored. If all relevant ones are below them, their score is taken to be that of the
    last stored document, its upper limit. See ``Diagnostic.triplets``.

    Raises:
        InputError: the dataset lacks a document of the run.
    """
    entry = find_diagnostic(run.plan.diagnostic).at_version(run.plan.diagnostic_version)
    table, side = query_table(entry, [run.run_id], repository), Side(run.run_id)
    dataset = fetch.load(run.plan.dataset.entry(), settings)
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{run.plan.dataset} is no retrieval dataset")
    text = dict(zip(dataset.document_ids, dataset.document_texts, strict=True))
    for row, query in enumerate(table.about["query"]):
        grades = {judgment.document: judgment.grade for judgment in table.judged(run.run_id, row)}
        relevant = [document for document, grade in grades.items() if grade >= RELEVANT]
        top = table.top(side, row)
        if not top or not relevant:
            continue
        score = dict(top)
        positive = max(relevant, key=lambda document: (score.get(document, -np.inf), grades[document]))
        reached = score.get(positive, top[-1][1])
        others = [(document, value) for document, value in top if document not in relevant]
        above = [(document, reached - value) for document, value in others if reached - value <= margin + TAU]
        for negative, lead in above[:most]:
            if missing := {negative, positive} - set(text):
                raise InputError(
                    f"the dataset '{dataset.id}' no longer has document '{missing.pop()}'",
                    remedy="run the model on it again",
                )
            kind = "irrelevant" if negative in grades else "unjudged"
            yield Triplet(query, text[positive], text[negative], kind, lead)


def trec_run(table: QueryTable, side: Side, tag: str) -> str:
    """A ranking as TREC's run, the first 100 documents that each query finds: query id, Q0, document id, rank, score,
    tag.

    Args:
        tag: names the run; its spaces become hyphens.

    Raises:
        InputError: an id has white space, which TREC's format cannot hold.
    """
    name = _SPACE.sub("-", tag.strip()) or "run"
    lines = []
    for row, query in enumerate(table.about["query_id"]):
        for rank, (document, score) in enumerate(table.top(side, row), start=1):
            for what, value in (("query", query), ("document", document)):
                if not value or _SPACE.search(value):
                    raise InputError(
                        f"the id of {what} '{value}' has white space", expected="ids without it in a TREC run"
                    )
            lines.append(f"{query} Q0 {document} {rank} {_decimals(score)} {name}\n")
    return "".join(lines)


def _decimals(score: float) -> str:
    """A score with six decimals, or with more if it has more, as in a fusion."""
    return f"{score:.6f}" if score == round(score, 6) else repr(score)
