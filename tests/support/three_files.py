"""Queries, documents and judgments in three files with columns of their own names."""

from __future__ import annotations

from pathlib import Path

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset

QUERIES = "No,Wording,Team\n7,Which plums are blue?,red\n8,Which pears are green?,blue\n"
DOCUMENTS = (
    "Key;Name;Body\nd1;Plums;Plums turn blue in late summer.\nd2;;Pears stay green on the tree.\nd3;;No fruit here.\n"
)
JUDGMENTS = "Article,Asked,Points\nd1,7,2\nd2,8,1\nd3,8,0\n"
COLUMNS = {
    "documents.id": "Key",
    "documents.title": "Name",
    "documents.text": "Body",
    "queries.id": "No",
    "queries.text": "Wording",
    "judgments.query": "Asked",
    "judgments.document": "Article",
    "judgments.grade": "Points",
}
GRADES = {("7", "d1"): 2, ("8", "d2"): 1, ("8", "d3"): 0}


def three(folder: Path) -> dict[str, str]:
    """The files, by part, in two folders."""
    (folder / "more files").mkdir(parents=True)
    paths = {"queries": "asked.csv", "documents": "more files/articles.csv", "judgments": "rated.csv"}
    for part, content in (("queries", QUERIES), ("documents", DOCUMENTS), ("judgments", JUDGMENTS)):
        (folder / paths[part]).write_text(content, "utf-8")
    return {part: str(folder / path) for part, path in paths.items()}


def with_columns(files: dict[str, str]) -> dict[str, str]:
    named = {part: [] for part in files}
    for option, name in COLUMNS.items():
        part, _, role = option.partition(".")
        named[part].append(f"{role}={name}")
    return {part: f"{path}?{'&'.join(named[part])}" for part, path in files.items()}


def judged(reference: str) -> dict[tuple[str, str], int]:
    entry = find_dataset(reference)
    data = entry.load(entry.id, ())
    assert isinstance(data, RetrievalDataset)
    assert data.query_texts == ("Which plums are blue?", "Which pears are green?")
    assert data.document_texts[0] == "Plums Plums turn blue in late summer."
    return {
        (data.query_ids[q], data.document_ids[d]): int(g)
        for q, d, g in zip(data.judged_queries, data.judged, data.grades, strict=True)
    }
