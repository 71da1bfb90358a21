"""A variant's colour: its own among what is shown, and the same on every page, in a store with more than colours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.figures.theme import palette_size
from core.runs import pipeline
from core.settings import Settings
from core.store.repository import Repository
from core.types import Variant
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

COUNT = palette_size() + 3


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """One encoder in more variants than there are colours."""
    patch = pytest.MonkeyPatch()
    settings = make_settings(tmp_path_factory.mktemp("looks"))
    repository = Repository.at(settings.store)
    register_dataset(patch, SMALL_PAIRS)
    register_encoder(patch, GramEncoder())
    for number in range(COUNT):
        asked = pipeline.request("evalrank", "trigrams", f"truncate:{90 - number}", SMALL_PAIRS.id, {}, settings)
        pipeline.run(asked, settings, repository)
    yield settings
    patch.undo()


def colours(app: AppTest, number: int = 0) -> dict[str, str]:
    """Colour by the name of a trace."""
    assert not app.exception
    return {
        trace["name"]: (trace.get("marker") or trace["line"])["color"]
        for trace in chart(app, number)["data"]
        if "truncate" in trace.get("name", "")
    }


@pytest.mark.parametrize("second", range(palette_size(), COUNT))
def test_two_that_would_share_a_colour_do_not_and_keep_theirs_on_every_page(
    open_app: OpenApp, world: Settings, second: int
) -> None:
    stored = Repository.at(world.store).variants()
    picked: list[Variant] = [stored[second - palette_size()], stored[second]]
    asked = {"data": SMALL_PAIRS.id, "enc": [str(variant) for variant in picked]}
    found = [
        colours(open_app(world.cache, "overview", **asked)),
        colours(open_app(world.cache, "evalrank", **asked)),
        colours(open_app(world.cache, "evalrank", **asked), 1),
    ]
    for one in found:
        assert one.keys() == {variant.label for variant in picked}
        assert len(set(one.values())) == 2
        assert one == found[0]


def test_the_best_that_are_shown_of_many_have_a_colour_each(open_app: OpenApp, world: Settings) -> None:
    shown = colours(open_app(world.cache, "evalrank", data=SMALL_PAIRS.id))
    assert len(shown) == palette_size()
    assert len(set(shown.values())) == palette_size()
