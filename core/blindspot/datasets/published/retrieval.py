"""Retrieval datasets from their published files; ``DataCorrupt`` for a line of another form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.published.text_lines import filled, lines, parsed
from blindspot.errors import DataCorrupt

_MARKS = {".T", ".A", ".B", ".W"}  # of Cranfield's fields


class Query(NamedTuple):
    """A query: id and text."""

    id: str
    text: str


class Document(NamedTuple):
    """A document: id, title ("" for none) and text."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """What encoders read: title and text with a space between, as in BEIR."""
        return f"{self.title} {self.text}".strip()


class Judgment(NamedTuple):
    """A grade of a document for a query, by their numbers."""

    query: int
    document: int
    grade: int


def retrieval_dataset(
    dataset_id: str,
    queries: Sequence[Query],
    documents: Sequence[Document],
    judgments: Iterable[Judgment],
    own_columns: tuple[OwnColumn, ...] = (),
) -> RetrievalDataset:
    """Queries and documents in their order; if a pair is judged twice, the last grade counts."""
    number: dict[str, int] = {}
    query_items = [number.setdefault(query.text, len(number)) for query in queries]
    document_items = [number.setdefault(document.whole, len(number)) for document in documents]
    grade_of = {(query, document): grade for query, document, grade in judgments}
    ordered = np.array([(*pair, grade) for pair, grade in sorted(grade_of.items())], dtype=np.int32).reshape(-1, 3)
    per_query = np.bincount(ordered[:, 0], minlength=len(queries))
    return RetrievalDataset(
        id=dataset_id,
        items=tuple(number),
        own_columns=own_columns,
        query_ids=tuple(query.id for query in queries),
        queries=np.array(query_items, dtype=np.int32),
        document_ids=tuple(document.id for document in documents),
        documents=np.array(document_items, dtype=np.int32),
        titles=tuple(document.title for document in documents),
        offsets=np.concatenate([[0], np.cumsum(per_query)]).astype(np.int32),
        judged=np.ascontiguousarray(ordered[:, 1]),
        grades=np.ascontiguousarray(ordered[:, 2]),
    )


def limit(dataset_id: str, corpus: Path, asked: Path, qrels: Path) -> RetrievalDataset:
    """LIMIT: BEIR's files, with the judgments as JSON lines."""
    documents = _documents(corpus)

    def query(line: str) -> Query:
        row = json.loads(line)
        return Query(row["_id"], filled(row["text"]))

    queries = parsed(asked, lines(asked), query, "an object with _id and text")
    of_query, of_document = numbers(queries), numbers(documents)

    def judgment(line: str) -> Judgment:
        row = json.loads(line)
        return Judgment(of_query[row["query-id"]], of_document[row["corpus-id"]], int(row["score"]))

    judgments = parsed(qrels, lines(qrels), judgment, "an object with query-id, corpus-id and score")
    return retrieval_dataset(dataset_id, queries, documents, judgments)


def cranfield(dataset_id: str, abstracts: Path, asked: Path, qrels: Path) -> RetrievalDataset:
    """Cranfield: records of fields that begin with ``.I`` (a number), ``.T`` (a title) and ``.W`` (a text).

    Judgments name a query by its place in the file, 1 to 225, not by its ``.I``. Descriptions disagree on which grade
    is the best: here 1 to 4 are relevant (1), -1 is not (0). Two documents, 471 and 995, have neither title nor text;
    they are left out, with their only judgment.
    """
    whole = [_cranfield_document(number, fields) for number, fields in _records(abstracts)]
    documents = [document for document in whole if document.whole]
    empty = {document.id for document in whole} - {document.id for document in documents}
    queries = [Query(str(n), one_line(fields["W"])) for n, (_, fields) in enumerate(_records(asked), 1)]
    of_query, of_document = numbers(queries), numbers(documents) | dict.fromkeys(empty, -1)

    def parse(line: str) -> Judgment:
        query, document, grade = line.split()
        return Judgment(of_query[query], of_document[document], int(int(grade) > 0))

    judgments = parsed(qrels, lines(qrels), parse, "numbers of a query and a document, and a grade")
    return retrieval_dataset(
        dataset_id, queries, documents, [judgment for judgment in judgments if judgment.document >= 0]
    )


def _cranfield_document(number: str, fields: Mapping[str, str]) -> Document:
    """A document; its text repeats the title, so the repetition is left out."""
    title, text = (one_line(fields.get(field, "")) for field in "TW")
    return Document(number, title, text.removeprefix(title).strip())


def _records(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Numbers and fields of a file's records; all that follows ``.W`` is text, even if it contains field marks."""
    out: list[tuple[str, dict[str, str]]] = []
    field = ""
    for number, line in lines(path):
        mark = line.rstrip()
        if mark.startswith(".I "):
            out.append((mark.removeprefix(".I ").strip(), {}))
            field = ""
        elif not out:
            raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected=".I and a number")
        elif mark in _MARKS:
            field = field if field == "W" else mark[1]
        else:
            fields = out[-1][1]
            fields[field] = f"{fields.get(field, '')}\n{line}"
    return out


def _documents(path: Path) -> list[Document]:
    """BEIR's ``corpus.jsonl``."""

    def parse(line: str) -> Document:
        row = json.loads(line)
        return Document(row["_id"], row.get("title", ""), filled(row["text"]))

    return parsed(path, lines(path), parse, "an object with _id and text")


def numbers(things: Sequence[Query | Document]) -> dict[str, int]:
    """The place of each query or document, by its id."""
    return {thing.id: number for number, thing in enumerate(things)}


def one_line(text: str) -> str:
    """A text with single spaces only."""
    return " ".join(text.split())
