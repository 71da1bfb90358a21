"""Files that models are trained on, read as retrieval: their negatives are candidates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blindspot.datasets import uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.retrieval import OwnRetrieval
from blindspot.errors import InputError
from blindspot.settings import Settings

ASKED = ("mend a tyre", "bake a loaf", "fly a kite")
RIGHT = ("patch the tube", "flour, salt and heat", "wind and a string")
WRONG = ("boil the tube", "fry the salt")


def read(path: Path, content: Any) -> OwnRetrieval:
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in content), "utf-8")
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    entry = find_dataset(f"file:{path}")
    assert entry.kind is DatasetKind.RETRIEVAL
    assert isinstance(entry.own, OwnRetrieval)
    return entry.own


def texts(found: OwnRetrieval) -> tuple[set[str], set[tuple[str, str, int]]]:
    """All documents, and (query, document, grade)."""
    judged = {(found.queries[j.query].text, found.documents[j.document].text, j.grade) for j in found.judgments}
    return {document.text for document in found.documents}, judged


def expected(negatives: tuple[str, ...] = WRONG) -> set[tuple[str, str, int]]:
    right = {(query, document, 1) for query, document in zip(ASKED, RIGHT, strict=True)}
    return right | {(query, document, 0) for query in ASKED for document in negatives}


@pytest.mark.parametrize("more", [{}, {"pos_scores": [0.9], "neg_scores": [0.1, 0.2], "prompt": "x", "id": 3}])
def test_flag_embedding(tmp_path: Path, more: dict[str, Any]) -> None:
    rows = [{"query": q, "pos": [d], "neg": list(WRONG), **more} for q, d in zip(ASKED, RIGHT, strict=True)]
    for content, name in ((rows, "flag.jsonl"), (rows, "flag.json")):
        assert texts(read(tmp_path / name, content)) == ({*RIGHT, *WRONG}, expected())


@pytest.mark.parametrize(
    "header",
    ["anchor,positive,negative_1,negative_2", "query,positive,negative,hard_negative", "question,pos,neg1,neg2"],
)
def test_triplets_and_tuples_of_texts(tmp_path: Path, settings: Settings, header: str) -> None:
    rows = [",".join((q, d, *WRONG)) for q, d in zip(ASKED, [f'"{d}"' for d in RIGHT], strict=True)]
    path = tmp_path / "tuples.csv"
    found = read(path, "\n".join([header, *rows, ""]))
    assert texts(found) == ({*RIGHT, *WRONG}, expected())
    assert not found.columns_as(DatasetKind.PAIR_SET), "no advice drops the negatives"
    named = f"file:{path}?{'&'.join('='.join(one) for one in found.named)}"
    again = find_dataset(named)
    assert isinstance(again.own, OwnRetrieval)
    assert texts(again.own) == texts(found)
    kept = find_dataset(uploads.add(found, path.read_bytes(), settings).reference).own
    assert isinstance(kept, OwnRetrieval)
    assert texts(kept) == texts(found)


def test_llama_index(tmp_path: Path, settings: Settings) -> None:
    content = {
        "queries": {f"q{i}": query for i, query in enumerate(ASKED)},
        "corpus": {f"d{i}": text for i, text in enumerate((*RIGHT, *WRONG))},
        "relevant_docs": {f"q{i}": [f"d{i}"] for i in range(3)},
        "mode": "text",
    }
    path = tmp_path / "index.json"
    found = read(path, content)
    assert texts(found) == ({*RIGHT, *WRONG}, expected(()))
    kept = find_dataset(uploads.add(found, path.read_bytes(), settings).reference).own
    assert isinstance(kept, OwnRetrieval)
    assert texts(kept) == texts(found)
    for broken, said in (
        (content | {"relevant_docs": {}}, "no relevant_docs of the query 'q0'"),
        (content | {"relevant_docs": {f"q{i}": ["d9"] for i in range(3)}}, "no list of ids"),
        ({"queries": {}}, "not a list of objects"),
        ([1, 2], "not a list of objects"),
    ):
        with pytest.raises(InputError, match=said):
            read(tmp_path / "broken.json", broken)


def test_odd_characters_are_refused_and_the_word_nan_is_kept(tmp_path: Path) -> None:
    for number, odd in enumerate(("half \ud83d", "zero \0 byte")):
        for row in (
            {"query": odd, "match": "x"},
            {"query": "x", "positives": ["a", odd]},
            {"text1": "x", "text2": odd},
        ):
            path = tmp_path / f"{number}.jsonl"
            path.write_text("".join(f"{json.dumps(one)}\n" for one in (row, row)), "utf-8")
            with pytest.raises(InputError) as caught:
                own.read(path)
            assert "surrogate" in str(caught.value) or "zero byte" in str(caught.value)
    path = tmp_path / "name.jsonl"
    path.write_text(json.dumps({"query\ud83d": "a", "match": "b"}) + "\n", "utf-8")
    with pytest.raises(InputError, match="name of a column"):
        own.read(path)
    for ending, content in (
        ("csv", "query,match\nNaN,a grandmother\nbread,NaN\n"),
        ("jsonl", '{"query": "NaN", "match": "a grandmother"}\n{"query": "bread", "match": "NaN"}\n'),
    ):
        path = tmp_path / f"nan.{ending}"
        path.write_text(content, "utf-8")
        pairs = own.read(path)
        assert [tuple(row) for row in pairs.first_rows(2).cells] == [("NaN", "a grandmother"), ("bread", "NaN")]
