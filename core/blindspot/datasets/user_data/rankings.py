"""Ranked lists of documents that another search engine made: TREC's runs, and MTEB's predictions."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data.columns import shortened
from blindspot.datasets.user_data.retrieval_folder import headers
from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.files.writing import read_limited
from blindspot.texts import counted
from blindspot.types import Float64, Int32

MAX_ROWS = 20_000_000
LARGEST = 3.4e38  # largest score, since trec_eval keeps scores in single precision
_TREC = "TREC's topic Q0 document rank score name"
_ABOUT = "mteb_model_meta"  # beside the predictions
_PREDICTIONS = '{"q1": {"d1": 0.9, ...}, ...}'


@dataclass(frozen=True, eq=False)
class Rankings:
    """Scores of documents for the queries of a dataset, at most one for each pair.

    Attributes:
        name: of the run, from its file, or the file's name.
        queries, documents: ``[r] int32``, numbers of both in the dataset; by query, then by document.
        scores: ``[r] float64``; higher scores are ranked first.
        missing: queries of the dataset without any document.
        ignored: queries of the file that the dataset does not have; as for trec_eval, they do not count.
        contradicted: queries whose ranks say the opposite of their scores.
        tied: queries whose documents have different ranks and the same score.
    """

    name: str
    queries: Int32
    documents: Int32
    scores: Float64
    missing: int
    ignored: int
    contradicted: int = 0
    tied: int = 0


def read(path: Path, dataset: RetrievalDataset, *, are_distances: bool = False) -> Rankings:
    """A run of a dataset: TREC's lines, a table with a header, or predictions in a ``.json``. Scores decide, not ranks.

    Args:
        are_distances: whether lower scores are ranked first; they are then stored with the other sign.

    Raises:
        InputError: a row is wrong or appears twice; it names a document that the dataset lacks, and nothing could take
            that document's place; or the dataset has none of the queries.
    """
    of_query = {name: number for number, name in enumerate(dataset.query_ids)}
    of_document = {name: number for number, name in enumerate(dataset.document_ids)}
    lines, queries, documents, scores, ranks = array("i"), array("i"), array("i"), array("d"), array("i")
    foreign: set[str] = set()
    unknown: dict[str, str] = {}  # documents, each with the place of its first row
    name, first = path.stem, ""
    for line, query, document, score, name_in_row, rank in _rows(path):
        name = name_in_row or name
        if (query_number := of_query.get(query)) is None:
            first = first or f"{_place(line, query)}: '{dataset.id}' has no query with the id '{shortened(query)}'"
            foreign.add(query)
        elif (number := of_document.get(document)) is None:
            unknown.setdefault(document, _place(line, query))
        else:
            lines.append(line)
            queries.append(query_number)
            documents.append(number)
            scores.append(-score if are_distances else score)
            ranks.append(min(rank, 2**31 - 1))
    if unknown:
        document, where = next(iter(unknown.items()))
        more = f", nor {counted(len(unknown) - 1, 'other')} of the file" if len(unknown) > 1 else ""
        raise InputError(
            f"{path}, {where}: '{dataset.id}' has no document with the id '{shortened(document)}'{more}",
            expected="documents of the dataset",
            remedy="rank the documents of this dataset alone",
        )
    if foreign and not lines:
        raise InputError(f"{path}, {first}, nor any other of the file", expected="queries of the dataset")
    if not lines:
        raise InputError(f"{path} ranks no document", expected=_TREC)
    q, d = (np.frombuffer(buffer, dtype=np.int32) for buffer in (queries, documents))
    order = np.lexsort((np.asarray(lines), d, q))
    q, d, s = q[order], d[order], np.frombuffer(scores, dtype=np.float64)[order]
    again = np.flatnonzero((q[1:] == q[:-1]) & (d[1:] == d[:-1]))
    if len(again):
        at = min(again.tolist(), key=lambda i: lines[order[i + 1]])
        query, document = dataset.query_ids[q[at]], dataset.document_ids[d[at]]
        here, before = (_place(lines[order[i]], query) for i in (at + 1, at))
        raise InputError(
            f"{path}, {here}: document '{shortened(document)}' is ranked for query '{shortened(query)}' already, "
            f"in {before}",
            expected="each document at most once for a query",
        )
    contradicted, tied = _against_ranks(q, s, np.frombuffer(ranks, dtype=np.int32)[order])
    return Rankings(name, q, d, s, len(of_query) - len(np.unique(q)), len(foreign), contradicted, tied)


def _against_ranks(queries: Int32, scores: Float64, ranks: Int32) -> tuple[int, int]:
    """Numbers of queries with at least two different ranks: where no better rank has a higher score but some a lower
    one, and where all scores are the same."""
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    contradictions = ties = 0
    for begins, ends in zip(starts, [*starts[1:], len(queries)], strict=True):
        r, s = ranks[begins:ends], scores[begins:ends]
        if (r < 0).any() or len(np.unique(r)) < 2:
            continue
        steps = np.diff(s[np.argsort(r, kind="stable")])
        contradictions += bool((steps >= 0).all() and (steps > 0).any())
        ties += not steps.any()
    return contradictions, ties


# Line (0 for none), query, document, score, name of the run ("" for none), rank (-1 for none).
_Row = tuple[int, str, str, float, str, int]


def check(path: Path) -> None:
    """Raise ``InputError`` for a file that cannot be read as a run of any dataset."""
    if not sum(1 for _ in _rows(path)):
        raise InputError(f"{path} ranks no document", expected=_TREC)


def _rows(path: Path) -> Iterator[_Row]:
    text = tables.whole_text(path, read_limited(path, tables.MAX_BYTES))
    if not text.strip():
        raise InputError(f"{path} is empty", expected=_TREC)
    rows = _of_json(path, text) if path.suffix.lower() == ".json" else _of_trec(path, text)
    for count, row in enumerate(rows, 1):
        if count > MAX_ROWS:
            raise InputError(f"{path} has more than {MAX_ROWS:,} rows", expected="at most so many")
        yield row


def _place(line: int, query: str) -> str:
    return f"line {line}" if line else f"query '{shortened(query)}'"


def _of_trec(path: Path, text: str) -> Iterator[_Row]:
    """Rows with TREC's six cells, or with the columns of a header."""
    columns: Mapping[str, int] | None = None
    width = 0
    for count, (number, cells) in enumerate(_cells(path, text)):
        if count == 0 and not _is_ranked(cells) and (columns := headers.RUNS.columns(path, cells, number)) is not None:
            width = len(cells)
            continue
        if len(cells) != (width or 6):
            expected = f"{width}, as in the header" if width else _TREC
            raise InputError(f"{path}, line {number}: {counted(len(cells), 'cell')}", expected=expected)
        at = columns or _PLACES
        query, document, score = (cells[at[role]] for role in (headers.QUERY, headers.DOCUMENT, headers.SCORE))
        name = cells[at[headers.NAME]] if headers.NAME in at else ""
        rank = cells[at[headers.RANK]] if headers.RANK in at else ""
        yield number, query, document, _score(score, path, number, query), name, int(rank) if rank.isdecimal() else -1


