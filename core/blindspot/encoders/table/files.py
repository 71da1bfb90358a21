"""Files of precomputed embeddings: texts with their vectors, as Parquet, CSV, TSV, JSONL, .npy beside .txt, or .npz."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from blindspot.encoders import packed_bits
from blindspot.encoders.source_files import LONGEST_MAGIC, array_of, kind_of_other, opened, require_file
from blindspot.encoders.table import archive
from blindspot.errors import InputError
from blindspot.files.parquet_footer import column_chunks
from blindspot.files.tables import csv_rows, is_quoted, json_object, parquet_errors, unquoted
from blindspot.types import Float32

ENDINGS = (".parquet", ".csv", ".tsv", ".jsonl", ".npy", archive.ENDING)
FORM = "the columns text and embedding (a list of numbers)"
ROWS_PER_BLOCK = 1024
LONGEST_LINE = 2**24  # characters
LARGEST_DIMENSION = 20_000  # as for word vectors
LONGEST_TEXT = 100_000  # characters
_NUMBERED = re.compile(r"dim_([0-9]{1,5})")


@dataclass(frozen=True)
class TableHead:
    """Dimension, and number of rows if the file states it."""

    dimension: int
    rows: int | None


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """Each text's first row in ``matrix [n, d] float32``, finite; ``duplicates`` counts later rows of a text."""

    index: Mapping[str, int]
    matrix: Float32
    duplicates: int


@dataclass(frozen=True)
class _Row:
    """A text, its vector ``[d]`` and their place in the file."""

    place: str
    text: object
    vector: object


def text_file(path: Path) -> Path:
    """The texts of an array."""
    return path.with_suffix(".txt")


def files_of(path: Path) -> tuple[Path, ...]:
    """The file, and the file of its texts."""
    is_pair = path.suffix.lower() == ".npy"
    if path.suffix.lower() == archive.ENDING:
        is_pair = not archive.peek_archive(path, text_file(path)).texts
    return (path, text_file(path)) if is_pair else (path,)


