"""Tables as CSV and Parquet: what is written comes back, no cell is a formula, and nothing wrong gets in."""

from __future__ import annotations

import csv
import io
import math
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from blindspot.errors import InputError
from blindspot.files import typed_tables as plain_tables
from blindspot.files.typed_tables import Cell, Column, Kind, TableFormat, guarded, unguarded
from tests.support.tables import each

COLUMNS = (
    Column("word"),
    Column("count", Kind.COUNT),
    Column("maybe", Kind.COUNT, optional=True),
    Column("seconds", Kind.SECONDS, optional=True),
    Column("at", Kind.TIME),
)
AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ROW: list[Cell] = ["dog", 1, None, 2.5, AT]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1+1", "''", "'", "＝1"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [*FORMULAS, "", ",", '"', '""', "a,b", 'a"b', "a\nb", "a\r\nb", "\r", "\u202eabc\u200f", "\ufeff", "\0", " "]
)
ROWS = st.lists(
    st.tuples(
        TEXTS,
        st.integers(0, plain_tables.LARGEST_INT),
        st.none() | st.integers(0, 3),
        st.none() | st.floats(0, allow_nan=False, allow_infinity=False),
        st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    ),
    max_size=4,
)


@pytest.mark.parametrize("form", TableFormat)
@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_what_is_written_comes_back(form: TableFormat, rows: list[tuple[Cell, ...]]) -> None:
    data = plain_tables.write(rows, COLUMNS, form)
    assert plain_tables.read(data, COLUMNS, form, "file", 10) == [list(row) for row in rows]


@given(text=TEXTS)
def test_no_cell_is_a_formula_and_none_is_changed(text: str) -> None:
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert unguarded(guarded(text)) == text


def test_a_cell_typed_by_hand_is_taken_as_it_is() -> None:
    assert [unguarded(cell) for cell in ("it's", "'tis", "dog", "'=1")] == ["it's", "'tis", "dog", "=1"]


def test_a_csv_as_others_read_it() -> None:
    data = plain_tables.write(
        [["=1+1", 3, None, 0.1, AT.astimezone(timezone(timedelta(hours=2)))]], COLUMNS, TableFormat.CSV
    )
    assert list(csv.reader(io.StringIO(data.decode(), newline=""))) == [
        ["word", "count", "maybe", "seconds", "at"],
        ["'=1+1", "3", "", "0.1", "2026-01-02T03:04:05.678901+00:00"],
    ]


def test_a_parquet_file_as_others_read_it() -> None:
    data = plain_tables.write([["=1+1", 3, None, 0.1, AT]], COLUMNS, TableFormat.PARQUET)
    table = parquet.read_table(pa.BufferReader(data))
    assert table.to_pylist() == [{"word": "=1+1", "count": 3, "maybe": None, "seconds": 0.1, "at": AT}]


def test_a_spreadsheet_may_have_added_a_mark_of_utf_8_and_other_line_ends() -> None:
    data = b"\xef\xbb\xbfword,count,maybe,seconds,at\ndog,1,,2.5,2026-01-02T03:04:05.678901Z\n"
    assert plain_tables.read(data, COLUMNS, TableFormat.CSV, "file", 1) == [ROW]


HEADER = "word,count,maybe,seconds,at\r\n"


