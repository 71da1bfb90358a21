"""Footers of Parquet files: the same claims that pyarrow reads, and no damage that ends the process."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.files.parquet_footer import Chunk, column_chunks
from blindspot.settings import ROOT
from tests.support.tables import each

# A file of two columns, whose first chunk claims no histogram of levels but has one: pyarrow 26's
# RowGroupMetaData.column ends the process ("Definition level histogram size mismatch").
FATAL = base64.b64decode(
    "UEFSMRUEFRQVFEwVBBUAEgAAAQAAAGEBAAAAYhUAFRIVEiwVBBUQFQYVBhw2ACgBYhgBYRERAAAAAgAAAAQBAQMCFQQVFBUUTBUE"
    "FQASAAABAAAAYwEAAABkFQAVEhUSLBUEFRAVBhUGHDYAKAFkGAFjEREAAAACAAAABAEBAwIVBBk8NQAYBnNjaGVtYRUEABUMJQAY"
    "BXF1ZXJ5JQBMHAAAABUMJQIYBG1hdGUlAEwcAAAAFgQZHBksJgAcFQwZNQAGEBkYBXF1ZXJ5FQAWBBZ8FnwmOCYIHDYAKAFiGAFh"
    "EREAGSwVBBUAFQIAFQAVEBUCADwWBBkGGSYABAAAACYAHBUMGTUABhAZGARtYXRlFQAWBBZ8FnwmtAEmhAEcNgAoAWQYAWMREQAZ"
    "LBUEFQAVAgAVABUQFQIAPBYEGQYZJgAEAAAAFvgBFgQmCBb4AQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwc"
    "AAAcAAAA/QAAAFBBUjE="
)
# Every byte changed in two ways, read by every reader of files that others made.
SWEEP = """
import sys
from pathlib import Path
import pyarrow as pa
from pyarrow import parquet
from blindspot.encoders.table import files
from blindspot.errors import InputError
from blindspot.files import tables, typed_tables

path, form = Path(sys.argv[1]), typed_tables.TableFormat.PARQUET
columns = [typed_tables.Column("query"), typed_tables.Column("match")]
pairs = pa.table({"query": ["a", "b"], "match": ["c", "d"]})
vectors = pa.table({"text": ["a", "b"], "embedding": pa.array([[0.5], [1.0]], pa.list_(pa.float32()))})
readers = [
    (pairs, lambda data: tables.tabulate(path, data)),
    (pairs, lambda data: typed_tables.read(data, columns, form, "file", 10)),
    (vectors, lambda data: (path.write_bytes(data), files.read(path))),
]
for table, read in readers:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, store_schema=False)
    whole = bytes(sink.getvalue())
    for place, byte in enumerate(whole):
        for other in {0, byte ^ 1} - {byte}:
            damaged = whole[:place] + bytes([other]) + whole[place + 1 :]
            try:
                read(damaged)
            except InputError:
                pass
print("all read")
"""


@pytest.mark.hostile
@pytest.mark.parametrize("rows_per_group", [1, 7, 100])
def test_chunks_are_those_that_pyarrow_reads(rows_per_group: int, tmp_path: Path) -> None:
    n = 20
    table = pa.table(
        {
            "text": [None if i % 5 == 0 else f"text {i % 7}" for i in range(n)],
            "embedding": pa.array([[0.5] * (i % 4) for i in range(n)], pa.list_(pa.float32())),
            "pair": pa.array([{"a": i, "b": i % 2 == 0} for i in range(n)]),
        }
    )
    path = tmp_path / "of [a] *?.parquet"  # no pattern
    parquet.write_table(table, path, row_group_size=rows_per_group, write_page_index=True)
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    assert len(groups) == -(-n // rows_per_group)
    assert column_chunks(path, metadata) == [
        [
            Chunk(c.path_in_schema, group.num_rows, c.num_values, c.total_uncompressed_size)
            for c in map(group.column, range(group.num_columns))
        ]
        for group in groups
    ]


@pytest.mark.hostile
@each(
    "footer",
    [
        b"",
        b"\x19",  # a list that is not there
        b"\x1e\0",  # of an unknown kind
        b"\x16" + b"\xff" * 12 + b"\0",  # a number without an end
        b"\x18\x7f\0",  # a text of 127 bytes
        b"\x46\x02\0",  # the groups of rows are a number
        b"\x49\x1c\0\0",  # a group without columns
        b"\x1c" * 10_000,  # structs in structs
    ],
)
def test_a_damaged_footer_is_an_error(footer: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"query": ["a"]}), path)
    metadata = parquet.read_metadata(path)  # of the file before it was damaged
    path.write_bytes(footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match="footer"):
        column_chunks(path, metadata)


@pytest.mark.hostile
def test_a_file_that_ended_the_process_is_an_error() -> None:
    with pytest.raises(InputError, match="damaged"):
        tables.tabulate(Path("t.parquet"), FATAL)


@pytest.mark.hostile
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_all_kinds_of_text_are_read_and_bytes_are_not(kind: pa.DataType, use_dictionary: bool) -> None:
    data = pa.array([b"1", b"2"])
    columns = {"query": pa.array(["a", None], kind), "data": data, "repeated": data.dictionary_encode()}
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink, use_dictionary=use_dictionary)
    table = tables.tabulate(Path("t.parquet"), bytes(sink.getvalue()))
    assert table.kinds == (tables.ColumnKind.TEXT, tables.ColumnKind.OTHER, tables.ColumnKind.OTHER)
    assert list(table.cells[0]) == ["a", None]
    assert not any(isinstance(cell, bytes) for cell in (*table.cells[1], *table.cells[2]))


@pytest.mark.hostile
def test_dates_of_no_calendar_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"query": ["a"], "match": pa.array([2**31 - 1], pa.date32())}), path)
    with pytest.raises(InputError, match="damaged"):
        tables.tabulate(path, path.read_bytes())


@pytest.mark.hostile
@pytest.mark.process
def test_no_changed_byte_ends_the_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SWEEP, str(tmp_path / "t.parquet")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "all read\n"), done.stderr[-2_000:]


def test_a_footer_that_ends_duckdbs_database_leaves_other_files_readable(tmp_path: Path) -> None:
    """A width of -51 bytes: DuckDB refuses everything after it, and was the process's only one."""
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    parquet.write_table(pa.table({"query": ["a"], "price": pa.array([1]).cast(pa.decimal128(25, 2))}), good)
    metadata, data = parquet.read_metadata(good), good.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in range(footer, len(data) - 8):
        bad.write_bytes(data[:place] + b"\x65" + data[place + 1 :])
        with duckdb.connect() as connection:
            try:
                connection.execute("SELECT * FROM parquet_metadata(?)", [str(bad)]).fetchall()
            except duckdb.InternalException:
                break
            except duckdb.Error:
                continue
    else:
        pytest.fail("no changed byte ends the database any more: nothing has to be opened again")
    for _ in range(2):
        with pytest.raises(ValueError, match="footer is damaged"):
            column_chunks(bad, metadata)
        assert [chunk.path for chunk in column_chunks(good, metadata)[0]] == ["query", "price"]