def peek(path: Path) -> TableHead:
    """Read at most the first row; raises ``InputError`` if this is no table of embeddings."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"cannot tell the format of {path}", expected=f"a name that ends in {', '.join(ENDINGS)}")
    if path.suffix.lower() == archive.ENDING:
        rows, dimension = archive.peek_archive(path, text_file(path)).shape
        return TableHead(dimension, rows)
    for file in files_of(path):
        require_file(file)
    if path.suffix.lower() == ".npy":
        rows, dimension = array_of(path).shape
        return TableHead(dimension, rows)
    for row in _rows(path):
        return TableHead(len(_vector(path, row)), _parquet_rows(path))
    raise InputError(f"{path} has columns and no rows", expected="a text and its embedding in every row")


def read(path: Path) -> EmbeddingTable:
    """The whole table; logs the number of duplicates. Raises ``InputError`` naming the row or line."""
    texts, matrix = _pair(path) if path.suffix.lower() in (".npy", archive.ENDING) else _listed(path)
    if what := packed_bits.bytes_in_words(matrix):
        raise InputError(f"{path} has {what}", expected=packed_bits.EXPECTED, remedy=packed_bits.REMEDY)
    index: dict[str, int] = {}
    for row, text in enumerate(texts):
        index.setdefault(text, row)
    duplicates = len(texts) - len(index)
    if duplicates:
        logging.getLogger(__name__).warning("%s: %d duplicate texts; the first row of each is kept", path, duplicates)
    return EmbeddingTable(index, matrix, duplicates)


# --- .npy and .txt


def _array_and_texts(path: Path) -> tuple[Any, list[str]]:
    if path.suffix.lower() != archive.ENDING:
        return array_of(path), _lines(text_file(path))
    array, texts = archive.read_archive(path, archive.peek_archive(path, text_file(path)))
    return array, _lines(text_file(path)) if texts is None else texts


def _pair(path: Path) -> tuple[list[str], Float32]:
    array, texts = _array_and_texts(path)
    if len(texts) != len(array):
        raise InputError(
            f"{text_file(path)} has {len(texts):,} lines and {path} {len(array):,} rows",
            expected="one text per line for every row",
        )
    matrix = np.empty(array.shape, dtype=np.float32)
    for start in range(0, len(array), ROWS_PER_BLOCK):
        with np.errstate(over="ignore"):
            matrix[start : start + ROWS_PER_BLOCK] = array[start : start + ROWS_PER_BLOCK]
        block = matrix[start : start + ROWS_PER_BLOCK]
        _check_finite(path, block, lambda i, s=start: (f"row {s + i + 1}", texts[s + i]))
    return texts, matrix


def _lines(path: Path) -> list[str]:
    with _text(path) as file:
        lines = [line.removesuffix("\n") for line in file]
    return [line.removesuffix("\r") for line in lines] if all(line.endswith("\r") for line in lines) else lines


# --- a row per text


def _listed(path: Path) -> tuple[list[str], Float32]:
    texts: list[str] = []
    dimension = 0
    matrix: Float32 = np.empty((0, 0), dtype=np.float32)
    for row in _rows(path):
        if row.text is None:
            raise InputError(f"{path}, {row.place}: there is no text", expected=FORM)
        text = str(row.text) if isinstance(row.text, int) and not isinstance(row.text, bool) else row.text  # an id
        if not isinstance(text, str):
            raise InputError(f"{path}, {row.place}: {str(row.text)[:40]} is not text", expected=FORM)
        vector = _vector(path, row)
        if not texts:
            dimension = len(vector)
            matrix = np.empty((ROWS_PER_BLOCK, dimension), dtype=np.float32)
        if len(vector) != dimension:
            raise InputError(
                f"{path}, {row.place}: {len(vector)} numbers in the embedding of {text[:60]!r}",
                expected=f"{dimension}, as in the first row",
            )
        if len(texts) == len(matrix):  # in place: the system moves pages instead of copying
            matrix.resize((len(texts) + max(ROWS_PER_BLOCK, len(texts) // 2), dimension), refcheck=False)
        matrix[len(texts)] = vector
        texts.append(text)
    if not texts:
        raise InputError(f"{path} has columns and no rows", expected="a text and its embedding in every row")
    matrix.resize((len(texts), dimension), refcheck=False)
    return texts, matrix


def _vector(path: Path, row: _Row) -> Float32:
    """``[d] float32``, checked."""
    where = f"{path}, {row.place}"
    if row.vector is None:
        raise InputError(f"{where}: there is no embedding", expected=FORM)
    try:
        if isinstance(row.vector, list) and any(isinstance(v, bool | str) or v is None for v in row.vector):
            raise ValueError  # noqa: TRY301 - said below
        with np.errstate(over="ignore"):
            vector = np.asarray(row.vector, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{where}: the embedding is no list of numbers: {str(row.vector)[:60]}", expected=FORM
        ) from error
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"{where}: the embedding has the shape {vector.shape}", expected="a flat list of numbers")
    if vector.size > LARGEST_DIMENSION:
        raise InputError(f"{where}: an embedding of {vector.size:,} numbers", expected=f"at most {LARGEST_DIMENSION:,}")
    _check_finite(path, vector[None], lambda _: (row.place, str(row.text)))
    return vector


def _check_finite(path: Path, rows: Float32, named: Any) -> None:
    finite = np.isfinite(rows).all(axis=1)
    if finite.all():
        return
    where, text = named(int(finite.argmin()))
    value = "NaN" if np.isnan(rows[int(finite.argmin())]).any() else "an infinite value"
    raise InputError(f"{path}, {where}: the embedding of {text[:60]!r} contains {value}", expected="finite numbers")


def _rows(path: Path) -> Iterator[_Row]:
    match path.suffix.lower():
        case ".parquet":
            return _parquet(path)
        case ".jsonl":
            return _jsonl(path)
        case _:
            return _separated(path)


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file in which only a line feed ends a line."""
    with opened(path) as file:
        what = kind_of_other(file.read(LONGEST_MAGIC))
    if what:
        raise InputError(f"{path} is {what}", expected="a text file of texts and embeddings")
    try:
        with opened(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
            yield text
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (the byte 0x{error.object[error.start]:02x})",
            expected="a UTF-8 text file",
            remedy="save it as UTF-8",
        ) from error


