"""Runs of other search engines, in TREC's format and as MTEB's predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data import rankings
from blindspot.errors import InputError
from tests.support.tables import each

SCORES = {"q02": {"d03": 0.5, "d01": -1.5e-3}, "q01": {"d60": 7.0}}
ROWS = [(0, 59, 7.0), (1, 0, -1.5e-3), (1, 2, 0.5)]
LINES = ["q02 Q0 d03 1 0.5 mine", "q02\tQ0\td01\t2\t-1.5e-3\tmine", "", "q01 Q0 d60 1 7 mine"]


@pytest.fixture
def dataset() -> RetrievalDataset:
    found = DATASETS["demo-retrieval"].load("demo-retrieval", ())
    assert isinstance(found, RetrievalDataset)
    return found


def read(path: Path, content: str | bytes, dataset: RetrievalDataset) -> rankings.Rankings:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return rankings.read(path, dataset)


def test_trec(tmp_path: Path, dataset: RetrievalDataset) -> None:
    found = read(tmp_path / "a.run", "\r\n".join(LINES), dataset)
    assert list(zip(found.queries, found.documents, found.scores, strict=True)) == ROWS
    assert (found.name, found.missing) == ("mine", 78)


@pytest.mark.parametrize(
    "wrapped",
    [
        SCORES,
        {"test": SCORES},
        {"default": {"test": SCORES}},
        {"mteb_model_meta": {"model_name": "x"}, "default": {"test": SCORES}},
    ],
)
def test_predictions(tmp_path: Path, dataset: RetrievalDataset, wrapped: object) -> None:
    found = read(tmp_path / "Task_predictions.json", json.dumps(wrapped), dataset)
    assert list(zip(found.queries, found.documents, found.scores, strict=True)) == ROWS
    assert found.name == "Task_predictions"


@each(
    ("name", "content", "message"),
    [
        ("a.run", "q01 Q0 d01 1 0.5\n", "line 1: 5 cells; expected TREC's topic Q0 document rank score name"),
        ("a.run", "q01 Q0 d99 1 0.5 x\n", "line 1: 'demo-retrieval' has no document"),
        ("a.run", "\nq99 Q0 d01 1 0.5 x\n", "line 2: 'demo-retrieval' has no query"),
        ("a.run", "q01 Q0 d01 1 best x\n", "line 1: 'best' is no score"),
        ("a.run", "q01 Q0 d01 1 nan x\n", "line 1: 'nan' is no score"),
        ("a.run", "q01 Q0 d01 1 0,5 tag\n", "line 1: '0,5' is no score"),
        ("a.run", "q01 Q0 d01 1 0.5 my tag\n", "line 1: 7 cells; expected TREC's topic Q0 document rank score name"),
        ("a.run", "q0 Q0 d0 1 0.5\n", "line 1: 5 cells; expected TREC's topic Q0 document rank score name"),
        ("a.run", "q01 Q0 d01 1 2 x\nq01 Q0 d01 2 1 x\n", "line 2: document 'd01' is ranked for query 'q01' already"),
        ("a.run", " \n", "is empty"),
        ("a.run", b"\x1f\x8b\x08", "packed with gzip"),
        ("a.run", "q01 Q0 d01 1 2 caf\xe9\n".encode("latin-1"), "is not UTF-8"),
        ("a.json", "{", "broken JSON"),
        ("a.json", "[]", "is no JSON object"),
        ("a.json", "{}", "ranks no document"),
        ("a.json", '{"q01": 1}', "query 'q01': no documents with scores"),
        ("a.json", '{"q01": {"d01": true}}', "query 'q01': 'True' is no score"),
        ("a.json", '{"en": {"q01": {"d01": 1}}, "de": {"q01": {"d01": 1}}}', "has predictions of en, de"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, dataset: RetrievalDataset, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path / name, content, dataset)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)
