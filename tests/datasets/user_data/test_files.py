"""A user's own pairs: every format, how columns are guessed, and one clear line for whatever is wrong."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pyarrow import parquet

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import guess as own_guess
from blindspot.datasets.user_data.columns import MATCH, QUERY, UNUSED
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.errors import InputError
from blindspot.files import tables as own_files
from blindspot.files.tables import ColumnKind
from blindspot.settings import ASSETS, Settings
from tests.support.own_files import ENDINGS, Maker, check_refused, given_text, read_as, table, text, write
from tests.support.tables import each

PAIRS = (("A dog runs.", "A dog is running."), ("He said “no”, twice", "No, he said"), ("1984", "a novel"))
HEADER = ("query", "match")


def as_rows(pairs: tuple[tuple[str, str], ...], names: tuple[str, str] = HEADER) -> list[dict[str, Any]]:
    return [dict(zip(names, pair, strict=True)) for pair in pairs]


def used(pairs: OwnPairs) -> tuple[str, str]:
    return pairs.query.name, pairs.match.name


# --- what is read


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_same_pairs(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, as_rows(PAIRS))
    found = own.read(path)
    assert found.pairs == PAIRS
    assert found.format == ending
    assert found.path == path
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [(c.name, c.use, c.why) for c in found.columns] == [
        ("query", QUERY, "by its name"),
        ("match", MATCH, "by its name"),
    ]
    assert found.query.examples == tuple(query for query, _ in PAIRS)
    assert (found.distinct_texts, found.self_pairs, found.duplicate_pairs) == (6, 0, 0)


# Whatever no format takes for a line end or for nothing; Parquet and JSON know no other limits.
CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(str.strip)


@hypothesis_settings(deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=2, max_size=5))
def test_texts_are_kept_to_the_letter(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("own")
    for ending in ENDINGS:
        assert own.read(write(folder, ending, as_rows(tuple(pairs)))).pairs == tuple(pairs)


def test_cells_of_several_lines_and_with_quotes(tmp_path: Path) -> None:
    path = given_text(tmp_path, "csv", 'query,match\n"two\nlines, and ""quotes""",b\n\nc,d\n')
    assert own.read(path).pairs == (('two\nlines, and "quotes"', "b"), ("c", "d"))


def test_in_a_tsv_quotes_are_part_of_the_text(tmp_path: Path) -> None:
    path = given_text(tmp_path, "tsv", 'query\tmatch\n"a" b\t"c\nd"\t"e"\n')
    assert own.read(path).pairs == (('"a" b', '"c'), ('d"', '"e"'))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_may_have_the_separator_of_another_country(tmp_path: Path, separator: str) -> None:
    found = own.read(given_text(tmp_path, "csv", f'"query"{separator}"match"\na{separator}b\nc{separator}d\n'))
    assert found.pairs == (("a", "b"), ("c", "d"))
    assert found.separator == separator


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, as_rows(PAIRS))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert own.read(path).pairs == PAIRS
    assert used(own.read(path)) == HEADER


def test_the_ending_may_be_in_capitals(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", as_rows(PAIRS))
    assert own.read(path.rename(tmp_path / "PAIRS.CSV")).pairs == PAIRS


def test_parquet_of_other_string_types(tmp_path: Path) -> None:
    texts = {"a": ["x", "y", "x"], "b": ["z", "z", "z"]}
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        path = tmp_path / "pairs.parquet"
        parquet.write_table(pa.table({name: pa.array(cells, kind) for name, cells in texts.items()}), path)
        assert own.read(path).pairs == (("x", "z"), ("y", "z"), ("x", "z"))


def test_parquet_beside_embeddings_and_in_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "ROWS_PER_BATCH", 2)
    rows = [{"vec.tor": [1.0, 2.0], "id": i, "a.b": f"q {i}", "c": f"m {i}"} for i in range(5)]
    found = own.read(write(tmp_path, "parquet", rows))
    assert found.pairs == tuple((f"q {i}", f"m {i}") for i in range(5))
    assert [c.kind for c in found.columns] == [ColumnKind.OTHER, ColumnKind.NUMBER, ColumnKind.TEXT, ColumnKind.TEXT]


def test_the_example_of_the_readme() -> None:
    found = own.read(ASSETS / "demo" / "own_pairs.csv")
    assert used(found) == HEADER
    assert (len(found.pairs), found.distinct_texts) == (8, 16)
    assert found.pairs[4][1] == "After I start the app, it closes at once."


# --- which column is which


