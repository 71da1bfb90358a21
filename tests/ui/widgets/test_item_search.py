"""Finding items by their texts."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz, process

from blindspot.texts import same_text
from blindspot.ui.widgets import item_search
from blindspot.ui.widgets.item_search import Found, Way, find_items
from tests.support.tables import each

WORDS = ["elephants", "Elephant", "the elephant", "elegant", "rain", "a  Rainy\nday", "caf\u00e9"]
SENTENCES = ["A dog runs in the park, far from here.", "An elephant sleeps under the old tree.", "Rain falls on us."]


def find(wanted: str, texts: list[str]) -> Found:
    return find_items(wanted, texts, [same_text(text) for text in texts])


@each(
    ("wanted", "numbers"),
    [
        ("elephant", (1, 0, 2)),  # equal, begins with it, contains it
        ("ELEPHANT", (1, 0, 2)),
        ("rainy day", (5,)),
        ("CAFE\u0301", (6,)),  # in another Unicode form
        ("  rain ", (4, 5)),
        ("", ()),
        (" \n", ()),
    ],
)
def test_what_contains_it(wanted: str, numbers: tuple[int, ...]) -> None:
    assert find(wanted, WORDS) == Found(numbers, len(numbers), Way.CONTAINS)


@pytest.mark.parametrize(("wanted", "texts", "first"), [("elephamt", WORDS, 1), ("elefant", SENTENCES, 1)])
def test_what_is_spelled_alike(wanted: str, texts: list[str], first: int) -> None:
    found = find(wanted, texts)
    assert found.way is Way.SPELLED
    assert found.numbers[0] == first
    assert found.total == len(found.numbers)


def test_nothing_is_like_it() -> None:
    assert find("xyzzyx qqq", WORDS).numbers == ()


def test_few_of_many_are_given_and_all_are_counted() -> None:
    found = find("word", [f"word {i}" for i in range(3_000)])
    assert len(found.numbers) == item_search.MOST_FOUND
    assert found.total == 3_000
    assert len(find("wurd", [f"word {i}" for i in range(3_000)]).numbers) <= item_search.MOST_FOUND


def test_only_short_ones_are_compared_by_spelling_as_by_one_call_for_all() -> None:
    texts = [f"{'elephamt' if place % 700 == 3 else 'rain and snow'} number {place}" for place in range(2_000)]
    expected = process.extract("elephant", texts, scorer=fuzz.partial_ratio, limit=50, score_cutoff=60.0)
    assert find("elephant", texts).numbers == tuple(place for _, _, place in expected) == (3, 703, 1_403)
    assert find(f"elephant {'x' * 60}", texts) == Found((), 0, Way.CONTAINS)
