"""Answers to analogies: loops in float64, cases computed by hand, and what holds for any vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.diagnostics.words import analogy as analogies
from blindspot.diagnostics.words.analogy import EPSILON, Rule, answer
from blindspot.numerics.ranking.problem import TAU
from blindspot.types import CancelToken, Float64, Int32, no_progress


def reference(
    vectors: Float64, questions: Int32, answers: Int32, rule: Rule, tau: float = TAU
) -> list[tuple[int, int, int]]:
    """Greater, ties and the predicted candidate of every question, candidate by candidate."""
    units = [v / np.linalg.norm(v) if np.linalg.norm(v) else v for v in vectors.astype(np.float64)]
    out = []
    for (a, b, c), right in zip(questions.tolist(), answers.tolist(), strict=True):
        scores = {}
        for d, vector in enumerate(units):
            if d in (a, b, c):
                continue
            with_a, with_b, with_c = (float(vector @ units[i]) for i in (a, b, c))
            if rule is Rule.ADD:
                scores[d] = with_b - with_a + with_c
            else:
                scores[d] = ((with_b + 1) / 2) * ((with_c + 1) / 2) / ((with_a + 1) / 2 + EPSILON)
        own = scores[right]
        greater = sum(s > own + tau for s in scores.values())
        ties = sum(abs(s - own) <= tau for d, s in scores.items() if d != right)
        out.append((greater, ties, max(scores, key=lambda d: (round(scores[d], 9), -d))))
    return out


def asked(vectors: Float64, questions: list[list[int]], answers: list[int], rule: Rule = Rule.ADD) -> analogies.Answers:
    numbers = np.array(questions, dtype=np.int32), np.array(answers, dtype=np.int32)
    return answer(vectors, *numbers, rule, no_progress, CancelToken())


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize("tile", [3, 2_048])
def test_answers_are_those_of_the_loops(rule: Rule, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analogies, "CANDIDATES_PER_TILE", tile)
    monkeypatch.setattr(analogies, "QUESTIONS_PER_TILE", 7)
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(41, 6)).astype(np.float32)
    vectors[30:34] = vectors[3]  # the same vector several times: ties
    vectors[40] = 0.0
    numbers = np.array([rng.permutation(41)[:4] for _ in range(60)], dtype=np.int32)
    numbers[:5, 3] = 3
    numbers[:5, :3] = rng.permutation(np.arange(10, 25)).reshape(5, 3)
    found = answer(vectors, numbers[:, :3], numbers[:, 3], rule, no_progress, CancelToken())
    expected = reference(vectors, numbers[:, :3], numbers[:, 3], rule)
    assert found.greater.tolist() == [g for g, _, _ in expected]
    assert found.ties.tolist() == [t for _, t, _ in expected]
    assert found.ties[:5].tolist() == [4] * 5
    answered = dict(enumerate(found.predicted.tolist()))
    for i, (_, _, predicted) in enumerate(expected):
        assert answered[i] == predicted or np.array_equal(vectors[answered[i]], vectors[predicted])


def test_a_parallelogram_by_hand() -> None:
    # man, king, woman, queen, and a word that lies nowhere near.
    vectors = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1], [-1, -1, 0]], dtype=np.float64)
    found = asked(vectors, [[0, 1, 2]], [3])
    half = np.sqrt(0.5)
    # cos(queen, king) = 1/2, cos(queen, man) = 0, cos(queen, woman) = 1/sqrt 2
    assert found.score[0] == pytest.approx(0.5 + half)
    assert (found.greater[0], found.ties[0], found.predicted[0]) == (0, 0, 3)
    product = asked(vectors, [[0, 1, 2]], [3], Rule.MUL)
    assert product.score[0] == pytest.approx(0.75 * (half + 1) / 2 / (0.5 + EPSILON))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 100.0), st.sampled_from(list(Rule)))
def test_neither_length_nor_rotation_changes_an_answer(seed: int, scale: float, rule: Rule) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(12, 4))
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    questions = [rng.permutation(12)[:4].tolist() for _ in range(5)]
    one = asked(vectors, [q[:3] for q in questions], [q[3] for q in questions], rule)
    other = asked(scale * vectors @ rotation, [q[:3] for q in questions], [q[3] for q in questions], rule)
    assert one.predicted.tolist() == other.predicted.tolist()
    assert one.greater.tolist() == other.greater.tolist()
    assert ((one.greater == 0) <= (one.score >= one.best - TAU)).all()
