"""Analogies and categories: the files, what is made of them, what is left when words are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.kinds.relations import Analogies, Categories
from blindspot.datasets.published.word_relations import (
    Question,
    analogies,
    categories,
    read_categories,
    read_pairs,
    read_questions,
)
from blindspot.errors import DataCorrupt
from blindspot.types import Bool

OSLO = Question("capital", "semantic", "Rome", "Italy", "Oslo", "Norway")
PLURAL = Question("gram8-plural", "syntactic", "dog", "dogs", "cat", "cats")


def covered(dataset: Analogies | Categories, *missing: str) -> Bool:
    return np.array([word not in missing for word in dataset.items])


def test_candidates_are_the_questions_words_then_frequent_ones() -> None:
    found = analogies("a", [OSLO, PLURAL], ["the", "rome", "dogs", "norway", "of"])
    assert found.items == ("Rome", "Italy", "Oslo", "Norway", "dog", "dogs", "cat", "cats", "the", "of")
    assert found.own_words == 8
    assert [[found.items[i] for i in row] for row in found.questions] == [
        ["Rome", "Italy", "Oslo"],
        ["dog", "dogs", "cat"],
    ]
    assert [found.items[i] for i in found.answers] == ["Norway", "cats"]
    assert (found.sections, found.groups) == (("capital", "gram8-plural"), ("semantic", "syntactic"))


def test_an_answer_that_stands_in_its_question_is_refused() -> None:
    with pytest.raises(DataCorrupt, match="dog : dogs = cat : dogs is a word of the question"):
        analogies("a", [Question("s", "", "dog", "dogs", "cat", "dogs")], [])
    with pytest.raises(DataCorrupt, match="no questions"):
        analogies("a", [], [])


def test_questions_with_a_missing_word_are_left_out_and_the_word_is_no_candidate() -> None:
    whole = analogies("a", [OSLO, PLURAL], ["the"])
    part = whole.part(covered(whole, "Oslo", "the"))
    assert part.rows.tolist() == [1]
    assert part.dataset.items == ("Rome", "Italy", "Norway", "dog", "dogs", "cat", "cats")
    assert [part.dataset.items[i] for i in [*part.dataset.questions[0], part.dataset.answers[0]]] == [
        "dog", "dogs", "cat", "cats",
    ]  # fmt: skip
    assert part.dataset.own_words == 7
    assert whole.part(covered(whole)).dataset is whole
    assert whole.part(covered(whole)).digest == ""


def test_digests_tell_contents_apart() -> None:
    one, other = analogies("a", [OSLO], ["the"]), analogies("b", [OSLO], ["the"])
    assert one.content_digest == other.content_digest
    swapped = Question("capital", "semantic", "Oslo", "Norway", "Rome", "Italy")
    assert len({d.content_digest for d in (one, analogies("a", [OSLO], []), analogies("a", [swapped], ["the"]))}) == 3
    rows = [("fruit", "apple"), ("tree", "apple")]
    assert categories("c", rows).content_digest != categories("c", rows[:1]).content_digest


def test_a_word_in_several_classes_is_one_word_and_a_row_that_stands_twice_one_row() -> None:
    found = categories("c", [("fruit", "apple"), ("tree", "apple"), ("tree", "oak"), ("tree", "oak")])
    assert (found.items, found.classes) == (("apple", "oak"), ("fruit", "tree"))
    assert found.membership.tolist() == [[True, True], [False, True]]
    part = found.part(covered(found, "apple"))
    assert (part.dataset.items, part.dataset.classes) == (("oak",), ("tree",))
    assert part.dataset.membership.tolist() == [[True]]


def test_files_are_read(tmp_path: Path) -> None:
    questions = tmp_path / "q.csv"
    questions.write_text(",type,word1,word2,word3,target\n0,currency,a,b,c,d\n1,JJ_JJR,e,f,g,h\n2,gram1-x,i,j,k,l\n")
    assert [(q.section, q.group) for q in read_questions(questions)] == [
        ("currency", "semantic"),
        ("JJ_JJR", "syntactic"),
        ("gram1-x", "syntactic"),
    ]
    words = tmp_path / "c.csv"
    words.write_text(",category,word\n0,illness,acne\n1,illness,\n2,tree,null\n")
    assert read_categories(words) == [("illness", "acne"), ("tree", "null")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b",type,word1,word2,word3\n", "has the columns"),
        (b",type,word1,word2,word3,target\n0,s,a,,c,d\n", "line 2: an empty cell"),
        (b",type,word1,word2,word3,target\n0,s,a,\xff,c,d\n", "is not UTF-8"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(text)
    with pytest.raises(DataCorrupt, match=message):
        read_questions(path)


def test_built_in_pairs_are_asked_both_ways_within_their_section(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(
        "section\tgroup\tfirst\tsecond\np\tsyntactic\tdog\tdogs\np\tsyntactic\tcat\tcats\nq\tsemantic\ta\tb\n"
    )
    assert [(q.a, q.b, q.c, q.d) for q in read_pairs(path)] == [
        ("dog", "dogs", "cat", "cats"),
        ("cat", "cats", "dog", "dogs"),
    ]
