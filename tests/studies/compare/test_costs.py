"""Speeds and parameters: the same on every page, against plain sums over what was encoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.encoders.base import STATIC_POOLING
from blindspot.encoders.catalog import ENCODERS, resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.runs.encoders_here import read_library
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.studies.compare.costs import Cost, CostKind, kinds_that_differ
from tests.conftest import make_settings


def test_the_speed_of_a_model_is_the_same_everywhere(demo_cache: Path) -> None:
    settings = make_settings(demo_cache)
    repository = Repository.at(settings.store)
    facts = repository.embeddings()
    library = read_library(settings, repository)
    variants = [variant for variant in repository.variants() if variant.transform == "none"]
    assert variants
    for variant in variants:
        own = [one for one in facts if one.encoder == variant.encoder and one.seconds > 0]
        assert {one.device for one in own} == {"cpu"}
        expected = pytest.approx(sum(one.texts for one in own) / sum(one.seconds for one in own))
        runs = repository.runs(variants=[variant], state=RunState.DONE)
        assert [run.texts_per_second for run in runs] == [expected] * len(runs)
        summary = library.find(variant.encoder)
        assert summary is not None
        assert [(speed.device, speed.texts_per_second) for speed in summary.speeds] == [("cpu", expected)]


def test_only_a_known_cost_that_differs_is_offered() -> None:
    alike, unknown = Cost(384, 22), Cost(None, None)
    assert kinds_that_differ([alike, alike, unknown]) == []
    assert kinds_that_differ([alike, Cost(384, 33)]) == [CostKind.PARAMETERS]
    assert kinds_that_differ([alike, Cost(384, 22, bytes_per_text=48)]) == [CostKind.MEMORY]
    assert kinds_that_differ([alike, Cost(96, 22)]) == [CostKind.DIMENSION, CostKind.MEMORY]


def test_a_static_pooling_counts_its_own_parameters(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    poolings = [encoder for encoder in ENCODERS if encoder.startswith("minilm")]
    identities = {encoder: resolve_encoder(encoder, settings).identity for encoder in poolings}
    assert [e for e in poolings if identities[e].pooling == STATIC_POOLING] == ["minilm-static"]
    static = resolve_encoder("minilm-static", settings)
    assert isinstance(static, SentenceTransformerEncoder)
    table = static._model[0].auto_model.get_input_embeddings().weight
    assert static.info.parameters == table.numel() < ENCODERS["minilm"].info.parameters
