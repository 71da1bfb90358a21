"""Queries with the scores of several runs, and the documents that each ranked first."""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from blindspot.datasets.kinds.retrieval import RELEVANT
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.retrieval.definition import BM25, SHOWN, column_of
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.resampling import components
from blindspot.store.repository import Repository
from blindspot.texts import near_duplicate_key
from blindspot.types import Float64, Int64


@dataclass(frozen=True)
class Side:
    """A ranking to compare: a run's, or the keyword search beside it (``is_bm25``)."""

    run_id: str
    is_bm25: bool = False

    def column(self, score: str) -> str:
        return column_of(f"{BM25}{score}" if self.is_bm25 else score)

    @property
    def top(self) -> str:
        """The column with its top documents."""
        return "bm25_top" if self.is_bm25 else "top"

    def found(self, top: str) -> list[tuple[str, float]]:
        """Ids and scores in a stored list.

        Keyword search does not find a document that shares no word with the query: its score is 0.
        """
        listed: list[tuple[str, float]] = [(document, score) for document, score, *_ in json.loads(top)]
        return [document for document in listed if document[1] > 0] if self.is_bm25 else listed


@dataclass(frozen=True, eq=False)
class Unjudged:
    """Documents in top tens that nobody judged: ``counts [m]`` by query, out of ``shown`` documents for all queries."""

    counts: Int64
    shown: int

    @property
    def share(self) -> float:
        return float(self.counts.sum() / self.shown) if self.shown else 0.0


@dataclass(frozen=True)
class Judgment:
    """A judged document of a query; ``greater`` documents are above it, None if it is not retrieved, ``ties`` tied."""

    document: str
    grade: int
    greater: int | None
    ties: int

    @property
    def rank(self) -> int | None:
        """From 1, the best of a tie; None if it is not retrieved."""
        return None if self.greater is None else self.greater + 1


@dataclass(frozen=True, eq=False)
class QueryTable:
    """Queries that all of some runs evaluated among the same documents.

    Attributes:
        about: columns ``item_no`` (number of the query in the dataset), ``query_id``, ``query``, ``relevant``; a row
            per query.
        rows: by run id the stored columns, in the order of ``about``.
    """

    about: pd.DataFrame
    rows: Mapping[str, pd.DataFrame]

    def __len__(self) -> int:
        return len(self.about)

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(self.rows)

    @property
    def numbers(self) -> Int64:
        return self.about["item_no"].to_numpy(dtype=np.int64)

    def scores(self, side: Side, score: str) -> Float64:
        """A score of every query, ``[m]``."""
        return self.rows[side.run_id][side.column(score)].to_numpy(dtype=np.float64)

    @cached_property
    def known(self) -> Dependence:
        """What is independent: groups of queries, as ``groups`` makes them."""
        first = next(iter(self.rows.values()))
        relevant = [
            [document for document, grade, *_ in json.loads(text) if grade >= RELEVANT]
            for text in first["judged"].tolist()
        ]
        return Dependence.of_groups(groups(self.about["query"].tolist(), relevant), Unit.QUERIES)

    def top(self, side: Side, row: int) -> list[tuple[str, float]]:
        """Ids and scores of the first 100 documents that a query finds, best first."""
        return side.found(self.rows[side.run_id][side.top].iloc[row])

    def spans(self, side: Side, row: int) -> dict[str, tuple[int, int]]:
        """The span of each top document's best passage, by id; empty for models that read documents whole."""
        listed = [] if side.is_bm25 else json.loads(self.rows[side.run_id][side.top].iloc[row])
        return {document: (span[0], span[1]) for document, _, *span in listed if span}

    def judged(self, run_id: str, row: int) -> list[Judgment]:
        """The judged documents of a query, with their places in a run."""
        return [Judgment(*judgment) for judgment in json.loads(self.rows[run_id]["judged"].iloc[row])]

    def in_top_ten(self, side: Side) -> list[frozenset[str]]:
        """Ids of each query's top ten."""
        return [
            frozenset(document for document, _ in side.found(top)[:SHOWN])
            for top in self.rows[side.run_id][side.top].tolist()
        ]

    def unjudged(self, side: Side) -> Unjudged:
        """Documents in the top tens that nobody judged."""
        tops = self.in_top_ten(side)
        judged = [{document for document, *_ in json.loads(text)} for text in self.rows[side.run_id]["judged"].tolist()]
        counts = [len(top - judged) for top, judged in zip(tops, judged, strict=True)]
        return Unjudged(np.array(counts, dtype=np.int64), sum(map(len, tops)))