@each("ending", ENDINGS)
@each(
    ("names", "expected", "why"),
    [
        (["text", "match", "query"], ("query", "match"), "by its name"),
        (["Sentence 2", "Sentence_1", "x"], ("Sentence_1", "Sentence 2"), "by its name"),
        (["label text", "text1", "text2"], ("text1", "text2"), "by its name"),
        (["B", "A", "Z"], ("A", "B"), "by its name"),
        (["text_a", "z", "text_b"], ("text_a", "text_b"), "by its name"),
        (["word1", "word2", "text1"], ("word1", "word2"), "by its name"),
        (["other", "answer", "user query"], ("user query", "answer"), own_guess.BY_WORD),
    ],
)
def test_columns_are_guessed(
    tmp_path: Path, ending: str, names: list[str], expected: tuple[str, str], why: str
) -> None:
    rows = [{name: f"{name} {row}" for name in names} for row in range(3)]
    found = own.read(write(tmp_path, ending, rows))
    assert used(found) == expected
    assert found.query.why == why
    assert found.pairs[2] == (f"{expected[0]} 2", f"{expected[1]} 2")
    (rest,) = (c for c in found.columns if c.use == UNUSED)
    assert rest.name not in expected
    assert rest.examples == (f"{rest.name} 0", f"{rest.name} 1", f"{rest.name} 2")


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_of_numbers_or_nothing_are_passed_over(tmp_path: Path, ending: str) -> None:
    rows = [{"id": i, "views": 0.5 * i, "left": f"l {i}", "right": f"r {i}"} for i in range(3)]
    found = own.read(write(tmp_path, ending, rows))
    assert used(found) == ("left", "right")
    assert [c.kind for c in found.columns[:2]] == [ColumnKind.NUMBER, ColumnKind.NUMBER]
    assert found.match.why == "second text column"


def test_an_index_without_a_name_is_passed_over(tmp_path: Path) -> None:
    found = own.read(given_text(tmp_path, "csv", ",empty,left,right\n0,,a,b\n1,,c,d\n"))
    assert used(found) == ("left", "right")
    assert [c.kind for c in found.columns[:2]] == [ColumnKind.NUMBER, ColumnKind.EMPTY]


def test_a_named_column_may_hold_numbers_where_all_is_text(tmp_path: Path) -> None:
    found = own.read(given_text(tmp_path, "csv", "query,match\n1984,2001\n1,one\n"))
    assert found.pairs == (("1984", "2001"), ("1", "one"))


def test_columns_can_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", [{"query": f"q{i}", "match": f"m{i}", "other": f"o{i}"} for i in range(2)])
    table = own.tabulate(path, path.read_bytes())
    found = read_as(OwnPairs, table, query="other", match="query")
    assert found.pairs == (("o0", "q0"), ("o1", "q1"))
    assert [c.why for c in found.columns] == ["as asked", "hardly any value is there twice", "as asked"]


def test_columns_that_a_diagnostic_needed_are_not_called_asked_for(tmp_path: Path) -> None:
    """A file of marked pairs, as Similarity reads it: nobody named a column."""
    lines = "".join(f"a cat {i} sits there,a cat {i} is sitting,{i % 2}\n" for i in range(30))
    path = given_text(tmp_path, "csv", f"text1,text2,label\n{lines}")
    fitted = own.fitting(f"file:{path}", DatasetKind.SCORED_PAIRS)
    found = own.find(fitted).as_manifest()
    assert found["why"] == {"first text": "by its name", "second text": "by its name", "score": "by its name"}
    assert found["remarks"] == ["what was run needs all rows as scored pairs (similarity, threshold)"]
    named = own.find(f"file:{path}?text1=text2&text2=text1&score=label").as_manifest()
    assert set(named["why"].values()) == {"as asked"}
    assert "remarks" not in named


@pytest.mark.parametrize(
    ("text", "kind", "whys"),
    [
        (
            "foo,bar,value\nthe cat sat,a cat sits,4.5\nthe dog ran,cats are nice,0.5\na man eats,he is eating,5\n",
            DatasetKind.SCORED_PAIRS,
            {"first text column", "second text column", "by a word in its name"},
        ),
        (
            "premise,hypothesis,label\n" + "".join(f"a cat {i} sits,a cat {i} is sitting,{i % 3}\n" for i in range(30)),
            DatasetKind.LABELED_TEXTS,
            None,
        ),
    ],
)
def test_columns_that_a_diagnostic_needed_keep_the_headers_reasons_without_marks_too(
    tmp_path: Path, text: str, kind: DatasetKind, whys: set[str] | None
) -> None:
    path = given_text(tmp_path, "csv", text)
    fitted = own.fitting(f"file:{path}", kind)
    found = own.find(fitted).as_manifest()
    assert fitted != f"file:{path}"
    assert "as asked" not in found["why"].values()
    assert whys is None or set(found["why"].values()) == whys


