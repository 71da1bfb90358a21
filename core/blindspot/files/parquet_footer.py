"""Footer of a Parquet file: the size that each column chunk claims to have.

``pyarrow``'s ``RowGroupMetaData.column`` builds a column's metadata outside of any handler: if the footer is damaged
(for example by counts of levels that do not fit the column), C++ throws and the process ends. DuckDB reports errors.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from pyarrow import parquet

_QUERY = """
SELECT row_group_id, row_group_num_rows, num_values, total_uncompressed_size
FROM parquet_metadata(?) ORDER BY row_group_id, column_id
"""


@dataclass(frozen=True)
class Chunk:
    """A column in a row group, as the footer describes it, which may be wrong.

    Attributes:
        path: of the column, such as "embedding.list.element".
        rows: of its row group.
        values: number of its values, counting each one in a list.
        unpacked: bytes, uncompressed.
    """

    path: str
    rows: int
    values: int
    unpacked: int


def column_chunks(file: Path, metadata: parquet.FileMetaData) -> list[list[Chunk]]:
    """The chunks of each row group.

    Args:
        metadata: of the same file. The names of columns are those of its schema: the groups' own may differ.

    Raises:
        ValueError: the footer is damaged, or its groups have other columns than its schema.
    """
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    try:
        try:
            rows = _rows(file)
        except (duckdb.FatalException, duckdb.InternalException):
            # This footer, or one before it, has ended the database for every file that follows.
            _duckdb.cache_clear()
            rows = _rows(file)
    except duckdb.Error as error:
        raise ValueError("its footer is damaged") from error
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row[0])]
    if [len(group) for group in groups] != [len(paths)] * metadata.num_row_groups:
        raise ValueError(f"its footer has groups of rows without all of the {len(paths)} columns of the schema")
    return [[Chunk(path, *row[1:]) for path, row in zip(paths, group, strict=True)] for group in groups]


def _rows(file: Path) -> list[tuple[int, ...]]:
    with _duckdb().cursor() as cursor:
        rows: list[tuple[int, ...]] = cursor.execute(_QUERY, [glob.escape(str(file))]).fetchall()
        return rows


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    """The process's connection, since opening one takes longer than reading a footer."""
    return duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