@each(
    ("text", "message"),
    [
        ("", "t.csv has the columns of nothing; expected word, count, maybe, seconds, at"),
        ("word,count\r\n", "t.csv has the columns word, count; expected"),
        ("word,count,maybe,at,seconds\r\n", "has the columns word, count, maybe, at, seconds; expected"),
        (HEADER + "dog,1\r\n", "line 2: 2 cells; expected 5, as in the header"),
        (HEADER + "dog,,,,2026-01-02T03:04:05Z\r\n", "nothing in the column 'count'; expected a whole number from 0"),
        (HEADER + "dog,-1,,,2026-01-02T03:04:05Z\r\n", "'-1' in the column 'count'"),
        (HEADER + "dog,1.5,,,2026-01-02T03:04:05Z\r\n", "'1.5' in the column 'count'"),
        (HEADER + "dog,٣,,,2026-01-02T03:04:05Z\r\n", "'٣' in the column 'count'"),
        (HEADER + "dog,2147483648,,,2026-01-02T03:04:05Z\r\n", "'2147483648' in the column 'count'"),
        (HEADER + f"dog,{'9' * 5000},,,2026-01-02T03:04:05Z\r\n", f"'{'9' * 40}' in the column 'count'"),
        (HEADER + "dog,1,,nan,2026-01-02T03:04:05Z\r\n", "'nan' in the column 'seconds'; expected a number from 0"),
        (HEADER + "dog,1,,inf,2026-01-02T03:04:05Z\r\n", "'inf' in the column 'seconds'"),
        (HEADER + "dog,1,,-2,2026-01-02T03:04:05Z\r\n", "'-2.0' in the column 'seconds'"),
        (HEADER + "dog,1,,,2026-01-02T03:04:05\r\n", "'2026-01-02 03:04:05' in the column 'at'; expected a time with"),
        (HEADER + "dog,1,,,0001-01-01T00:00:00+14:00\r\n", "in the column 'at'; expected a time with its zone"),
        (HEADER + "dog,1,,,yesterday\r\n", "'yesterday' in the column 'at'"),
        (HEADER + '"dog,1,,,yesterday\r\n', "unexpected end of data"),
        (HEADER + '"dog"s,1,,,yesterday\r\n', "line 2: ',' expected after '\"'"),
        (HEADER + f"{'x' * 1_000_000},1,,,2026-01-02T03:04:05Z\r\n", "1,000,000 characters"),
        (HEADER + f"{'x' * 100_001},1,,,2026-01-02T03:04:05Z\r\n", "100,001 characters in the column 'word'; expected"),
        (HEADER + "dog,1,,,2026-01-02T03:04:05Z\r\n" * 3, "t.csv has more than 2 rows"),
    ],
)
def test_what_is_wrong_with_a_csv_is_said_in_a_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        plain_tables.read(text.encode(), COLUMNS, TableFormat.CSV, "t.csv", 2)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_csv_in_another_encoding() -> None:
    with pytest.raises(InputError, match=r"t\.csv is not UTF-8"):
        plain_tables.read("wörd".encode("latin-1"), COLUMNS, TableFormat.CSV, "t.csv", 2)


GOOD = {"word": "dog", "count": 1, "maybe": None, "seconds": 2.5, "at": AT}


def as_parquet(rows: list[dict[str, object]], **types: pa.DataType) -> bytes:
    table = pa.Table.from_pylist(rows)
    for name, type_ in types.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(type_))
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def test_parquet_of_other_types_of_the_same_kind_is_read() -> None:
    data = as_parquet(
        [GOOD], word=pa.large_string(), count=pa.uint8(), seconds=pa.float32(), at=pa.timestamp("ns", "Asia/Tokyo")
    )
    assert plain_tables.read(data, COLUMNS, TableFormat.PARQUET, "file", 1) == [ROW]


@each(
    ("rows", "message"),
    [
        ([{"word": "dog"}], "t.parquet has the columns word; expected word, count"),
        ([GOOD | {"word": 3}], "the column 'word' is int64; expected text"),
        ([GOOD | {"word": ["dog"]}], "the column 'word' is list<element: string>; expected text"),
        ([GOOD | {"word": None}], "t.parquet, row 1: nothing in the column 'word'; expected text"),
        ([GOOD, GOOD | {"count": -1}], "t.parquet, row 2: '-1' in the column 'count'"),
        ([GOOD | {"count": 2**40}], ": Integer value"),
        ([GOOD | {"count": 1.5}], "the column 'count' is double; expected a whole number"),
        ([GOOD | {"seconds": math.nan}], "'nan' in the column 'seconds'"),
        ([GOOD | {"at": datetime(2026, 1, 2)}], "the column 'at' is timestamp[us]; expected a time with its zone"),
        ([GOOD | {"word": "x" * 1_000_000}], "1,000,000 characters in the column 'word'"),
        ([GOOD] * 3, "t.parquet has 3 rows; expected at most 2"),
    ],
)
def test_what_is_wrong_with_a_parquet_file_is_said_in_a_line(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        plain_tables.read(as_parquet(rows), COLUMNS, TableFormat.PARQUET, "t.parquet", 2)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_that_unpacks_to_gigabytes_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_tables, "MOST_BYTES", 1_000_000)
    rows: list[dict[str, object]] = [GOOD | {"word": "x" * 50_000}] * 100
    data = as_parquet(rows)
    assert len(data) < 100_000
    with pytest.raises(InputError, match=r"unpacks to more than 1,000,000 bytes"):
        plain_tables.read(data, COLUMNS, TableFormat.PARQUET, "t.parquet", 10_000)


@each("data", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"no parquet" * 50])
def test_what_is_no_parquet_file(data: bytes) -> None:
    with pytest.raises(InputError, match=r"t\.parquet .* Parquet file") as caught:
        plain_tables.read(data, COLUMNS, TableFormat.PARQUET, "t.parquet", 2)
    assert "\n" not in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_damage_to_a_parquet_file_is_an_error_of_ours_or_harmless(data: st.DataObject) -> None:
    whole = bytearray(plain_tables.write([ROW] * 3, COLUMNS, TableFormat.PARQUET))
    for _ in range(3):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        plain_tables.read(bytes(whole), COLUMNS, TableFormat.PARQUET, "t.parquet", 10)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most damage is no error