def _lines_of(path: Path, file: TextIO) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), ""), 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{path}, line {number}: more than {LONGEST_LINE:,} characters", expected="a text and its embedding"
            )
        yield line


def _need_columns(where: str, names: Iterable[str], needed: Sequence[str] = ("text", "embedding")) -> None:
    names = list(names)
    if missing := [name for name in needed if name not in names]:
        named = " and ".join(f"'{name}'" for name in missing)
        shown = ", ".join(str(name)[:40] for name in names[:20]) or "none"
        raise InputError(f"{where}: no column {named}; it has {shown}", expected=FORM, remedy="rename its columns")
    if twice := [name for name in needed if names.count(name) > 1]:
        raise InputError(f"{where}: two columns '{twice[0]}'", expected=FORM)


def _jsonl(path: Path) -> Iterator[_Row]:
    with _text(path) as file:
        for number, line in enumerate(_lines_of(path, file), 1):
            if line.strip():
                value = json_object(f"{path}, line {number}", line, '{"text": "...", "embedding": [...]}')
                _need_columns(f"{path}, line {number}", value)
                yield _Row(f"line {number}", value["text"], value["embedding"])


def _separated(path: Path) -> Iterator[_Row]:
    is_tsv = path.suffix.lower() == ".tsv"
    with _text(path) as file:
        lines, separator = _lines_of(path, file), "\t" if is_tsv else ","
        seen = list(islice(lines, _LOOKED_AT))
        if seen and (told := _SEP.fullmatch(seen[0].strip())):  # what Excel or a person put before the header
            separator, seen[0] = told[1], "\n"
        begins = next((n for n, line in enumerate(seen) if separator in line and not line.startswith("# ")), 0)
        top = ["\n"] * begins + seen[begins:]
        # As in files of pairs, quotes in a .tsv are part of the text, unless all cells have them.
        cells = seen[begins].strip().split(separator) if seen else []
        quoting = csv.QUOTE_MINIMAL if all(map(is_quoted, cells)) or not is_tsv else csv.QUOTE_NONE
        quoted = _quoted_columns(seen[begins + 1 :], separator) if quoting == csv.QUOTE_NONE else set()
        header: list[str] = []
        for number, row in csv_rows(path, chain(top, lines), separator, quoting):
            where = f"line {number}"
            cells = row
            if quoted and header and len(row) == len(header):
                cells = _without_quotes(path, where, row, quoted)
            if not header:
                header = cells = [unquoted(cell) if n in quoted else cell for n, cell in enumerate(row)]
                columns = [] if "embedding" in header else _numbered(header)
                _need_columns(str(path), header, ["text"] if columns else ["text", "embedding"])
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{path}, {where}: {len(cells)} cell(s)", expected=f"{len(header)}, as in the first line"
                )
            vector = [cells[c] for c in columns] if columns else cells[header.index("embedding")]
            yield _Row(where, cells[header.index("text")] or None, _numbers(path, where, vector))


def _quoted_columns(lines: Sequence[str], separator: str) -> set[int]:
    """Columns of a .tsv with all cells in quotes, in the sampled lines below the header."""
    rows = [line.rstrip("\r\n").split(separator) for line in lines if line.strip()]
    width = min(map(len, rows), default=0)
    return {number for number in range(width) if all(is_quoted(cells[number]) for cells in rows)}


