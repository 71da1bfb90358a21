"""Pages and a variant with a flow: before a run has trained it they say what to do; afterwards they show it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.datasets.published import pairs as loaders
from core.encoders.base import EncoderInfo
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.store.repository import Repository
from core.transforms import flow as network
from tests.conftest import make_settings
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

WORDS = ["dog", "cat", "rain", "house", "green", "runs"]
TEXTS = [f"{a} {b}" for a in WORDS for b in WORDS if a != b]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with a run of trigrams as they are, and one after a flow."""
    cache = tmp_path_factory.mktemp("flows")
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "STEPS", 5)
        pairs = list(zip(TEXTS[:10], TEXTS[10:20], strict=True))
        register_dataset(patch, loaders.pair_set("many", pairs, TEXTS[20:]))
        register_dataset(patch, loaders.pair_set("others", pairs[:5], TEXTS[15:]))
        register_encoder(patch, GramEncoder(info=EncoderInfo("Character n-grams", 4, 0, 0, "", "", "")))
        for transform in ("none", "flow"):
            request = pipeline.request("evalrank", "trigrams", transform, "many", {}, settings)
            pipeline.run(request, settings, repository)
        pipeline.encode(EncodeRequest("trigrams", "others"), settings, repository)
        repository.database.close()
        yield cache


def test_neighbours_of_a_flow_are_shown_once_it_is_trained(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "neighbours", data="many", enc=["trigrams~flow"], item="1")
    assert not app.exception
    assert "not trained yet" not in written(app)
    assert len(app.dataframe) > 0
    app = open_app(world, "neighbours", data="others", enc=["trigrams~flow"], item="1")
    assert not app.exception
    assert "was not trained yet" in written(app)
    assert "run a diagnostic with this transform on this dataset first" in written(app)


def test_the_drill_down_of_a_run_with_a_flow_works(open_app: OpenApp, world: Path) -> None:
    app = open_app(world, "evalrank", data="many", enc=["trigrams~flow", "trigrams~none"], pair="1")
    assert not app.exception
    assert not app.error
    assert "not trained" not in written(app)


def test_what_if_says_that_a_flow_has_to_be_trained_and_offers_it(open_app: OpenApp, world: Path) -> None:
    query = {"data": "many", "view": "what if", "if_variant": "trigrams~none", "if_transform": "center+flow"}
    app = open_app(world, "evalrank", **query)
    assert not app.exception
    assert "has to be trained" in written(app)
    assert not app.button(key="if_run").disabled
