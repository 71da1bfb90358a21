"""The tour: its steps by their links, its invitation, and that it stays away once dismissed."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.fetch import load
from blindspot.diagnostics.evalrank.pairs import Relation, around_mate
from blindspot.settings import ROOT
from blindspot.store.repository import Repository
from blindspot.ui import tour
from tests.conftest import make_settings
from tests.support.pages import OpenApp


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button}


def links(app: AppTest) -> list[tuple[str, dict[str, list[str]]]]:
    """Page and query of the links that go to a step."""
    found = [element.proto for element in app.get("page_link")]
    parsed = [(proto.page, parse_qs(proto.query_string)) for proto in found]
    return [(page, query) for page, query in parsed if tour.PARAMETER in query]


def test_every_step_has_a_page() -> None:
    assert len(tour.STEPS) == 6
    for step in tour.STEPS:
        assert (ROOT / "pages" / f"{step.page}.py").is_file()


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(1, 7))
def test_a_link_opens_a_step_with_the_ways_on_and_back(open_app: OpenApp, demo_copy: Path, number: int) -> None:
    step = tour.STEPS[number - 1]
    app = open_app(demo_copy, step.page, tour=str(number), **step.address)
    assert not app.error
    assert any(f"{number} of 6 · {step.title}" in box.value for box in app.markdown)
    steps = [int(query[tour.PARAMETER][0]) for _, query in links(app)]
    assert steps == [n for n in (number - 1, number + 1) if 1 <= n <= 6]
    assert all(query["data"] == [tour.DATASET] for _, query in links(app))


@pytest.mark.matrix
def test_who_dismisses_it_is_not_asked_again_but_can_still_open_a_step(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "findings")
    assert "tour_end" in keys(app)
    assert [query[tour.PARAMETER] for _, query in links(app)] == [["1"]]
    app.button(key="tour_end").click().run()
    assert "tour_end" not in keys(app)
    later = open_app(demo_copy, "findings")  # another session
    assert "tour_end" not in keys(later)
    assert "tour_end" in keys(open_app(demo_copy, "findings", tour="1"))


@pytest.mark.matrix
def test_ending_it_on_the_way_is_dismissing_it(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "data", tour="5")
    app.button(key="tour_end").click().run()
    assert tour.PARAMETER not in app.query_params
    assert "tour_end" not in keys(app)
    assert "tour_end" not in keys(open_app(demo_copy, "findings"))


@pytest.mark.matrix
def test_on_a_hosted_demo_one_visitor_does_not_dismiss_it_for_others(
    open_app: OpenApp, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(demo_copy, "findings")
    app.button(key="tour_end").click().run()
    assert "tour_end" not in keys(app)
    assert not (demo_copy / tour.DISMISSED).exists()
    assert "tour_end" in keys(open_app(demo_copy, "findings"))


@pytest.mark.parametrize("value", ["0", "7", "x", "-1", "1e999", "²", "03"])
def test_other_steps_are_none(open_app: OpenApp, demo_copy: Path, value: str) -> None:
    app = open_app(demo_copy, "data", tour=value)
    assert not app.error
    assert ("tour_end" in keys(app)) == (value == "03")


def test_without_the_demo_nobody_is_invited_and_a_step_offers_it(open_app: OpenApp, tmp_path: Path) -> None:
    assert "tour_end" not in keys(open_app(tmp_path, "findings"))
    assert "tour_demo" in keys(open_app(tmp_path, "data", tour="5"))


def test_the_pair_of_the_tour_has_its_opposite_before_its_match(demo_cache: Path) -> None:
    settings = make_settings(demo_cache)
    repository = Repository.at(settings.store)
    entry = find_dataset(tour.DATASET)
    pairs = load(entry, settings)
    query, match = pairs.items[pairs.queries[tour.PAIR]], pairs.items[pairs.mates[tour.PAIR]]
    assert "a wild horse" in query
    assert "an untamed horse" in match
    runs = repository.runs(dataset=tour.DATASET, diagnostic="evalrank", variants=tour.MODELS[:1])
    numbers = int(pairs.queries[tour.PAIR]), int(pairs.mates[tour.PAIR])
    first = around_mate(runs[0], *numbers, settings, repository, limit=1)[0]
    assert first.relation is Relation.ABOVE
    assert "a not wild horse" in first.text
