"""Nicknames, and orders of items and cards: uniform, the same for a rater who comes back, different for others."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from blindspot.errors import InputError
from blindspot.studies.judgments.raters import item_order, nickname, option_order, rater_key
from blindspot.studies.judgments.types import Ballot, Item, Query
from tests.support.judgment_samples import comparative_set, intruder_set
from tests.support.tables import each


@each(
    ("typed", "kept"),
    [("Anna", "Anna"), ("  Anna \t B. ", "Anna B."), ("Zoe\u0308", "Zoë"), ("<b>x</b>", "<b>x</b>"), ("李 7", "李 7")],
)
def test_a_nickname_is_kept_as_it_was_meant(typed: str, kept: str) -> None:
    assert nickname(typed) == kept
    assert nickname(kept) == kept


@each(
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


@each(
    ("one", "other"),
    [("Anna", "aNNA"), ("Straße", "STRASSE"), ("Ａｎｎａ", "anna"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Anna\ufe0f", "Anna")],
)
def test_looks_do_not_make_two_raters_of_one(one: str, other: str) -> None:
    assert rater_key(one) == rater_key(other)


def test_spelling_tells_raters_apart() -> None:
    assert len({rater_key(name) for name in ("Anna", "Ana", "Änna", "Anna B", "Anna 2")}) == 5


def test_orders_are_what_they_were_in_the_first_version() -> None:
    """A rater comes back after an update, of numpy too: the same items and cards in the same order."""
    items = comparative_set()
    anna = Ballot(items.set_id, "", "Anna")
    assert item_order(items, anna) == [7, 1, 9, 2, 3, 6, 0, 10, 11, 4, 5, 8]
    assert [option_order(items.items[n], anna) for n in (0, 2, 3)] == [[0, 1, 2], [2, 1, 0], [0, 2, 1]]


# --- orders

MANY = 2_400
UNLIKELY = 1e-3  # seeded by the names, so that it either holds or does not


def ballot(rater: str, session: str = "", set_id: str = "0123456789ab") -> Ballot:
    return Ballot(set_id, session, rater)


FOUR = Item(3, Query("q"), "rare", None, ("a", "b", "c", "d"), (1,))


def test_cards_stand_in_every_order_equally_often() -> None:
    orders = Counter(tuple(option_order(FOUR, ballot(f"rater {i}"))) for i in range(MANY))
    assert set(orders) == set(permutations(range(4)))
    assert chisquare(list(orders.values())).pvalue > UNLIKELY


def test_the_intruder_stands_in_every_place_equally_often_over_items() -> None:
    items = [Item(no, Query("q"), "rare", None, ("a", "b", "c", "d"), (2,)) for no in range(MANY)]
    places = Counter(option_order(item, ballot("Ada")).index(2) for item in items)
    assert sorted(places) == [0, 1, 2, 3]
    assert chisquare(list(places.values())).pvalue > UNLIKELY


def test_items_come_first_and_last_equally_often() -> None:
    items = intruder_set(6)
    numbers = [item.item_no for item in items.items]
    orders = [item_order(items, ballot(f"rater {i}")) for i in range(1_100)]
    assert all(sorted(order) == numbers for order in orders)
    for place in (0, 5, -1):
        assert chisquare([Counter(o[place] for o in orders)[n] for n in numbers]).pvalue > UNLIKELY


def test_orders_stay_per_ballot_and_differ_between_them() -> None:
    items = intruder_set(20)
    first = item_order(items, ballot("Ada"))
    assert item_order(items, ballot("Ada")) == first
    assert item_order(items, ballot("ADA")) == first, "the same rater, typed anew"
    others = [ballot("Bob"), ballot("Ada", session="lunch"), ballot("Ada", set_id="ba9876543210")]
    assert all(item_order(items, other) != first for other in others)
    cards = [[tuple(option_order(item, b)) for item in items.items] for b in (ballot("Ada"), *others)]
    assert cards[0] == [tuple(option_order(item, ballot("Ada"))) for item in items.items]
    assert len({tuple(c) for c in cards}) == 4


def test_raters_of_a_session_go_through_the_queries_in_the_same_blocks() -> None:
    items = intruder_set(35)
    query_of = {item.item_no: item.query.text for item in items.items}
    sizes = Counter(query_of.values())

    def blocks(b: Ballot) -> list[frozenset[str]]:
        out, rest = [], list(item_order(items, b))
        while rest:
            seen: dict[str, None] = {}
            while rest and (query_of[rest[0]] in seen or len(seen) < 10):
                seen[query_of[rest.pop(0)]] = None
            out.append(frozenset(seen))
        return out

    first = blocks(ballot("Ada"))
    assert [len(b) for b in first] == [10, 10, 10, 5]
    assert sum(sizes.values()) == len(items.items)
    assert blocks(ballot("Bob")) == first, "whoever stops early has answered what the others have"
    assert blocks(ballot("Ada", session="lunch")) != first
    assert item_order(items, ballot("Bob")) != item_order(items, ballot("Ada"))


def test_orders_of_items_and_of_cards_tell_nothing_of_each_other() -> None:
    """An item's first card is not foreseen by the place of the item: correlation within what chance gives."""
    items = intruder_set(200)
    order = item_order(items, ballot("Ada"))
    place = np.array([order.index(item.item_no) for item in items.items])
    card = np.array([option_order(item, ballot("Ada"))[0] for item in items.items])
    assert abs(np.corrcoef(place, card)[0, 1]) < 3.3 / np.sqrt(len(items.items))
