"""Folders of queries, documents and judgments, in the formats of BEIR and TREC."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blindspot import policy
from blindspot.cli import main
from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import DATASETS, DatasetRef, find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data.reference import NamedColumns, OwnReference, with_columns
from blindspot.datasets.user_data.retrieval_folder import OwnRetrievalFolder
from blindspot.datasets.user_data.retrieval_folder.options import FolderOptions
from blindspot.errors import InputError
from blindspot.names import in_address, name_of_dataset
from blindspot.runs import manifests
from blindspot.settings import ROOT, Mode, Settings
from tests.support.retrieval_folders import BEIR, TREC, Files, folder
from tests.support.tables import each


def found(path: Path, options: str = "") -> RetrievalDataset:
    entry = find_dataset(f"dir:{path}{options}")
    assert isinstance(entry.own, OwnRetrievalFolder)
    dataset = entry.load(entry.id, ())
    assert isinstance(dataset, RetrievalDataset)
    return dataset


def judged(dataset: RetrievalDataset) -> dict[tuple[str, str], int]:
    return {
        (dataset.query_ids[query], dataset.document_ids[document]): int(grade)
        for query, document, grade in zip(dataset.judged_queries, dataset.judged, dataset.grades, strict=True)
    }


WHOLE = {("q1", "d1"): 1, ("q1", "d2"): 0, ("q2", "d3"): 2}


def test_a_beir_folder(tmp_path: Path) -> None:
    dataset = found(folder(tmp_path, BEIR))
    assert judged(dataset) == WHOLE
    assert dataset.document_texts == ("One first text", "second text", "third text")
    assert (dataset.titles, dataset.query_texts) == (("One", "", ""), ("which is first", "which is third"))


def test_a_trec_folder(tmp_path: Path) -> None:
    dataset = found(folder(tmp_path, TREC))
    assert judged(dataset) == WHOLE
    assert dataset.document_texts == ("One first text", "second & text", "Three third text")
    assert dataset.query_texts == ("which is first", "which is third")


@each(
    "qrels",
    [
        {"qrels/test.tsv": "q1\td1\t1\nq1\td2\t0\nq2\td3\t2.0\n"},  # no header
        {"qrels/test.tsv": "q1\t0\td1\t1\r\nq1\t0\td2\t0\r\nq2\t0\td3\t2\r\n"},
        {"qrels/test.tsv": b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t2\nq2\td3\t2"},
        {"qrels/test.tsv": None, "qrels.tsv": BEIR["qrels/test.tsv"]},
        {"qrels/test.tsv": None, "my.qrels": TREC["qrels.txt"]},
        {"qrels/test.tsv": None, "qrels": TREC["qrels.txt"]},
        {
            "qrels/test.tsv": None,
            "qrels.jsonl": '{"query-id": "q1", "corpus-id": "d1", "score": 1}\n'
            '{"query-id": "q1", "corpus-id": "d2", "score": 0}\n{"query-id": "q2", "corpus-id": "d3", "score": 2}\n',
        },
        {"corpus.jsonl": None, "corpus.tsv": "d1\tOne\tfirst text\nd2\tsecond text\nd3\tthird text\n"},
        {"queries.jsonl": None, "queries.tsv": "qid\ttext\nq1\twhich is first\nq2\twhich is third\n"},
        {
            "queries.jsonl": None,
            "topics.xml": '<topics><topic number="q1"><query>which is first</query></topic>'
            '<topic number="q2"><query>which is third</query></topic></topics>',
        },
        {".DS_Store": b"\0\1", "README.md": "what this is"},
    ],
)
def test_other_forms_of_the_same(tmp_path: Path, qrels: Files) -> None:
    dataset = found(folder(tmp_path, BEIR, qrels))
    assert judged(dataset) == WHOLE
    assert dataset.content_digest == found(folder(tmp_path / "other", BEIR)).content_digest


def test_ids_with_spaces(tmp_path: Path) -> None:
    spaced = {name: str(content).replace("d1", "Ada Lovelace") for name, content in BEIR.items()}
    assert ("q1", "Ada Lovelace") in judged(found(folder(tmp_path, spaced)))


def test_splits(tmp_path: Path) -> None:
    more = {"queries.jsonl": f'{BEIR["queries.jsonl"]}{{"_id": "q3", "text": "x"}}\n', "qrels/train.tsv": "q3\td1\t1\n"}
    path = folder(tmp_path, BEIR, more)
    assert found(path).query_ids == ("q1", "q2")
    assert found(path, "?split=train").query_ids == ("q3",)
    assert found(path, "?split=train").counts.documents == 3
    (path / "qrels/test.tsv").rename(path / "qrels/dev.tsv")
    with pytest.raises(InputError, match=r"several files of judgments: dev, train.*\?split=dev"):
        found(path)
    with pytest.raises(InputError, match="no judgments called 'test'; expected one of dev, train"):
        found(path, "?split=test")


def test_what_is_not_judged_or_not_there_is_left_out_where_asked(tmp_path: Path) -> None:
    qrels = "q1\td1\t1\nq1\td9\t1\nq9\td1\t1\n"
    path = folder(tmp_path, BEIR, {"qrels/test.tsv": qrels})
    with pytest.raises(InputError, match=r"line 2: .*'d9'"):
        found(path)
    dataset = found(path, "?missing=skip")
    assert judged(dataset) == {("q1", "d1"): 1}
    own = find_dataset(dataset.id).own
    assert own is not None
    assert (dataset.id, own.as_manifest()["left_out"]) == (f"dir:{path}?missing=skip", {"queries": 1, "judgments": 1})
    assert "1 query without judgments, 1 judgment of unknown documents" in own.summary


def test_metadata_of_queries_groups_them(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"_id": f"q{n}", "text": f"text {n}", "metadata": {"kind": "ab"[n % 2], "url": f"u{n}", "tags": ["x"]}}
        for n in range(6)
    ]
    files = {
        "queries.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "qrels/test.tsv": "".join(f"q{n}\td1\t1\n" for n in range(6)),
    }
    (column,) = found(folder(tmp_path, BEIR, files)).own_columns
    assert (column.name, column.cells) == ("kind", ["a", "b"] * 3)


def test_the_demo_is_such_a_folder() -> None:
    demo = DATASETS["demo-retrieval"].load("demo-retrieval", ())
    own = found(ROOT / "assets" / "demo" / "retrieval")
    assert own.content_digest == demo.content_digest


# --- references


def test_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder(tmp_path, BEIR)
    monkeypatch.chdir(tmp_path)
    entry = find_dataset("dir:my folder")
    assert (entry.id, entry.title, name_of_dataset(entry.id)) == (f"dir:{path}", "my folder", "my folder")
    assert (entry.size, entry.texts, entry.pairs) == ("2 queries, 5 texts", 5, 2)
    assert DatasetRef.parse("dir:my folder/?split=a%26b&missing=skip") == f"dir:{path}?split=a%26b&missing=skip"
    assert str(OwnReference.parse("dir:gone?missing=skip")) == f"dir:{tmp_path / 'gone'}?missing=skip"
    (tmp_path / "a file").write_text("x")
    marked = path.rename(tmp_path / "a?split=b")
    assert OwnReference.parse(f"dir:{marked}").path == marked
    assert OwnReference.parse(f"dir:{marked}?split=test").path == marked
    for wrong, message in (
        ("dir:", "names no folder"),
        ("dir:\0", "zero character"),
        (f"dir:{marked}?part=b", "unknown option of a folder 'part'"),
        (f"dir:{marked}?split=", "expected split=NAME"),
        (f"dir:{marked}?missing=keep", "missing=skip"),
        (f"dir:{marked}?split=a&split=b", "at most once"),
        (f"dir:{tmp_path / 'gone'}", "there is no folder"),
        (f"dir:{tmp_path / 'a file'}", "is a file; expected a folder"),
    ):
        with pytest.raises(InputError) as caught:
            find_dataset(wrong)
        assert message in str(caught.value)
    with pytest.raises(InputError, match="columns are named for the folder"):
        with_columns(f"dir:{marked}", NamedColumns.parse("query=a&match=b", ""))


@each(
    "names, advice, never",
    [
        (("train.csv", "dev.csv"), 'by itself: "file:{folder}/dev.csv"', "documents=NAME"),
        (("en/part-0.parquet", "README.md"), 'by itself: "file:{folder}/en/part-0.parquet"', "documents=NAME"),
        (
            ("corpus/a.parquet", "queries/a.parquet", "data/a.parquet"),
            "documents=corpus/a.parquet&queries=queries/a.parquet&judgments=data/a.parquet",
            "by itself",
        ),
        (("queries.jsonl", "qrels/test.tsv"), "no corpus.jsonl", "by itself"),
        (("train/data-00000-of-00001.arrow", "dataset_dict.json"), "to_parquet", "by itself"),
        (("notes.md",), "qrels/*.tsv", "by itself"),
        (("scifact/corpus.jsonl", "scifact/queries.jsonl"), 'in it: "dir:{folder}/scifact"', "by itself"),
    ],
)
def test_a_folder_of_other_files_leads_to_them(tmp_path: Path, names: tuple[str, ...], advice: str, never: str) -> None:
    path = folder(tmp_path, dict.fromkeys(names, "x"))
    with pytest.raises(InputError, match="has no documents") as caught:
        find_dataset(f"dir:{path}")
    assert advice.format(folder=path) in str(caught.value)
    assert never not in str(caught.value)


def test_of_two_formats_none_is_chosen(tmp_path: Path) -> None:
    path = folder(tmp_path, BEIR | {"corpus.tsv": "d1\tother text\nd2\tanother\n"})
    with pytest.raises(InputError, match=r"several files of documents: corpus\.jsonl, corpus\.tsv") as caught:
        find_dataset(f"dir:{path}")
    assert f'"dir:{path}?documents=corpus.jsonl"' in str(caught.value)
    find_dataset(f"dir:{path}?documents=corpus.jsonl")


def test_texts_beside_a_query_are_said_and_do_not_replace_it(tmp_path: Path) -> None:
    further = '"title": "about plums", "url": "x.org", "instruction": "find a fruit"'
    queries = "\n".join(f'{{"_id": "{one}", "text": "which plum", {further}}}' for one in ("q1", "q2"))
    own = find_dataset(f"dir:{folder(tmp_path, BEIR | {'queries.jsonl': queries})}").own
    assert own is not None
    assert "queries.jsonl: not read beside the text of a query: title, instruction" in own.assumptions
    with pytest.raises(InputError, match=r"queries.jsonl, line 1: nothing there; expected a text"):
        find_dataset(f"dir:{folder(tmp_path, BEIR | {'queries.jsonl': queries.replace('which plum', '')})}")


def test_a_change_of_any_file_is_seen(tmp_path: Path) -> None:
    path = folder(tmp_path, BEIR)
    before = find_dataset(f"dir:{path}")
    assert find_dataset(f"dir:{path}").own is before.own
    (path / "qrels/test.tsv").write_text("q1\td1\t1\nq2\td3\t1\n")
    after = find_dataset(f"dir:{path}")
    assert after.revision != before.revision
    assert list(manifests.source_of(after, {})["files"]) == [
        str(path / name) for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    ]


def test_a_demo_reads_no_folder(tmp_path: Path, settings: Settings) -> None:
    path = folder(tmp_path, BEIR)
    policy.check_dataset(f"dir:{path}", settings)
    demo = replace(settings, mode=Mode.DEMO)
    with pytest.raises(InputError, match="cannot be named"):
        policy.check_dataset(f"dir:{path}", demo)


# --- what is wrong

CORPUS, QUERIES, QRELS = str(BEIR["corpus.jsonl"]), str(BEIR["queries.jsonl"]), str(BEIR["qrels/test.tsv"])
WRONG: dict[str, tuple[Files, tuple[str, ...]]] = {
    "no qrels": ({"qrels/test.tsv": None}, ("my folder has no judgments: no qrels/test.tsv",)),
    "no corpus": ({"corpus.jsonl": None}, ("my folder has no documents: no corpus.jsonl",)),
    "no queries": ({"queries.jsonl": None}, ("my folder has no queries: no queries.jsonl",)),
    "an unknown document": (
        {"qrels/test.tsv": f"{QRELS}q1\td7\t1\n"},
        ("test.tsv, line 5: there is no document", "d7"),
    ),
    "an unknown query": ({"qrels/test.tsv": f"{QRELS}q7\td1\t1\n"}, ("test.tsv, line 5: there is no query", "q7")),
    "a query without judgments": (
        {"queries.jsonl": f'{QUERIES}{{"_id": "q3", "text": "x"}}\n'},
        ("queries.jsonl, line 3: no judgment of the query 'q3'", "missing=skip"),
    ),
    "two documents of an id": (
        {"corpus.jsonl": f'{CORPUS}{{"_id": "d1", "text": "x"}}\n'},
        ("corpus.jsonl, line 5: the id 'd1' is that of line 1",),
    ),
    "two queries of an id": (
        {"queries.jsonl": f'{QUERIES}{{"_id": "q2", "text": "x"}}\n'},
        ("queries.jsonl, line 3: the id 'q2' is that of line 2",),
    ),
    "a document without text": (
        {"corpus.jsonl": f'{CORPUS}{{"_id": "d4", "title": " ", "text": ""}}\n'},
        ("corpus.jsonl, line 5: nothing there",),
    ),
    "a query without text": (
        {"queries.jsonl": f'{{"_id": "q0", "text": "  "}}\n{QUERIES}'},
        ("queries.jsonl, line 1: nothing there",),
    ),
    "no member text": ({"corpus.jsonl": f'{CORPUS}{{"_id": "d4"}}\n'}, ("corpus.jsonl, line 5: no 'text'",)),
    "no member id": (
        {"queries.jsonl": '{"number": "q1", "text": "x"}\n'},
        ("queries.jsonl, line 1: the header of the queries has no column of the id",),
    ),
    "numbers as ids": (
        {"corpus.jsonl": CORPUS.replace('"d2"', "2"), "qrels/test.tsv": QRELS.replace("d2", "2")},
        ("corpus.jsonl, line 2: the _id 2 is a number",),
    ),
    "numbers as ids of judgments": (
        {"qrels/test.tsv": None, "qrels.jsonl": '{"query-id": 1, "corpus-id": "d1", "score": 1}\n'},
        ("qrels.jsonl, line 1: the query-id 1 is a number",),
    ),
    "ids with zeros before": (
        {"corpus.jsonl": CORPUS.replace("d1", "007"), "qrels/test.tsv": QRELS.replace("d1", "7")},
        ("test.tsv, line 4: there is no document with the id '7'", "did you mean '007'?"),
    ),
    "two grades": (
        {"qrels/test.tsv": f"{QRELS}q2\td3\t1\n"},
        ("test.tsv, line 5: grade 1", "which have 2 in line 2"),
    ),
    "a grade that is none": ({"qrels/test.tsv": f"{QRELS}q1\td3\tyes\n"}, ("line 5, the grade: 'yes' is no grade",)),
    "half a grade": ({"qrels/test.tsv": f"{QRELS}q1\td3\t0.5\n"}, ("line 5, the grade: '0.5' is no grade",)),
    "too few cells": ({"qrels/test.tsv": f"{QRELS}q1\td3\n"}, ("test.tsv, line 5: 2 cells",)),
    "nothing relevant": ({"qrels/test.tsv": "q1\td1\t0\nq2\td2\t-1\n"}, ("has no judgment of a relevant document",)),
    "only a header": ({"qrels/test.tsv": "query-id\tcorpus-id\tscore\n"}, ("test.tsv has no judgments",)),
    "an empty corpus": ({"corpus.jsonl": "\n"}, ("corpus.jsonl is empty",)),
    "one document": (
        {"corpus.jsonl": CORPUS.split("\n", maxsplit=1)[0], "qrels/test.tsv": "q1\td1\t1\nq2\td1\t1\n"},
        ("corpus.jsonl has 1 document; expected at least 2",),
    ),
    "a gzip": ({"corpus.jsonl": gzip.compress(CORPUS.encode())}, ("corpus.jsonl is packed with gzip", "unpack it")),
    "a gzip by its name": (
        {"corpus.jsonl": None, "corpus.jsonl.gz": gzip.compress(CORPUS.encode())},
        ("corpus.jsonl.gz is packed", "unpack it"),
    ),
    "packed judgments": (
        {"qrels/test.tsv": None, "qrels/test.tsv.gz": gzip.compress(QRELS.encode())},
        ("qrels/test.tsv.gz is packed",),
    ),
    "Latin-1": (
        {"queries.jsonl": f'{QUERIES}{{"_id": "q3", "text": "café"}}\n'.encode("latin-1")},
        ("queries.jsonl is not UTF-8", "in line 3"),
    ),
    "UTF-16": ({"queries.jsonl": QUERIES.encode("utf-16")}, ("queries.jsonl is UTF-16",)),
    "broken JSON": ({"corpus.jsonl": f"{CORPUS}{{'_id': 'd4'}}\n"}, ("corpus.jsonl, line 5: broken JSON",)),
    "JSON that is no object": ({"queries.jsonl": '["q1", "x"]\n'}, ("queries.jsonl, line 1: not a JSON object",)),
    "a member twice": (
        {"queries.jsonl": '{"_id": "q1", "_id": "q2", "text": "x"}\n'},
        ("queries.jsonl, line 1: broken JSON", "'_id' occurs twice"),
    ),
    "a text that is none": (
        {"corpus.jsonl": f'{CORPUS}{{"_id": "d4", "text": ["x"]}}\n'},
        ("corpus.jsonl, line 5, 'text'", "is not text"),
    ),
    "a text that is too long": (
        {"corpus.jsonl": f'{CORPUS}{{"_id": "d4", "text": "{"x" * 100_001}"}}\n'},
        ("corpus.jsonl, line 5: 100,001 characters",),
    ),
    "half a surrogate": (
        {"corpus.jsonl": f'{CORPUS}{{"_id": "d4", "text": "\\ud800"}}\n'},
        ("corpus.jsonl, line 5: half of a surrogate pair",),
    ),
    "several topics": (
        {"queries.jsonl": None, "topics.1.txt": "x", "topics.2.txt": "x"},
        ("several files of queries: topics.1.txt, topics.2.txt",),
    ),
    "no topics": ({"queries.jsonl": None, "topics.txt": "<query>x</query>"}, ("topics.txt, line 1: no <top>",)),
    "a topic without number": (
        {"queries.jsonl": None, "topics.txt": "\n<top>\n<title>x\n</top>\n"},
        ("topics.txt, line 2: no <num>",),
    ),
    "a document without number": (
        {"corpus.jsonl": None, "corpus.trec": "<DOC><TEXT>x</TEXT></DOC>\n"},
        ("corpus.trec, line 1: no <DOCNO>",),
    ),
    "lines of one cell": ({"corpus.jsonl": None, "corpus.tsv": "d1\tx\nd2 y\n"}, ("corpus.tsv, line 2: 1 cell",)),
}


@each("wrong", WRONG)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, parts = WRONG[wrong]
    path = folder(tmp_path, BEIR, changed)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "cache"))
    assert main(["data", "show", f"dir:{path}"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert [part for part in (str(path), *parts) if part not in line] == []
    assert not any(one.is_file() for one in (tmp_path / "cache").rglob("*") if one.suffix in {".npy", ".duckdb"})


# --- uploaded


def sent(*files: Files, folder: str = "my folder") -> list[tuple[str, bytes]]:
    """The files as a browser sends them."""
    every = {name: content for one in files for name, content in one.items()}
    return [
        (f"{folder}/{name}", content if isinstance(content, bytes) else content.encode())
        for name, content in every.items()
        if content is not None
    ]


@each("wrong", WRONG)
def test_a_wrong_folder_is_refused_alike_when_it_is_uploaded(settings: Settings, wrong: str) -> None:
    changed, parts = WRONG[wrong]
    with pytest.raises(InputError) as raised:
        uploads.add_folder(uploads.folder_of(sent(BEIR, changed), settings), FolderOptions(), settings)
    said = str(raised.value)
    assert "\n" not in said
    assert [p for p in parts if p.replace("my folder", "my_folder") not in said and p != "missing=skip"] == []
    assert not list(settings.uploads.rglob("*"))


@pytest.mark.parametrize(
    "files", [BEIR, TREC, BEIR | {"qrels/dev.tsv": "q1\td2\t1\n", ".DS_Store": "x", "a/b/c.txt": "x"}]
)
def test_an_uploaded_folder_is_the_dataset_that_it_is_on_disk(settings: Settings, tmp_path: Path, files: Files) -> None:
    upload = uploads.add_folder(uploads.folder_of(sent(files), settings), FolderOptions(), settings)
    loaded, there = (
        fetch.load(find_dataset(name), settings) for name in (upload.reference, f"dir:{folder(tmp_path, files)}")
    )
    assert loaded.content_digest == there.content_digest
    assert upload.reference == f"dir:{upload.path}"
    assert uploads.found(settings) == (upload,)
    assert uploads.damage(upload.path.parent) == ""
    assert in_address(upload.reference).startswith("my_folder~")
    again = uploads.add_folder(uploads.folder_of(sent(files), settings), FolderOptions(), settings)
    assert again == upload
    uploads.remove(upload, settings)
    assert not list(settings.uploads.rglob("*"))


def test_a_reading_that_was_corrected_is_kept(settings: Settings) -> None:
    files = {**BEIR, "qrels/dev.tsv": "q1\td2\t1\nq1\td9\t1\n"}
    options = FolderOptions("dev", skips=True)
    upload = uploads.add_folder(uploads.folder_of(sent(files), settings), options, settings)
    assert upload.reference.endswith("?split=dev&missing=skip")
    entry = find_dataset(upload.reference)
    assert isinstance(entry.own, OwnRetrievalFolder)
    assert (entry.own.rows, entry.own.left_out) == (1, (1, 1))
    changed = next(upload.path.rglob("dev.tsv"))
    changed.write_text("q1\td1\t1\n", "utf-8")
    assert "was changed" in uploads.damage(upload.path.parent)
    changed.unlink()
    assert "is gone" in uploads.damage(upload.path.parent)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("corpus.jsonl", b"x")], "files without a folder"),
        ([("a/corpus.jsonl", b"x"), ("b/queries.jsonl", b"x")], "several folders: a, b"),
        ([("../corpus.jsonl", b"x")], "folder has no queries"),
        ([("a/../../corpus.jsonl", b"x")], "a has no documents"),
        ([("a\\..\\..\\corpus.jsonl", b"x")], "a has no documents"),
        (
            [("a/corpus.<b>.tsv", b"d1\tx"), *sent({"queries.jsonl": QUERIES, "qrels.tsv": QRELS}, folder="a")],
            "is no name",
        ),
    ],
)
def test_paths_that_a_browser_makes_up_lead_nowhere(
    settings: Settings, files: list[tuple[str, bytes]], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        uploads.add_folder(uploads.folder_of(files, settings), FolderOptions(), settings)
    assert not list(settings.uploads.rglob("*"))


def test_a_demo_bounds_folders_and_reads_only_those_of_the_visitor(settings: Settings, tmp_path: Path) -> None:
    demo = replace(settings, mode=Mode.DEMO, session="visitor")
    long = f'{{"_id": "d4", "text": "{"x" * 2_001}"}}\n'
    many = "".join(f'{{"_id": "n{i}", "text": "text {i}"}}\n' for i in range(2_001))
    for corpus, said in ((long, "characters"), (many, "documents"), ("\n" * 2**21, "bytes")):
        with pytest.raises(InputError, match=f"{said}.*on this demo"):
            uploads.add_folder(
                uploads.folder_of(sent(BEIR, {"corpus.jsonl": f"{CORPUS}{corpus}"}), demo), FolderOptions(), demo
            )
    upload = uploads.add_folder(uploads.folder_of(sent(BEIR), demo), FolderOptions(), demo)
    policy.check_dataset(upload.reference, demo)
    policy.check_dataset(f"{upload.reference}?split=test&missing=skip", demo)
    policy.check_delivery(upload.reference, demo, reader_is_gone=False)
    for other in (
        f"dir:{folder(tmp_path, BEIR)}",
        f"{upload.reference}/../../../..",
        f"{upload.reference}?/../../../../../etc",
        f"{upload.reference}?split=x/../../../../../etc",
    ):
        with pytest.raises(InputError, match="cannot be named on a hosted demo"):
            policy.check_dataset(other, demo)
    uploads.remove(upload, demo)
    with pytest.raises(InputError, match="deleted"):
        policy.check_delivery(upload.reference, demo, reader_is_gone=False)
