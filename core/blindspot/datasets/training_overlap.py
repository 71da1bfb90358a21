"""Pairs of a dataset that an encoder may have seen in training.

Texts are compared as near-duplicates, since training sets differ in tokens and case; pure punctuation literally.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileFormat, check_rows, check_size, decoded, read_bytes, tabulate
from blindspot.files.writing import delete_file, write_atomically
from blindspot.texts import near_duplicate_key
from blindspot.types import Bool, digest_of_strings

log = logging.getLogger(__name__)
TEXT_FILE = "txt"
FORMATS = (TEXT_FILE, *FileFormat)
MAX_TEXT_COLUMNS = 10


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Texts that an encoder was trained on, as they are ``compared``.

    Attributes:
        rows: number of rows.
        pairs: every two texts of a row; a text that is twice in a row is a pair of one.
    """

    name: str
    rows: int
    texts: frozenset[str]
    pairs: frozenset[frozenset[str]]

    @cached_property
    def digest(self) -> str:
        return digest_of_strings(
            ["", *sorted(self.texts), "", *sorted(" \0".join(sorted(pair)) for pair in self.pairs)]
        )


@dataclass(frozen=True)
class Remembered:
    """A training set that somebody named: ``both`` of a dataset's ``pairs`` have both texts in one of its rows."""

    name: str
    digest: str
    pairs: int
    both: int

    @property
    def warning(self) -> str:
        """A sentence for readers of scores on the dataset; "" if none of its pairs was seen."""
        if not self.both:
            return ""
        which = f"All {self.pairs:,}" if self.both == self.pairs else f"{self.both:,} of {self.pairs:,}"
        return (
            f"{which} pairs are in the training set {self.name}: for a model that was trained on it, the score says "
            "little about new texts."
        )


@dataclass(frozen=True, eq=False)
class Overlap:
    """Pairs in a training set, ``[m] bool``: with both texts in one row, in either order; with any text anywhere."""

    both: Bool
    any_text: Bool


def overlap(queries: Sequence[str], matches: Sequence[str], training: TrainingSet) -> Overlap:
    keys = {text: compared(text) for text in {*queries, *matches}}
    pairs = [(keys[query], keys[match]) for query, match in zip(queries, matches, strict=True)]
    both = [frozenset(pair) in training.pairs for pair in pairs]
    any_text = [query in training.texts or match in training.texts for query, match in pairs]
    return Overlap(np.array(both, dtype=np.bool_), np.array(any_text, dtype=np.bool_))


# --- what is remembered: a file per dataset and training set, in the folder ``Settings.training``


def remember(folder: Path, dataset_digest: str, training: TrainingSet, overlap_found: Overlap) -> None:
    """Keep how much of a dataset is in a training set, for readers of a score on it.

    Raises:
        BlindspotError: the file system refused the write.
    """
    kept = Remembered(training.name, training.digest, len(overlap_found.both), int(overlap_found.both.sum()))
    if kept not in remembered(folder, dataset_digest):
        content = json.dumps(asdict(kept), ensure_ascii=False).encode()
        write_atomically(folder / dataset_digest / f"{training.digest}.json", lambda file: file.write(content))


def remembered(folder: Path, dataset_digest: str) -> tuple[Remembered, ...]:
    """The training sets remembered for a dataset; files that cannot be read are logged and left out."""
    out = []
    for path in sorted((folder / dataset_digest).glob("*.json")):
        try:
            out.append(Remembered(**json.loads(path.read_bytes())))
        except (OSError, ValueError, TypeError) as error:
            log.warning("%s does not say what it should: %s", path, error)
    return tuple(out)


def forget(folder: Path, dataset_digest: str, digest: str = "") -> None:
    """Forget one training set of a dataset, or all of them, if there are any.

    Raises:
        BlindspotError: the file system refused it.
    """
    for path in (folder / dataset_digest).glob(f"{digest or '*'}.json"):
        delete_file(path)


def compared(text: str) -> str:
    return near_duplicate_key(text) or text.strip()


def training_set(name: str, rows: Iterable[Sequence[str]]) -> TrainingSet:
    """A training set of rows of one or more texts, without empty cells; raises ``InputError`` if none is left."""
    texts: set[str] = set()
    pairs: set[frozenset[str]] = set()
    count = 0
    for row in rows:
        cells = [compared(cell) for cell in row if cell.strip()]
        count += bool(cells)
        texts.update(cells)
        pairs.update(frozenset(two) for two in combinations(cells, 2))
    if not count:
        raise InputError(f"{name} has no texts", expected="the texts that an encoder was trained on")
    return TrainingSet(name, count, frozenset(texts), frozenset(pairs))


def of_sts_benchmark(name: str, scored: ScoredPairs) -> TrainingSet:
    """The training part of STS-Benchmark, from scored pairs that contain it."""
    inside = scored.set_numbers == scored.sets.index("STS-B train")
    numbers = zip(scored.firsts[inside].tolist(), scored.seconds[inside].tolist(), strict=True)
    return training_set(name, ((scored.items[first], scored.items[second]) for first, second in numbers))


def read_file(path: Path) -> TrainingSet:
    """``parse`` a file; raises ``InputError`` if it cannot be read."""
    if path.suffix.lower() != f".{TEXT_FILE}":
        return parse(path, read_bytes(path))
    try:
        if not path.is_file():
            raise InputError(f"there is no file {path}", remedy="check the path")
        check_size(path, path.stat().st_size)
        return parse(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


def parse(path: Path, data: bytes, header: bool = True) -> TrainingSet:
    """A training set in a file's bytes; the ending of ``path`` gives the format.

    A .txt has a text per line, or several with tabs between; a .csv, .tsv, .jsonl or .parquet gives all its columns of
    text. ``header``: whether the first row of a .csv or .tsv names the columns.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    if path.suffix.lower() == f".{TEXT_FILE}":
        return training_set(path.name, _lines(path, data))
    table = tabulate(path, data, header)
    columns = [table.cells[i] for i, kind in enumerate(table.kinds) if kind is ColumnKind.TEXT]
    if not columns:
        raise InputError(f"{path} has no column of text", expected="the texts that an encoder was trained on")
    if len(columns) > MAX_TEXT_COLUMNS:
        raise InputError(
            f"{path} has {len(columns)} columns of text",
            expected=f"at most {MAX_TEXT_COLUMNS}, the texts of an example",
        )
    rows = zip(*columns, strict=True)
    return training_set(path.name, ([cell for cell in row if isinstance(cell, str)] for row in rows))


def _lines(path: Path, data: bytes) -> list[list[str]]:
    check_size(path, len(data))
    text = decoded(path, data)
    rows = [line.split("\t") for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    check_rows(path, len(rows))
    return rows
