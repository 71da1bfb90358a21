"""The space of a variant: what of a dataset has a vector, transformed as a run would."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from core.errors import BlindspotError
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.runs.spaces import NotEncoded, lacking, open_spaces
from core.settings import Settings
from core.store.repository import Repository
from core.transforms.chain import TransformChain
from core.types import CancelToken, Float32, Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder


@dataclass
class Lacks(GramEncoder):
    """Has no vector for some texts."""

    reference: str = "lacks"
    without: tuple[str, ...] = ()
    device: str = field(default="cpu")

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        out = super().encode(texts, cancel)
        out[[text in self.without for text in texts]] = np.nan
        return out


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository) -> Settings:
    register_dataset(monkeypatch, SMALL_PAIRS)
    grams = register_encoder(monkeypatch, GramEncoder())
    partial = replace(grams.info, is_partial=True)
    for name, without in (("lacks", SMALL_PAIRS.items[2:5]), ("knows nothing", SMALL_PAIRS.items)):
        register_encoder(monkeypatch, Lacks(name, info=partial, without=without))
    for encoder in ("trigrams", "lacks", "knows nothing"):
        pipeline.encode(EncodeRequest(encoder, SMALL_PAIRS.id), settings, repository)
    return settings


def test_what_is_not_encoded_is_named(monkeypatch: pytest.MonkeyPatch, world: Settings) -> None:
    register_encoder(monkeypatch, GramEncoder("late"))
    variants = [Variant("trigrams", "none"), Variant("late", "none"), Variant("late", "center")]
    assert lacking(variants, SMALL_PAIRS, world) == ("late",)
    with pytest.raises(NotEncoded, match="'small-pairs' is not encoded by late") as error:
        open_spaces(variants, SMALL_PAIRS, world)
    assert error.value.encoders == ("late",)


def test_variants_are_looked_at_over_what_all_of_them_cover(world: Settings) -> None:
    alone, centered = open_spaces([Variant("trigrams", "none"), Variant("trigrams", "center")], SMALL_PAIRS, world)
    assert alone.items.tolist() == list(range(len(SMALL_PAIRS.items)))
    whole = alone.vectors
    np.testing.assert_array_equal(centered.vectors, TransformChain.parse("center").fit(whole).apply(whole))
    first, second = open_spaces([Variant("trigrams", "center"), Variant("lacks", "none")], SMALL_PAIRS, world)
    left = [i for i in range(len(SMALL_PAIRS.items)) if not 2 <= i < 5]
    assert first.items.tolist() == second.items.tolist() == left
    part = whole[left]
    np.testing.assert_array_equal(first.vectors, TransformChain.parse("center").fit(part).apply(part))
    np.testing.assert_array_equal(second.vectors, part)
    assert len({space.digest for space in (alone, centered, first, second)}) == 4
    assert [first.place_of(i) for i in (1, 2, 5, 10_000)] == [1, None, 2, None]


def test_nothing_in_common_is_said(world: Settings) -> None:
    with pytest.raises(BlindspotError, match="no item of 'small-pairs' has a vector in all of trigrams, knows nothing"):
        open_spaces([Variant("trigrams", "none"), Variant("knows nothing", "none")], SMALL_PAIRS, world)


def test_encoding_twice_is_encoding_once(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    encoder = register_encoder(monkeypatch, GramEncoder())
    request = EncodeRequest("trigrams", SMALL_PAIRS.id)
    for _ in range(2):
        embedded = pipeline.encode(request, settings, repository)
    assert encoder.encoded == len(embedded.matrix) == len(SMALL_PAIRS.items)
    assert [facts.encoder for facts in repository.embeddings()] == ["trigrams"]
    assert repository.runs() == []
