"""Differences of shares before and after a repair, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros.dependence import of_dataset
from blindspot.diagnostics.heros.training import all_triplets
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.studies.repair.measuring import _dependence, _ends, changes, with_corrected
from blindspot.studies.repair.results import Ends, Measure, Part


def test_triplets_depend_on_each_other_as_heros_takes_their_originals() -> None:
    """The second original is a rewrite of the first, the third shares a rewrite with the fourth."""
    originals = ["one", "two", "three", "four", "five"]
    rewrites = {"paraphrase": ["two", "2", "3", "4", "5"], "negation": ["not one", "not two", "no", "no", "not five"]}
    dataset = minimal_pair_set("shared", originals, rewrites)
    given = list(all_triplets(dataset))
    found, known = _dependence(dataset, given), of_dataset(dataset)
    assert known.units == found.units == 3
    assert found.unit is known.unit is Unit.SENTENCE_GROUPS
    assert [len({found.groups[i], found.groups[j]}) for i, j in ((0, 1), (2, 3), (1, 2), (3, 4))] == [1, 1, 2, 2]
    alone = minimal_pair_set("alone", ["one", "two"], {"paraphrase": ["1", "2"], "negation": ["no", "not"]})
    assert _dependence(alone, list(all_triplets(alone))).unit is Unit.SENTENCES


def test_where_nothing_changed_the_bound_is_that_of_no_change_in_n() -> None:
    """Clopper and Pearson: 0 of 10 have changed, so at most 1 - 0.025^(1/10) = 30.8% do."""
    same = np.linspace(0.1, 0.9, 10)
    known = Dependence.of_groups(np.arange(10), Unit.EXAMPLES)
    found = _ends(*changes(same, [same], known), known)
    assert (found.value, found.low, found.high) == pytest.approx((0.0, -0.3085, 0.3085), abs=1e-4)


def test_where_something_changed_the_mean_says_how_much() -> None:
    before, after = np.zeros(20), np.tile([0.0, 0.5], 10)
    known = Dependence.of_groups(np.arange(20), Unit.EXAMPLES)
    found = _ends(*changes(after, [before], known), known)
    assert found.value == pytest.approx(0.25)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.25 < found.high


def test_p_is_corrected_over_the_measures_elsewhere_that_count() -> None:
    """As the page says: without the held-out ones. Each correction multiplies the smallest p by their number."""

    def measure(part: Part, p: float | None, *, counts: bool = True) -> Measure:
        return Measure(part, "demo-pairs", "", 9, "pairs", 0.4, 0.3, Ends(-0.1, -0.2, 0.0), p=p, counts=counts)

    held_out, neighbors = measure(Part.HELD_OUT, 0.001), measure(Part.DAMAGE, 0.002, counts=False)
    elsewhere = [measure(Part.KINDS, 0.01), measure(Part.DAMAGE, 0.04), measure(Part.DAMAGE, None)]
    found = with_corrected([held_out, *elsewhere, neighbors])
    assert [one.p_corrected for one in found] == [None, pytest.approx(0.02), pytest.approx(0.04), None, None]


def test_shares_of_triplets_are_percents_and_their_changes_points_beside_other_scores() -> None:
    change = Ends(0.328, 0.129, 0.528)
    held_out = Measure(Part.HELD_OUT, "demo-pairs", "", 67, "triplets", 0.597, 0.925, change, over_random=change)
    assert held_out.cells["after"] == "92.5%"
    assert held_out.cells["change"] == held_out.cells["over random"] == "+32.8 points (95% CI +12.9 to +52.8 points)"
    assert held_out.cells["random"] is held_out.cells["over shuffled"] is None
    damage = Measure(Part.DAMAGE, "demo-scored", "Spearman", 126, "pairs", 0.389, 0.386, Ends(-0.003))
    assert (damage.cells["after"], damage.cells["change"]) == ("0.386", "−0.003")
