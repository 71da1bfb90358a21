"""Colorings of a map, per item of the dataset."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.own_columns import EMPTY, OwnColumn
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import pairs as loaders
from blindspot.datasets.published import scored_pairs
from blindspot.diagnostic import find_diagnostic
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.space.maps import colors as map_colors
from blindspot.space.maps.page.colors import value_column
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

PARAMS = {"metric": "cos", "protocol": "definition"}


def test_the_frequency_of_what_wordfreq_lacks_is_missing() -> None:
    dataset = loaders.pair_set("words", pairs=[("the", "dog")], background=["qqqxzzw", "…"])
    found = map_colors.by_frequency(dataset)
    by_text = dict(zip(dataset.items, found.values.tolist(), strict=True))
    assert by_text["the"] > by_text["dog"] > 3
    assert np.isnan([by_text["qqqxzzw"], by_text["…"]]).all()


def test_the_rank_of_the_match_is_that_of_the_best_match_in_the_stored_run(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    register_encoder(monkeypatch, GramEncoder())
    variant = Variant("trigrams", "none")
    assert map_colors.by_rank_of_match(SMALL_PAIRS, variant, PARAMS, repository) is None
    record = pipeline.run(
        requesting.request("evalrank", "trigrams", "none", SMALL_PAIRS.id, {}, settings), settings, repository
    ).record
    found = map_colors.by_rank_of_match(SMALL_PAIRS, variant, PARAMS, repository)
    assert found is not None
    assert found.logarithmic
    rows = repository.items(find_diagnostic("evalrank"), [record.run_id], texts=True)
    best: dict[str, float] = {}
    for row in rows.to_dict("records"):
        rank = 1 + row["greater"] + row["ties"] / 2
        best[row["query"]] = min(rank, best.get(row["query"], np.inf))
    assert len(best) < len(rows)  # a query has two matches
    for text, value in zip(SMALL_PAIRS.items, found.values.tolist(), strict=True):
        assert value == best[text] if text in best else np.isnan(value)
    assert map_colors.by_rank_of_match(SMALL_PAIRS, Variant("trigrams", "center"), PARAMS, repository) is None
    assert map_colors.by_rank_of_match(SMALL_PAIRS, variant, {**PARAMS, "metric": "l2"}, repository) is None


def test_the_source_of_an_item_is_that_of_its_pairs() -> None:
    dataset = loaders.pair_set("pairs", pairs=[("a", "b"), ("c", "d"), ("d", "e")], background=["f"])
    assert isinstance(dataset, PairSet)
    scored = scored_pairs.scored_pairs(
        "sets",
        {"unused": [("x", "y", 1.0)], "one": [("b", "a", 3.0)], "two": [("c", "d", 2.0)], "three": [("d", "e", 2.0)]},
    )
    found = map_colors.by_source(dataset, scored)
    assert found.names == ("one", "two", "three", map_colors.SEVERAL)
    by_text = {text: found.names[c] if c >= 0 else None for text, c in zip(dataset.items, found.codes, strict=True)}
    assert by_text == {"a": "one", "b": "one", "c": "two", "d": map_colors.SEVERAL, "e": "three", "f": None}


def test_clusters_of_some_items_leave_the_others_without() -> None:
    found = map_colors.of_clusters(np.array([1, 3, 4]), np.array([0, 1, 0]), 6, "minilm")
    assert found.codes.tolist() == [-1, 0, -1, 1, 0, -1]
    assert found.names == ("cluster 1", "cluster 2")
    assert found.title == "clusters of minilm"


def test_one_scale_for_all_reaches_from_the_least_to_the_greatest() -> None:
    one = map_colors.Numbers(np.array([1.5, np.nan, 5.0]), "rank", "have none", logarithmic=True)
    other = map_colors.Numbers(np.array([2.0, 40.0, np.nan]), "rank", "have none", logarithmic=True)
    nothing = map_colors.Numbers(np.full(3, np.nan), "rank", "have none")
    assert (one.span, other.span) == ((1.5, 5.0), (2.0, 40.0))
    together = map_colors.on_one_scale([one, None, other, nothing])
    assert [colors and colors.span for colors in together] == [(1.5, 40.0), None, (1.5, 40.0), (1.5, 40.0)]
    assert map_colors.on_one_scale([None, None]) == [None, None]


def test_an_own_column_is_the_value_of_each_text_s_rows() -> None:
    """Against a loop over the rows, for pairs whose texts are in several rows, and a background text in none."""
    pairs = [("a", "b"), ("a", "c"), ("d", "e"), ("f", "e"), ("g", "h")]
    dataset = loaders.pair_set("own", pairs=pairs, background=["z"])
    column = OwnColumn("product", ("shoe", "hat", EMPTY), np.array([0, 0, 1, 0, 2], dtype=np.uint8))
    found = map_colors.by_own_column(dataset, column)
    for text, code in zip(dataset.items, found.codes.tolist(), strict=True):
        values = {column.cells[row] for row, pair in enumerate(pairs) if text in pair}
        expected = None if not values else values.pop() if len(values) == 1 else map_colors.SEVERAL_VALUES
        assert (found.names[code] if code >= 0 else None) == expected


def test_an_own_column_of_minimal_pairs_and_of_words() -> None:
    column = OwnColumn("kind", ("x", "y"), np.array([1, 0], dtype=np.uint8))
    minimal = MinimalPairSet(
        "m",
        items=("o1", "o2", "r1", "r2"),
        originals=np.array([0, 1], dtype=np.int32),
        rewrites={"negation": np.array([2, 3], dtype=np.int32)},
    )
    found = map_colors.by_own_column(minimal, column)
    assert [found.names[code] for code in found.codes] == ["y", "x", "y", "x"]
    none = np.zeros(0, dtype=np.int32)
    words = Vocabulary("v", items=("cat", "dog"), counts=np.ones(2), corpus_size=10.0, queries=none)
    found = map_colors.by_own_column(words, column)
    assert [found.names[code] for code in found.codes] == ["y", "x"]
    none32, splits = np.zeros(0, dtype=np.int32), np.zeros(2, dtype=np.int8)
    rows = np.array([0, 1], dtype=np.int32)
    labeled = LabeledTexts(
        "l", ("late", "broken"), ("refund", "repair"), rows, none32, rows, splits, own_columns=(column,)
    )
    assert [one.name for one in labeled.groupings] == ["label", "kind"], "their classes, too"
    found = map_colors.by_own_column(labeled, labeled.groupings[0])
    assert [found.names[code] for code in found.codes] == ["refund", "repair"]


def test_a_table_has_the_colors_values_and_nothing_where_an_item_has_none() -> None:
    items = np.array([3, 0, 1])
    groups = map_colors.Groups(np.array([0, -1, 1, 1]), ("cat", "dog"), "label", "have none")
    assert value_column(groups, items) == ("label", ["dog", "cat", None])
    numbers = map_colors.Numbers(np.array([0.0, np.nan, 2.0, 1.5]), "rank", "have none")
    assert value_column(numbers, items) == ("rank", [1.5, 0.0, None])
    assert value_column(None, items) is None
