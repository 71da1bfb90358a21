"""A variant's color: its own among what is shown, and the same on every page, in a store with more than colors."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.figures.theme import palette_size
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.pages import OpenApp, chart, charts
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

COUNT = palette_size() + 3


@pytest.fixture(scope="module")
def settings(module_world: World) -> Settings:
    """One encoder in more variants than there are colors."""
    module_world.add(SMALL_PAIRS, GramEncoder())
    for number in range(COUNT):
        module_world.run("evalrank", f"trigrams~truncate:{90 - number}", SMALL_PAIRS.id)
    return module_world.settings


def colors(app: AppTest) -> list[dict[str, str]]:
    """Of each chart that shows the variants: color by name."""
    found = []
    for figure in charts(app):
        traces = [trace for trace in figure["data"] if "color" in trace.get("marker", trace.get("line", {}))]
        if lines := [trace for trace in traces if "truncate" in trace.get("name", "")]:
            found.append(
                {trace["name"].split(" better")[0]: (trace.get("marker") or trace["line"])["color"] for trace in lines}
            )
        elif dots := [trace for trace in traces if "truncate" in str(trace.get("customdata"))]:  # one trace for all
            found += [
                dict(zip([name for name, _ in trace["customdata"]], trace["marker"]["color"], strict=True))
                for trace in dots
            ]
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("second", range(palette_size(), COUNT))
def test_two_that_would_share_a_color_do_not_and_keep_theirs_on_every_page(
    open_app: OpenApp, settings: Settings, second: int
) -> None:
    stored = Repository.at(settings.store).variants()
    picked: list[Variant] = [stored[second - palette_size()], stored[second]]
    asked = {"data": SMALL_PAIRS.id, "model": [str(variant) for variant in picked]}
    overview, evalrank = (colors(open_app(settings.cache, page, **asked)) for page in ("overview", "evalrank"))
    assert len(overview) == 1
    assert len(evalrank) == 4  # dots of two scores, the curve, and A against B
    found = overview + evalrank
    for one in found:
        assert one.keys() == {variant.label for variant in picked}
        assert len(set(one.values())) == 2
        assert one == found[0]


def test_many_are_told_apart_by_their_marks(open_app: OpenApp, settings: Settings) -> None:
    points = chart(open_app(settings.cache, "evalrank", data=SMALL_PAIRS.id), 0)["data"][0]  # one trace, a mark each
    marks = list(zip(points["marker"]["color"], points["marker"]["symbol"], strict=True))
    assert len(set(marks)) == len(marks) == COUNT
