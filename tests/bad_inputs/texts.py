"""Bad files of texts (``file:PATH``; uploads on the page *Data*)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tests.bad_inputs.case import BadInput, Edge, Maker, content, folder_named, link_to, made_by, pipe

GOOD = "query,match\nA dog runs.,A dog is running.\nIt rains.,Rain falls.\n"
LABELED = [(f"a sentence number {i}", "yes" if i % 2 else "no") for i in range(24)]
ARABIC_OVERRIDE = "\u202e"


def _csv(text: str | bytes) -> Maker:
    return content("t.csv", text)


def _labeled(rows: list[tuple[str, str]]) -> Maker:
    return _csv("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))


def _table(**columns: object) -> Maker:
    return made_by("t.parquet", lambda path: parquet.write_table(pa.table(columns), path))


def _repeated_text(path: Path) -> None:
    """Kilobytes that unpack to terabytes: one text of 8 MB, two hundred thousand times, kept once in a dictionary."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), pa.array(["x" * 8_000_000]))
    parquet.write_table(pa.table({"query": text, "match": text}), path, compression="zstd")


def _repeated_bytes(path: Path) -> None:
    """The same with bytes, which are not read as a dictionary."""
    data = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), pa.array([b"x" * 8_000_000]))
    parquet.write_table(
        pa.table({"query": data, "match": ["a"] * 200_000}), path, compression="zstd", store_schema=False
    )


