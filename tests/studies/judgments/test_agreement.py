"""Agreement of raters: hand-computed, against pairs one by one, and where there is nothing to say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import t as student

from blindspot.studies.judgments.agreement import agreement
from blindspot.studies.judgments.tallies import Tally, tally
from blindspot.studies.judgments.types import Item, Query, Task
from tests.support.judgment_samples import A, comparative_set, intruder_set, random_tally, votes


def test_by_hand() -> None:
    """Item 0, three options: a, a, b agree in 1 of 3 pairs. Item 1, two options: a, a in 1 of 1. Item 2: one vote."""
    items = comparative_set(1)
    cast = [("ann", 0, 0), ("bob", 0, 0), ("cem", 0, 1), ("ann", 1, 0), ("bob", 1, 0), ("cem", 1, None), ("ann", 2, 0)]
    found = agreement(tally(items, votes(cast)))
    assert found is not None
    observed, chance = (1 / 3 + 1) / 2, (1 / 3 + 1 / 2) / 2
    assert (found.items, found.observed, found.by_chance) == (2, pytest.approx(observed), pytest.approx(chance))
    assert found.kappa == pytest.approx((observed - chance) / (1 - chance))
    assert found.interval is None, "two items of one query are too few"


def test_full_agreement_is_1_and_no_pair_is_none() -> None:
    items = intruder_set(3)
    same = agreement(tally(items, votes([(name, no, 2) for name in ("ann", "bob") for no in range(5)])))
    assert same is not None
    assert (same.kappa, same.interval) == (1.0, None)
    assert agreement(tally(items, votes([("ann", no, 2) for no in range(5)]))) is None
    assert agreement(tally(items, votes([("ann", 0, 2), ("bob", 0, None)]))) is None
    assert agreement(tally(items, [])) is None


def test_an_item_with_one_option_says_nothing() -> None:
    items = tuple(Item(no, Query(f"q{no}"), "", 1, options, (0,)) for no, options in enumerate([("a",), ("a", "b")]))
    chosen = np.array([[0, 0], [0, 1]], dtype=np.int64)
    found = agreement(Tally(Task.COMPARATIVE, (A,), items, ("ann", "bob"), chosen))
    assert found is not None
    assert (found.items, found.observed, found.by_chance, found.kappa) == (1, 0.0, 0.5, -1.0)


@pytest.mark.parametrize("seed", range(5))
def test_against_pairs_of_raters_one_by_one(seed: int) -> None:
    t = random_tally(seed, items=30, raters=6)
    observed, chance, query = [], [], []
    for item, row in zip(t.items, t.chosen, strict=True):
        cast = [option for option in row if option >= 0]
        pairs = [a == b for a, b in itertools.combinations(cast, 2)]
        if pairs:
            observed.append(np.mean(pairs))
            chance.append(1 / len(item.options))
            query.append(item.query.text)
    found = agreement(t)
    assert found is not None
    assert found.items == len(observed)
    assert found.kappa == pytest.approx((np.mean(observed) - np.mean(chance)) / (1 - np.mean(chance)), abs=1e-12)
    assert found.interval is not None
    influence = {}
    for o, c, text in zip(observed, chance, query, strict=True):
        moves = (o - found.observed) - (1 - found.kappa) * (c - found.by_chance)
        influence.setdefault(text, []).append(moves / (1 - found.by_chance) / len(observed))
    k = len(influence)
    variance = (k - 1) / k * sum((sum(own) / (1 - len(own) / len(observed))) ** 2 for own in influence.values())
    free = 1 / sum((len(own) / len(observed)) ** 2 for own in influence.values()) - 1
    half = student.ppf(0.975, free) * np.sqrt(variance)
    assert (found.interval.low, found.interval.high) == pytest.approx((found.kappa - half, found.kappa + half))
