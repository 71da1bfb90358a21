"""Odd folders and trios of files (``dir:PATH``): unlike headers, ids that do not meet, files of another kind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tests.bad_inputs.case import BadInput, Edge, Maker
from tests.support.retrieval_folders import BEIR, TREC

NAMES = {"queries": "asked.csv", "documents": "articles.csv", "judgments": "rated.csv"}
TRIO: dict[str, str | bytes] = {
    "asked.csv": "qid,text\nq1,which plums are blue\nq2,which pears are green\n",
    "articles.csv": "doc_id,title,text\nd1,Plums,turn blue\nd2,,pears stay green\nd3,,no fruit\n",
    "rated.csv": "qid,doc_id,grade\nq1,d1,2\nq2,d2,1\nq2,d3,0\n",
}


def _case(name: str, make: Maker, *says: str) -> BadInput:
    return BadInput(f"folder: {name}", Edge.FOLDER, make, says)


def cases() -> Iterator[BadInput]:
    """All of them."""
    yield from _trios()
    yield from _references()
    yield from _folders()


def _write(folder: Path, name: str, data: str | bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def trio(options: str = "", **changed: str | bytes) -> Maker:
    """Three files, some of them with other content, by part; ``options`` is the end of the reference."""

    def make(folder: Path) -> str:
        for name, data in {**TRIO, **{NAMES[part]: data for part, data in changed.items()}}.items():
            _write(folder, name, data)
        return f"dir:{folder}?{'&'.join(f'{part}={name}' for part, name in NAMES.items())}{options}"

    return make


def beir(**changed: str | bytes | None) -> Maker:
    """A BEIR folder with other content in some files, whose names have __ for a slash and end in _ENDING."""

    def make(folder: Path) -> str:
        others = {".".join(name.replace("__", "/").rsplit("_", 1)): data for name, data in changed.items()}
        for name, data in {**BEIR, **others}.items():
            if data is not None:
                _write(folder, name, data)
        return f"dir:{folder}"

    return make


def _trios() -> Iterator[BadInput]:
    yield _case(
        "an unknown header",
        trio(documents="key,head,words\nd1,a,b c\nd2,d,e f\n"),
        "understood: nothing",
        "articles.csv",
    )
    yield _case("two columns of ids", trio(queries="qid,topic,text\nq1,1,a b\nq2,2,c d\n"), "two columns of the id")
    yield _case("two columns of texts", trio(documents="id,text,body\nd1,a,b\nd2,c,d\n"), "two columns of the text")
    yield _case("no column of ids", trio(queries="text,lang\na b,en\nc d,en\n"), "no column of the id", "'text'")
    yield _case("no column of texts", trio(documents="doc_id,url\nd1,x\nd2,y\n"), "no column of the text")
    yield _case("unnamed ids", trio(documents=",text\nd1,a b\nd2,c d\nd3,e f\n"), "articles.csv")
    yield _case(
        "a grade of an unknown name", trio(judgments="qid,doc_id,points\nq1,d1,2\nq2,d2,1\n"), "grade", "'points'"
    )
    yield _case(
        "grades in words", trio(judgments="qid,doc_id,grade\nq1,d1,high\nq2,d2,low\n"), "line 2", "'high' is no grade"
    )
    yield _case("half grades", trio(judgments="qid,doc_id,grade\nq1,d1,0.5\nq2,d2,1\n"), "line 2", "0.5")
    yield _case("no grade", trio(judgments="qid,doc_id,grade\nq1,d1,\nq2,d2,1\n"), "line 2", "nothing there")
    yield _case(
        "grades of 0 alone", trio(judgments="qid,doc_id,grade\nq1,d1,0\nq2,d2,0\n"), "no judgment of a relevant"
    )
    yield _case("grades without end", trio(judgments="qid,doc_id,grade\nq1,d1,9999999\nq2,d2,1\n"), "at most 1,000")
    yield _case(
        "two grades", trio(judgments="qid,doc_id,grade\nq1,d1,1\nq1,d1,2\nq2,d2,1\n"), "line 3", "have 1 in line 2"
    )
    yield _case(
        "sides that changed places", trio(judgments="query,document,grade\nd1,q1,2\nd2,q2,1\n"), "the other way round"
    )
    yield _case("ids with a zero before", trio(judgments="qid,doc_id,grade\nq1,d1,2\nQ2,d2,1\n"), "did you mean 'q2'?")
    yield _case(
        "an unknown document", trio(judgments="qid,doc_id,grade\nq1,d7,2\nq2,d2,1\n"), "no document with the id 'd7'"
    )
    yield _case(
        "a query that nobody judged", trio(judgments="qid,doc_id,grade\nq1,d1,2\n"), "no judgment of the query 'q2'"
    )
    yield _case("an id twice", trio(documents="id,text\nd1,a b\nd1,c d\n"), "line 3", "that of line 2")
    yield _case("no id", trio(queries="qid,text\n,a b\nq2,c d\n"), "line 2: no id")
    yield _case("no id in a judgment", trio(judgments="qid,doc_id,grade\n,d1,2\nq2,d2,1\n"), "line 2: no id of a query")
    yield _case("no text", trio(documents="id,text\nd1,a b\nd2, \nd3,c\n"), "line 3", "nothing there", "missing=skip")
    yield _case(
        "ragged documents", trio(documents="id,text\nd1,a, b\nd2,c\n"), "line 2: 3 cells", "2, as in the header"
    )
    yield _case("ragged judgments", trio(judgments="qid,doc_id,grade\nq1,d1\nq2,d2,1\n"), "line 2: 2 cells")
    yield _case(
        "one document",
        trio(documents="id,text\nd1,a b\n", judgments="qid,doc_id,grade\nq1,d1,1\nq2,d1,1\n"),
        "1 document",
    )
    yield _case("an empty file", trio(queries=""), "asked.csv is empty")
    yield _case("a header alone", trio(queries="qid,text\n"), "asked.csv")
    yield _case("judgments of a header alone", trio(judgments="qid,doc_id,grade\n"), "has no judgments")
    yield _case("Latin-1", trio(queries="qid,text\nq1,café\nq2,thé\n".encode("latin-1")), "not UTF-8", "line 2")
    yield _case("UTF-16", trio(documents="id,text\nd1,a\nd2,b\n".encode("utf-16")), "is UTF-16")
    yield _case("packed", trio(documents=gzip.compress(b"id,text\nd1,a\n")), "packed with gzip", "unpack it")
    yield _case("zero bytes", trio(judgments=b"qid,doc_id,grade\nq1,d1,2\0\n"), "zero byte")
    yield _case(
        "an open quote", trio(queries='qid,text\nq1,"a b\nq2,c d\n'), "asked.csv", "begins in line 2", "double quotes"
    )
    yield _case("a text of 1 MB", trio(documents=f"id,text\nd1,{'x' * 2**20}\nd2,b\n"), "1,048,576 characters")


def _typed(path: Path) -> str:
    """Ids that became fractions, as pandas writes them where one was missing."""
    for name, columns in (
        ("asked.parquet", {"qid": [1.0, 2.0], "text": ["a b", "c d"]}),
        ("articles.parquet", {"id": [1, 2], "text": ["e f", "g h"]}),
        ("rated.parquet", {"qid": [1, 2], "doc_id": [1, 2], "grade": [1, 1]}),
    ):
        parquet.write_table(pa.table(columns), path / name)
    return f"dir:{path}?queries=asked.parquet&documents=articles.parquet&judgments=rated.parquet"


def _odd_lists(folder: Path, lines: str) -> str:
    _write(folder, "qa.jsonl", lines)
    _write(folder, "articles.csv", TRIO["articles.csv"])
    return f"dir:{folder}?queries=qa.jsonl&documents=articles.csv&judgments=qa.jsonl"


def _references() -> Iterator[BadInput]:
    yield _case(
        "a column that is not there", trio("&queries.text=Question"), "no column called 'Question'", "'qid', 'text'"
    )
    yield _case("a column for two roles", trio("&queries.id=text&queries.text=text"), "cannot be both id and text")
    yield _case("a role that is none", trio("&queries.key=qid"), "unknown option of a folder 'queries.key'")
    yield _case("a column of nothing", trio("&queries.id="), "expected queries.id=NAME")
    yield _case("an option twice", trio("&queries=asked.csv"), "at most once")
    yield _case("judgments named twice", trio("&split=dev"), "names the judgments twice")
    yield _case("another value of missing", trio("&missing=yes"), "missing=skip")
    yield _case(
        "the files swapped", lambda folder: trio()(folder).replace("asked", "x").replace("articles", "asked"), "x.csv"
    )
    yield _case(
        "a file above the folder", lambda folder: f"dir:{folder}?queries=../asked.csv", "no path below the folder"
    )
    yield _case("an absolute file", lambda folder: f"dir:{folder}?queries=/etc/passwd", "no path below the folder")
    yield _case(
        "a hidden way up", lambda folder: f"dir:{folder}?queries=a%2F..%2F..%2Fb.csv", "no path below the folder"
    )
    yield _case("a file that is gone", lambda folder: trio()(folder).replace("=asked", "=gone"), "no file gone.csv")
    yield _case("ids that are fractions", _typed, "asked.parquet", "1.0 is no text and no whole number")
    lists = json.dumps({"qid": "q1", "text": "a", "doc_id": [["d1"], "d2"]}) + "\n"
    yield _case("ids in odd lists", lambda folder: _odd_lists(folder, lists), "is no list of ids", "one at least")
    yield _case("nothing", lambda _: "dir:", "names no folder")
    yield _case("no such folder", lambda folder: f"dir:{folder / 'gone'}", "there is no folder")
    yield _case("a file", lambda folder: (_write(folder, "a.csv", "x"), f"dir:{folder / 'a.csv'}")[1], "is a file")
    yield _case("an empty folder", lambda folder: f"dir:{folder}", "has no documents")


def _folders() -> Iterator[BadInput]:
    yield _case(
        "files of other names",
        lambda folder: trio()(folder).partition("?")[0],
        "no corpus.jsonl",
        "documents=articles.csv",
    )
    yield _case(
        "two corpora", beir(corpus_jsonl=None, corpus_trec="<DOC>", corpus_txt="x"), "several files of documents"
    )
    yield _case("packed documents", beir(corpus_jsonl=None, **{"corpus.jsonl_gz": b"x"}), "is packed", "unpack it")
    yield _case("no queries", beir(queries_jsonl=None), "has no queries")
    yield _case("no judgments", beir(qrels__test_tsv=None), "has no judgments")
    yield _case("parts without a test", beir(qrels__test_tsv=None, qrels__a_tsv="x", qrels__b_tsv="y"), "?split=a")
    yield _case("a broken line", beir(corpus_jsonl='{"_id": "d1", "text": "a"}\n{"_id": "d2"'), "line 2", "broken JSON")
    yield _case(
        "documents of lists", beir(corpus_jsonl='{"_id": "d1", "text": ["a"]}\n'), "line 1, 'text'", "is not text"
    )
    yield _case(
        "a number as a title", beir(corpus_jsonl='{"_id": "d1", "title": 3, "text": "a"}\n'), "'title'", "3 is not text"
    )
    yield _case("numbers as ids", beir(queries_jsonl='{"_id": 1, "text": "a"}\n'), "the _id 1 is a number", "in quotes")
    yield _case(
        "half a pair in a text", beir(queries_jsonl='{"_id": "q1", "text": "a\\ud800"}\n'), "half of a surrogate"
    )
    yield _case("half a pair in an id", beir(queries_jsonl='{"_id": "q\\ud800", "text": "a"}\n'), "half of a surrogate")
    yield _case(
        "a zero byte in a title", beir(corpus_jsonl='{"_id": "d1", "title": "a\\u0000", "text": "b"}\n'), "a zero byte"
    )
    yield _case("deep JSON", beir(corpus_jsonl='{"_id":' * 50_000), "line 1")
    yield _case("judgments of two cells", beir(qrels__test_tsv="q1\td1\nq2\td2\n"), "2 cells", "score")
    yield _case("judgments of five cells", beir(qrels__test_tsv="q1 0 d1 1 x\n"), "5 cells")
    yield _case("an infinite grade", beir(qrels__test_tsv="q1\td1\tinf\nq2\td3\t1\n"), "line 1", "'inf' is no grade")
    yield _case("a grade of NaN", beir(qrels__test_tsv="q1\td1\tnan\nq2\td3\t1\n"), "line 1", "'nan' is no grade")
    yield _case("JSON as judgments", beir(qrels__test_tsv=json.dumps({"q1": {"d1": 1}})), "test.tsv")

    def topics(text: str) -> Maker:
        def make(folder: Path) -> str:
            for name, data in {**TREC, "topics.txt": text}.items():
                _write(folder, name, str(data))
            return f"dir:{folder}"

        return make

    yield _case("topics without numbers", topics("<top>\n<title> a b\n</top>\n"), "line 1: no <num>")
    yield _case("topics without titles", topics("<top>\n<num> q1\n</top>\n"), "topics.txt, line 1", "nothing there")
    yield _case("no topics", topics("<nothing/>\n"), "no <top>")
