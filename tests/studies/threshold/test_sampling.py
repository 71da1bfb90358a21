"""Pairs made of labeled texts: every text once, kinds as said, seeded."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.errors import InputError
from blindspot.studies.threshold.sampling import HARD, RANDOM, SAME, sample
from blindspot.texts import lexical_overlap, same_text

WORDS = "lost card pin top up transfer fee rate cash refund".split()


def made(n: int, classes: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    return [f"{' '.join(rng.choice(WORDS, 4))} {i}" for i in range(n)], rng.integers(classes, size=n)


@given(st.integers(40, 200), st.integers(2, 9), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_no_text_is_in_two_pairs_and_kinds_are_true(n: int, classes: int, seed: int) -> None:
    texts, labels = made(n, classes, seed)
    found = sample(texts, labels)
    used = np.concatenate([found.firsts, found.seconds]).tolist()
    assert len(used) == len(set(used))
    for a, b, kind in zip(found.firsts.tolist(), found.seconds.tolist(), found.kinds, strict=True):
        assert (labels[a] == labels[b]) == (kind == SAME)
    counts = Counter(found.kinds)
    quarter = (n - len(set(labels.tolist()))) // 8
    assert max(counts[HARD], counts[RANDOM]) <= quarter
    assert counts[SAME] <= 2 * quarter


def test_two_classes_give_as_many_same_pairs_as_different_ones() -> None:
    texts, labels = made(400, 2)
    counts = Counter(sample(texts, labels).kinds)
    assert counts[SAME] == counts[HARD] + counts[RANDOM]


def test_half_is_the_same_and_hard_ones_share_words() -> None:
    texts, labels = made(800, 10)
    found = sample(texts, labels)
    assert Counter(found.kinds) == {SAME: 196, HARD: 98, RANDOM: 98}  # (800 - 10 classes) / 8 is a quarter
    overlap = lexical_overlap([texts[i] for i in found.firsts], [texts[i] for i in found.seconds])
    kinds = np.array(found.kinds)
    assert overlap[kinds == HARD].mean() > overlap[kinds == RANDOM].mean() + 0.2
    again = sample(texts, labels)
    assert np.array_equal(found.firsts, again.firsts)
    assert np.array_equal(found.seconds, again.seconds)


def test_the_first_hard_pair_is_that_of_a_loop() -> None:
    texts, labels = made(60, 3)
    found = sample(texts, labels)
    rows = [i for i, kind in enumerate(found.kinds) if kind == HARD]
    best = 0
    for i in rows:
        a, b = int(found.firsts[i]), int(found.seconds[i])
        for query in (a, b):
            others = [texts[j] for j in range(60) if labels[j] != labels[query]]
            best += lexical_overlap([texts[a]], [texts[b]])[0] >= max(
                lexical_overlap([texts[query]] * len(others), others)
            )
            break
    assert best >= 1


def test_a_text_that_occurs_again_is_left_out() -> None:
    texts, labels = made(60, 2)
    doubled = [*texts, *(f"  {text.upper()} " for text in texts)]
    found = sample(doubled, np.concatenate([labels, labels]))
    keys = [same_text(doubled[i]) for i in np.concatenate([found.firsts, found.seconds]).tolist()]
    assert len(keys) == len(set(keys))


def test_too_few_texts_or_one_label_are_one_line() -> None:
    texts, labels = made(39, 2)
    with pytest.raises(InputError, match="39 different texts"):
        sample(texts, labels)
    texts, labels = made(60, 1)
    with pytest.raises(InputError, match="one label"):
        sample(texts, labels)
