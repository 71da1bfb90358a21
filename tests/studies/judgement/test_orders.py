"""Orders of items and cards: uniform, the same for a rater who comes back, others for everybody else."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
from scipy.stats import chisquare

from core.studies.judgement.raters import item_order, option_order
from core.studies.judgement.types import Ballot, Item, Query
from tests.support.judgement_samples import intruder_set

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
