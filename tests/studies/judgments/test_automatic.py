"""The automatic rater: hand-computed, against loops, and what it cannot answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets.published import pairs as loaders
from blindspot.numerics.similarity import Similarity
from blindspot.runs.spaces import Space
from blindspot.studies.judgments.automatic import answer, similarities, vote_of
from blindspot.studies.judgments.types import Item, ItemSet, Query, Task
from blindspot.variants import Variant
from tests.support.judgment_samples import MADE_AT, MANIFEST, A, B, comparative_set, intruder_set

REFERENCE = Variant("ref", "none")


def space_of(items: ItemSet, variant: Variant = REFERENCE, left_out: str = "") -> Space:
    """Random vectors for every text of a set; ``left_out`` has none."""
    texts = sorted({text for item in items.items for text in (item.query.text, *item.options)})
    dataset = loaders.pair_set("texts", pairs=[(text, text) for text in texts], background=[])
    covered = np.array([n for n, text in enumerate(dataset.items) if text != left_out], dtype=np.int64)
    rng = np.random.default_rng(8)
    return Space(variant, dataset, covered, rng.normal(size=(len(covered), 5)).astype(np.float32), "digest")


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_the_least_similar_on_average_is_the_intruder() -> None:
    similarity = np.array([[1, 0.9, 0.1, 0.5], [0.9, 1, 0.2, 0.6], [0.1, 0.2, 1, 0.9], [0.5, 0.6, 0.9, 1.0]])
    # Means of the other three: 0.5, 0.567, 0.4, 0.667.
    assert vote_of(similarity, Task.INTRUDER).tolist() == [0, 0, 1, 0]
    # The first and the last are as far from the others; the two between are nearer by a third of this on average.
    for nearer, votes in ((4e-6, [0.5, 0, 0, 0.5]), (2e-6, [0.25] * 4)):
        similarity = np.full((4, 4), 0.5)
        similarity[0, 3] = similarity[3, 0] = 0.4
        similarity[1, 2] = similarity[2, 1] = 0.4 + nearer
        assert vote_of(similarity, Task.INTRUDER).tolist() == votes


def test_the_candidate_most_similar_to_the_query_is_chosen_and_ties_share() -> None:
    similarity = np.eye(4)
    similarity[0, 1:] = similarity[1:, 0] = [0.3, 0.8, 0.8 - 5e-7]
    assert vote_of(similarity, Task.COMPARATIVE).tolist() == [0, 0.5, 0.5]
    similarity[0, 3] = 0.8 - 2e-6
    assert vote_of(similarity, Task.COMPARATIVE).tolist() == [0, 1, 0]


def test_similarities_are_the_obvious_ones() -> None:
    vectors = np.array([[3, 4], [0, 0], [4, 3]], dtype=np.float32)
    np.testing.assert_allclose(similarities(vectors, Similarity.COS)[0], [1, 0, 24 / 25])
    np.testing.assert_allclose(similarities(vectors, Similarity.L2)[0], [1, 1 / 6, 1 / (1 + np.sqrt(2))])


@pytest.mark.parametrize("items", [intruder_set(8), comparative_set(5)], ids=lambda i: i.task)
def test_it_answers_all_items(items: ItemSet) -> None:
    space = space_of(items)
    vector = dict(zip([space.dataset.items[n] for n in space.items], space.vectors, strict=True))
    chosen = {}
    for item in items.items:
        if items.task is Task.INTRUDER:
            means = [np.mean([cosine(vector[o], vector[x]) for x in item.options if x != o]) for o in item.options]
            chosen[item.item_no] = int(np.argmin(means))
        else:
            query = vector[item.query.text]
            chosen[item.item_no] = int(np.argmax([cosine(query, vector[o]) for o in item.options]))
    found = answer(items, space)
    assert (found.unanswered, found.is_judged) == (0, False)
    for place, score in enumerate(found.scores.variants):
        own = [(item, chosen[item.item_no] == item.own[place]) for item in items.items if item.own[place] >= 0]
        assert score.value == pytest.approx(np.mean([hit for _, hit in own]))
        assert (score.votes, score.items) == (len(own), len(own))


def test_a_reference_can_be_judged_itself() -> None:
    items = intruder_set(2)
    assert answer(items, space_of(items, A)).is_judged
    assert not answer(items, space_of(items, replace(B, transform="center"))).is_judged


def test_what_it_has_no_vector_for_is_counted_and_left_out() -> None:
    items = comparative_set(4)
    text = items.items[0].options[0]
    found = answer(items, space_of(items, left_out=text))
    assert found.unanswered == sum(text in item.options for item in items.items) == 1
    assert found.scores.items == len(items.items) - 1
    nothing = answer(items, space_of(intruder_set(2)))
    assert nothing.unanswered == len(items.items)
    assert [s.value for s in nothing.scores.variants] == [None] * 3


def test_a_shared_vote_counts_in_part() -> None:
    """Two candidates with one vector: each variant has half of the vote."""
    item = Item(0, Query("q"), "", 1, ("a", "b"), (0, 1))
    items = ItemSet(Task.COMPARATIVE, "Two", (A, B), (item,), MANIFEST, MADE_AT)
    space = space_of(items)
    vectors = space.vectors.copy()
    vectors[[space.dataset.items.index("a"), space.dataset.items.index("b")]] = 1.0
    found = answer(items, replace(space, vectors=vectors))
    assert [s.value for s in found.scores.variants] == [0.5, 0.5]
