"""Nicknames and orders: what is one rater, what is refused, and orders that are uniform and never change."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.studies.judgement.raters import item_order, nickname, option_order, rater_key
from core.studies.judgement.types import Ballot
from tests.support.judgement_samples import comparative_set

ITEMS = comparative_set()


def ballot(rater: str, session: str = "") -> Ballot:
    return Ballot(ITEMS.set_id, session, rater)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("Anna", "Anna"), ("  Anna \t B. ", "Anna B."), ("Zoe\u0308", "Zoë"), ("<b>x</b>", "<b>x</b>"), ("李 7", "李 7")],
)
def test_a_nickname_is_kept_as_it_was_meant(typed: str, kept: str) -> None:
    assert nickname(typed) == kept
    assert nickname(kept) == kept


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "there is no nickname"),
        (" \n\u3000", "there is no nickname"),
        ("x" * 500, "the nickname 'xxxxxxxxxxxxxxxxxxxx…' has 500 characters; expected at most 40"),
        ("x" * 1_000_000, "has 1000000 characters"),
        ("a\u202eb", "characters that cannot be seen"),
        ("a\0b", "characters that cannot be seen"),
        ("a\ud800", "characters that cannot be seen"),
        ("\u3164", "characters that cannot be seen"),
        ("Anna\u115f", "characters that cannot be seen"),
        ("***", "has no letter or digit"),
    ],
)
def test_a_nickname_that_is_none_is_refused_in_a_line(typed: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        nickname(typed)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=12))
def test_a_nickname_is_kept_or_refused_and_its_key_is_stable(typed: str) -> None:
    try:
        name = nickname(typed)
    except InputError:
        return
    assert nickname(name) == name
    key = rater_key(name)
    assert rater_key(key) == key
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert rater_key(unicodedata.normalize(form, name)) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [("Anna", "aNNA"), ("Straße", "STRASSE"), ("Ａｎｎａ", "anna"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Anna\ufe0f", "Anna")],
)
def test_looks_do_not_make_two_raters_of_one(one: str, other: str) -> None:
    assert rater_key(one) == rater_key(other)


def test_spelling_tells_raters_apart() -> None:
    assert len({rater_key(name) for name in ("Anna", "Ana", "Änna", "Anna B", "Anna 2")}) == 5


# --- orders


def test_orders_are_what_they_were_in_the_first_version() -> None:
    """A rater comes back after an update, of numpy too: the same items and cards in the same order."""
    assert item_order(ITEMS, ballot("Anna")) == FIRST_ITEMS
    assert [option_order(ITEMS.items[n], ballot("Anna")) for n in (0, 2, 3)] == FIRST_OPTIONS


FIRST_ITEMS = [7, 1, 9, 2, 3, 6, 0, 10, 11, 4, 5, 8]
FIRST_OPTIONS = [[0, 1, 2], [2, 1, 0], [0, 2, 1]]


def test_a_rater_has_one_order_however_the_name_is_spelt_and_others_have_others() -> None:
    orders = [item_order(ITEMS, ballot(name)) for name in ("Anna", "ANNA", "Ben")] + [
        item_order(ITEMS, ballot("Anna", "group"))
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == list(range(12)) for order in orders)