def _without_quotes(path: Path, where: str, cells: list[str], quoted: set[int]) -> list[str]:
    for number in quoted:
        if not is_quoted(cells[number]):
            raise InputError(
                f"{path}, {where}: {cells[number][:40]!r} is not in quotes, as the cells above it are",
                expected="quotes around all cells of a column, which are no part of the texts, or around none",
            )
    return [unquoted(cell) if number in quoted else cell for number, cell in enumerate(cells)]


_LOOKED_AT = 50  # lines, for the header
_SEP = re.compile(r'"?sep=(.)"?[,;]*', re.IGNORECASE)


def _numbered(header: list[str]) -> list[int]:
    """Positions of the columns dim_0, dim_1, ..., if none is missing."""
    numbers = {int(match[1]): column for column, name in enumerate(header) if (match := _NUMBERED.fullmatch(name))}
    return [numbers[i] for i in range(len(numbers))] if set(numbers) == set(range(len(numbers))) else []


def _numbers(path: Path, where: str, cells: list[str] | str) -> object:
    """The cells of an embedding: one number each, or one JSON list."""
    try:
        return json.loads(cells) if isinstance(cells, str) else [float(cell) for cell in cells]
    except (ValueError, RecursionError) as error:
        shown = cells[:40] if isinstance(cells, str) else ", ".join(cells)[:40]
        raise InputError(f"{path}, {where}: the embedding is no list of numbers: {shown!r}", expected=FORM) from error


def _parquet_rows(path: Path) -> int | None:
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows) if path.suffix.lower() == ".parquet" else None


def _check_dimension(path: Path, metadata: Any) -> None:
    """Refuse embeddings that would fill the memory, judging by the file's metadata."""
    for chunks in column_chunks(path, metadata):
        values = sum(chunk.values for chunk in chunks if chunk.path.startswith("embedding."))
        if (mean := values // max(chunks[0].rows, 1)) > LARGEST_DIMENSION:
            raise InputError(f"{path}: embeddings of {mean:,} numbers", expected=f"at most {LARGEST_DIMENSION:,}")


def _check_texts(path: Path, texts: Any) -> None:
    """Refuse texts that are far too long, as long as each is in memory only once, in the dictionary."""
    import pyarrow as pa
    from pyarrow import compute

    kept = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    if not (pa.types.is_string(kept.type) or pa.types.is_large_string(kept.type)):
        return  # reported for the first row
    if (longest := compute.max(compute.utf8_length(kept)).as_py() or 0) > LONGEST_TEXT:
        raise InputError(f"{path}: a text of {longest:,} characters", expected=f"at most {LONGEST_TEXT:,}")


def _parquet(path: Path) -> Iterator[_Row]:
    import pyarrow as pa
    from pyarrow import parquet

    require_file(path)
    number = 0
    with parquet_errors(path):
        _need_columns(str(path), parquet.read_schema(path).names)  # before a column is read by name
        with parquet.ParquetFile(path, read_dictionary=["text"]) as file:
            schema = file.schema_arrow
            kind = schema.field("embedding").type
            is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
            if not is_list or not (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)):
                raise InputError(f"{path}: the column embedding has {kind}", expected="lists of numbers")
            _check_dimension(path, file.metadata)
            for batch in file.iter_batches(batch_size=ROWS_PER_BLOCK, columns=["text", "embedding"]):
                batch.validate(full=True)
                _check_texts(path, batch.column("text"))
                texts, vectors = batch.column("text").to_pylist(), batch.column("embedding")
                for text, vector in zip(texts, vectors, strict=True):
                    number += 1
                    values = vector.values
                    if values is not None and values.null_count:
                        raise InputError(f"{path}, row {number}: a number of the embedding is missing", expected=FORM)
                    yield _Row(f"row {number}", text, None if values is None else values.to_numpy(zero_copy_only=False))
