"""Pages and a variant with a flow: before a run has trained it they say what to do; afterwards they show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.datasets.published.pairs import pair_set
from blindspot.encoders.base import EncoderInfo
from blindspot.transforms import flow
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

WORDS = ["dog", "cat", "rain", "house", "green", "runs"]
TEXTS = [f"{a} {b}" for a in WORDS for b in WORDS if a != b]


@pytest.fixture(scope="module")
def cache(module_world: World) -> Path:
    """A store with a run of trigrams as they are, and one after a flow."""
    module_world.patch.setattr(flow, "STEPS", 5)
    pairs = list(zip(TEXTS[:10], TEXTS[10:20], strict=True))
    module_world.add(pair_set("many", pairs, TEXTS[20:]), pair_set("others", pairs[:5], TEXTS[15:]))
    module_world.add(GramEncoder(info=EncoderInfo("Character n-grams", 4, 0, 0, "", "", "")))
    for transform in ("none", "flow"):
        module_world.run("evalrank", f"trigrams~{transform}", "many")
    module_world.encode("trigrams", "others")
    return module_world.cache


@pytest.mark.matrix
def test_neighbors_of_a_flow_are_shown_once_it_is_trained(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "neighbors", data="many", model=["trigrams~flow"], item="1")
    assert "not trained yet" not in written(app)
    assert len(app.dataframe) > 0
    app = open_app(cache, "neighbors", data="others", model=["trigrams~flow"], item="1")
    assert "was not trained yet" in written(app)


@pytest.mark.matrix
def test_the_drill_down_of_a_run_with_a_flow_works(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "evalrank", data="many", model=["trigrams~flow", "trigrams~none"], item="1")
    assert not app.error
    assert "not trained" not in written(app)


@pytest.mark.matrix
def test_what_if_says_that_a_flow_has_to_be_trained_and_offers_it(open_app: OpenApp, cache: Path) -> None:
    query = {"data": "many", "view": "what if", "if_variant": "trigrams~none", "if_transform": "center+flow"}
    app = open_app(cache, "evalrank", **query)
    assert "must be trained" in written(app)
    assert not app.button(key="if_run").disabled
