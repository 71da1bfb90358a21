"""Items that changed: who wins them, and in which order they come."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.statistics.compare import PairedTest
from blindspot.runs.comparison import Changes, changes
from blindspot.store.records import RunRecord
from blindspot.studies.compare.changed import Changed, changed, in_words
from blindspot.studies.compare.rows import Row
from tests.support.made_rows import MadeRows

PAIRS = np.arange(4), np.arange(4) + 4


def row(a: RunRecord, b: RunRecord) -> Row:
    one = PairedTest("x", "X", True, (0.0, 1.0), 0.0, 0.0, 1, "pairs", "none", refusal="made up")
    return Row(a, b, one, None)


def of(made: MadeRows, a: RunRecord, b: RunRecord, most: int = 10) -> Changes:
    return changes(row(a, b).entry, a, b, made.repository, most)


def test_pairs_are_won_by_rank_and_gain_reciprocal_rank() -> None:
    made = MadeRows()
    a, b = (made.ranks(name, np.array(greater), PAIRS) for name, greater in (("a", [0, 4, 1, 1]), ("b", [3, 0, 1, 2])))
    found = of(made, a, b)
    assert (found.won, found.lost, found.alike) == (2, 1, 1)
    assert [(item.item_no, item.gain) for item in found.rows] == [
        (0, pytest.approx(3 / 4)),
        (3, pytest.approx(1 / 2 - 1 / 3)),
        (1, pytest.approx(1 / 5 - 1)),
    ]
    assert (found.rows[0].a, found.rows[0].b) == ("rank 1", "rank 4")
    assert found.rows[0].texts == (("query", "text 0"), ("match", "text 4"))
    assert [item.item_no for item in of(made, a, b, most=1).rows] == [0, 1]


def test_orderings_and_examples_are_won_as_a_whole() -> None:
    made = MadeRows()
    nearer = np.array([True, False, True]), np.array([False, True, True])
    turned = of(made, *(made.orderings(name, each) for name, each in zip("ab", nearer, strict=True)))
    assert (turned.won, turned.lost, turned.alike) == (1, 1, 1)
    assert [(item.item_no, item.gain, item.a, item.b) for item in turned.rows] == [
        (0, 1.0, "synonym nearer", "antonym nearer"),
        (1, -1.0, "antonym nearer", "synonym nearer"),
    ]
    right = np.array([True, True, False, True]), np.array([False, False, True, True])
    classified = of(made, *(made.predictions(name, each) for name, each in zip("ab", right, strict=True)))
    assert (classified.won, classified.lost, classified.alike) == (2, 1, 1)
    assert [item.item_no for item in classified.rows] == [0, 1, 2]


def test_a_pair_is_misjudged_by_more_than_a_quarter_of_the_scale() -> None:
    made, gold = MadeRows(), np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    right, wrong = gold / 10, np.array([0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    found = of(made, *(made.similarities(name, each, gold) for name, each in (("a", right), ("b", wrong))))
    assert found.lost == 0
    assert 0 in {item.item_no for item in found.rows}
    assert found.won == len(found.rows) < len(gold)


def test_diagnostics_take_turns() -> None:
    made, rng = MadeRows(), np.random.default_rng(0)
    greater = np.array([0, 0, 3, 1]), np.array([5, 1, 0, 1])
    right = rng.random(30) < 0.9, rng.random(30) < 0.4
    rows = [
        row(*(made.ranks(name, each, PAIRS) for name, each in zip("ab", greater, strict=True))),
        row(*(made.predictions(name, each) for name, each in zip("ab", right, strict=True))),
        row(*(made.distances(name, rng.random(4), PAIRS) for name in "ab")),
    ]
    found: Changed = changed(rows, made.repository)
    assert [one.entry.id for one in found.of_rows] == ["evalrank", "transfer"], "distances are not judged one by one"
    items = found.items(won=True)
    assert len(items) == found.won
    assert {item.row.entry.id for item in items[:2]} == {"evalrank", "transfer"}
    for diagnostic in ("evalrank", "transfer"):
        gains = [item.change.gain for item in items if item.row.entry.id == diagnostic]
        assert gains == sorted(gains, reverse=True)
    said = in_words(found.of_rows[1], "first", "second")
    assert f"first finds the right class in {found.of_rows[1].changes.won} examples" in said
