"""Queries and their documents in a user's file: a document per row, or lists of relevant and other documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self
from urllib.parse import quote

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset
from blindspot.datasets.user_data import guess, judged
from blindspot.datasets.user_data.columns import (
    CANDIDATES,
    DOCUMENT,
    MARK,
    MATCH,
    NEGATIVES,
    QUERY,
    RELEVANCE,
    TITLE,
    OwnFile,
    Picker,
    Role,
    UnclearColumns,
    check_text,
    first_named,
    is_blank,
    shortened,
    texts_of,
)
from blindspot.datasets.user_data.names import (
    ASKING_NAMES,
    DOCUMENT_NAMES,
    FOUND_NAMES,
    GRADE_NAMES,
    LIST_NAMES,
    NEGATIVE_NAMES,
    QUERY_NAMES,
    TITLE_NAMES,
    WEAK_GRADE_NAMES,
)
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable, Texts, number_in
from blindspot.texts import column_key, counted

HIGHEST = 1_000  # grade
_BY_NAME = "by its name"


@dataclass(frozen=True)
class OwnRetrieval(OwnFile):
    """A file of queries and documents.

    Queries with the same text are one query, and so are documents with the same title and text.

    Attributes:
        queries, documents: in the order in which they first appear; named q1, q2, ... and d1, d2, ...
        judgments: in the file's order, each (query, document) once.
    """

    queries: tuple[Query, ...]
    documents: tuple[Document, ...]
    judgments: tuple[Judgment, ...]

    kind = DatasetKind.RETRIEVAL
    title = "retrieval"
    form = "queries and documents (query and document, or query and positives)"
    about = (
        "a query and a document that is relevant to it, or a list of such documents (`positives`), for the page "
        "*Retrieval*. Every query ranks all documents of the file."
    )
    matched_by = "where columns are called `query` and `document`, or `query` and `positives` with lists of texts"
    counted = "queries"
    roles = (
        Role("query", QUERY, "the query"),
        Role("document", DOCUMENT, "a document for it"),
        Role("positives", DOCUMENT, "lists of relevant documents"),
        Role("negatives", NEGATIVES, "documents that are not relevant, or lists of them", repeats=True),
        Role("candidates", CANDIDATES, "lists of further documents, which nobody judged"),
        Role("title", TITLE, "the document's title"),
        Role("relevance", RELEVANCE, "the document's grade, 0 if it is not relevant"),
    )
    forms = (("query", "document"), ("query", "positives"))
    optional = ("negatives", "title", "relevance", "candidates")
    pickers = (
        (Picker(QUERY), Picker(DOCUMENT, "One document per row, or a list of relevant ones")),
        (
            Picker(TITLE, "Title of the document", optional=True),
            Picker(RELEVANCE, "Grade of the document: 0 is not relevant. Without it, all are relevant", optional=True),
            Picker(NEGATIVES, "Documents that are not relevant", optional=True),
            Picker(CANDIDATES, "Lists of further documents, which nobody judged", optional=True),
        ),
    )
    choose = "Choose the columns of the query and the document."

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        by_use = _guess(table)
        return QUERY in by_use and DOCUMENT in by_use and not _has_scores(table, by_use)

    @classmethod
    def uses_of(cls, table: FileTable, named: Sequence[tuple[str, str]]) -> dict[str, int]:
        others = super().uses_of(table, [use for use in named if use[0] != NEGATIVES])
        return others | _numbered([table.number(name) for role, name in named if role == NEGATIVES])

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        return tuple((role or NEGATIVES, name) for role, name in super().named)

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        by_use = _guess(table)
        marks = None if NEGATIVES in by_use else next(iter(judged.marks_in(table)), None)
        if (QUERY not in by_use or DOCUMENT not in by_use) and marks is not None:
            marks = judged.mark_in(table)
            pair = {use: number for number, (use, _) in OwnPairs.by_header(table).items()}
            by_use = {QUERY: pair[QUERY], DOCUMENT: pair[MATCH], RELEVANCE: pair[MARK]}
        if QUERY not in by_use or DOCUMENT not in by_use:
            raise UnclearColumns(
                f"{table.path} has no query and document: {table.shown_names}",
                expected="columns named query and document, or query and positives",
                remedy="if it has them, name them with --query-column and --document-column",
            )
        _check_ungraded(table, by_use)
        uses = {number: (use, _BY_NAME) for use, number in by_use.items()}
        if marks is not None and by_use.get(RELEVANCE) == marks.number:
            uses[marks.number] = (RELEVANCE, marks.why)
        return uses

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        """The columns that the header says, else those that would be a pair."""
        by_use = _guess(table)
        if QUERY in by_use and DOCUMENT in by_use:
            return by_use
        try:
            pair = {use: number for number, (use, _) in OwnPairs.by_header(table).items()}
        except InputError:
            return by_use
        return by_use | {QUERY: pair[QUERY], DOCUMENT: pair[MATCH]}

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        if RELEVANCE in numbers:
            table = judged.with_numbers(table, numbers[RELEVANCE])
        queries: dict[str, int] = {}
        documents: dict[tuple[str, str], int] = {}
        grades: dict[tuple[int, int], tuple[int, int]] = {}  # with the row
        for row, (text, judged_documents) in enumerate(
            zip(texts_of(table, numbers[QUERY]), _found(table, numbers), strict=True)
        ):
            query = queries.setdefault(text, len(queries))
            for title, document, grade in judged_documents:
                pair = query, documents.setdefault((title, document), len(documents))
                before, where = grades.setdefault(pair, (grade, row))
                if before != grade:
                    raise InputError(
                        f"{table.where(row)}: grade {grade} for a document that has {before} for the same query in "
                        f"{table.place(where)}",
                        expected="one grade for each query and document (positives have 1, negatives 0)",
                        remedy="remove one of the two",
                    )
        for row, cell in enumerate(table.cells[numbers[CANDIDATES]] if CANDIDATES in numbers else ()):
            if not _is_nothing(cell):
                for text in _texts(table, row, numbers[CANDIDATES]):
                    documents.setdefault(("", text), len(documents))
        if len(documents) < 2:
            raise InputError(f"{table.path} has {counted(len(documents), 'document')}", expected="at least 2 to rank")
        if not any(grade >= RELEVANT for grade, _ in grades.values()):
            raise InputError(f"{table.path} has no relevant document", expected=f"grades of {RELEVANT} or more")
        return (
            tuple(Query(f"q{n}", text) for n, text in enumerate(queries, 1)),
            tuple(Document(f"d{n}", title, text) for n, (title, text) in enumerate(documents, 1)),
            tuple(Judgment(*pair, grade) for pair, (grade, _) in grades.items()),
        )

    @classmethod
    def of(cls, table: FileTable, asked: Mapping[str, int] | None = None) -> Self:
        contents = super().of(table, asked)
        return replace(contents, remarks=(*contents.remarks, *about_grades(contents.judgments)))

    @property
    def rows(self) -> int:
        return len(self.queries)

    @cached_property
    def distinct_texts(self) -> int:
        return len({query.text for query in self.queries} | {document.whole for document in self.documents})

    @cached_property
    def _counts(self) -> str:
        return counts_in_words(self.dataset(self.path.name))

    @property
    def description(self) -> str:
        return "Queries and documents of your own: every query ranks all documents of the file."

    @property
    def summary(self) -> str:
        return f"{self.path.name}: retrieval: {self._columns_in_words(', ')}; {self._counts}"

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._counts.split("; "))

    def columns_as(self, kind: DatasetKind) -> str:
        grades = {judgment.grade for judgment in self.judgments}
        if kind is not DatasetKind.PAIR_SET or self.used[DOCUMENT].kind is not ColumnKind.TEXT:
            return ""
        if NEGATIVES in self.used or CANDIDATES in self.used or not grades <= {0, 1}:
            return ""
        roles = {"query": QUERY, "match": DOCUMENT, "mark": RELEVANCE}
        named = ((role, self.used[use].name) for role, use in roles.items() if use in self.used)
        return "&".join(f"{role}={quote(name, safe='')}" for role, name in named)

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {"documents": len(self.documents), "judgments": len(self.judgments)}

    def first_rows(self, n: int) -> Rows:
        return first_queries(self.queries, self.documents, self.judgments, n)

    def kept_rows(self) -> Iterator[Mapping[str, str | float | list[str]]]:
        judged = {judgment.document for judgment in self.judgments}
        further = [document.text for number, document in enumerate(self.documents) if number not in judged]
        for number, (query, document, grade) in enumerate(self.judgments):
            text, document_row = self.queries[query].text, self.documents[document]
            title = {"title": document_row.title} if document_row.title else {}
            more: dict[str, list[str]] = {"candidates": further} if further and not number else {}
            yield {"query": text, "document": document_row.text, **title, "relevance": grade, **more}

    def dataset(self, dataset_id: str) -> RetrievalDataset:
        return retrieval_dataset(dataset_id, self.queries, self.documents, self.judgments)


def first_queries(
    queries: Sequence[Query], documents: Sequence[Document], judgments: Sequence[Judgment], n: int
) -> Rows:
    """The first ``n`` queries, each with its number of relevant documents and the first ones."""
    of_query: dict[int, list[str]] = {number: [] for number in range(min(n, len(queries)))}
    for query, document, grade in judgments:
        if query in of_query and grade >= RELEVANT:
            of_query[query].append(documents[document].whole)
    cells = (
        (queries[q].text, len(documents_of), documents_of[0] if documents_of else "")
        for q, documents_of in of_query.items()
    )
    return Rows((QUERY, "relevant", "first relevant document"), tuple(cells))


def counts_in_words(dataset: RetrievalDataset) -> str:
    """Counts of a dataset, and what is unusual about them, separated by semicolons."""
    counts = dataset.counts
    parts = [
        f"{counted(counts.queries, 'query', 'queries')}, {counted(counts.documents, 'document')}",
        f"{counted(counts.judgments, 'judgment')}, {counts.relevant:,} of them of a relevant document",
    ]
    if counts.unanswered:
        parts.append(f"queries without a relevant document: {counts.unanswered:,}")
    if counts.same_documents:
        parts.append(f"documents with the text of another: {counts.same_documents:,}")
    return "; ".join(parts)


def about_grades(judgments: Iterable[Judgment]) -> tuple[str, ...]:
    """Remarks on grades if none says that a document is not relevant, such as grades from 1 to 5."""
    of_query: dict[int, list[int]] = {}
    for query, _, grade in judgments:
        of_query.setdefault(query, []).append(grade)
    low, high = (end(map(end, of_query.values())) for end in (min, max))
    if low < RELEVANT or low == high:
        return ()
    turn = f"where {low} is the best, write {low + high} minus the grade"
    if high > 2 and all(sorted(grades) == list(range(1, len(grades) + 1)) for grades in of_query.values()):
        return (
            f"the grades of each query are 1, 2, 3 and so on, as ranks are, and {high} is read as the best; {turn}",
        )
    return (
        f"grades are from {low} to {high} and none is 0: all documents that were graded are relevant, {high} most; "
        f"where {low} means that one is not, subtract {low} in the file; {turn}",
    )


def grade_of(cell: object, where: str) -> int:
    """A grade: a whole number, perhaps written as 1.0."""
    grade = None if is_blank(cell) or isinstance(cell, bool) else _whole(cell)
    if grade is None:
        problem = "nothing there" if is_blank(cell) else f"'{shortened(str(cell))}' is no grade"
        is_word = str(cell).replace(" ", "").isalpha()
        raise InputError(
            f"{where}: {problem}",
            expected="a whole number, 0 for a document that is not relevant",
            remedy="write a number instead of each word, higher for more relevant" if is_word else "",
        )
    if abs(grade) > HIGHEST:
        raise InputError(f"{where}: a grade of {grade:,}", expected=f"at most {HIGHEST:,}")
    return grade


def _whole(cell: object) -> int | None:
    try:
        value = number_in(str(cell))
        return int(value) if value.is_integer() else None
    except (ValueError, OverflowError):
        return None


# --- which columns


def _guess(table: FileTable) -> dict[str, int]:
    """The number of the column per use, if the column's name says the use."""
    keys = [column_key(name) for name in table.names]
    lists = (name for name in LIST_NAMES if name == LIST_NAMES[0] or _kind(table, keys, name) is ColumnKind.TEXTS)
    negatives = [
        number
        for number, key in enumerate(keys)
        if key in NEGATIVE_NAMES and keys.count(key) == 1 and table.kinds[number] is ColumnKind.TEXTS
    ] or [number for number in [first_named(keys, NEGATIVE_NAMES[:1])] if number is not None]
    by_use = {QUERY: first_named(keys, QUERY_NAMES)}
    if triplets := _triplets(table, keys):
        return triplets
    if (as_list := first_named(keys, lists)) is not None:
        by_use |= {
            DOCUMENT: as_list,
            **_numbered(negatives),
            CANDIDATES: _texts_named(table, keys, CANDIDATES),
        }
        if by_use[QUERY] is None:
            by_use[QUERY] = first_named(keys, ("question", "anchor", "userinput"))
    else:
        weak = (name for name in WEAK_GRADE_NAMES if keys.count(name) == 1 and _are_grades(table, keys.index(name)))
        by_use |= {
            DOCUMENT: first_named(keys, DOCUMENT_NAMES),
            TITLE: first_named(keys, TITLE_NAMES),
            CANDIDATES: _texts_named(table, keys, CANDIDATES),
            RELEVANCE: first_named(keys, (*GRADE_NAMES, *weak)),
        }
        if first_named(keys, GRADE_NAMES) is not None:
            by_use[QUERY] = first_named(keys, ASKING_NAMES)
            by_use[DOCUMENT] = first_named(keys, (*DOCUMENT_NAMES, *FOUND_NAMES))
        marks = judged.marks_in(table)
        if by_use[RELEVANCE] is None and len(marks) == 1:
            by_use[RELEVANCE] = marks[0].number
    return {use: number for use, number in by_use.items() if number is not None}


