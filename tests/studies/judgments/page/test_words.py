"""Sentences of the results: one pair of models is no "0 of 1 pair", and finding an intruder is no preference."""

from __future__ import annotations

from blindspot.studies.judgments.page.results import _apart_in_words
from blindspot.studies.judgments.page.texts import RESULTS
from blindspot.studies.judgments.types import Task


def test_a_single_pair_is_not_counted() -> None:
    said = [_apart_in_words(*pairs) for pairs in ((0, 1), (1, 1), (0, 3), (2, 3))]
    assert [any(c.isdigit() for c in text) for text in said] == [False, False, True, True]
    assert len(set(said)) == 4


def test_each_task_has_a_question_of_its_own() -> None:
    assert set(RESULTS) == set(Task)
    assert len(set(RESULTS.values())) == len(Task)
