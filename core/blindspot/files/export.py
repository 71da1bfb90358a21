"""Export of tables: Parquet, JSON lines, and CSV that no spreadsheet mistakes for formulas.

A spreadsheet treats a CSV cell that begins with ``= + - @`` (or a tab or line end before them) as a formula. Such a
text gets an apostrophe in front, which spreadsheets do not show or show as a sign of text; so does a text that begins
with an apostrophe, so that reading removes exactly what writing added. Numbers stay numbers. Parquet and JSON have
types: there texts stay as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MARK = "'"
NEEDS_MARK = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", MARK)


def guarded(text: str) -> str:
    """A text as a CSV cell that no spreadsheet treats as a formula."""
    return f"{MARK}{text}" if text.startswith(NEEDS_MARK) else text


def unguarded(cell: str) -> str:
    """The text from which ``guarded`` made a cell; a cell that it never makes, typed by hand, stays as it is."""
    return cell[1:] if cell.startswith(MARK) and cell[1:].startswith(NEEDS_MARK) else cell


def write_csv(table: pa.Table, file: BinaryIO) -> None:
    """Write a table as CSV with guarded texts and column names."""
    import pyarrow as pa
    from pyarrow import compute, csv

    columns = []
    for column in table.columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if is_text:
            plain = column.cast(pa.large_string())
            marked = compute.binary_join_element_wise(pa.scalar(MARK, plain.type), plain, pa.scalar("", plain.type))
            needs_mark = compute.match_substring_regex(plain, f"^[{''.join(NEEDS_MARK).replace('-', '')}-]")
            columns.append(compute.if_else(needs_mark, marked, plain))
        else:
            columns.append(column)
    csv.write_csv(pa.table(columns, names=[guarded(name) for name in table.column_names]), file)


def write_jsonl(table: pa.Table, file: BinaryIO) -> None:
    """Write a table as lines of JSON, an object per row; missing values are null."""
    for row in table.to_pylist():
        file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())


def as_file(frame: pd.DataFrame, ending: str) -> bytes:
    """The content of a file with ``frame``: ``ending`` is ``.csv`` (no formulas), ``.parquet`` or ``.jsonl``."""
    import pyarrow as pa
    from pyarrow import parquet

    writers = {".csv": write_csv, ".parquet": parquet.write_table, ".jsonl": write_jsonl}
    sink = pa.BufferOutputStream()
    writers[ending](pa.Table.from_pandas(frame, preserve_index=False), sink)
    return bytes(sink.getvalue())
