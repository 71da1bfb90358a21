"""How many of a dataset's pairs an encoder may have seen in training.

Texts are compared as near-duplicates are, since training sets are tokenised and cased in other ways than the dataset; a
text of punctuation only is compared as it is.
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

from core.datasets.kinds.scored_pairs import ScoredPairs
from core.errors import InputError
from core.files import tables as own_files
from core.files.tables import MAX_BYTES, MAX_ROWS, ColumnKind
from core.files.writing import delete_file, write_atomically
from core.texts import near_duplicate_key
from core.types import Bool, digest_of_strings

log = logging.getLogger(__name__)
TEXT_FILE = "txt"
FORMATS = (TEXT_FILE, *own_files.FileFormat)
MAX_TEXT_COLUMNS = 10


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Texts that an encoder was trained on.

    Attributes:
        name: for people.
        rows: how many there are.
        texts: all texts, as they are compared.
        pairs: every two texts that stand in one row; one text twice in a row is a pair of one.
    """

    name: str
    rows: int
    texts: frozenset[str]
    pairs: frozenset[frozenset[str]]

    @cached_property
    def digest(self) -> str:
        """Of what is compared."""
        return digest_of_strings(
            ["", *sorted(self.texts), "", *sorted(" \0".join(sorted(pair)) for pair in self.pairs)]
        )


@dataclass(frozen=True)
class Remembered:
    """How much of a dataset stands in a training set that somebody named.

    Attributes:
        name, digest: of the training set.
        pairs: of the dataset; ``both`` of them have both texts in one row.
    """

    name: str
    digest: str
    pairs: int
    both: int

    @property
    def warning(self) -> str:
        """What to know of scores on the dataset; "" where none of its pairs was seen."""
        if not self.both:
            return ""
        which = f"All {self.pairs:,}" if self.both == self.pairs else f"{self.both:,} of {self.pairs:,}"
        return (
            f"{which} pairs are in the training set {self.name}: for a model that was trained on it, the score says "
            "little about new texts."
        )


@dataclass(frozen=True, eq=False)
class Overlap:
    """Which pairs stand in a training set.

    Attributes:
        both: ``[m] bool``, both texts in one row, whichever comes first.
        any_text: ``[m] bool``, at least one of the texts anywhere.
    """

    both: Bool
    any_text: Bool


def overlap(queries: Sequence[str], mates: Sequence[str], training: TrainingSet) -> Overlap:
    """Look every pair up in a training set."""
    keys = {text: compared(text) for text in {*queries, *mates}}
    pairs = [(keys[query], keys[mate]) for query, mate in zip(queries, mates, strict=True)]
    both = [frozenset(pair) in training.pairs for pair in pairs]
    any_text = [query in training.texts or mate in training.texts for query, mate in pairs]
    return Overlap(np.array(both, dtype=np.bool_), np.array(any_text, dtype=np.bool_))


# --- what is remembered, a file per dataset and training set


def remember(folder: Path, dataset_digest: str, training: TrainingSet, found: Overlap) -> None:
    """Keep how much of a dataset stands in a training set, for whoever reads a score on it.

    Args:
        folder: ``Settings.training``.

    Raises:
        BlindspotError: the disk does not let us.
    """
    kept = Remembered(training.name, training.digest, len(found.both), int(found.both.sum()))
    if kept not in remembered(folder, dataset_digest):
        content = json.dumps(asdict(kept), ensure_ascii=False).encode()
        write_atomically(folder / dataset_digest / f"{training.digest}.json", lambda file: file.write(content))


def remembered(folder: Path, dataset_digest: str) -> tuple[Remembered, ...]:
    """What was remembered of a dataset. A file that cannot be read is left out and logged."""
    out = []
    for path in sorted((folder / dataset_digest).glob("*.json")):
        try:
            out.append(Remembered(**json.loads(path.read_bytes())))
        except (OSError, ValueError, TypeError) as error:
            log.warning("%s does not say what it should: %s", path, error)
    return tuple(out)


def forget(folder: Path, dataset_digest: str, digest: str = "") -> None:
    """Forget one training set of a dataset, or all of them; gone already is fine.

    Raises:
        BlindspotError: the disk does not let us.
    """
    for path in (folder / dataset_digest).glob(f"{digest or '*'}.json"):
        delete_file(path)


def compared(text: str) -> str:
    """A text as it is compared."""
    return near_duplicate_key(text) or text.strip()


def training_set(name: str, rows: Iterable[Sequence[str]]) -> TrainingSet:
    """A training set of rows of one or more texts; empty cells are no texts.

    Raises:
        InputError: it has no texts.
    """
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


def of_scored_pairs(name: str, scored: ScoredPairs, set_name: str) -> TrainingSet:
    """One of the sets of scored pairs."""
    inside = scored.set_numbers == scored.sets.index(set_name)
    numbers = zip(scored.firsts[inside].tolist(), scored.seconds[inside].tolist(), strict=True)
    return training_set(name, ((scored.items[first], scored.items[second]) for first, second in numbers))


def read_file(path: Path) -> TrainingSet:
    """A training set in a file: ``parse`` of its bytes.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    if path.suffix.lower() != f".{TEXT_FILE}":
        return parse(path, own_files.read_bytes(path))
    try:
        if not path.is_file():
            raise InputError(f"there is no file {path}", remedy="check the path")
        _check_bytes(path, path.stat().st_size)
        return parse(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


def parse(path: Path, data: bytes, header: bool = True) -> TrainingSet:
    """A training set in a file's bytes.

    Args:
        path: its ending tells the format. A .txt has a text per line, or several with tabs between; of a .csv, .tsv,
            .jsonl or .parquet all columns of text are taken.
        header: whether the first row of a .csv or .tsv names the columns.

    Raises:
        InputError: what is wrong with the file, in one line.
    """
    if path.suffix.lower() == f".{TEXT_FILE}":
        return training_set(path.name, _lines(path, data))
    table = own_files.tabulate(path, data, header)
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
    _check_bytes(path, len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (byte {error.start})", expected="a UTF-8 text file", remedy="save it as UTF-8"
        ) from error
    rows = [line.split("\t") for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    if len(rows) > MAX_ROWS:
        raise InputError(
            f"{path} has {len(rows):,} rows", expected=f"at most {MAX_ROWS:,}", remedy="take a sample of them"
        )
    return rows


def _check_bytes(path: Path, size: int) -> None:
    if size > MAX_BYTES:
        raise InputError(f"{path} has {size:,} bytes", expected=f"at most {MAX_BYTES:,}", remedy="take a sample")
