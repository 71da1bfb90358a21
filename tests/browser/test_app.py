"""What a newcomer does, in a real browser: a cold start, the demo, a pair, a copied link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Route, expect

from core.diagnostic import Picker
from core.store.repository import Repository
from core.ui.navigation import sections
from tests.browser.conftest import PATIENCE_MS, Reader

PAGES = [entry for entries in sections().values() for entry in entries]
Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_a_newcomer_runs_the_demo_and_looks_into_a_pair(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    visitor = reader().open(serve(cache))
    visitor.see("run_demo").get_by_role("button").click()
    expect(visitor.see("jobs").get_by_role("button", name="Cancel")).to_be_visible()
    visitor.see("dots_evalrank")
    visitor.set_properties().healthy()
    expect(visitor.page.get_by_test_id("stDataFrame").first).to_be_visible()
    runs = Repository.at(cache / "results.duckdb").runs()
    assert {"minilm~none"} <= {str(r.plan.variant) for r in runs}  # the first of the demo; the rest is under way

    visitor.page.get_by_role("link", name="See which pairs they get wrong").click()
    visitor.see("curve")
    visitor.set_properties().healthy()
    drill = visitor.choose_first_row(visitor.page.locator("[class*='st-key-pairs_1']"), "drill")
    expect(drill).to_contain_text("Query")
    pair = visitor.at("pair").get_by_role("spinbutton").input_value()
    visitor.address_has(f"pair={pair}")

    # a copied link, in a fresh browser
    second = reader().open(visitor.page.url)
    expect(second.see("drill")).to_contain_text("Mate")
    expect(second.at("pair").get_by_role("spinbutton")).to_have_value(pair)
    second.healthy()


def test_cancel_stops_the_work_and_it_can_go_on(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    visitor = reader().open(serve(tmp_path / "cache"))
    visitor.see("run_demo").get_by_role("button").click()
    visitor.see("jobs").get_by_role("button", name="Cancel").click()
    expect(visitor.page.get_by_text("was cancelled")).to_be_visible()
    again = visitor.see("run_demo").get_by_role("button", name="Run the demo")
    expect(again).to_be_enabled()
    again.click()
    visitor.see("dots_evalrank")
    visitor.healthy()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.stem)
def test_a_page_opened_cold_by_its_address(serve: Serve, reader: NewReader, demo_cache: Path, entry) -> None:
    visitor = reader().open(f"{serve(demo_cache)}/{entry.stem}")
    expect(visitor.page.get_by_role("heading", name=entry.title, level=1)).to_be_visible()
    for picker in entry.pickers:
        if picker is not Picker.POSTPROCESSED:  # needs something to leave out
            visitor.see(picker)
    visitor.set_properties().healthy()
    assert urlparse(visitor.page.url).path == f"/{entry.stem}"
    expect(visitor.page).to_have_title(f"{entry.title} · Blindspot")
    for other in PAGES:
        expect(visitor.link(other.title)).to_be_visible()


def test_a_link_restores_the_view_in_a_warm_and_in_a_cold_browser(
    serve: Serve, reader: NewReader, demo_cache: Path
) -> None:
    address = serve(demo_cache)
    query = "enc=minilm~center&pair=7&ranks=filtered"
    for scheme in ("light", "dark"):
        visitor = reader(scheme).open(f"{address}/evalrank?{query}")
        expect(visitor.see("drill")).to_contain_text("minilm + center")
        visitor.set_properties().healthy()
        expect(visitor.at("pair").get_by_role("spinbutton")).to_have_value("7")
        expect(visitor.at("enc")).to_contain_text("minilm~center")
        for part in query.split("&"):
            visitor.address_has(part)


def test_shared_picks_survive_a_change_of_page(serve: Serve, reader: NewReader, demo_cache: Path) -> None:
    visitor = reader().open(f"{serve(demo_cache)}/evalrank?enc=minilm~center")
    visitor.see("curve")
    visitor.go_to("Overview")
    visitor.see("dots_evalrank")
    expect(visitor.at("enc")).to_contain_text("minilm~center")
    visitor.address_has("enc=minilm~center")


def test_a_stale_link_says_what_is_missing(serve: Serve, reader: NewReader, demo_cache: Path) -> None:
    visitor = reader().open(f"{serve(demo_cache)}/overview?enc=gone~none")
    expect(visitor.page.get_by_text("gone~none")).to_be_visible()
    visitor.healthy()
    visitor.see("dismiss_stale").get_by_role("button").click()
    expect(visitor.page.get_by_text("gone~none")).to_have_count(0)


def test_two_browsers_start_the_same_run_and_it_is_computed_once(
    serve: Serve, reader: NewReader, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    address = serve(cache)
    first, second = reader().open(address), reader().open(address)
    first.see("run_demo").get_by_role("button").click()
    first.see("jobs")
    second.see("run_demo").get_by_role("button").click()
    expect(second.see("jobs").get_by_role("button", name="Cancel")).to_have_count(1)
    for visitor in (first, second):
        visitor.see("dots_evalrank")
        visitor.at("scores").get_by_role("radio", name="HEROS").click()
        visitor.see("dots_heros")
        expect(visitor.at("jobs").get_by_role("button", name="Cancel")).to_have_count(1)
    lines = (cache / "logs" / "jobs.jsonl").read_text("utf-8").splitlines()
    found = [(line["diagnostic"], line["variant"]) for line in map(json.loads, lines)]
    assert found.count(("evalrank", "minilm")) == 1


def test_a_chain_of_transforms_is_typed_mended_and_run(serve: Serve, reader: NewReader, demo_copy: Path) -> None:
    visitor = reader().open(f"{serve(demo_copy)}/evalrank")
    visitor.see("curve")
    visitor.page.get_by_role("button", name="Run another model").click()
    box, run = visitor.at("new_transform").get_by_role("combobox"), visitor.at("run_new").get_by_role("button")
    for typed, enabled in (("abtt:2+whiten:999x", False), ("abtt:2+whiten:100", True)):
        box.fill(typed)
        box.press("Enter")
        if enabled:
            expect(run).to_be_enabled()
        else:
            expect(visitor.page.get_by_text("was given the argument '999x'")).to_be_visible()
            expect(run).to_be_disabled()
    run.click()
    expect(visitor.page.get_by_text("minilm + abtt:2+whiten:100", exact=True).first).to_be_visible()  # in the legend
    visitor.set_properties().healthy()
    again = reader().open(f"{visitor.page.url.partition('?')[0]}?enc=minilm~abtt:2%2Bwhiten:100&pair=7")
    expect(again.see("drill")).to_contain_text("minilm + abtt:2+whiten:100")
    again.set_properties().healthy()


def test_a_typed_pair_wins_over_the_row_chosen_before(serve: Serve, reader: NewReader, demo_cache: Path) -> None:
    visitor = reader().open(f"{serve(demo_cache)}/evalrank")
    visitor.see("curve")
    visitor.set_properties()
    visitor.choose_first_row(visitor.page.locator("[class*='st-key-pairs_1']"), "drill")
    number = visitor.at("pair").get_by_role("spinbutton")
    for typed in ("7", "0"):
        number.fill(typed)
        number.press("Enter")
        visitor.address_has(f"pair={typed}")
        visitor.set_properties()
        expect(number).to_have_value(typed)


def test_a_link_clicked_before_the_pickers_stand_keeps_the_picks(
    serve: Serve, reader: NewReader, demo_cache: Path
) -> None:
    """The navigation answers before a cold picker's code has arrived: the browser then sends no values at all."""
    visitor = reader()
    held: list[Route] = []
    code = re.compile(r"/static/js/(Multiselect|Selectbox|ButtonGroup)\.")

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route(code, hold)
    visitor.open(f"{serve(demo_cache)}/evalrank?enc=minilm~center&metric=l2")
    visitor.go_to("Overview")
    expect(visitor.page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    assert held
    visitor.page.unroute(code)  # lets go of what was held
    expect(visitor.at("enc")).to_contain_text("minilm~center")
    visitor.address_has("enc=minilm~center")
    visitor.address_has("metric=l2")
    visitor.set_properties().healthy()
    assert visitor.page.get_by_test_id("stAlert").filter(has_text="default value").count() == 0
