"""Words, lengths and overlap, against a loop that counts by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import length, lexical_overlap, words

TEXTS = st.text(alphabet="abcC é'-., \t", max_size=24)


def test_a_word_stands_between_spaces() -> None:
    assert words("The  dog isn't — at HOME, 3 pm!") == ("the", "dog", "isnt", "at", "home", "3", "pm")
    assert words("... – !") == ()
    assert words("C++ + C, पिता।") == ("c++", "+", "c", "पिता")
    assert length("a a b") == 3
    assert length("") == 0


@pytest.mark.parametrize(
    ("query", "mate", "overlap"),
    [
        ("a dog runs", "A dog, runs!", 1.0),
        ("a dog runs", "a cat runs", 0.5),
        ("dog dog cat", "dog", 0.5),
        ("dog", "cat", 0.0),
        ("dog", "!", 0.0),
        ("?", "!", math.nan),
    ],
)
def test_overlap_by_hand(query: str, mate: str, overlap: float) -> None:
    np.testing.assert_equal(lexical_overlap([query], [mate]), [overlap])


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_overlap_is_what_a_loop_counts(pairs: list[tuple[str, str]]) -> None:
    got = lexical_overlap([a for a, _ in pairs], [b for _, b in pairs])
    assert got.dtype == np.float64
    for value, (query, mate) in zip(got, pairs, strict=True):
        both = either = 0
        for word in {*words(query), *words(mate)}:
            either += 1
            both += word in words(query) and word in words(mate)
        np.testing.assert_equal(value, both / either if either else math.nan)


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        lexical_overlap(["a", "b"], ["a"])
