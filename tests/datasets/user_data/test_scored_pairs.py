"""Scored pairs in a user's file: which columns they are, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.columns import FIRST, SCORE, SECOND
from blindspot.datasets.user_data.scored_pairs import OwnScoredPairs
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.own_files import check_refused, read_as
from tests.support.tables import each


def given(folder: Path, content: str, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("sentence1,sentence2,score", ("sentence1", "sentence2", "score")),
        ("Gold,left,right", ("left", "right", "Gold")),
        ("word1,word2,Relatedness", ("word1", "word2", "Relatedness")),
        ("a,b,similarity score", ("a", "b", "similarity score")),
        ("query,match,label", ("query", "match", "label")),
    ],
)
def test_a_score_beside_two_texts_makes_scored_pairs(
    tmp_path: Path, header: str, columns: tuple[str, str, str]
) -> None:
    names = header.split(",")
    rows = [[("1.5", "-2e-1")[row] if name == columns[2] else f"{name} {row}" for name in names] for row in range(2)]
    path = given(tmp_path, "\n".join([header, *(",".join(row) for row in rows)]))
    found = own.read(path)
    assert isinstance(found, OwnScoredPairs)
    assert tuple(found.used[use].name for use in (FIRST, SECOND, SCORE)) == columns
    assert found.pairs == tuple((f"{columns[0]} {i}", f"{columns[1]} {i}", (1.5, -0.2)[i]) for i in range(2))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("query,match,label\na,b,tea\nc,d,coffee\n", DatasetKind.PAIR_SET),  # a class
        ("query,match,views\na,b,1\nc,d,2\n", DatasetKind.PAIR_SET),
        ("original,synonym,score\nx y z,x y q,1\na b c,a b d,2\n", DatasetKind.MINIMAL_PAIR_SET),
        ("word,count,score\na,1,1\nb,2,2\n", DatasetKind.VOCABULARY),  # one text only
    ],
)
def test_what_is_none(tmp_path: Path, content: str, kind: DatasetKind) -> None:
    assert own.read(given(tmp_path, content)).kind is kind


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            "a,b,1\nc,d,very low\n",
            "'very low' is no number; expected a score, a finite number such as 3.5; write a number instead",
        ),
        ("a,b,1\nc,d,n/a\n", "line 3, column 'score': 'n/a' is no number; expected a score"),
        ("a,b,1\nc,d,\n", "line 3, column 'score': nothing there; expected a score"),
        ("a,b,1\nc,d,nan\n", "line 3, column 'score': nan; expected a score, a finite number"),
        ("a,b,inf\nc,d,1\n", "line 2, column 'score': inf; expected a score, a finite number"),
        ("a,,1\nc,d,2\n", "line 2, column 'text2': nothing there; expected a text"),
        ("a,b,1\nc,d,1.0\n", "column 'score': the score is 1 in all 2 rows; expected at least two different scores"),
        ("a,b,1\n", "has 1 pair; expected at least 2 pairs"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_row(tmp_path: Path, rows: str, told: str) -> None:
    check_refused(given(tmp_path, f"text1,text2,score\n{rows}"), told)


@each(
    "scores, said",
    [
        ((0, 1.5, 3, 4, -99), "the score -99 is apart from all others (0 to 4)"),
        ((0.2, 0.5, 1, -1), "the score -1 is apart"),
        ((1, 2, 3, 999), "the score 999 is apart from all others (1 to 3)"),
        ((-1, 0, 1), ""),
        ((-0.5, 0.25, 1, 0), ""),
        ((-1, -0.5, 0.5, 1), ""),
        ((0, 7, 8, 9), ""),
        ((0, 3, 5, 90), ""),
    ],
)
def test_scores_that_may_stand_for_missing_ones_are_said(tmp_path: Path, scores: tuple[float, ...], said: str) -> None:
    rows = "".join(f"who waters plant {i},the gardener {i},{scores[i % len(scores)]}\n" for i in range(12))
    found = own.read(given(tmp_path, f"a,b,score\n{rows}"))
    assert said in found.assumptions
    assert bool(found.assumptions) is bool(said)


def test_pairs_with_several_scores_are_said(tmp_path: Path) -> None:
    found = own.read(given(tmp_path, "a,b,score\nx,y,1\ny,x,4\nx,y,1\nx,z,2\nx,z,2\n"))
    assert found.assumptions == "pairs.csv: 1 pair with several scores (such as 1, 4), each row of which counts"


def test_columns_can_be_asked_for(tmp_path: Path) -> None:
    path = given(tmp_path, "x,y,z,n\na,b,c,1\nd,e,f,2\n")
    table = own.tabulate(path, path.read_bytes())
    assert table.kind is DatasetKind.PAIR_SET
    assert read_as(OwnScoredPairs, table, text1="x", text2="z", score="n").pairs == (("a", "c", 1.0), ("d", "f", 2.0))
    with pytest.raises(InputError, match="no two texts and a score"):
        read_as(OwnScoredPairs, table)


def test_the_dataset_and_its_entry(tmp_path: Path, settings: Settings) -> None:
    rows = [{"text1": "a", "text2": "b", "score": 4}, {"text1": "b", "text2": "b", "score": 0.5}]
    path = given(tmp_path, "\n".join(map(json.dumps, rows)), "mine.jsonl")
    entry = find_dataset(f"file:{path}")
    assert (entry.kind, entry.size) == (DatasetKind.SCORED_PAIRS, "2 scored pairs, 2 texts")
    assert "from 0.5 to 4" in entry.description
    dataset = fetch.load(entry, settings)
    assert isinstance(dataset, ScoredPairs)
    assert (dataset.items, dataset.sets, dataset.scores.tolist()) == (("a", "b"), ("mine",), [4.0, 0.5])
    assert (dataset.firsts.tolist(), dataset.seconds.tolist()) == ([0, 1], [1, 1])