def _triplets(table: FileTable, keys: Sequence[str]) -> dict[str, int]:
    """A query, a positive and negatives in columns of texts, as in training data: anchor, positive, negative_1, ..."""
    query = first_named(keys, ("anchor", *QUERY_NAMES, "question"))
    positive = first_named(keys, ("positive", "pos", "match", "positivepassage", *DOCUMENT_NAMES))
    negatives = [
        number
        for number, key in enumerate(keys)
        if (_NEGATIVE.fullmatch(key) or key in NEGATIVE_NAMES)
        and table.kinds[number] in (ColumnKind.TEXT, ColumnKind.TEXTS)
    ]
    if query is None or positive is None or not negatives or table.kinds[positive] is not ColumnKind.TEXT:
        return {}
    title = first_named(keys, TITLE_NAMES)
    return {QUERY: query, DOCUMENT: positive, **({} if title is None else {TITLE: title}), **_numbered(negatives)}


_NEGATIVE = re.compile(r"(?:hard|random)?(?:neg|negative)s?(?:passage|document)?s?\d*")


def _check_ungraded(table: FileTable, columns: Mapping[str, int]) -> None:
    """Refuse to treat every document as relevant if a column may say how relevant it is."""
    if RELEVANCE in columns or NEGATIVES in columns or table.kinds[columns[DOCUMENT]] is ColumnKind.TEXTS:
        return
    besides = set(columns.values())
    verdicts, scores = ([n for n in of(table) if n not in besides] for of in (judged.verdicts_in, guess.scores))
    if not (unclear := [*verdicts, *scores]):
        return
    named = (
        f"query={quote(table.names[columns[QUERY]], safe='')}&document={quote(table.names[columns[DOCUMENT]], safe='')}"
    )
    ways = f'"file:{table.path}?{named}" takes every document for relevant'
    if graded := [n for n in scores if _are_grades(table, n) and not guess.is_distance(table.names[n])]:
        grade = quote(table.names[graded[0]], safe="")
        ways += f'; "file:{table.path}?{named}&relevance={grade}" takes its numbers for grades, relevant from 1 on'
    else:
        ways += "; else add a column relevance of whole numbers, 0 for a document that is not relevant"
    raise UnclearColumns(
        f"{table.path}: {judged.in_words(table, unclear[0])} may say how relevant the documents are",
        expected="a column relevance, or to know that all are relevant",
        remedy=ways,
    )