# --- what is counted


def test_duplicates_and_pairs_of_a_text_with_itself_are_kept_and_counted(tmp_path: Path) -> None:
    pairs = (("a", "b"), ("b", "a"), ("a", "b"), ("c", "c"), ("a", "b"), ("c", "c"), ("C", "c"))
    found = own.read(write(tmp_path, "jsonl", as_rows(pairs)))
    assert found.pairs == pairs
    assert (found.duplicate_pairs, found.self_pairs, found.distinct_texts) == (3, 2, 4)
    assert found.summary == (
        "pairs.jsonl: query is column 'query' (by its name) and match is column 'match' (by its name); "
        "7 pairs, 4 texts, repeated pairs: 3, pairs of a text with itself: 2"
    )


# --- what is wrong


def truncated(folder: Path) -> Path:
    path = write(folder, "parquet", as_rows(PAIRS))
    path.write_bytes(path.read_bytes()[:-20])
    return path


def damaged(folder: Path) -> Path:
    """A Parquet file whose footer is whole and whose pages are not."""
    path = folder / "pairs.parquet"
    parquet.write_table(pa.table({"a": [f"q{i}" for i in range(900)], "b": [f"m{i}" for i in range(900)]}), path)
    data = bytearray(path.read_bytes())
    data[4:1500] = b"\xff" * 1496
    path.write_bytes(data)
    return path


def two_of_a_name(folder: Path) -> Path:
    parquet.write_table(pa.table([["x"], ["y"]], names=["a", "a"]), folder / "pairs.parquet")
    return folder / "pairs.parquet"


def latin_parquet(folder: Path) -> Path:
    cells = pa.array([b"caf\xe9", b"b"], pa.binary()).view(pa.string())
    return table({"a": cells, "b": ["x", "y"]})(folder)


def large(folder: Path) -> Path:
    path = folder / "pairs.csv"
    with path.open("wb") as f:
        f.truncate(own_files.MAX_BYTES + 1)  # takes no room on the disk
    return path


