"""The CRF: likelihood, gradient and best tags against the enumeration of all tag sequences; what it learns."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from blindspot.diagnostics.words.chunking import crf
from blindspot.errors import Cancelled
from blindspot.types import CancelToken, Float64

LENGTHS = (3, 1, 4, 2, 3)
OFFSETS = (-2, -1, 0, 1, 2)
TAGS, FEATURES, WORDS = 3, 4, 6


def problem(seed: int, lengths: tuple[int, ...] = LENGTHS) -> crf.Problem:
    rng = np.random.default_rng(seed)
    tokens = sum(lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = rng.integers(WORDS, size=tokens).astype(np.int32)
    tags = rng.integers(TAGS, size=tokens).astype(np.int32)
    return crf.Problem(crf.Sentences(words, tags, starts), rng.normal(size=(WORDS + 1, FEATURES)), OFFSETS, TAGS)


def weights(seed: int, size: float = 1.0) -> crf.Weights:
    rng = np.random.default_rng(seed)
    return crf.Weights(size * rng.normal(size=(len(OFFSETS), FEATURES, TAGS)), size * rng.normal(size=(TAGS, TAGS)))


def scores_of_all(task: crf.Problem, own: crf.Weights, sentence: int) -> dict[tuple[int, ...], float]:
    """The score of every tag sequence of a sentence, term by term."""
    start, end = task.sentences.starts[sentence : sentence + 2]
    words = [int(w) for w in task.sentences.words[start:end]]
    out = {}
    for tags in product(range(TAGS), repeat=len(words)):
        score = 0.0
        for t, tag in enumerate(tags):
            for place, offset in enumerate(OFFSETS):
                row = words[t + offset] if 0 <= t + offset < len(words) else WORDS
                score += sum(own.window[place, f, tag] * task.table[row, f] for f in range(FEATURES))
            if t:
                score += own.transitions[tags[t - 1], tag]
        out[tags] = score
    return out


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_that_of_all_tag_sequences(seed: int) -> None:
    task, own = problem(seed), weights(seed + 100)
    expected = 0.0
    for sentence in range(len(LENGTHS)):
        every = scores_of_all(task, own, sentence)
        start, end = task.sentences.starts[sentence : sentence + 2]
        told = tuple(int(tag) for tag in task.sentences.tags[start:end])
        expected += np.log(sum(np.exp(score) for score in every.values())) - every[told]
    assert task.loss(own)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_differences(seed: int) -> None:
    task, own = problem(seed), weights(seed + 100, 0.5)
    flat, step = own.flat, 1e-6
    numeric = np.empty_like(flat)
    for i in range(len(flat)):
        ends = []
        for sign in (1, -1):
            moved = flat.copy()
            moved[i] += sign * step
            ends.append(task.loss(own.like(moved))[0])
        numeric[i] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(task.loss(own)[1].flat, numeric, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_tags_are_the_best_of_all_sequences(seed: int) -> None:
    task, own = problem(seed), weights(seed + 100)
    found = task.best(own)
    for sentence in range(len(LENGTHS)):
        every = scores_of_all(task, own, sentence)
        start, end = task.sentences.starts[sentence : sentence + 2]
        assert tuple(int(tag) for tag in found[start:end]) == max(every, key=lambda tags: every[tags])


def test_large_weights_neither_overflow_nor_vanish() -> None:
    task = problem(1, (50, 3))
    loss, gradient = task.loss(weights(2, 40.0))
    assert np.isfinite(loss)
    assert loss >= 0
    assert np.isfinite(gradient.flat).all()


def penalized(task: crf.Problem, own: crf.Weights, strength: float) -> float:
    return task.loss(own)[0] + strength / 2 * float((own.flat**2).sum())


def test_a_fit_is_the_minimum_wherever_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crf, "GAIN", 1e-15)
    task, strength = problem(3), 0.5
    first = crf.fit(task, strength, CancelToken())
    second = crf.fit(task, strength, CancelToken(), weights(4))
    assert first.converged
    np.testing.assert_allclose(first.weights.flat, second.weights.flat, atol=1e-5)
    slope = task.loss(first.weights)[1].flat + strength * first.weights.flat
    np.testing.assert_allclose(slope, 0, atol=1e-5)
    assert penalized(task, first.weights, strength) <= penalized(task, weights(4), strength)


def test_it_learns_a_rule_that_needs_the_word_before() -> None:
    """A word is tagged 1 after word 0, else 0: only the window or the transitions can tell."""
    rng = np.random.default_rng(0)
    words = rng.integers(2, size=200).astype(np.int32)
    starts = np.arange(0, 201, 10)
    tags = np.array([int(i % 10 > 0 and words[i - 1] == 0) for i in range(200)], dtype=np.int32)
    table: Float64 = np.eye(3)
    task = crf.Problem(crf.Sentences(words, tags, starts), table, OFFSETS, 2)
    assert task.best(crf.fit(task, 0.01, CancelToken()).weights).tolist() == tags.tolist()


def test_fitting_twice_gives_the_same_bits() -> None:
    one, other = (crf.fit(problem(5), 0.1, CancelToken()) for _ in range(2))
    assert one.weights.flat.tobytes() == other.weights.flat.tobytes()


def test_it_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        crf.fit(problem(6), 0.1, token)


def test_some_sentences_are_those_sentences() -> None:
    every = problem(7).sentences
    some = every.some(np.array([2, 0]))
    assert some.lengths.tolist() == [4, 3]
    assert some.words.tolist() == [*every.words[4:8], *every.words[:3]]