def _numbered(columns: Sequence[int]) -> dict[str, int]:
    """Columns of negatives by use; the first is ``NEGATIVES``."""
    return {NEGATIVES if n == 1 else f"{NEGATIVES} {n}": column for n, column in enumerate(columns, 1)}


def _kind(table: FileTable, keys: Sequence[str], name: str) -> ColumnKind | None:
    return table.kinds[keys.index(name)] if keys.count(name) == 1 else None


def _texts_named(table: FileTable, keys: Sequence[str], name: str) -> int | None:
    return keys.index(name) if _kind(table, keys, name) is ColumnKind.TEXTS else None


def _are_grades(table: FileTable, number: int) -> bool:
    return all(_whole(cell) is not None for cell in table.cells[number])


def _has_scores(table: FileTable, columns: Mapping[str, int]) -> bool:
    """Whether these are rather scored pairs, since there is a score that is not a grade."""
    score = first_named([column_key(name) for name in table.names], WEAK_GRADE_NAMES)
    return RELEVANCE not in columns and score is not None and table.kinds[score] is ColumnKind.NUMBER


# --- what is in them


def _found(table: FileTable, numbers: Mapping[str, int]) -> Iterator[list[tuple[str, str, int]]]:
    """The title, text and grade of the documents of each row."""
    grades, titles = (numbers.get(use) for use in (RELEVANCE, TITLE))
    negatives = [number for use, number in numbers.items() if use.startswith(NEGATIVES)]
    for row, cell in enumerate(table.cells[numbers[DOCUMENT]]):
        texts = _texts(table, row, numbers[DOCUMENT])
        if isinstance(cell, Texts) and (grades is not None or titles is not None):
            other = table.names[numbers[RELEVANCE if grades is not None else TITLE]]
            raise InputError(
                f"{table.where(row, numbers[DOCUMENT])}: a list, beside the column '{other}'",
                expected="one document per row where it has a title or a grade",
            )
        grade = 1 if grades is None else grade_of(table.cells[grades][row], table.where(row, grades))
        documents = [(_title(table, row, titles), text, grade) for text in texts]
        for column in negatives:
            if not _is_nothing(table.cells[column][row]):
                documents += [("", text, 0) for text in _texts(table, row, column)]
        yield documents


def _texts(table: FileTable, row: int, column: int) -> Sequence[str]:
    """A cell's text, or the texts of its list."""
    cell, where = table.cells[column][row], table.where(row, column)
    if not isinstance(cell, Texts):
        return [check_text(cell, where)]
    if not cell:
        raise InputError(f"{where}: an empty list", expected="at least one document", remedy="remove the row")
    return [check_text(text, f"{where}, text {n}") for n, text in enumerate(cell, 1)]


def _is_nothing(cell: object) -> bool:
    return cell is None or cell in ((), "")


def _title(table: FileTable, row: int, column: int | None) -> str:
    if column is None or is_blank(table.cells[column][row]):
        return ""
    return check_text(table.cells[column][row], table.where(row, column)).strip()
