"""Files of scored pairs: what is read, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published.scored_pairs import (
    scored_pairs,
    semantic_relatedness,
    sick,
    sts_benchmark,
    sts_year,
    word_similarity,
)
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings

TASKS = {name: entry for name, entry in DATASETS.items() if entry.kind is DatasetKind.SCORED_PAIRS}


def test_a_part_of_sts_benchmark(tmp_path: Path) -> None:
    path = tmp_path / "sts-dev.csv"
    path.write_text('g\tf\t2012\t1\t4.750\tHe said "no .\ta b\n\ng\tf\t2012\t2\t0.5\tc\td\tmore\tand more\n')
    assert sts_benchmark(path) == [('He said "no .', "a b", 4.75), ("c", "d", 0.5)]


def test_str_has_both_sentences_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "str.csv"
    path.write_bytes(b'Index,PairID,Text,Score\r\n0,x,"one, two\r\nthree",0.75\r\n1,y,"a\nb",1\r\n')
    assert semantic_relatedness(path) == [("one, two", "three", 0.75), ("a", "b", 1.0)]


def test_a_part_of_sick_keeps_its_scale(tmp_path: Path) -> None:
    path = tmp_path / "SICK_test.txt"
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    path.write_bytes(f'{header}\r\n6\tA "boy\tNo boy\t3.3\tNEUTRAL\r\n7\tc\td\t5\tENTAILMENT\r\n'.encode())
    assert sick(path) == [('A "boy', "No boy", 3.3), ("c", "d", 5.0)]
    dataset = scored_pairs("x", {"SICK": sick(path)})
    assert (dataset.sets, dataset.scores.tolist()) == (("SICK",), [3.3, 5.0])
    path.write_text("6\tA boy\tNo boy\t3.3\tNEUTRAL\n")
    with pytest.raises(DataCorrupt, match=r"begins with '6 A boy No boy 3\.3 NEUTRAL'; expected the header of SICK"):
        sick(path)


def test_words_are_lower_cased(tmp_path: Path) -> None:
    path = tmp_path / "EN-X.txt"
    path.write_bytes(b"Jerusalem\tIsrael\t8.46\r\n\r\nsun sunlight 50.0\r\n")
    assert word_similarity(path) == [("jerusalem", "israel", 8.46), ("sun", "sunlight", 50.0)]


@pytest.mark.parametrize(
    ("read", "text", "place"),
    [
        (sts_benchmark, "a\tb\tc\td\t1.0\tone\ttwo\na\tb\n", "line 2"),
        (sts_benchmark, "a\tb\tc\td\tgood\tone\ttwo\n", "line 1"),
        (semantic_relatedness, "Text,Score\none,1.0\n", "line 2"),
        (semantic_relatedness, "Texts,Score\none,1.0\n", "line 2"),
        (word_similarity, "a b 1\na b\n", "line 2: 'a b'"),
        (sick, "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n1\ta\tb\n", "line 2"),
        (sick, "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n1\ta\tb\tgood\n", "line 2"),
    ],
)
def test_another_kind_of_line_is_named(tmp_path: Path, read, text: str, place: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(DataCorrupt, match=re.escape(place)):
        read(path)


def test_the_sets_keep_their_rows_and_scores() -> None:
    dataset = scored_pairs("x", {"one": [("a", "b", 2.0), ("b", "a", 1.0)], "two": [("c", "a", 0.5)]})
    rows = [
        (dataset.sets[s], dataset.items[i], dataset.items[j], score)
        for s, i, j, score in zip(dataset.set_numbers, dataset.firsts, dataset.seconds, dataset.scores, strict=True)
    ]
    assert rows == [("one", "a", "b", 2.0), ("one", "b", "a", 1.0), ("two", "c", "a", 0.5)]
    other = scored_pairs("x", {"one": [("a", "b", 2.0), ("b", "a", 1.5)], "two": [("c", "a", 0.5)]})
    assert dataset.content_digest != other.content_digest
    assert dataset.texts_digest == other.texts_digest


def test_a_set_of_a_year_leaves_out_what_was_not_scored(tmp_path: Path) -> None:
    sentences, scores = tmp_path / "STS.input.x.txt", tmp_path / "STS.gs.x.txt"
    sentences.write_text('He said "no .\ta b \nc\td\ne\tf\n')
    scores.write_text("4.75\n\n0\n")
    assert sts_year(sentences, scores) == [('He said "no .', "a b", 4.75), ("e", "f", 0.0)]


@pytest.mark.parametrize(
    ("sentences", "scores", "told"),
    [
        ("a\tb\nc\td\n", "1\n", "2 lines and"),
        ("a\tb\nc d\n", "1\n2\n", "line 2: no two sentences and a score"),
        ("a\tb\nc\td\te\n", "1\n2\n", "line 2: no two sentences and a score"),
        ("a\tb\n", "good\n", "line 1: no two sentences and a score"),
    ],
)
def test_files_of_a_year_that_do_not_fit(tmp_path: Path, sentences: str, scores: str, told: str) -> None:
    (tmp_path / "s").write_text(sentences)
    (tmp_path / "g").write_text(scores)
    with pytest.raises(DataCorrupt, match=re.escape(told)):
        sts_year(tmp_path / "s", tmp_path / "g")


def test_the_tasks_are_all_there() -> None:
    words = "ws353 ws353-sim ws353-rel mc30 rg65 rw men mturk287 mturk771 yp130 simlex999 verb143 simverb3500".split()
    sentences = "stsb-test stsb-dev stsb-all sts12 sts13 sts14 sts15 sts16 sick-test sick-all str".split()
    sentences += ["glue-diagnostic", "sts3k"]
    assert set(TASKS) == {*words, *sentences, "demo-scored"}
    assert {name for name, entry in TASKS.items() if entry.unit == "word"} == set(words)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "lowest", "highest"), [("stsb-test", 0, 5), ("sick-test", 1, 5)])
def test_test_splits_are_on_their_scale(shared_settings: Settings, name: str, lowest: float, highest: float) -> None:
    dataset = fetch.load(find_dataset(name), shared_settings)
    assert isinstance(dataset, ScoredPairs)
    assert (dataset.scores.min(), dataset.scores.max()) == (lowest, highest)
    assert len(dataset.sets) == 1