WRONG: dict[str, tuple[Maker, list[str]]] = {
    "in a missing folder": (lambda folder: folder / "no" / "no.csv", ["there is no file"]),
    "name too long": (lambda folder: folder / f"{'n' * 300}.csv", ["cannot read", "too long"]),
    "below a file": (lambda f: text("csv", "a,b\n")(f) / "x.csv", ["there is no file"]),
    "unknown ending": (text("text", "a\tb\n"), ["cannot tell the format", ".csv, .tsv, .jsonl, .json, .parquet, .txt"]),
    "packed": (text("csv.gz", "a\tb\n"), ["cannot tell the format"]),
    "no ending": (lambda f: given_text(f, "csv", "a,b").rename(f / "pairs"), ["cannot tell the format"]),
    "too many bytes": (large, [f"has {own_files.MAX_BYTES + 1:,} bytes; expected at most {own_files.MAX_BYTES:,}"]),
    "header only, tsv": (text("tsv", "query\tmatch"), ["a header and no rows"]),
    "header only, parquet": (table({"a": pa.array([], pa.string()), "b": []}), ["columns and no rows"]),
    "one column, tsv": (text("tsv", "query,match\na,b\n"), ["one column, 'query,match'", "a tab between"]),
    "one column, jsonl": (text("jsonl", '{"a": "x"}\n{"a": "y"}\n'), ["1 column(s): a"]),
    "one column, parquet": (table({"a": ["x", "y"]}), ["1 column(s): a"]),
    "ragged, short": (text("csv", "a,b\n1,x\n\ny\n"), ["line 4: 1 cell(s); expected 2"]),
    "ragged, long": (text("csv", 'a,b\n"x\ny",z\n1,2,3\n'), ["line 4: 3 cell(s); expected 2"]),
    "ragged, tsv": (text("tsv", "a\tb\nx\ty\nx\ty\tz\n"), ["line 3: 3 cell(s); expected 2"]),
    "missing cell": (text("csv", "a,b\nx,y\nz,\n"), ["line 3, column 'b': nothing there", "a text"]),
    "blank cell": (text("tsv", "a\tb\nx\ty\n \tz\n"), ["line 3, column 'a': nothing there"]),
    "null": (text("jsonl", '{"a": "x", "b": "y"}\n{"a": "x", "b": null}\n'), ["line 2, column 'b': nothing there"]),
    "absent": (text("jsonl", '{"a": "x", "b": "y"}\n\n{"a": "x"}\n'), ["line 3, column 'b': nothing there"]),
    "null in parquet": (table({"a": ["x", None], "b": ["y", "z"]}), ["row 2, column 'a': nothing there"]),
    "number": (text("jsonl", '{"a": "x", "b": "y"}\n{"a": 5, "b": "y"}\n'), ["line 2, column 'a': 5 is not text"]),
    "list": (text("jsonl", '{"a": "x", "b": ["y"]}\n{"a": "x", "b": "y"}\n'), ["line 1, column 'b': ['y'] is not"]),
    "numbers in parquet": (table({"a": [1, 2], "b": ["y", "z"]}), ["row 1, column 'a': 1 is not text"]),
    "lists in parquet": (table({"a": [["x"], ["y"]], "b": ["y", "z"]}), ["row 1, column 'a': [", "is not text"]),
    "half a surrogate": (text("jsonl", '{"a": "\\ud800", "b": "y"}\n{"a": "x", "b": "y"}\n'), ["line 1", "surrogate"]),
    "no two texts": (text("csv", "id,text,x\n1,a,2\n2,b,3\n"), ["no two columns of text", "'id' (numbers)", "'text'"]),
    "texts within objects": (
        text("jsonl", '{"q": "a cat", "m": {"pos": "cats"}}\n{"q": "a dog", "m": {"pos": "dogs"}}\n'),
        ["no two columns of text", "'m' (something else)", "within objects"],
    ),
    "one pair": (text("csv", "a,b\nx,y\n"), ["has 1 pair; expected at least 2 pairs"]),
    "name twice, parquet": (two_of_a_name, ["two columns 'a'"]),
    "broken JSON": (text("jsonl", '{"a": "x", "b": "y"}\n\n{"a": "x", "b"\n'), ["line 3: broken JSON", "delimiter"]),
    "JSON, but no object": (text("jsonl", '["a", "b"]\n'), ["line 1: not a JSON object"]),
    "many columns": (text("csv", ",".join(f"c{i}" for i in range(1_001)) + "\n"), ["1,001 columns"]),
    "text after a quote": (text("csv", 'a,b\nx,"y" z\n'), ["row that begins in line 2", "expected cells"]),
    "open quote in the header": (text("csv", 'a,"b\nx,y\n'), ["row that begins in line 1"]),
    "huge cell": (
        text("csv", f"a,b\nx,{'y' * 200_000}\n"),
        ["line 2, column 'b': 200,000 characters; expected at most 100,000"],
    ),
    "broken parquet": (text("parquet", "PAR1 and nothing"), ["is not a Parquet file, or is damaged"]),
    "truncated parquet": (truncated, ["is not a Parquet file, or is damaged"]),
    "damaged parquet": (damaged, ["is not a Parquet file, or is damaged"]),
    "parquet that is not UTF-8": (latin_parquet, ["is not a Parquet file, or is damaged", "UTF"]),
    "csv named parquet": (text("parquet", "query,match\na,b\n"), ["is not a Parquet file"]),
    "not UTF-8 after a mark": (text("tsv", b"\xef\xbb\xbfa\tb\n\xff\tx\n"), ["is not UTF-8 (byte 7)"]),
    "zero byte": (text("csv", b"a,b\nx\0,y\n"), ["zero byte (byte 5)"]),
}


@each("case", WRONG)
def test_what_is_wrong_is_one_clear_line(tmp_path: Path, case: str) -> None:
    make, parts = WRONG[case]
    check_refused(make(tmp_path), *parts)


@each(
    ("ending", "content"),
    [(ending, content) for ending in ENDINGS for content in (b"", b"\n", b" \r\n\n")]
    + [(ending, content) for ending in ENDINGS[:3] for content in (b"\xef\xbb\xbf", b"\xef\xbb\xbf\n")],
)
def test_a_file_with_nothing_in_it_is_empty(tmp_path: Path, ending: str, content: bytes) -> None:
    with pytest.raises(InputError, match="is empty"):
        own.read(given_text(tmp_path, ending, content))


@pytest.mark.parametrize("ending", ENDINGS)
def test_too_many_rows(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, ending, as_rows(PAIRS))
    monkeypatch.setattr(own_files, "MAX_ROWS", 3)
    assert own.read(path).pairs == PAIRS
    monkeypatch.setattr(own_files, "MAX_ROWS", 2)
    with pytest.raises(InputError, match="3 rows; expected at most 2; take a sample"):
        own.read(path)


