"""Queries and documents in a user's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.datasets.user_data.retrieval import OwnRetrieval
from blindspot.errors import InputError
from blindspot.runs import requesting
from blindspot.settings import Settings
from tests.support.own_files import check_refused, text, write
from tests.support.tables import each

Judged = dict[tuple[str, str], int]


def judged(dataset: RetrievalDataset) -> Judged:
    """Grades by the texts of query and document."""
    return {
        (dataset.query_texts[query], dataset.document_texts[document]): grade
        for query in range(len(dataset.queries))
        for document, grade in zip(*(array.tolist() for array in dataset.judgments_of(query)), strict=True)
    }


def found(path: Path, columns: str = "") -> RetrievalDataset:
    entry = find_dataset(f"file:{path}{columns}")
    assert isinstance(entry.own, OwnRetrieval)
    dataset = entry.load(entry.id, ())
    assert isinstance(dataset, RetrievalDataset)
    return dataset


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_document_per_row(tmp_path: Path, ending: str) -> None:
    rows = [
        {"Query": "who", "Document": "a text", "Title": "T", "Relevance": 2},
        {"Query": "who", "Document": "b text", "Title": "", "Relevance": 0},
        {"Query": "what", "Document": "b text", "Title": "", "Relevance": 1},
        {"Query": "who", "Document": "a text", "Title": "T", "Relevance": 2},
    ]
    path = write(tmp_path, ending, rows)
    dataset = found(path)
    assert judged(dataset) == {("who", "T a text"): 2, ("who", "b text"): 0, ("what", "b text"): 1}
    assert (dataset.query_ids, dataset.document_ids) == (("q1", "q2"), ("d1", "d2"))
    assert dataset.titles == ("T", "")
    assert (dataset.counts.judgments, dataset.counts.relevant, dataset.counts.grades) == (3, 2, (0, 1, 2))
    entry = find_dataset(f"file:{path}")
    assert isinstance(entry.own, OwnRetrieval)
    whole = (("who", 1, "T a text"), ("what", 1, "b text"))
    assert [entry.own.first_rows(n).cells for n in (0, 1, 3)] == [(), whole[:1], whole]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_lists_of_documents(tmp_path: Path, ending: str) -> None:
    rows: list[dict[str, Any]] = [
        {"query": "who", "positives": ["a", "b"], "negatives": ["c"]},
        {"query": "what", "positives": ["c"], "negatives": []},
        {"query": "who", "positives": ["d"], "negatives": ["e", "c"]},
    ]
    dataset = found(write(tmp_path, ending, rows))
    whole = {("who", d): 1 for d in "abd"} | {("who", "c"): 0, ("who", "e"): 0, ("what", "c"): 1}
    assert judged(dataset) == whole
    assert dataset.document_texts == ("a", "b", "c", "d", "e")


def test_a_column_may_hold_a_text_or_a_list(tmp_path: Path) -> None:
    path = text(
        "jsonl", '{"query": "x", "positives": "a"}\n{"query": "y", "positives": ["b", "c"], "negatives": null}\n'
    )
    assert judged(found(path(tmp_path))) == {("x", "a"): 1, ("y", "b"): 1, ("y", "c"): 1}


def test_parquet_with_large_lists_in_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blindspot.files.tables.ROWS_PER_BATCH", 3)
    lists = [[f"d {n}", f"e {n % 3}"] for n in range(10)]
    table = pa.table({"query": [f"q {n}" for n in range(10)], "positives": pa.array(lists, pa.large_list(pa.string()))})
    parquet.write_table(table, tmp_path / "a.parquet")
    dataset = found(tmp_path / "a.parquet")
    assert judged(dataset) == {(f"q {n}", document): 1 for n in range(10) for document in lists[n]}


def test_lists_in_parquet_that_unpack_to_gigabytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"query": ["q"] * 4, "positives": [["x" * 1_000] * 1_000] * 4})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    monkeypatch.setattr("blindspot.files.tables.MAX_BYTES", 1_000_000)
    check_refused(tmp_path / "a.parquet", "unpacks to more than")
    null = pa.table({"query": ["q"], "positives": pa.array([[None] * 1_000_000], pa.list_(pa.string()))})
    parquet.write_table(null, tmp_path / "a.parquet")
    check_refused(tmp_path / "a.parquet", "unpacks to more than")


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("query,document", DatasetKind.RETRIEVAL),
        ("Query Text,Doc", DatasetKind.RETRIEVAL),
        ("document,title,query", DatasetKind.RETRIEVAL),
        ("query,document,label", DatasetKind.RETRIEVAL),
        ("query,answer", DatasetKind.PAIR_SET),
        ("query,positive", DatasetKind.PAIR_SET),
        ("text1,text2,score", DatasetKind.SCORED_PAIRS),
    ],
)
def test_the_header_says_whether_it_is_retrieval(tmp_path: Path, header: str, kind: DatasetKind) -> None:
    of = {"label": "1", "score": "0.5"}
    row = [[of.get(name, f"{name} {n}") for name in header.split(",")] for n in range(3)]
    path = text("csv", "\n".join([header, *map(",".join, row)]))(tmp_path)
    assert own.tabulate(path, path.read_bytes()).kind is kind


def test_scores_that_are_no_grades_are_scored_pairs(tmp_path: Path) -> None:
    path = text("csv", "query,document,score\na b,c d,0.5\ne f,g h,1\n")(tmp_path)
    assert own.tabulate(path, path.read_bytes()).kind is DatasetKind.SCORED_PAIRS


def test_named_columns_and_back(tmp_path: Path) -> None:
    path = text("csv", "question,answer\nwho,a text\nwhat,b text\n")(tmp_path)
    assert find_dataset(f"file:{path}").kind is DatasetKind.PAIR_SET
    dataset = found(path, "?query=question&document=answer")
    assert judged(dataset) == {("who", "a text"): 1, ("what", "b text"): 1}
    assert find_dataset(dataset.id).id == dataset.id
    assert find_dataset(f"file:{path}?query=question&match=answer").kind is DatasetKind.PAIR_SET


def test_an_error_says_how_to_read_it_as_the_other_kind(tmp_path: Path, settings: Settings) -> None:
    path = text("csv", "query,document\nwho,a text\nwhat,b text\n")(tmp_path)
    with pytest.raises(InputError) as caught:
        requesting.request("evalrank", "random-projection", "none", f"file:{path}", {}, settings)
    reference = caught.value.remedy.rpartition(": ")[2].strip('"')
    assert find_dataset(reference).kind is DatasetKind.PAIR_SET
    pairs = find_dataset(reference).own
    assert pairs is not None
    assert find_dataset(f"file:{path}?{pairs.columns_as(DatasetKind.RETRIEVAL)}").kind is DatasetKind.RETRIEVAL


# --- pairs that look like queries and documents


def pairs(rows: list[tuple[str, str]]) -> OwnPairs:
    data = "".join(json.dumps({"query": query, "match": match}) + "\n" for query, match in rows)
    contents = own.parse(Path("kb.jsonl"), data.encode())
    assert isinstance(contents, OwnPairs)
    return contents


ALIKE = [(f"This is sentence {n}.", f"Sentence {n} is this.") for n in range(20)]


@each(
    ("rows", "why"),
    [
        (ALIKE, ""),
        ([(f"q {n}", f"a long passage on the subject {n}") for n in range(20)], "by their medians"),
        ([(f"query number {n}", f"document no {n // 5}") for n in range(20)], "20 queries share 4 matches"),
        ([(f"What is number {n}?", f"It is a number {n}.") for n in range(20)], "100% of the queries end"),
        ([*ALIKE, *((b, a) for a, b in ALIKE)], ""),  # both ways: the order means nothing
        ([(f"q {n}", f"a long passage on the subject {n}") for n in range(5)], ""),  # too few to say
    ],
)
def test_whether_pairs_look_like_queries_and_documents(rows: list[tuple[str, str]], why: str) -> None:
    doubt = pairs(rows).doubt
    assert bool(doubt) == bool(why)
    assert why in doubt


# --- what is wrong


WRONG = {
    "no document": (text("csv", "query,document\na,x\nb,\n"), ["line 3, column 'document': nothing there"]),
    "no query": (text("csv", "query,document\n,x\nb,y\n"), ["line 2, column 'query': nothing there"]),
    "an empty list": (text("jsonl", '{"query": "a", "positives": []}\n'), ["line 1", "'positives': an empty list"]),
    "no list": (text("jsonl", '{"query": "a", "positives": null}\n'), ["line 1, column 'positives': nothing there"]),
    "an empty text in a list": (
        text("jsonl", '{"query": "a", "positives": ["x"]}\n{"query": "b", "positives": ["y", " "]}\n'),
        ["line 2, column 'positives', text 2: nothing there"],
    ),
    "numbers in a list": (
        text("jsonl", '{"query": "a", "positives": ["x"]}\n{"query": "b", "positives": [1]}\n'),
        ["line 2, column 'positives'", "is not text"],
    ),
    "relevant and not": (
        text("jsonl", '{"query": "a", "positives": ["x"]}\n{"query": "a", "positives": ["y"], "negatives": ["x"]}\n'),
        ["line 2: grade 0", "has 1 for the same query in line 1"],
    ),
    "two grades": (
        text("csv", "query,document,relevance\na,x,1\na,y,1\na,x,2\n"),
        ["line 4: grade 2", "has 1 for the same query in line 2"],
    ),
    "half a grade": (text("csv", "query,document,relevance\na,x,1\na,y,1.5\n"), ["line 3", "'1.5' is no grade"]),
    "a word as grade": (
        text("csv", "query,document,relevance\na,x,1\na,y,yes\n"),
        ["line 3", "'yes' is no grade", "a number"],
    ),
    "no grade": (text("csv", "query,document,relevance\na,x,1\na,y,\n"), ["line 3, column 'relevance': nothing"]),
    "a huge grade": (text("csv", "query,document,relevance\na,x,1\na,y,100000\n"), ["line 3", "at most 1,000"]),
    "endless grade": (text("csv", "query,document,relevance\na,x,1\na,y,inf\n"), ["line 3", "'inf' is no grade"]),
    "nothing relevant": (text("csv", "query,document,relevance\na,x,0\na,y,-1\n"), ["has no relevant document"]),
    "one document": (text("csv", "query,document\na,x\nb,x\n"), ["has 1 document", "at least 2"]),
    "a grade of a list": (
        text("jsonl", '{"query": "a", "document": ["x"], "relevance": 1}\n'),
        ["line 1, column 'document': a list, beside the column 'relevance'"],
    ),
    "packed": (text("csv", b"\x1f\x8b\x08\x00query,document\n"), ["packed with gzip", "unpack it"]),
    "in Latin-1": (text("csv", "query,document\na,x\nb,\xe9\n".encode("latin-1")), ["not UTF-8", "line 3"]),
    "in UTF-16": (text("csv", "query,document\na,x\n".encode("utf-16")), ["is UTF-16"]),
    "half a surrogate": (text("jsonl", '{"query": "a", "positives": ["\\ud800"]}\n'), ["line 1", "surrogate"]),
}


@each("wrong", WRONG)
def test_what_is_wrong_is_one_line(tmp_path: Path, wrong: str) -> None:
    make, parts = WRONG[wrong]
    check_refused(make(tmp_path), *parts)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("pqr"), st.lists(st.sampled_from("abcde"), min_size=1, max_size=4)),
        min_size=1,
        max_size=8,
    )
)
def test_a_file_says_the_same_as_a_loop(rows: list[tuple[str, list[str]]]) -> None:
    data = "".join(json.dumps({"query": query, "positives": lists}) + "\n" for query, lists in rows).encode()
    if len({text for _, lists in rows for text in lists}) < 2:
        with pytest.raises(InputError, match="at least 2"):
            own.parse(Path("a.jsonl"), data)
        return
    contents = own.parse(Path("a.jsonl"), data)
    dataset = contents.loaded("x")
    assert isinstance(dataset, RetrievalDataset)
    assert judged(dataset) == {(query, text): 1 for query, lists in rows for text in lists}
    assert np.all(np.diff(dataset.offsets) > 0)
    kept = "".join(json.dumps(row) + "\n" for row in contents.kept_rows()).encode()
    assert own.parse(Path("a.jsonl"), kept).loaded("x").content_digest == dataset.content_digest
