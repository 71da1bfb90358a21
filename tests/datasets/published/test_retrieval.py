"""Published retrieval datasets: Cranfield and LIMIT."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.published import retrieval
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings

ABSTRACTS = """.I 1
.T
shear flow
past a plate .
.A
ting
.B
nowhere
.W
shear flow
past a plate .
in the study of  flow
.A
the mark is text
.I 2
.T
.A
.B
.W
.I 3
.T
a title
.A
.B
.W
another text .
"""
QUERIES = ".I 001\n.W\nwhat is\nshear .\n.I 004\n.W\nwhat is heat .\n"


def write(folder: Path, abstracts: str = ABSTRACTS, queries: str = QUERIES, qrels: str = "") -> list[Path]:
    paths = [folder / name for name in ("abstracts", "queries", "qrels")]
    for path, content in zip(paths, (abstracts, queries, qrels), strict=True):
        path.write_text(content)
    return paths


def test_cranfield_counts_queries_by_their_place(tmp_path: Path) -> None:
    found = retrieval.cranfield("c", *write(tmp_path, qrels="1 1 2 \n2 3 -1\n2 1  4\n2 2 1\n"))
    assert (found.query_ids, found.document_ids) == (("1", "2"), ("1", "3"))
    assert found.query_texts == ("what is shear .", "what is heat .")
    assert found.document_texts == (
        "shear flow past a plate . in the study of flow the mark is text",
        "a title another text .",
    )
    assert found.titles == ("shear flow past a plate .", "a title")
    assert [tuple(array.tolist() for array in found.judgments_of(query)) for query in (0, 1)] == [
        ([0], [1]),
        ([0, 1], [1, 0]),
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"qrels": "3 1 1\n"}, "qrels, line 1"),
        ({"qrels": "1 1 1\n1 4 1\n"}, "qrels, line 2"),
        ({"qrels": "1 1\n"}, "qrels, line 1"),
        ({"queries": "no mark\n"}, "queries, line 1"),
    ],
)
def test_a_line_of_another_form(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    with pytest.raises(DataCorrupt, match=message):
        retrieval.cranfield("c", *write(tmp_path, **changed))


def loaded(name: str, settings: Settings) -> RetrievalDataset:
    found = fetch.load(find_dataset(name), settings)
    assert isinstance(found, RetrievalDataset)
    return found


@pytest.mark.realdata
def test_cranfield_is_whole(shared_settings: Settings) -> None:
    found = loaded("cranfield", shared_settings)
    assert (found.query_ids[0], found.query_ids[-1], len(set(found.query_texts))) == ("1", "225", 225)
    assert {*map(str, range(1, 1_401))} - set(found.document_ids) == {"471", "995"}
    raw = [line.split() for line in fetch.local_path(find_dataset("cranfield").files[2], shared_settings).open()]
    assert len(raw) == 1_837
    assert {
        (found.query_ids[query], found.document_ids[document], grade)
        for query, document, grade in zip(found.judged_queries, found.judged, found.grades.tolist(), strict=True)
    } == {(query, document, int(int(grade) > 0)) for query, document, grade in raw if document != "995"}
    by_word = [document for document in found.document_texts if "slipstream" in document]
    assert by_word[0].startswith("experimental investigation of the aerodynamics of a wing in a slipstream . an exp")


@pytest.mark.realdata
def test_limit_asks_for_every_pair_of_documents(shared_settings: Settings) -> None:
    """1,000 of the 1,035 pairs of 46."""
    found = loaded("limit-small", shared_settings)
    asked = {tuple(found.judgments_of(query)[0].tolist()) for query in range(1_000)}
    assert len(asked) == 1_000
    assert asked <= set(combinations(range(46), 2))
    for query in range(0, 1_000, 97):
        thing = found.query_texts[query].removeprefix("Who likes ").rstrip("?")
        who = [n for n, text in enumerate(found.document_texts) if thing.casefold() in text.casefold()]
        assert set(found.judgments_of(query)[0].tolist()) <= set(who)


@pytest.mark.parametrize("line", ['{"query-id": "q9", "corpus-id": "a", "score": 1}', "x", '{"query-id": "q"}'])
def test_limit_with_a_wrong_judgment(tmp_path: Path, line: str) -> None:
    paths = write(
        tmp_path,
        "".join(json.dumps({"_id": one, "title": "", "text": one}) + "\n" for one in "ab"),
        '{"_id": "q", "text": "x"}\n',
        f'{{"query-id": "q", "corpus-id": "a", "score": 1}}\n{line}\n',
    )
    with pytest.raises(DataCorrupt, match="qrels, line 2"):
        retrieval.limit("l", *paths)
