"""Files of a user's own, written in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from pyarrow import parquet

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.user_data.columns import OwnFile
from blindspot.datasets.user_data.files import OwnTable
from blindspot.errors import InputError
from blindspot.files.tables import FileFormat

ENDINGS = [f.value for f in FileFormat]
Read = TypeVar("Read", bound=OwnFile)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def write(folder: Path, ending: str, rows: list[dict[str, Any]]) -> Path:
    """Rows of texts in a format, written without the reader's library where there is another way."""
    path = folder / f"pairs.{ending}"
    names = list(rows[0])
    if ending == "csv":
        lines = [names, *([str(row[name]) for name in names] for row in rows)]
        path.write_text("".join(",".join(map(quoted, line)) + "\r\n" for line in lines), "utf-8", newline="")
    elif ending == "tsv":
        lines = [names, *([str(row[name]) for name in names] for row in rows)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8", newline="")
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif ending == "json":
        path.write_text(json.dumps(rows), "utf-8")
    else:
        parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def given_text(folder: Path, ending: str, content: str | bytes) -> Path:
    path = folder / f"pairs.{ending}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_as(kind: type[Read], table: OwnTable, **columns: str) -> Read:
    """A file of a kind whose columns are named, by their roles; by the header without any."""
    return kind.of(table.table, kind.uses_of(table.table, list(columns.items())))


Maker = Callable[[Path], Path]


def text(ending: str, content: str | bytes) -> Maker:
    return lambda folder: given_text(folder, ending, content)


def table(columns: dict[str, Any]) -> Maker:
    def make(folder: Path) -> Path:
        parquet.write_table(pa.table(columns), folder / "pairs.parquet")
        return folder / "pairs.parquet"

    return make


def check_refused(path: Path, *parts: str) -> None:
    """Reading a file says what is wrong with it in one line that names it."""
    with pytest.raises(InputError) as caught:
        find_dataset(f"file:{path}")
    said = str(caught.value)
    assert [part for part in (str(path), *parts) if part not in said] == []
    assert "\n" not in said
    assert caught.value.exit_code == 2
