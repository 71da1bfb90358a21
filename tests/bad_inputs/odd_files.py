"""Odd files of texts as people really have them: saved by another program, cut off, joined, renamed, half filled in."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

from tests.bad_inputs.case import BadInput, Edge, Maker, content, folder_named, link_to, made_by
from tests.bad_inputs.texts import GOOD

SENTENCES = [f"the number {i} is in this sentence" for i in range(24)]
ROWS = [{"query": "A dog runs.", "match": "A dog is running."}, {"query": "It rains.", "match": "Rain falls."}]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)


def _case(name: str, make: Maker, *says: str) -> BadInput:
    return BadInput(f"odd: {name}", Edge.TEXTS, make, says)


def cases() -> Iterator[BadInput]:
    """All of them."""
    yield from _encodings()
    yield from _renamed()
    yield from _endings()
    yield from _widths()
    yield from _cells()
    yield from _labels()
    yield from _json()
    yield from _parquet()
    yield from _places()
    yield from _columns()


def _csv(text: str | bytes) -> Maker:
    return content("t.csv", text)


def _jsonl(*rows: object) -> Maker:
    return content("t.jsonl", "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))


# --- encodings


def _encodings() -> Iterator[BadInput]:
    for name, codec, text in (
        ("Shift-JIS", "shift-jis", "query,match\n犬,走る\n猫,鳴く\n"),
        ("GB18030", "gb18030", "query,match\n狗,跑\n猫,叫\n"),
        ("KOI8-R", "koi8-r", "query,match\nсобака,бежит\nкот,спит\n"),
        ("Mac Roman", "mac-roman", "query,match\ncafé,bar\nthé,tea\n"),
        ("EBCDIC", "cp037", GOOD),
    ):
        yield _case(name, _csv(text.encode(codec)), "t.csv", "not UTF-8", "save it as UTF-8")
    yield _case("UTF-16, the large end first", _csv(b"\xfe\xff" + GOOD.encode("utf-16-be")), "is UTF-16")
    yield _case("UTF-16 in JSON", content("t.jsonl", LINES.encode("utf-16")), "is UTF-16", "save it as UTF-8")
    yield _case("an overlong slash", _csv(b"query,match\na\xc0\xafb,c\nd,e\n"), "byte 13", "line 2")
    yield _case("a surrogate in bytes", _csv(b"query,match\na\xed\xa0\x80b,c\nd,e\n"), "byte 13", "line 2")
    yield _case("cut off in a character", _csv("query,match\na,b\nc,café".encode()[:-1]), "not UTF-8", "line 3")
    yield _case("a stray byte after a mark", _csv(b"\xef\xbb\xbfquery,match\na,\x80\nc,d\n"), "line 2")
    yield _case("a zero byte in the header", _csv(b"que\0ry,match\na,b\nc,d\n"), "zero byte")
    yield _case("zero bytes at the end", _csv(GOOD.encode() + bytes(512)), "zero byte")
    yield _case("a zero byte in JSON", _jsonl({"query": "a\0b", "match": "c"}, ROWS[0]), "line 1", "a zero byte")
    yield _case("a zero byte in a JSON name", _jsonl({"que\0ry": "ab", "match": "c"}), "name of a column", "zero byte")
    half = '{"query": "a\\ud800b", "match": "c"}'
    yield _case("half a surrogate pair", _jsonl(ROWS[0], half), "line 2", "surrogate")
    yield _case("half a pair in a name", _jsonl('{"quer\\udc00": "a", "match": "c"}'), "surrogate")
    yield _case(
        "half a pair in a list",
        _jsonl('{"query": "a", "positives": ["b", "\\udfff"]}'),
        "line 1",
        "text 2",
        "surrogate",
    )
    labels = [f'{{"text": "{text}", "label": "{"ab"[i % 2]}"}}' for i, text in enumerate(SENTENCES)]
    yield _case(
        "half a pair in a label", _jsonl(*labels, '{"text": "x", "label": "\\ud83d"}'), "line 25", "is not a class"
    )
    yield _case(
        "half a pair in a rewrite",
        _jsonl(
            *[{"original": s, "negation": f"not {s}"} for s in SENTENCES], '{"original": "x", "negation": "\\ude00"}'
        ),
        "line 25",
        "surrogate",
    )


# --- files of another kind


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("t.csv", GOOD)


def _tar(path: Path) -> None:
    with tarfile.open(path, "w") as file:
        entry = tarfile.TarInfo("t.csv")
        entry.size = len(GOOD)
        file.addfile(entry, io.BytesIO(GOOD.encode()))


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table pairs (query text, match text)")
    database.close()


def _npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros((2, 2)))


def _renamed() -> Iterator[BadInput]:
    packed: Mapping[str, bytes] = {
        "gzip": gzip.compress(GOOD.encode()),
        "bzip2": bz2.compress(GOOD.encode()),
        "xz": lzma.compress(GOOD.encode()),
        "zstd": b"\x28\xb5\x2f\xfd\x04\x58" + bytes(range(1, 60)),
        "7z": b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(24),
    }
    for name, data in packed.items():
        for ending in ("csv", "jsonl", "parquet"):
            what = {"csv": "t.csv", "jsonl": "t.jsonl", "parquet": "not a Parquet file"}[ending]
            yield _case(f"{name} named .{ending}", content(f"t.{ending}", data), what)
    yield _case("a zip named .jsonl", made_by("t.jsonl", _zip), "is a zip archive", "unpack it")
    yield _case("a zip named .tsv", made_by("t.tsv", _zip), "is a zip archive", "unpack it")
    yield _case("a zip named .parquet", made_by("t.parquet", _zip), "not a Parquet file")
    yield _case("a tar named .csv", made_by("t.csv", _tar), "zero byte")
    yield _case("a database named .csv", made_by("t.csv", _sqlite), "t.csv")
    yield _case("an array named .csv", made_by("t.csv", _npy), "not UTF-8")
    yield _case("a pickle named .csv", _csv(pickle.dumps(ROWS)), "t.csv")
    yield _case("an old workbook named .csv", _csv(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)), "an Office file")
    yield _case("a picture named .csv", _csv(b"\x89PNG\r\n\x1a\n" + bytes(40)), "not UTF-8")
    yield _case("a PDF named .csv", _csv(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), "not UTF-8")
    yield _case("a program named .jsonl", content("t.jsonl", b"\x7fELF\x02\x01\x01" + bytes(40)), "t.jsonl")
    yield _case("a page named .csv", _csv("<!DOCTYPE html>\n<html><body>Not Found</body></html>\n"), "a web page")
    yield _case("a message of a server named .jsonl", content("t.jsonl", "404: Not Found"), "line 1", "broken JSON")
    yield _case(
        "a pointer of git-lfs", _csv("version https://git-lfs.github.com/spec/v1\noid sha256:4\nsize 9\n"), "t.csv"
    )
    yield _case("CSV named .parquet", content("t.parquet", GOOD), "not a Parquet file")
    yield _case("CSV named .jsonl", content("t.jsonl", GOOD), "line 1: broken JSON")
    yield _case("CSV named .json", content("t.json", GOOD), "t.json")
    yield _case("JSON lines named .json", content("t.json", LINES), "t.json")
    yield _case("JSON lines named .csv", _csv(LINES), "t.csv")
    yield _case("commas named .tsv", content("t.tsv", GOOD), "one column", "a tab between")
    yield _case(
        "Parquet named .csv",
        made_by("t.csv", lambda path: parquet.write_table(pa.table({"query": ["a"]}), path)),
        "t.csv",
    )
    yield _case(
        "Feather named .parquet",
        made_by("t.parquet", lambda path: feather.write_feather(pa.table({"query": ["a"], "match": ["b"]}), str(path))),
        "not a Parquet file",
    )


def _endings() -> Iterator[BadInput]:
    for ending in ("csv.gz", "jsonl.zst", "xlsx", "xls", "ods", "pkl", "npy", "arrow", "feather", "db", "docx", "yaml"):
        yield _case(f"ending .{ending}", content(f"t.{ending}", GOOD), "cannot tell the format of", f"t.{ending}")
    yield _case("no ending", content("texts", GOOD), "cannot tell the format")
    yield _case("an ending alone", content(".csv", GOOD), "cannot tell the format")


# --- headers and widths


def _widths() -> Iterator[BadInput]:
    yield _case("bars between", _csv("query|match\na b|c d\ne f|g h\n"), "one column, 'query|match'", "a comma between")
    yield _case("spaces between", _csv("query match\na b\nc d\n"), "one column, 'query match'")
    yield _case(
        "semicolons from the second line on", _csv("query,match\na;b\nc;d\n"), "separated by ',' in 'query,match'"
    )
    yield _case("commas inside, not quoted", _csv("query,match\na, b and c,d\ne,f\n"), "line 2: 3 cell(s)")
    yield _case("a separator at the end of the header", _csv("query,match,\na,b\nc,d\n"), "line 2: 2 cell(s)")
    yield _case("a separator at the end of rows", _csv("query,match\na,b,\nc,d,\n"), "t.csv")
    yield _case("a row cut off", _csv("query,match\na,b\nc,d\ne"), "line 4: 1 cell(s)")
    yield _case("a count of rows at the end", _csv(f"{GOOD}(2 rows affected)\n"), "line 4: 1 cell(s)")
    yield _case("a sum at the end", _csv("text1,text2,score\na,b,1\nc,d,2\nTotal,,3\n"), "line 4", "nothing there")
    yield _case("another separator than it says", _csv(f"sep=|\n{GOOD}"), "one column")
    yield _case("a name that is empty", _csv("query,\na b,c d\ne f,g h\n"), "line 1", "a header without a name")
    yield _case("three names alike", _csv("a,match,match\nx,b,c\ny,d,e\n"), "two columns 'match'")
    yield _case("a quote that closes too early", _csv('query,match\n"a"b,c\nd,e\n'), "line 2", "double quotes")
    yield _case("a quote open to the end", _csv('query,match\na,b\n"c,d\n' + "e,f\n" * 50), "line 3", "double quotes")
    yield _case("a comment alone", _csv("# nothing else\n"), "t.csv")
    yield _case("a title and no table", _csv("Our golden set\n\n\n"), "t.csv")
    yield _case("carriage returns and one column", _csv("query\ra\rb\r"), "one column")
    yield _case("one row", _csv("query,match\na,b\n"), "has 1 pair", "at least 2")
    yield _case("ids alone", _csv("id,doc_id\nq1,d1\nq2,d2\n"), "t.csv")
    yield _case("three texts alike", _csv("alpha,beta,gamma\n" + "one two,six ten,odd one\n" * 3), "it is not clear")
    yield _case(
        "two columns that mark pairs", _csv("query,match,label,same\na b,c d,1,0\ne f,g h,0,1\n"), "'label', 'same'"
    )


# --- cells


def _scored(*cells: str) -> Maker:
    texts = zip(SENTENCES, SENTENCES[1:], (*cells, *"12345"), strict=False)
    return content("t.tsv", "text1\ttext2\tscore\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in texts))


def _cells() -> Iterator[BadInput]:
    for name, cell in (
        ("a date", "2024-01-02"),
        ("a comma in a number", "3,5"),
        ("a percent sign", "80%"),
        ("a space in a number", "1 000"),
        ("an underscore in a number", "1_000"),
        ("hexadecimal", "0x10"),
        ("a division by zero", "#DIV/0!"),
        ("a missing value of Excel", "#N/A"),
        ("a formula", "=A1+1"),
        ("a fraction", "1/2"),
        ("two numbers", "1;2"),
        ("a currency", "€3"),
        ("stars", "★★★"),
    ):
        yield _case(f"{name} as a score", _scored(cell), "line 2, column 'score'", f"'{cell}' is no number")
    yield _case("no score", _scored(""), "line 2, column 'score': nothing there")
    yield _case("infinity in words", _scored("Infinity"), "line 2", "inf")
    yield _case("one score for all", _scored(*["3"] * 23), "the score is 3 in all 23 rows")
    merged = "query,match\na b,c d\n,e f\n,g h\n"
    yield _case("merged cells", _csv(merged), "line 3, column 'query': nothing there", "fill it in")
    yield _case("a cell of blanks", _csv("query,match\na b,c d\n   ,e f\n"), "line 3", "nothing there")
    for name, cell in (("a half grade", "1.5"), ("a grade in words", "very"), ("a grade of a billion", "1000000000")):
        rows = f"query,document,relevance\na b,c d,1\na b,e f,{cell}\n"
        yield _case(name, _csv(rows), "line 3, column 'relevance'", "grade")
    yield _case("no grade", _csv("query,document,relevance\na b,c d,1\na b,e f,\n"), "line 3", "nothing there")
    yield _case("two grades", _csv("query,document,relevance\na b,c d,1\na b,c d,2\n"), "grade 2", "that has 1")
    yield _case("nothing relevant", _csv("query,document,relevance\na b,c d,0\na b,e f,0\n"), "no relevant document")
    yield _case("one document", _csv("query,document\na b,c d\ne f,c d\n"), "1 document", "at least 2")
    yield _case("a word twice", _csv("word,count\nthe,100\nof,5\nthe,20\n"), "line 4")
    yield _case("no count", _csv("word,count\nthe,100\nof,\nand,20\n"), "line 3")
    rewrites = "original,synonym\n" + "".join(f"{s},{s} too\n" for s in SENTENCES[:6])
    yield _case("minimal pairs without an original", _csv(rewrites + ",a rewrite\n"), "line 8", "nothing there")
    yield _case("one original", _csv("original,negation\na b,not a b\n"), "has 1 original")
    yield _case("numbers as rewrites", _csv("original,negation\na b,1\nc d,2\n"), "numbers")


def _labeled(rows: Iterator[tuple[str, str]] | list[tuple[str, str]], header: str = "text,label") -> Maker:
    return _csv(f"{header}\n" + "".join(f"{a},{b}\n" for a, b in rows))


def _labels() -> Iterator[BadInput]:
    both = [(text, "ab"[i % 2]) for i, text in enumerate(SENTENCES)]
    yield _case("a label that is blank", _labeled([*both, ("x y", " ")]), "line 26", "nothing there")
    yield _case("a text that is blank", _labeled([*both, (" ", "a")]), "line 26", "nothing there")
    yield _case("a class of one text", _labeled([*both, ("x y", "c")]), "class 'c'", "1 ")
    yield _case("a part without tests", _labeled([(t, f"{c},train") for t, c in both], "text,label,split"), "test")
    yield _case("a part without training", _labeled([(t, f"{c},test") for t, c in both], "text,label,split"), "train")
    yield _case(
        "a split left out",
        _labeled([(t, f"{c},{'' if i else 'train'}") for i, (t, c) in enumerate(both)], "text,label,split"),
        "line 3",
    )
    yield _case(
        "a class in the test alone",
        _labeled(
            [*((t, f"{c},{'test' if i % 3 == 0 else 'train'}") for i, (t, c) in enumerate(both)), ("x", "c,test")],
            "text,label,split",
        ),
        "class 'c'",
    )


# --- JSON


def _json() -> Iterator[BadInput]:
    good = LINES.strip()
    for name, line, *says in (
        ("a list in a line", '["a", "b"]', "line 3", "not a JSON object"),
        ("null in a line", "null", "line 3"),
        ("a number in a line", "17", "line 3"),
        ("a text in a line", '"query"', "line 3"),
        ("two objects in a line", "{} {}", "line 3", "broken JSON"),
        ("a comma at the end", '{"query": "a", "match": "b",}', "line 3", "broken JSON"),
        ("single quotes", "{'query': 'a', 'match': 'b'}", "line 3", "broken JSON"),
        ("a comment", "// more to come", "line 3", "broken JSON"),
        ("an open text", '{"query": "a', "line 3", "broken JSON"),
        ("a raw tab in a text", '{"query": "a\tb", "match": "c"}', "line 3", "broken JSON"),
        ("NaN", '{"query": "a", "match": NaN}', "line 3"),
        ("a name twice", '{"query": "a", "query": "b", "match": "c"}', "line 3", "query"),
        ("a name left out", '{"query": "a"}', "line 3", "nothing there"),
        ("null as a text", '{"query": "a", "match": null}', "line 3", "nothing there"),
        ("true as a text", '{"query": "a", "match": true}', "line 3", "is not text"),
        ("an object as a text", '{"query": "a", "match": {"text": "b"}}', "line 3", "is not text"),
        ("a list as a text", '{"query": "a", "match": ["b"]}', "line 3", "is not text"),
        ("an object of nothing", "{}", "line 3", "nothing there"),
    ):
        yield _case(f"JSON with {name}", content("t.jsonl", f"{good}\n{line}\n"), *says)
    for name, cell, *says in (
        ("no positives", [], "an empty list"),
        ("a blank positive", ["a b", " "], "text 2", "nothing there"),
        ("a number among positives", ["a b", 3], "t.jsonl"),
        ("lists among positives", [["a b"], ["c d"]], "t.jsonl"),
        ("null among positives", ["a b", None], "t.jsonl"),
        ("positives by name", {"text": "a b"}, "t.jsonl"),
    ):
        yield _case(
            name, _jsonl({"query": "x y", "positives": ["c d", "e f"]}, {"query": "z", "positives": cell}), *says
        )
    rows = {"query": "x y", "positives": ["a b", "c d"], "negatives": ["c d"]}
    yield _case("a positive that is a negative", _jsonl(rows), "grade 0", "that has 1")
    yield _case(
        "JSON of columns of unequal length", content("t.json", '{"query": ["a"], "match": ["b", "c"]}'), "t.json"
    )
    yield _case("JSON of lists", content("t.json", '[["a", "b"], ["c", "d"]]'), "t.json")
    yield _case("JSON of nothing", content("t.json", "{}"), "t.json")
    yield _case("JSON of a number", content("t.json", "3"), "t.json")
    yield _case(
        "LlamaIndex without judgments",
        content("t.json", '{"queries": {"q": "a"}, "corpus": {"d": "b", "e": "c"}}'),
        "t.json",
    )
    yield _case(
        "LlamaIndex with an unknown document",
        content("t.json", '{"queries": {"q": "a"}, "corpus": {"d": "b", "e": "c"}, "relevant_docs": {"q": ["x"]}}'),
        "t.json",
        "relevant_docs of the query 'q'",
    )


# --- Parquet


def _table(**columns: object) -> Maker:
    return made_by("t.parquet", lambda path: parquet.write_table(pa.table(columns), path))


def _cut(path: Path) -> None:
    parquet.write_table(pa.table({"query": ["a b"] * 100, "match": ["c d"] * 100}), path)
    path.write_bytes(path.read_bytes()[:-40])


def _parquet() -> Iterator[BadInput]:
    yield _case("Parquet cut off", made_by("t.parquet", _cut), "not a Parquet file, or is damaged")
    yield _case("Parquet of its marks alone", content("t.parquet", b"PAR1PAR1"), "not a Parquet file")
    yield _case("encrypted Parquet", content("t.parquet", b"PARE" + bytes(40) + b"PARE"), "not a Parquet file")
    yield _case(
        "Parquet without rows", _table(query=pa.array([], pa.string()), match=pa.array([], pa.string())), "t.parquet"
    )
    yield _case(
        "Parquet without columns", made_by("t.parquet", lambda p: parquet.write_table(pa.table({}), p)), "t.parquet"
    )
    yield _case(
        "Parquet with missing texts", _table(query=["a b", None], match=["c d", "e f"]), "row 2", "nothing there"
    )
    yield _case("Parquet of bytes", _table(query=[b"a b", b"c d"], match=["c d", "e f"]), "query", "not text")
    yield _case("Parquet of structs", _table(query=[{"x": "a"}, {"x": "b"}], match=["c d", "e f"]), "not text")
    yield _case(
        "Parquet of times", _table(query=pa.array([0, 1], pa.timestamp("us")), match=["a b", "c d"]), "is not text"
    )
    yield _case("Parquet of numbers", _table(query=[1, 2], match=[3, 4]), "row 1", "is not text")


# --- places


def _loop(path: Path) -> None:
    path.symlink_to("other.csv")
    (path.parent / "other.csv").symlink_to(path.name)


def _places() -> Iterator[BadInput]:
    yield _case("a folder named .jsonl", folder_named("t.jsonl"), "is a folder")
    yield _case("a folder named .parquet", folder_named("t.parquet"), "is a folder")
    yield _case("links in a circle", made_by("t.csv", _loop), "t.csv")
    yield _case("a link to a folder", link_to("t.csv", "."), "cannot tell the format")
    yield _case("a file as a folder", lambda folder: content("t.csv", GOOD)(folder) / "more.csv", "more.csv")
    yield _case("a name of 300 letters", lambda folder: folder / f"{'x' * 300}.csv", "xxx")
    yield _case("a line end in a name", lambda folder: folder / "two\nlines.csv", "there is no file")
    yield _case("nothing", lambda _: "", "names no file")
    yield _case("blanks", lambda _: "   ", "names no file")
    yield _case("an address", lambda _: "https://example.com/t.csv", "there is no file")


# --- named columns


def _columns() -> Iterator[BadInput]:
    def named(query: str, data: str = GOOD) -> Maker:
        return lambda folder: f"{content('t.csv', data)(folder)}?{query}"

    yield _case("a role that is none", named("query=query&answer=match"), "unknown role of a column 'answer'")
    yield _case("a role twice", named("query=query&query=match"), "two columns are named as query")
    yield _case("a role without a column", named("query=query&match"), "'match' is given without a column")
    yield _case("half of a pair", named("query=query"), "columns are named as query only")
    yield _case("roles of two kinds", named("query=query&match=match&label=match"), "columns are named as")
    yield _case(
        "a column that is not there", named("query=query&match=other"), "no column 'other'", "one of query, match"
    )
    yield _case("one column for both", named("query=query&match=query"), "cannot be both")
    yield _case("a column of another case", named("query=Query&match=match"), "no column 'Query'")
    marks = "query,match,mark\na b,c d,1\ne f,g h,maybe\ni j,k l,\n"
    yield _case("a mark that says nothing", named("query=query&match=match&mark=mark", marks), "line 4")
    ternary = "query,match,mark\na b,c d,yes\ne f,g h,maybe\ni j,k l,no\n"
    yield _case("marks of three words", named("query=query&match=match&mark=mark", ternary), "'yes' does not say")
    none = "query,match,mark\na b,c d,0\ne f,g h,0\n"
    yield _case("nothing marked", named("query=query&match=match&mark=mark", none), "marks 0 of 2 rows")
