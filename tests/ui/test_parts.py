"""Pages with parts: switching between them, by button, address and link."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.ui.navigation import place_of, places, sections
from tests.support.pages import OpenApp, switch_page
from tests.support.tables import each

WITH_PARTS = [entry for entries in sections().values() for entry in entries if entry.parts]
PAGES = 21


def shown_part(app: AppTest, first: str) -> str:
    """What the address says: a text, or a list where the app wrote it."""
    value = app.query_params.get("part", first)
    return value if isinstance(value, str) else value[0]


def test_there_are_few_pages_and_each_place_has_one_address() -> None:
    assert sum(len(entries) for entries in sections().values()) == PAGES
    stems = [place.stem for place in places()]
    assert len(set(stems)) == len(stems)
    assert all(len(entry.parts) > 1 for entry in WITH_PARTS)


@pytest.mark.heavy
def test_each_part_is_opened_by_its_address_with_its_pickers(open_app: OpenApp, demo_cache: Path) -> None:
    for place in places():
        page, of_part = place_of(place.stem)
        if page.parts:
            app = open_app(demo_cache, place.stem)
            assert not app.exception, place.stem
            assert app.title[0].value == page.title
            assert shown_part(app, page.parts[0].stem) == of_part["part"]
            assert ("data" in [box.key for box in app.selectbox]) is ("data" in place.pickers), place.stem


def test_a_button_takes_the_picks_along_and_nothing_of_the_part_before(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "intruder", set="gone", session="also-gone", view="results")
    app.button_group(key="part").set_value("compare_votes").run()
    assert not app.exception
    assert shown_part(app, "intruder") == "compare_votes"
    assert not {"set", "session", "view"} & set(app.query_params)
    app.button_group(key="part").set_value("intruder").run()
    assert "part" not in app.query_params, "the first is the default"


def test_a_link_to_the_first_part_leads_there_from_another(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "map", item="3")
    switch_page(app, "neighbors")
    app.query_params["item"] = "5"
    app.run()
    assert shown_part(app, "neighbors") == "neighbors"
    assert app.query_params["item"] in ("5", ["5"])


def test_another_page_begins_with_its_first_part(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "map")
    app.switch_page("pages/people.py").run()
    assert "part" not in app.query_params
    app.switch_page("pages/neighbors.py").run()
    assert app.button_group(key="part").value == "neighbors"


@each(("stem", "shown"), [("gone", "neighbors"), ("", "neighbors"), ("evidence", "neighbors"), ("map", "map")])
def test_an_unknown_part_is_the_first(open_app: OpenApp, tmp_path: Path, stem: str, shown: str) -> None:
    app = open_app(tmp_path, "neighbors", part=stem)
    assert not app.exception
    assert shown_part(app, "neighbors") == shown
