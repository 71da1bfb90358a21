"""Folders of queries, documents and judgments, in the formats of BEIR and TREC: three documents, two queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str | bytes | None]
BEIR: dict[str, str | bytes | None] = {
    "corpus.jsonl": '{"_id": "d1", "title": "One", "text": "first text"}\n'
    '{"_id": "d2", "title": "", "text": "second text"}\n\n'
    '{"_id": "d3", "text": "third text"}\n',
    "queries.jsonl": '{"_id": "q1", "text": "which is first"}\n{"_id": "q2", "text": "which is third"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td3\t2\nq1\td2\t0\nq1\td1\t1\n",
}
TREC: dict[str, str | bytes | None] = {
    "documents.trec": "<DOC>\n<DOCNO> d1 </DOCNO>\n<TITLE>One</TITLE>\n<TEXT>\nfirst\ntext\n</TEXT>\n</DOC>\n"
    "<DOC>\n<DOCNO>d2</DOCNO>\n<TEXT>second &amp; text</TEXT>\n</DOC>\n"
    "<DOC><DOCNO>d3</DOCNO><HEADLINE>Three</HEADLINE><TEXT><P>third</P> text</TEXT></DOC>\n",
    "topics.txt": "<top>\n<num> Number: q1\n<title> which is\nfirst\n<desc> Description:\nmore\n</top>\n"
    "<top>\n<num> Number: q2 </num>\n<title> Topic: which is third </title>\n</top>\n",
    "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n",
}


def folder(tmp_path: Path, *files: Files) -> Path:
    """A folder with files; those of None are left out."""
    path = tmp_path / "my folder"
    for name, content in {name: content for one in files for name, content in one.items()}.items():
        if content is not None:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return path