def _repeated_views(path: Path) -> None:
    """The same with texts that the stored schema calls views."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), pa.array(["x" * 8_000_000]))
    schema = pa.schema({"query": pa.string_view(), "match": pa.string()}).serialize().to_pybytes()
    table = pa.table({"query": text, "match": ["a"] * 200_000})
    with parquet.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema).decode()})


def _promises_rows(path: Path) -> None:
    """Columns of nothing, a billion rows: the footer alone says so."""
    one = pa.table({"query": pa.nulls(1_000_000, pa.string()), "match": pa.nulls(1_000_000, pa.string())})
    with parquet.ParquetWriter(path, one.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(one)


def _nested_parquet(path: Path) -> None:
    kind: pa.DataType = pa.string()
    value: object = "x"
    for _ in range(60):
        kind, value = pa.list_(kind), [value]
    parquet.write_table(pa.table({"query": pa.array([value, value], kind), "match": ["a", "b"]}), path)


def _many_columns(path: Path) -> None:
    path.write_text("c," * 9_999_999 + "c\n1,2\n")


def _many_cells(path: Path) -> None:
    path.write_text(f"query,match\n{'a,' * 10_000_000}\n")


def _many_lists(path: Path) -> None:
    path.write_text('{"query": [' + ",".join(["[]"] * 10_000_000) + '], "match": "x"}\n')


def _many_keys(path: Path) -> None:
    with path.open("w") as file:
        for row in range(2_000):
            file.write(json.dumps({f"k{row}_{i}": "x" for i in range(500)}) + "\n")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)  # a terabyte that takes no room on the disk


def _case(name: str, make: Maker, *says: str, is_large: bool = False) -> BadInput:
    return BadInput(f"texts: {name}", Edge.TEXTS, make, says, is_large=is_large)


def cases() -> Iterator[BadInput]:
    """All of them."""
    bom = b"\xef\xbb\xbf"
    yield _case(
        "no header", _csv("A dog runs.,A dog is running.\nIt rains.,Rain falls.\nOh no.,No.\n"), "first line", "names"
    )
    yield _case("a mark and nothing else", _csv(bom), "is empty")
    yield _case("UTF-16", _csv(GOOD.encode("utf-16")), "is UTF-16; expected a UTF-8", "save it as UTF-8")
    yield _case("UTF-16 without a mark", _csv(GOOD.encode("utf-16-le")), "zero byte", "UTF-8")
    yield _case("UTF-32", _csv(GOOD.encode("utf-32")), "is UTF-32", "save it as UTF-8")
    yield _case("Latin-1", _csv("query,match\ncafé,bar\nthé,tea\n".encode("latin-1")), "not UTF-8", "byte 15")
    yield _case("cp1252 quotes", _csv("query,match\n“a”,b\nc,d\n".encode("cp1252")), "not UTF-8", "save it as UTF-8")
    yield _case("10 million columns", made_by("t.csv", _many_columns), "columns", "at most 1,000", is_large=True)
    yield _case(
        "10 million cells in a row",
        made_by("t.csv", _many_cells),
        "10,000,001 cells in line 2",
        "at most 1,000",
        is_large=True,
    )
    yield _case("parquet bomb", made_by("t.parquet", _repeated_text), "unpacks to more than", is_large=True)
    yield _case("parquet bomb of bytes", made_by("t.parquet", _repeated_bytes), "is not text", is_large=True)
    yield _case("parquet bomb of views", made_by("t.parquet", _repeated_views), "unpacks to more than", is_large=True)
    yield _case("parquet of 20 million rows", made_by("t.parquet", _promises_rows), "20,000,000 rows", is_large=True)
    yield _case("parquet nested 60 deep", made_by("t.parquet", _nested_parquet), "too deeply nested")
    yield _case("parquet of dates", _table(query=pa.array([0, 1], pa.date32()), match=["a", "b"]), "is not text")
    yield _case("JSON of great depth", content("t.jsonl", '{"query":' * 100_000), "line 1: broken JSON")
    yield _case("JSON of 10 million lists", made_by("t.jsonl", _many_lists), "line 1", "at most", is_large=True)
    yield _case("JSON of a million names", made_by("t.jsonl", _many_keys), "columns", "at most", is_large=True)
    yield _case(
        "JSON of mixed types",
        content("t.jsonl", '{"query": "a", "match": "b"}\n{"query": {}, "match": 3}\n'),
        "line 2",
        "is not text",
    )
    yield _case(
        "a huge integer in JSON",
        content("t.jsonl", '{"word": "a", "count": 1' + "0" * 400 + '}\n{"word": "b", "count": 2}\n'),
        "line 1",
        "count",
    )
    yield _case(
        "an integer of 9,999 digits",
        content("t.jsonl", '{"word": "a", "count": 1' + "0" * 9_999 + "}\n"),
        "line 1",
        "digits",
    )
    yield _case(
        "a class of 9,999 digits",
        _labeled([(t, "1" * 9_999 if c == "no" else "2") for t, c in LABELED]),
        "no two columns",
    )
    yield _case(
        "a class of 9,999 letters",
        _labeled([(t, "x" * 9_999 if c == "no" else "2") for t, c in LABELED]),
        "line 2",
        "a class of 9,999 characters",
    )
    yield _case("NaN as a score", _csv("text1,text2,score\na,b,1\nc,d,nan\ne,f,2\n"), "line 3", "nan")
    yield _case("infinity as a score", _csv("text1,text2,score\na,b,1\nc,d,-inf\ne,f,2\n"), "line 3", "inf")
    yield _case("a score that overflows", _csv("text1,text2,score\na,b,1\nc,d,1e999\ne,f,2\n"), "line 3", "inf")
    yield _case(
        "a score in words", _csv("text1,text2,score\na,b,1\nc,d,very\ne,f,2\n"), "line 3", "'very' is no number"
    )
    yield _case("negative counts", _csv("word,count\nthe,100\nof,-5\nand,20\n"), "line 3")
    yield _case("ragged rows", _csv("query,match\na,b\nc\nd,e,f\n"), "line 3: 1 cell(s)", "expected 2")
    yield _case("null bytes", _csv(b"query,match\na\x00b,c\nd,e\n"), "zero byte")
    yield _case(
        "right-to-left override in a name",
        _csv(f"query,{ARABIC_OVERRIDE}etam\n1,2\n3,4\n"),
        "no two columns",
        "\\u202e",
    )
    yield _case(
        "escape sequences in a name",
        _csv("\x1b[31mquery\x1b]0;owned\x07,match\n1,2\n3,4\n"),
        "no two columns",
        "\\x1b",
    )
    yield _case(
        "HTML in a name",
        _csv("<script>alert(1)</script>,<img src=x onerror=alert(1)>\n1,2\n3,4\n"),
        "<script>",
        "no two columns",
    )
    yield _case(
        "a cell of 1 MB", _csv(f"query,match\n{'x' * 2**20},b\nc,d\n"), "line 2", "1,048,576 characters", "at most"
    )
    yield _case(
        "a cell of 1 MB in JSON",
        content("t.jsonl", json.dumps({"query": "x" * 2**20, "match": "b"}) + '\n{"query": "c", "match": "d"}\n'),
        "line 1",
        "1,048,576 characters",
        "at most",
    )
    yield _case("a name of 1 MB", _csv(f"query,{'x' * 2**20}\na,b\nc,d\n"), "name", "at most")
    yield _case("names twice", _csv("query,query\na,b\nc,d\n"), "two columns 'query'")
    yield _case("an empty file", _csv(""), "is empty")
    yield _case("a header alone", _csv("query,match\n"), "no rows")
    yield _case("one column", _csv("query\na\nb\n"), "one column, 'query'", "a comma between")
    yield _case("rows of nothing", _csv("query,match\n,\n,\n"), "a header and no rows")
    yield _case("white space alone", _csv(" \n\t\n  \n"), "is empty")
    yield _case("separators alone", _csv(",,,\n,,,\n,,,\n"), "no rows")
    yield _case("an open quote", _csv('query,match\na,"b\nc,d\n'), "line 2", "double quotes")
    yield _case("one class", _labeled([(t, "yes") for t, _ in LABELED]), "class")
    yield _case(
        "a class per text", _labeled([(f"{t} {i}", f"c{i}{t[-2:]}") for i in range(8) for t, _ in LABELED]), "classes"
    )
    yield _case("labels of nothing", _labeled([(t, "") for t, _ in LABELED]), "nothing there")
    yield _case(
        "a split that is none",
        _csv("text,label,split\n" + "".join(f"{t},{c},tomorrow\n" for t, c in LABELED)),
        "'tomorrow' is not a split",
    )
    yield _case("a folder", folder_named("t.csv"), "is a folder")
    yield _case("a pipe", pipe("t.csv"), "no regular file")
    yield _case("an endless device", link_to("t.csv", "/dev/zero"), "cannot tell the format")
    yield _case("a link to nowhere", link_to("t.csv", "nowhere.csv"), "there is no file")
    yield _case("a link to itself", link_to("t.csv", "t.csv"), "t.csv")
    yield _case("a terabyte", made_by("t.csv", _sparse), "1,099,511,627,776 bytes", "at most")
    yield _case("a workbook", content("t.xlsx", b"PK\x03\x04"), "cannot tell the format", ".csv")
    yield _case("a zip named .csv", _csv(b"PK\x03\x04\x14\x00" + bytes(40)), "zip")
    yield _case("no such file", lambda folder: folder / "no.csv", "there is no file", "no.csv")
    yield _case("a name that is no text", content(os_name(), GOOD), "name", "UTF-8")


def os_name() -> str:
    """A file name with a byte that is not UTF-8, as Python gives it."""
    return "t\udcff.csv"
