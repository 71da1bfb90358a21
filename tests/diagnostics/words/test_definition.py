"""Analogy and categorization as diagnostics: metrics, rows, and through the pipeline with words that are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets.published.word_relations import Question, analogies, categories
from blindspot.diagnostics.words import analogy, categorization
from blindspot.errors import BlindspotError, InputError
from blindspot.runs import pipeline
from blindspot.types import CancelToken, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World

QUESTIONS = [
    Question("capital", "semantic", "rome", "italy", "oslo", "norway"),
    Question("capital", "semantic", "oslo", "norway", "rome", "italy"),
    Question("plural", "syntactic", "dog", "dogs", "cat", "cats"),
    Question("plural", "syntactic", "cat", "cats", "mouse", "mice"),
]
ASKED = analogies("toy-analogies", QUESTIONS, ["catsdogs", "winter"])
KINDS = categories(
    "toy-kinds",
    [("in", "walking"), ("in", "talking"), ("in", "barking"), ("er", "walker"), ("er", "talker"), ("er", "<b>er</b>")],
)


@pytest.fixture
def toys(world: World) -> World:
    lacks = GramEncoder("lacks", lacks=lambda text: text in {"mice", "winter", "walker"})
    return world.add(ASKED, KINDS, GramEncoder(), lacks)


def test_accuracies_by_hand() -> None:
    vectors = np.zeros((len(ASKED.items), 12))
    place = {word: i for i, word in enumerate(ASKED.items)}
    step = {"rome": "italy", "oslo": "norway", "dog": "dogs", "cat": "cats"}
    for axis, (word, other) in enumerate(step.items()):
        vectors[place[word], axis] = 1.0
        vectors[place[other], [axis, 8 + axis // 2]] = 1.0
    vectors[place["mouse"], 5] = vectors[place["mice"], 6] = vectors[place["winter"], 7] = 1.0
    vectors[place["catsdogs"], 11] = 1.0
    found = analogy.compute(vectors, ASKED, {"rule": "3cosadd"}, no_progress, CancelToken())
    # cat : cats = mouse : mice. d . (cats - cat + mouse): dogs shares the step of plurals, and is answered; mice has 0.
    assert found.metrics["accuracy_semantic"] == found.metrics["accuracy@capital"] == 1.0
    assert found.metrics["accuracy_syntactic"] == found.metrics["accuracy@plural"] == 0.5
    assert found.metrics["accuracy"] == 0.75
    assert found.items.column("predicted").to_pylist() == ["norway", "italy", "cats", "dogs"]
    assert found.metrics["questions"] == 4
    assert found.metrics["candidates"] == len(ASKED.items)


def test_the_reciprocal_rank_of_ties_is_the_expected_one() -> None:
    """Without a direction all candidates score 0: the right word is as likely at each rank, as in EvalRank."""
    found = analogy.compute(np.zeros((len(ASKED.items), 3)), ASKED, {"rule": "3cosadd"}, no_progress, CancelToken())
    candidates = len(ASKED.items) - 3
    assert found.items.column("ties").to_pylist() == [candidates - 1] * 4
    assert found.metrics["mrr"] == pytest.approx(sum(1 / rank for rank in range(1, candidates + 1)) / candidates)
    assert found.metrics["accuracy"] == pytest.approx(1 / candidates)


def test_vectors_that_cannot_be_used_are_named() -> None:
    broken = np.full((len(ASKED.items), 3), np.nan)
    with pytest.raises(BlindspotError, match="NaN"):
        analogy.compute(broken, ASKED, {"rule": "3cosadd"}, no_progress, CancelToken())
    with pytest.raises(BlindspotError, match="NaN"):
        categorization.compute(broken[: len(KINDS.items)], KINDS, {}, no_progress, CancelToken())
    with pytest.raises(BlindspotError, match="1 different vectors of 6 words in 2 classes"):
        categorization.compute(np.ones((6, 3)), KINDS, {}, no_progress, CancelToken())


def test_words_without_a_vector_are_left_out_and_counted(toys: World) -> None:
    run = toys.run("analogy", "lacks", "toy-analogies")
    assert run.coverage == {"questions": 4, "questions_covered": 3, "items": 12, "items_covered": 10}
    rows = toys.repository.items(analogy.ENTRY, [run.run_id], texts=True)
    assert rows["item_no"].tolist() == [0, 1, 2]
    assert rows[["a", "b", "c", "d"]].values.tolist()[2] == ["dog", "dogs", "cat", "cats"]
    assert rows["section"].tolist() == ["capital", "capital", "plural"]
    # On what all cover the other encoder answers the same questions among the same words.
    request = replace(toys.request("analogy", "trigrams", "toy-analogies"), covered_by=("lacks",))
    other = pipeline.run(request, toys.settings, toys.repository).record
    assert other.plan.covered_digest == run.plan.covered_digest != ""
    assert other.metrics["accuracy"] == run.metrics["accuracy"]
    assert other.metrics["candidates"] == run.metrics["candidates"] == 10


def test_categories_through_the_store(toys: World) -> None:
    run = toys.run("categorization", "lacks", "toy-kinds")
    assert run.coverage == {"items": 6, "items_covered": 5}
    rows = toys.repository.items(categorization.ENTRY, [run.run_id], texts=True)
    assert rows["word"].tolist() == ["walking", "talking", "barking", "talker", "<b>er</b>"]
    assert rows["class"].tolist() == ["in", "in", "in", "er", "er"]
    assert rows["item_no"].tolist() == [0, 1, 2, 4, 5]
    right = (rows["class"] == rows["cluster_class"]).mean()
    assert run.metrics["purity"] == pytest.approx(right)
    assert run.metrics["purity_low"] <= run.metrics["purity_mean"] <= run.metrics["purity_high"]
    request = toys.request("categorization", "lacks", "toy-kinds")
    assert not pipeline.run(request, toys.settings, toys.repository, again=True).changed


def test_an_encoder_that_knows_no_question_is_refused(toys: World) -> None:
    toys.add(analogies("mice-only", [QUESTIONS[3]], ["the"]))
    with pytest.raises(InputError, match="no question of 'mice-only' is left: none has vectors of all its four words"):
        toys.run("analogy", "lacks", "mice-only")
