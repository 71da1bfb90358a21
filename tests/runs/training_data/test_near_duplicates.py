"""Near-duplicates against a loop over all pairs, and planted ones."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from blindspot.runs.training_data.near_duplicates import LETTERS, groups, key_of, near

WORDS = st.lists(st.text("abcd", min_size=2, max_size=6), min_size=1, max_size=6).map(" ".join)


def distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def alike(a: str, b: str) -> bool:
    a, b = key_of(a), key_of(b)
    return a == b or LETTERS * distance(a, b) <= max(len(a), len(b))


@st.composite
def edited(draw: st.DrawFn) -> list[str]:
    """Texts, and some of them with a few letters changed, put in or taken out."""
    texts = draw(st.lists(WORDS, min_size=1, max_size=6))
    for text in draw(st.lists(st.sampled_from(texts), max_size=6)):
        changed = list(text)
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(changed)))
            changed[place : place + draw(st.integers(0, 1))] = draw(st.sampled_from(["", "a", "x"]))
        texts.append("".join(changed) or "a")
    return texts


@given(edited(), edited())
def test_near_is_what_a_loop_finds(texts: list[str], others: list[str]) -> None:
    assert near(texts, others) == [any(alike(text, other) for other in others) for text in texts]


@given(edited())
def test_groups_are_the_components_of_a_loop(texts: list[str]) -> None:
    label = list(range(len(texts)))
    for i, one in enumerate(texts):
        for j, other in enumerate(texts[:i]):
            if alike(one, other):
                old, new = label[i], label[j]
                label = [new if x == old else x for x in label]
    found = groups(texts).tolist()
    assert [[a == b for b in found] for a in found] == [[a == b for b in label] for a in label]


def test_case_spacing_and_unicode_do_not_matter() -> None:
    text = "The café in Łódź isn't open on Sundays."
    planted = [
        text.upper(),
        f"  {text.replace(' ', '   ')}\t",
        text.replace("é", "e\N{COMBINING ACUTE ACCENT}"),
        text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}"),
        text.replace(" ", "\N{NO-BREAK SPACE}"),
        text.replace("Sundays", "Sunday"),
    ]
    assert near(planted, [text]) == [True] * len(planted)
    assert near(["The café in Łódź is open on Sundays from nine to five."], [text]) == [False]
    assert near(["dog", "cat"], ["cat"]) == [False, True]
    assert near(list(string.punctuation), ["!"]) == [one == "!" for one in string.punctuation]
