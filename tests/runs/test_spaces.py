"""Spaces of variants: the covered items, transformed as in a run."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.errors import BlindspotError
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import NotEncoded, lacking, open_spaces
from blindspot.settings import Settings
from blindspot.transforms.chain import TransformChain
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


@pytest.fixture
def here(world: World) -> Settings:
    """The small pairs, encoded by three encoders, two of which lack texts."""
    lacks = GramEncoder("lacks", lacks=lambda text: text in SMALL_PAIRS.items[2:5])
    world.add(SMALL_PAIRS, GramEncoder(), lacks, GramEncoder("knows nothing", lacks=lambda _text: True))
    for encoder in ("trigrams", "lacks", "knows nothing"):
        world.encode(encoder, SMALL_PAIRS.id)
    return world.settings


def test_what_is_not_encoded_is_named(here: Settings, world: World) -> None:
    world.add(GramEncoder("late"))
    variants = [Variant("trigrams", "none"), Variant("late", "none"), Variant("late", "center")]
    assert lacking(variants, SMALL_PAIRS, here) == ("late",)
    with pytest.raises(NotEncoded, match="'small-pairs' is not encoded by late") as error:
        open_spaces(variants, SMALL_PAIRS, here)
    assert error.value.encoders == ("late",)


def test_variants_are_looked_at_over_what_all_of_them_cover(here: Settings) -> None:
    alone, centered = open_spaces([Variant("trigrams", "none"), Variant("trigrams", "center")], SMALL_PAIRS, here)
    assert alone.items.tolist() == list(range(len(SMALL_PAIRS.items)))
    whole = alone.vectors
    np.testing.assert_array_equal(centered.vectors, TransformChain.parse("center").fit(whole).apply(whole))
    first, second = open_spaces([Variant("trigrams", "center"), Variant("lacks", "none")], SMALL_PAIRS, here)
    left = [i for i in range(len(SMALL_PAIRS.items)) if not 2 <= i < 5]
    assert first.items.tolist() == second.items.tolist() == left
    part = whole[left]
    np.testing.assert_array_equal(first.vectors, TransformChain.parse("center").fit(part).apply(part))
    np.testing.assert_array_equal(second.vectors, part)
    assert len({space.digest for space in (alone, centered, first, second)}) == 4
    assert [first.place_of(i) for i in (1, 2, 5, 10_000)] == [1, None, 2, None]


def test_nothing_in_common_is_said(here: Settings) -> None:
    with pytest.raises(BlindspotError, match="no item of 'small-pairs' has a vector in all of trigrams, knows nothing"):
        open_spaces([Variant("trigrams", "none"), Variant("knows nothing", "none")], SMALL_PAIRS, here)


def test_encoding_twice_is_encoding_once(world: World) -> None:
    encoder = GramEncoder()
    world.add(SMALL_PAIRS, encoder)
    request = EncodeRequest("trigrams", DatasetRef(SMALL_PAIRS.id))
    for _ in range(2):
        embedded = pipeline.encode(request, world.settings, world.repository)
    assert encoder.encoded == len(embedded.matrix) == len(SMALL_PAIRS.items)
    assert [facts.encoder for facts in world.repository.embeddings()] == ["trigrams"]
    assert world.repository.runs() == []