def groups(queries: Sequence[str], relevant: Sequence[Iterable[str]]) -> Int64:
    """A number per query, ``[m]``, shared by queries that depend on each other: near-duplicates, and queries with
    exactly the same relevant documents, which ask for one thing in several ways.

    All statistics over queries use these groups: a document that a model misplaces affects all queries for it.
    """
    keys = [near_duplicate_key(text) or text for text in queries]
    # A query without relevant documents has a set of its own.
    sets = [(frozenset(documents) or number) for number, documents in enumerate(relevant)]
    texts, wanted = (np.fromiter(_places(of), dtype=np.int64) for of in (keys, sets))
    return components(texts, len(queries) + wanted)


def _places(values: Iterable[Hashable]) -> Iterator[int]:
    """A number from 0 for each value, the same for equal ones."""
    numbers: dict[Hashable, int] = {}
    return (numbers.setdefault(value, len(numbers)) for value in values)


def query_table(entry: Diagnostic, run_ids: Sequence[str], repository: Repository) -> QueryTable:
    """The stored queries of runs over one dataset.

    Raises:
        InputError: the runs did not evaluate the same queries.
    """
    stored = repository.items(entry, run_ids, texts=True)
    rows = {run_id: stored[stored["run_id"] == run_id].reset_index(drop=True) for run_id in run_ids}
    first, *others = rows.values()
    if any(not np.array_equal(first["item_no"], other["item_no"]) for other in others):
        raise InputError(
            "the runs evaluated different queries, since their encoders cover different texts",
            expected="runs over the same texts",
            remedy="run these encoders together, with --support common",
        )
    return QueryTable(first[["item_no", "query_id", "query", "relevant"]], rows)


@dataclass(frozen=True)
class Lost:
    """Relevant documents that B lost from A's top ten, and found anew.

    Attributes:
        losing, gaining: number of queries with such a document.
        overlap: mean share of documents that the top tens have in common; a share of the longer list where keyword
            search finds fewer than ten.
        first: number of queries with another first document.
    """

    losing: int
    gaining: int
    overlap: float
    first: int


def lost(table: QueryTable, a: Side, b: Side) -> Lost:
    """The changes that a searcher sees after a switch from A to B."""
    hits_a, other = table.in_top_ten(a), table.in_top_ten(b)
    judged = table.rows[a.run_id]["judged"].tolist()
    relevant = [{document for document, grade, *_ in json.loads(text) if grade >= 1} for text in judged]
    firsts = [
        np.array([next(iter(side.found(top)), ("",))[0] for top in table.rows[side.run_id][side.top]], dtype=object)
        for side in (a, b)
    ]
    return Lost(
        sum(bool((x - y) & z) for x, y, z in zip(hits_a, other, relevant, strict=True)),
        sum(bool((y - x) & z) for x, y, z in zip(hits_a, other, relevant, strict=True)),
        float(np.mean([_shared(x, y) for x, y in zip(hits_a, other, strict=True)])),
        int((firsts[0] != firsts[1]).sum()),
    )


def _shared(texts: Collection[str], other: Collection[str]) -> float:
    longer = max(len(texts), len(other))
    return len(set(texts) & set(other)) / longer if longer else 1.0


def became(table: QueryTable, a: Side, b: Side) -> Outcomes:
    """Who wins each query, by nDCG@10; A is right if a relevant document is more likely than not in its top ten."""
    gain = table.scores(a, "ndcg@10") - table.scores(b, "ndcg@10")
    return Outcomes.of_gains(gain, table.scores(a, "hits@10") > 0.5)
