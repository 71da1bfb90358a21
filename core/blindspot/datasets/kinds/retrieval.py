"""Retrieval: queries, the documents to find, and judgments of relevance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.passages import Cut, Cutter
from blindspot.types import Bool, Int32, Int64, digest_of_strings

SHOWN = 3  # relevant documents of a query in a table
RELEVANT = 1  # the least grade of a relevant document, as for trec_eval


@dataclass(frozen=True)
class RetrievalCounts:
    """Counts of a retrieval dataset.

    Attributes:
        judgments: number of (query, document) with any grade.
        relevant: number of judgments of relevant documents.
        unanswered: queries without a relevant document: all their scores are 0.
        same_documents: documents with the same text as another one: they tie.
        grades: the different grades, lowest first.
    """

    queries: int
    documents: int
    judgments: int
    relevant: int
    unanswered: int
    same_documents: int
    grades: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RetrievalDataset(Dataset):
    """Queries, documents and graded judgments; a row is a query.

    ``items`` are the distinct texts, the queries' first; a document's text is its title, a space and its text.
    Documents with the same text share an item, and so do a query and a document.

    Attributes:
        query_ids: as the files have them, distinct.
        queries: ``[q] int32``, index into ``items`` of each query's text.
        document_ids: distinct.
        documents: ``[d] int32``, index into ``items`` of each document's text.
        titles: ``d`` titles, "" for a document without one.
        offsets: ``[q + 1] int32``: the judgments of query ``i`` are those from ``offsets[i]`` to before
            ``offsets[i + 1]``.
        judged: ``[j] int32``, index into ``documents`` of each judgment's document; ascending within a query.
        grades: ``[j] int32``; a document is relevant if its grade is at least ``RELEVANT``.
        cutter: for a model that reads passages; not part of the content, which stays whole.
    """

    query_ids: tuple[str, ...]
    queries: Int32
    document_ids: tuple[str, ...]
    documents: Int32
    titles: tuple[str, ...]
    offsets: Int32
    judged: Int32
    grades: Int32
    cutter: Cutter | None = field(default=None, kw_only=True)

    kind = DatasetKind.RETRIEVAL
    headings = ("query", "text", "relevant", "relevant documents")
    lacks = (
        "no query of '{id}' can be answered: {covered:,} of its {items:,} texts have a vector from {whose}, and no "
        "query has one together with all of its relevant documents",
        "an encoder that knows the dataset's texts",
    )
    counted = "queries"
    stored_as = "retrieval"
    item_columns = ("queries",)

    @property
    def content_parts(self) -> list[str]:
        arrays = [self.queries, self.documents, self.offsets, self.judged, self.grades]
        return self._parts(arrays, *self.query_ids, *self.document_ids)

    def rows_in_any_order(self) -> Iterable[Sequence[object]]:
        """Without ids, which a single file gives by order; but each query says whether it has itself as a document."""
        titled = [(title, text) for title, text in zip(self.titles, self.document_texts, strict=True)]
        yield from (("document", *each) for each in titled)
        of_id = {name: number for number, name in enumerate(self.document_ids)}
        for query, (name, text) in enumerate(zip(self.query_ids, self.query_texts, strict=True)):
            judged, grades = self.judgments_of(query)
            rows = sorted((*titled[d], int(g)) for d, g in zip(judged.tolist(), grades.tolist(), strict=True))
            number = of_id.get(name)
            yield "query", text, number is not None and self.document_texts[number] == text, *chain.from_iterable(rows)

    def in_passages(self, cutter: Cutter) -> RetrievalDataset:
        """The same dataset for a model that reads passages."""
        dataset = replace(self, cutter=cutter)
        vars(dataset).update(texts_digest=self.texts_digest, content_digest=self.content_digest)
        return dataset

    @property
    def whole(self) -> RetrievalDataset:
        return replace(self, cutter=None) if self.cutter else self

    @cached_property
    def cut(self) -> Cut | None:
        """Passages of the documents, if it has a cutter."""
        if self.cutter is None:
            return None
        return Cut.of(self.query_texts, self.document_texts, self.titles, self.cutter)

    @property
    def encoded(self) -> tuple[str, ...]:
        return self.cut.texts if self.cut else self.items

    @cached_property
    def encoded_digest(self) -> str:
        """Digest of ``encoded``; for cut documents it is computed without cutting them."""
        if self.cutter is None:
            return self.texts_digest
        places = np.concatenate([self.queries, [-1], self.documents]).astype(np.int32).tobytes().hex()
        return digest_of_strings([self.texts_digest, places, *self.titles, self.cutter.digest])

    @cached_property
    def query_texts(self) -> tuple[str, ...]:
        """A text per query."""
        return tuple(self.items[i] for i in self.queries.tolist())

    @cached_property
    def asking(self) -> Int64:
        return np.unique(self.queries).astype(np.int64)

    @cached_property
    def candidates(self) -> Int64:
        """The documents' numbers, since nobody searches for a query."""
        return np.unique(self.documents).astype(np.int64)

    @property
    def rows_that_ask(self) -> Int64:
        """``[q] int64``, ascending: numbers of the queries among the texts that are ``encoded``."""
        return np.unique(self.cut.queries).astype(np.int64) if self.cut else self.asking

    @cached_property
    def document_texts(self) -> tuple[str, ...]:
        """A text per document, its title included."""
        return tuple(self.items[i] for i in self.documents.tolist())

    @cached_property
    def judged_queries(self) -> Int32:
        """Number of the query of each judgment, ``[j] int32``, ascending."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def relevant(self) -> Bool:
        """Whether each judgment is of a relevant document, ``[j] bool``."""
        return np.asarray(self.grades >= RELEVANT)

    @cached_property
    def relevant_counts(self) -> Int64:
        """How many relevant documents each query has, ``[q] int64``."""
        return np.bincount(self.judged_queries[self.relevant], minlength=len(self.queries)).astype(np.int64)

    def judgments_of(self, query: int) -> tuple[Int32, Int32]:
        """Numbers of the documents judged for a query, ascending, and their grades."""
        start, stop = self.offsets[query : query + 2]
        return self.judged[start:stop], self.grades[start:stop]

    @cached_property
    def counts(self) -> RetrievalCounts:
        shared = np.bincount(self.documents)
        return RetrievalCounts(
            queries=len(self.queries),
            documents=len(self.documents),
            judgments=len(self.judged),
            relevant=int(self.relevant.sum()),
            unanswered=int((self.relevant_counts == 0).sum()),
            same_documents=int((shared[self.documents] > 1).sum()),
            grades=tuple(np.unique(self.grades).tolist()),
        )

    def _complete(self, covered: Bool) -> Bool:
        """A query is complete if it and all its relevant documents have a vector: otherwise the best possible score
        would differ between encoders."""
        complete = covered[self.queries]
        lost = self.relevant & ~covered[self.documents[self.judged]]
        complete[self.judged_queries[lost]] = False
        return complete

    def _reduced(self, items: tuple[str, ...], covered: Bool, rows: Int64, numbers: Int32) -> RetrievalDataset:
        kept_documents = covered[self.documents]
        new_documents = np.cumsum(kept_documents, dtype=np.int32) - np.int32(1)
        kept_queries = np.zeros(len(self.queries), dtype=np.bool_)
        kept_queries[rows] = True
        kept = kept_queries[self.judged_queries] & kept_documents[self.judged]
        per_query = np.bincount(self.judged_queries[kept], minlength=len(self.queries))[rows]
        left = np.flatnonzero(kept_documents).tolist()
        return replace(
            self,
            items=items,
            own_columns=tuple(column.part(rows) for column in self.own_columns),
            query_ids=tuple(self.query_ids[i] for i in rows.tolist()),
            queries=numbers[self.queries[rows]],
            document_ids=tuple(self.document_ids[i] for i in left),
            documents=numbers[self.documents[kept_documents]],
            titles=tuple(self.titles[i] for i in left),
            offsets=np.concatenate([[0], np.cumsum(per_query)]).astype(np.int32),
            judged=new_documents[self.judged[kept]],
            grades=self.grades[kept],
        )

    def rows(self, start: int, stop: int) -> Sequence[tuple[str, str, int, str]]:
        """Id, text, the number of relevant documents, and the ids of the first ones."""
        return [
            (
                self.query_ids[n],
                self.items[self.queries[n]],
                int(self.relevant_counts[n]),
                self._first_relevant(n),
            )
            for n in range(start, min(stop, len(self.queries)))
        ]

    def _first_relevant(self, query: int) -> str:
        judged, grades = self.judgments_of(query)
        relevant = [self.document_ids[i] for i in judged[grades >= RELEVANT].tolist()]
        return ", ".join(relevant[:SHOWN]) + (", ..." if len(relevant) > SHOWN else "")

    def stored_rows(self) -> dict[str, Any]:
        return {
            "item_no": np.arange(len(self.queries), dtype=np.int32),
            "query_id": pa.array(self.query_ids, pa.string()),
            "query_no": self.queries,
        }

    def related(self, item: int) -> dict[int, str]:
        """Relevant documents of the queries with the item's text."""
        mine = np.isin(self.judged_queries, np.flatnonzero(self.queries == item)) & self.relevant
        documents = np.unique(self.documents[self.judged[mine]])
        return {int(document): "relevant" for document in documents if document != item}

    @classmethod
    def size(cls, rows: int, subsets: int, texts: int) -> str:  # noqa: ARG003 - of minimal pairs
        return f"{rows:,} queries, {texts:,} texts"
