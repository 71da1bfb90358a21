"""Ranked lists of documents that another search engine made: TREC's runs, and MTEB's predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.datasets.kinds.retrieval import RetrievalDataset
from core.datasets.own.columns import shortened
from core.errors import InputError
from core.files import tables
from core.files.writing import read_limited
from core.texts import counted
from core.types import Float64, Int32

MAX_ROWS = 20_000_000
_TREC = "TREC's topic Q0 document rank score name"
_ABOUT = "mteb_model_meta"  # beside the predictions
_PREDICTIONS = '{"q1": {"d1": 0.9, ...}, ...}'


@dataclass(frozen=True, eq=False)
class Rankings:
    """Scores of documents for the queries of a dataset, at most one for each pair.

    Attributes:
        name: of the run, as its file says, or the file's name.
        queries, documents: ``[r] int32``, numbers of both in the dataset; by query, then by document.
        scores: ``[r] float64``; a higher one is ranked before a lower one.
        missing: queries of the dataset without any document.
    """

    name: str
    queries: Int32
    documents: Int32
    scores: Float64
    missing: int


def read(path: Path, dataset: RetrievalDataset) -> Rankings:
    """A run of a dataset: TREC's lines, or predictions in a ``.json``.

    Raises:
        InputError: a row is wrong, names a query or document that the dataset lacks, or is there twice; no row is
            left out.
    """
    text = tables.whole_text(path, read_limited(path, tables.MAX_BYTES))
    if not text.strip():
        raise InputError(f"{path} is empty", expected=_TREC)
    rows = _of_json(path, text) if path.suffix == ".json" else _of_trec(path, text)
    of_query = {name: number for number, name in enumerate(dataset.query_ids)}
    of_document = {name: number for number, name in enumerate(dataset.document_ids)}
    seen: dict[int, str] = {}
    found: list[tuple[int, int, float]] = []
    name = path.stem
    d = len(of_document)
    for count, (place, query, document, score, said) in enumerate(rows, 1):
        if count > MAX_ROWS:
            raise InputError(f"{path} has more than {MAX_ROWS:,} rows", expected="at most so many")
        for what, one, known in (("query", query, of_query), ("document", document, of_document)):
            if one not in known:
                raise InputError(
                    f"{path}, {place}: '{dataset.id}' has no {what} with the id '{shortened(one)}'",
                    expected="ids of the dataset",
                )
        pair = of_query[query] * d + of_document[document]
        if pair in seen:
            raise InputError(
                f"{path}, {place}: document '{shortened(document)}' is ranked for query '{shortened(query)}' already, "
                f"in {seen[pair]}",
                expected="each document at most once for a query",
            )
        seen[pair] = place
        found.append((of_query[query], of_document[document], score))
        name = said or name
    if not found:
        raise InputError(f"{path} ranks no document", expected=_TREC)
    found.sort()
    queries, documents, scores = zip(*found, strict=True)
    return Rankings(
        name,
        np.array(queries, dtype=np.int32),
        np.array(documents, dtype=np.int32),
        np.array(scores, dtype=np.float64),
        len(of_query) - len(set(queries)),
    )


_Row = tuple[str, str, str, float, str]  # place, query, document, score, name of the run


def _of_trec(path: Path, text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        cells = [cell.strip() for cell in line.split("\t")] if line.count("\t") == 5 else line.split()
        if len(cells) != 6:
            raise InputError(f"{path}, {place}: {counted(len(cells), 'cell')}", expected=_TREC)
        query, _, document, _, score, name = cells
        yield place, query, document, _score(score, f"{path}, {place}"), name


def _of_json(path: Path, text: str) -> Iterator[_Row]:
    """Predictions by query and document, perhaps inside of one subset and one split."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: broken JSON ({error})", expected=_PREDICTIONS) from error
    while isinstance(found, dict) and (inner := {k: v for k, v in found.items() if k != _ABOUT}) and _is_deeper(inner):
        if len(inner) > 1:
            raise InputError(f"{path} has predictions of {', '.join(inner)}", expected="those of one subset and split")
        (found,) = inner.values()
    if not isinstance(found, dict):
        raise InputError(f"{path} is no JSON object", expected=_PREDICTIONS)
    for query, scores in found.items():
        place = f"query '{shortened(query)}'"
        if not isinstance(scores, dict):
            raise InputError(f"{path}, {place}: no documents with scores", expected=_PREDICTIONS)
        for document, score in scores.items():
            yield place, query, document, _score(score, f"{path}, {place}"), ""


def _is_deeper(found: Mapping[str, object]) -> bool:
    """Whether these are subsets or splits, not queries."""
    first = next(iter(found.values()))
    return isinstance(first, dict) and any(isinstance(value, dict) for value in first.values())


def _score(cell: object, place: str) -> float:
    try:
        value = float(cell) if isinstance(cell, str | int | float) and not isinstance(cell, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{place}: '{shortened(str(cell))}' is no score", expected="a finite number")
    return value
