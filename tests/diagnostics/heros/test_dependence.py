"""Which originals depend on each other: by hand, and against scipy's connected components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros.dependence import of_dataset, of_numbers, of_singles
from blindspot.numerics.statistics.estimate import Unit
from blindspot.settings import Settings
from blindspot.types import Int64


def test_an_original_that_is_anothers_rewrite_is_in_its_group() -> None:
    """Texts that differ by case and spaces are one, as everywhere."""
    for third in ("c", "C", " c  "):
        rewrites = {"synonym": ["a1", "b1", third, "d1"], "antonym": ["B", "b2", "c2", "c"]}
        found = of_dataset(minimal_pair_set("own", ["a", "b", "e", "d"], rewrites))
        groups = found.groups.tolist()
        assert groups[0] == groups[1] != groups[2] == groups[3]
        assert (found.units, found.unit, found.is_of_singles) == (2, Unit.SENTENCE_GROUPS, False)


def test_originals_without_a_shared_text_are_units_of_their_own() -> None:
    for found in (of_singles(9), of_numbers(np.arange(27).reshape(9, 3))):
        assert (found.units, found.unit, found.is_of_singles, found.refusal) == (9, Unit.SENTENCES, True, "")
        assert found.effective == 9


@given(arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(2, 4)), elements=st.integers(0, 30)))
def test_groups_are_the_connected_components_of_rows_and_texts(texts: Int64) -> None:
    n, columns = texts.shape
    rows = np.repeat(np.arange(n), columns)
    edges = coo_array((np.ones(texts.size), (rows, n + texts.ravel())), shape=(n + 31, n + 31))
    expected = connected_components(edges, directed=False)[1][:n]
    found = of_numbers(texts).groups
    assert np.array_equal(found[:, np.newaxis] == found, expected[:, np.newaxis] == expected)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "rows", "groups"), [("semantoneg", 3_152, 450), ("sugarcrepe-pp", 4_757, 0)])
def test_real_sets_share_texts(name: str, rows: int, groups: int) -> None:
    dataset = fetch.load(find_dataset(name), Settings.from_environment())
    assert isinstance(dataset, MinimalPairSet)
    found = of_dataset(dataset)
    assert len(found.groups) == rows
    assert not found.is_of_singles
    if groups:
        assert found.units == groups
