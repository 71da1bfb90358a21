"""Which words of a text changed: nothing is lost, and what is marked is what a reader would mark."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import Change, Segment, side, word_changes

SIGNS = {Change.KEPT: "{}", Change.REMOVED: "[-{}-]", Change.ADDED: "[+{}+]"}
TEXTS = st.lists(st.sampled_from(["a", "not", "big", "isn't", " ", "  ", "\t", ".", ",", "<b>", "*", "ü"])).map("".join)


def marked(before: str, after: str) -> str:
    return "".join(SIGNS[s.change].format(s.text) for s in word_changes(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("He is angry now.", "He is furious now.", "He is [-angry-][+furious+] now."),
        ("He likes the car.", "He does not like the car.", "He [-likes-][+does not like+] the car."),
        ("She is not happy.", "She is happy.", "She is[- not-] happy."),
        ("It is easy.", "It is esay.", "It is [-easy-][+esay+]."),
        ("It arrived late.", "It didn't arrive late.", "It [-arrived-][+didn't arrive+] late."),
        ("the cat, the dog", "the cat, the dog", "the cat, the dog"),
        ("a b c", "x y z", "[-a b c-][+x y z+]"),
        ("", "new", "[+new+]"),
        ("Big dogs", "big dogs", "[-Big-][+big+] dogs"),
    ],
)
def test_the_words_that_changed_are_marked(before: str, after: str, expected: str) -> None:
    assert marked(before, after) == expected


@given(TEXTS | st.text(), TEXTS | st.text())
def test_the_segments_make_up_both_texts(before: str, after: str) -> None:
    segments = word_changes(before, after)
    assert side(segments, Change.REMOVED) == before
    assert side(segments, Change.ADDED) == after
    assert all(segment.text for segment in segments)
    assert all(one.change is not other.change for one, other in itertools.pairwise(segments))


@given(TEXTS | st.text())
def test_a_text_is_its_own_unchanged_rewrite(text: str) -> None:
    assert word_changes(text, text) == ((Segment(text, Change.KEPT),) if text else ())
