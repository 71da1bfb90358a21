"""Tables of typed columns as CSV or Parquet, written safely for spreadsheets and read without trust.

See ``blindspot.files.export`` for changes of texts in CSV. Parquet has types: there texts stay as they are.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from blindspot.errors import InputError
from blindspot.files.export import guarded, unguarded
from blindspot.files.tables import MAX_CELL, csv_rows, decoded, is_text, parquet_batches, parquet_errors

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | datetime | None

MOST_BYTES = 64 * 2**20  # of a table, unpacked
LARGEST_INT = 2**31 - 1  # the store's


class TableFormat(StrEnum):
    """How a table is written."""

    CSV = "csv"
    PARQUET = "parquet"


class Kind(StrEnum):
    """Type of a column's cells, in words for errors."""

    TEXT = "text"
    COUNT = "a whole number from 0"
    SECONDS = "a number from 0"
    TIME = "a time with its zone, such as 2026-01-02T03:04:05+00:00"


@dataclass(frozen=True)
class Column:
    """A column of a table; only an ``optional`` column may have empty cells (None)."""

    name: str
    kind: Kind = Kind.TEXT
    optional: bool = False


def write(rows: Iterable[Sequence[Cell]], columns: Sequence[Column], form: TableFormat) -> bytes:
    """The content of a file with a header and these rows; CSV in UTF-8, times in UTC."""
    names = [column.name for column in columns]
    if form is TableFormat.CSV:
        sink = io.StringIO(newline="")
        writer = csv.writer(sink)
        writer.writerow(names)
        writer.writerows([_written(cell) for cell in row] for row in rows)
        return sink.getvalue().encode("utf-8")
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], _arrow_schema(columns))
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer)
    return bytes(buffer.getvalue())


def read(data: bytes, columns: Sequence[Column], form: TableFormat, file: str, most_rows: int) -> list[list[Cell]]:
    """The rows of such a file.

    Args:
        file: its name, for errors.

    Raises:
        InputError: it is not such a file, has other columns or more rows, or a cell of another kind than its column.
    """
    rows = _from_csv(data, columns, file) if form is TableFormat.CSV else _from_parquet(data, columns, file, most_rows)
    out: list[list[Cell]] = []
    for row in rows:
        if len(out) == most_rows:
            raise InputError(f"{file} has more than {most_rows:,} rows", expected="no more than that")
        out.append(row)
    return out


def _written(cell: Cell) -> str:
    if isinstance(cell, str):
        return guarded(cell)
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="microseconds")
    return "" if cell is None else repr(cell)


def _from_csv(data: bytes, columns: Sequence[Column], file: str) -> Iterator[list[Cell]]:
    if len(data) > MOST_BYTES:
        raise InputError(f"{file} unpacks to more than {MOST_BYTES:,} bytes", expected="no more than that")
    rows = csv_rows(file, io.StringIO(decoded(file, data), newline=""), ",")
    _, header = next(rows, (1, []))
    _check_names(header, columns, file)
    for number, row in rows:
        where = f"{file}, the row that begins in line {number}"
        if len(row) != len(columns):
            raise InputError(f"{where}: {len(row)} cells", expected=f"{len(columns)}, as in the header")
        yield [_checked(_parsed(cell, column, where), column, where) for cell, column in zip(row, columns, strict=True)]


def _parsed(cell: str, column: Column, where: str) -> Cell:
    if column.kind is Kind.TEXT:
        return unguarded(cell)
    try:
        if not cell:
            return None
        if column.kind is Kind.TIME:
            return datetime.fromisoformat(cell)
        if column.kind is Kind.SECONDS and len(cell) <= 40:
            return float(cell)
        if column.kind is Kind.COUNT and re.fullmatch(r"[0-9]{1,10}", cell):
            return int(cell)
    except ValueError:
        pass
    raise _wrong_cell(cell, column, where)


def _arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    import pyarrow as pa

    types = {
        Kind.TEXT: pa.string(),
        Kind.COUNT: pa.int32(),
        Kind.SECONDS: pa.float64(),
        Kind.TIME: pa.timestamp("us", "UTC"),
    }
    return pa.schema([(column.name, types[column.kind]) for column in columns])


def _from_parquet(data: bytes, columns: Sequence[Column], file: str, most_rows: int) -> Iterator[list[Cell]]:
    import pyarrow as pa
    from pyarrow import parquet

    number = 0
    with parquet_errors(file):
        source = parquet.ParquetFile(pa.BufferReader(data))
        _check_names(source.schema_arrow.names, columns, file)
        for field, column in zip(source.schema_arrow, columns, strict=True):
            if not _fits(field.type, column.kind):
                raise InputError(f"{file}: the column '{column.name}' is {field.type}", expected=column.kind)
        if source.metadata.num_rows > most_rows:
            raise InputError(f"{file} has {source.metadata.num_rows:,} rows", expected=f"at most {most_rows:,}")
        names = [column.name for column in columns]
        for batch in parquet_batches(data, file, names, MOST_BYTES):
            for row in batch.cast(_arrow_schema(columns)).to_pylist():
                number += 1
                yield [_checked(row[column.name], column, f"{file}, row {number}") for column in columns]


def _fits(actual: pa.DataType, kind: Kind) -> bool:
    import pyarrow as pa

    if pa.types.is_null(actual):
        return True
    if kind is Kind.TEXT:
        return is_text(actual)
    if kind is Kind.TIME:
        return bool(pa.types.is_timestamp(actual) and actual.tz)
    return bool(pa.types.is_integer(actual) or (kind is Kind.SECONDS and pa.types.is_floating(actual)))


def _check_names(names: Sequence[str], columns: Sequence[Column], file: str) -> None:
    wanted = [column.name for column in columns]
    if list(names) != wanted:
        shown = ", ".join(names[:20])
        raise InputError(f"{file} has the columns {shown[:200] or 'of nothing'}", expected=", ".join(wanted))


def _checked(value: Cell, column: Column, where: str) -> Cell:
    if value is None:
        if column.optional:
            return None
        raise InputError(f"{where}: nothing in the column '{column.name}'", expected=column.kind)
    if isinstance(value, str):
        if len(value) > MAX_CELL:
            raise InputError(
                f"{where}: {len(value):,} characters in the column '{column.name}'", expected=f"at most {MAX_CELL:,}"
            )
        return value
    if isinstance(value, datetime):
        try:
            if value.tzinfo is not None:
                return value.astimezone(UTC)
        except OverflowError:
            pass  # in the first or last hours of the calendar's range
        raise _wrong_cell(str(value), column, where)
    if not math.isfinite(value) or value < 0 or (column.kind is Kind.COUNT and value > LARGEST_INT):
        raise _wrong_cell(str(value), column, where)
    return float(value) if column.kind is Kind.SECONDS else value


def _wrong_cell(cell: str, column: Column, where: str) -> InputError:
    return InputError(f"{where}: '{cell[:40]}' in the column '{column.name}'", expected=column.kind)
