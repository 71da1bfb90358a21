"""Raters in doubt: by seconds per item and by the place of their clicks, on votes made by hand."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from blindspot.studies.judgments.doubts import FAST_SECONDS, LEAST_ANSWERS, doubts
from blindspot.studies.judgments.raters import option_order
from blindspot.studies.judgments.types import Ballot, Vote
from tests.support.judgment_samples import MADE_AT, intruder_set

ITEMS = intruder_set(queries=20)


def answers(rater: str, options: list[int | None], seconds: float | None = 6.0) -> list[Vote]:
    return [
        Vote("", rater, number, option, seconds, MADE_AT + timedelta(seconds=number))
        for number, option in enumerate(options)
    ]


def at_place(rater: str, place: int, count: int) -> list[int | None]:
    """The options whose cards are at that place."""
    return [option_order(item, Ballot(ITEMS.set_id, "", rater))[place - 1] for item in ITEMS.items[:count]]


def reading(count: int = 39) -> list[int | None]:
    return [int(option) for option in np.random.default_rng(3).integers(4, size=count)]


def test_whoever_reads_is_in_no_doubt() -> None:
    assert doubts(ITEMS, answers("Ada", reading())) == []
    assert doubts(ITEMS, answers("Ada", [None] * 39)) == [], "who knows no word chooses no card"
    assert doubts(ITEMS, []) == []


def test_answers_faster_than_reading() -> None:
    fast = answers("Bot", reading(), FAST_SECONDS - 0.1)
    (found,) = doubts(ITEMS, [*fast, *answers("Ada", reading())])
    assert (found.rater, found.answers, found.is_fast, found.place) == ("Bot", 39, True, None)
    assert found.seconds == pytest.approx(FAST_SECONDS - 0.1)
    assert doubts(ITEMS, answers("Bot", reading(), FAST_SECONDS)) == []
    assert doubts(ITEMS, answers("Bot", reading(LEAST_ANSWERS - 1), 0.1)) == [], "too few"
    assert doubts(ITEMS, answers("Bot", reading(), None)) == [], "never measured"


@pytest.mark.parametrize("place", [1, 3])
def test_the_same_card_again_and_again(place: int) -> None:
    (found,) = doubts(ITEMS, answers("Bot", at_place("Bot", place, 30)))
    assert (found.is_fast, found.place, found.at_place) == (False, place, 30)
    assert doubts(ITEMS, answers("Bot", at_place("Bot", place, 8))) == [], "eight in a row come about by chance"


def test_raters_are_told_apart_as_in_the_scores() -> None:
    """Capitals make no other rater; cards are shuffled by the nickname as the scores know it."""
    mixed = answers("Bot", reading(20), 0.2)[:10] + answers("BOT", reading(20), 0.2)[10:]
    (found,) = doubts(ITEMS, mixed)
    assert found.answers == 20