def test_a_parquet_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text of 10 kB, 1,000 times: a dictionary keeps it once, so the file is small."""
    path = table({"a": ["x" * 10_000] * 1_000, "b": ["y"] * 1_000})(tmp_path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(own_files, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(own_files, "ROWS_PER_BATCH", 10)
    with pytest.raises(InputError, match="unpacks to more than"):
        own.read(path)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="no regular file"):
        own.read(tmp_path / "pipe.csv")


# --- references


@each("reference", ["file:", "file:  ", "file:a\0b.csv", "file:~no-such-user-here/x.csv"])
def test_a_reference_that_names_no_file(reference: str) -> None:
    for look in (find_dataset, DatasetRef.parse):
        with pytest.raises(InputError) as caught:
            look(reference)
        assert "file:PATH" in str(caught.value)


def test_the_id_is_the_reference_with_the_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    path = write(tmp_path, "csv", as_rows(PAIRS))
    monkeypatch.chdir(tmp_path)
    for reference in (f"file:{path}", "file:pairs.csv", f"file:../{tmp_path.name}/./pairs.csv"):
        entry = find_dataset(reference)
        assert entry.id == DatasetRef.parse(reference) == f"file:{path}"
        assert entry.revision == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entry.size == "3 pairs, 6 texts"
        assert (entry.title, entry.unit, entry.files) == ("pairs", "text", ())
        assert fetch.dataset_state(entry, settings) == "your file"
        dataset = fetch.load(entry, settings)
        assert dataset.id == entry.id
        assert dataset.items == tuple(text for pair in PAIRS for text in pair)
        assert dataset.queries.tolist() == [0, 2, 4]
        assert dataset.matches.tolist() == [1, 3, 5]
    path.unlink()
    assert DatasetRef.parse("file:pairs.csv") == f"file:{path}", "the file need not exist"
    assert f"file:{path}" not in DATASETS


def test_a_file_that_changed_is_read_again(tmp_path: Path, settings: Settings) -> None:
    path = write(tmp_path, "csv", as_rows(PAIRS))
    before = find_dataset(f"file:{path}")
    assert find_dataset(f"file:{path}").own is before.own, "read once"
    write(tmp_path, "csv", as_rows(PAIRS[:2]))
    after = find_dataset(f"file:{path}")
    assert after.size == "2 pairs, 4 texts"
    assert after.revision != before.revision
    assert len(fetch.load(before, settings).queries) == 3, "an entry keeps what was read for it"


# --- the page's choices: a header or none, and columns to choose where the guess is of no use


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_without_a_header_the_first_line_is_a_pair(tmp_path: Path, ending: str, separator: str) -> None:
    path = tmp_path / f"pairs.{ending}"
    content = f"it rains{separator}rain falls\nold{separator}aged\n".encode()
    table = own.tabulate(path, content, header=False)
    assert table.table.names == ("column 1", "column 2")
    assert read_as(OwnPairs, table).pairs == (("it rains", "rain falls"), ("old", "aged"))
    assert own.tabulate(path, content).table.names == ("it rains", "rain falls")


def test_without_a_header_lines_are_counted_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    with pytest.raises(InputError, match="line 2: 1 cell"):
        own.tabulate(path, b"a,b\nc\n", header=False)
    with pytest.raises(InputError, match="line 2, column 'column 2': nothing there"):
        read_as(OwnPairs, own.tabulate(path, b"a,b\nc,\n", header=False))
    with pytest.raises(InputError, match="has 1 pair"):
        read_as(OwnPairs, own.tabulate(path, b"a,b\n", header=False))


def test_without_a_header_the_first_line_may_hold_a_text_twice(tmp_path: Path) -> None:
    path, content = tmp_path / "pairs.csv", b"cat,cat\nold,aged\n"
    with pytest.raises(InputError, match="two columns 'cat'"):
        own.tabulate(path, content)
    assert read_as(OwnPairs, own.tabulate(path, content, header=False)).pairs == (("cat", "cat"), ("old", "aged"))


def test_a_guess_that_fails_leaves_columns_to_choose(tmp_path: Path) -> None:
    table = own.tabulate(tmp_path / "pairs.csv", b"id,left,right\n1,1984,a novel\n2,1985,a year\n")
    with pytest.raises(InputError, match="no two columns of text"):
        read_as(OwnPairs, table)
    chosen = read_as(OwnPairs, table, query="left", match="right")
    assert [c.use for c in chosen.columns] == [UNUSED, QUERY, MATCH]
    assert chosen.pairs == (("1984", "a novel"), ("1985", "a year"))