_PLACES = {headers.QUERY: 0, headers.DOCUMENT: 2, headers.RANK: 3, headers.SCORE: 4, headers.NAME: 5}


def _is_ranked(cells: Sequence[str]) -> bool:
    """Whether a line may be TREC's and so is no header: the fourth cell is a rank, or the fifth of six a score."""
    try:
        return (len(cells) > 4 and cells[3].isdecimal()) or (len(cells) == 6 and math.isfinite(float(cells[4])))
    except ValueError:
        return False


def _cells(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    if path.suffix.lower() == ".csv":
        rows = tables.separated(path, text)
        yield from zip(rows.places, ([cell.strip() for cell in cells] for cells in rows.cells), strict=True)
        return
    tabs = 0  # of a header
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or (not tabs and line.startswith("# ")):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not tabs:
            tabs = len(cells) - 1 if sum(map(headers.RUNS.knows, cells)) > 1 else 5
        yield number, cells if len(cells) - 1 == tabs else line.split()


def _of_json(path: Path, text: str) -> Iterator[_Row]:
    """Predictions by query and document, perhaps inside one subset and one split."""
    try:
        value = json.loads(text, object_pairs_hook=tables.distinct_members)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON ({error})", expected=_PREDICTIONS) from error
    while isinstance(value, dict) and (inner := {k: v for k, v in value.items() if k != _ABOUT}) and _is_deeper(inner):
        if len(inner) > 1:
            raise InputError(f"{path} has predictions of {', '.join(inner)}", expected="those of one subset and split")
        (value,) = inner.values()
    if not isinstance(value, dict):
        raise InputError(f"{path} is no JSON object", expected=_PREDICTIONS)
    for query, scores in value.items():
        if query == _ABOUT:
            continue
        if not isinstance(scores, dict):
            raise InputError(f"{path}, {_place(0, query)}: no documents with scores", expected=_PREDICTIONS)
        for document, score in scores.items():
            yield 0, query, document, _score(score, path, 0, query), "", -1


def _is_deeper(members: Mapping[str, object]) -> bool:
    """Whether these are subsets or splits, not queries."""
    first = next(iter(members.values()))
    return isinstance(first, dict) and any(isinstance(value, dict) for value in first.values())


def _score(cell: object, path: Path, line: int, query: str) -> float:
    try:
        value = float(cell) if isinstance(cell, str | int | float) and not isinstance(cell, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not abs(value) <= LARGEST:  # also NaN
        raise InputError(
            f"{path}, {_place(line, query)}: '{shortened(str(cell))}' is no score",
            expected="a finite number in single precision",
        )
    return value
