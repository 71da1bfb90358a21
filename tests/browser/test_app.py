"""What a newcomer does, in a real browser: a cold start, the demo, a pair, a copied link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlparse

from playwright.sync_api import Browser, Route, expect

from blindspot.store.repository import Repository
from blindspot.ui.navigation import sections
from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_a_newcomer_runs_the_demo_and_hands_on_a_report(
    serve: Serve, reader: NewReader, browser: Browser, encoded_cache: Path, tmp_path: Path
) -> None:
    visitor = reader(cold=True).open(serve(encoded_cache))
    visitor.press("run_demo")
    expect(visitor.see("jobs").get_by_role("button", name="Cancel")).to_be_visible()
    visitor.see("finding_0")
    visitor.set_properties().healthy()
    runs = Repository.at(encoded_cache / "results.duckdb").runs()
    assert {"minilm~none"} <= {str(r.plan.variant) for r in runs}  # the first of the demo; the rest is under way

    # a finding's own link leads to its items; a copied link does in a fresh browser
    way = visitor.at("finding_0").locator("a:not([href*='finding='])")
    followed = urlparse(str(way.evaluate("link => { link.click(); return link.href; }")))
    pages = [entry for entries in sections().values() for entry in entries]
    (title,) = (entry.title for entry in pages if followed.path == f"/{entry.stem}")
    (item,) = (f"{name}={value}" for name, value in parse_qsl(followed.query) if value.isdecimal())
    expect(visitor.page.get_by_role("heading", name=title, level=1, exact=True)).to_be_visible()
    visitor.address_has(item)
    visitor.set_properties().healthy()
    second = reader().open(visitor.page.url)
    expect(second.page.get_by_role("heading", name=title, level=1, exact=True)).to_be_visible()
    expect(second.at(item.partition("=")[0]).get_by_role("spinbutton")).to_have_value(item.partition("=")[2])
    second.set_properties().healthy()
    second.page.close()

    visitor.go_to("Compare")
    visitor.see("forest")
    visitor.press("jobs", "Cancel")  # two models are enough, the rest takes minutes
    expect(visitor.at("jobs")).to_have_count(0)
    visitor.set_properties().healthy()
    said = visitor.at("headline").inner_text()
    with visitor.page.expect_download(timeout=PATIENCE_MS) as download:
        visitor.press("report-html")
    report = tmp_path / "report.html"
    download.value.save_as(report)
    for has_scripts in (True, False):
        read_report(browser, report, said, has_scripts=has_scripts)


def read_report(browser: Browser, report: Path, said: str, *, has_scripts: bool) -> None:
    """A colleague opens the file in a browser of their own, which reaches nothing but files; ``said`` is the verdict
    on the page that the report was made from."""
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    with browser.new_context(java_script_enabled=has_scripts, offline=True) as context:
        context.route(re.compile(r"^(?!file:|data:|blob:)"), refuse)
        page = context.new_page()
        page.goto(report.as_uri())
        findings = page.locator("#findings .finding .said")
        expect(findings.first).to_be_visible()
        for more in page.locator("#findings summary").all():  # there, where there are more than a few
            more.click()
        assert all(text.strip() for text in findings.all_inner_texts())
        expect(page.locator("#findings .example mark").first).to_be_visible()
        comparison = page.locator("#comparison")
        expect(comparison).to_contain_text(said)
        expect(comparison.locator("tbody tr").first).to_be_visible()
        drawn = comparison.locator(".figure .main-svg")
        if has_scripts:
            expect(drawn.first).to_be_visible()
        else:
            expect(drawn).to_have_count(0)
    assert asked == []


def test_cancel_stops_the_work_and_it_can_go_on(serve: Serve, reader: NewReader, encoded_cache: Path) -> None:
    visitor = reader().open(serve(encoded_cache))
    visitor.press("run_demo")
    visitor.press("jobs", "Cancel")
    expect(visitor.page.get_by_text("was cancelled")).to_be_visible()
    again = visitor.see("run_demo").get_by_role("button", name="Run the demo")
    expect(again).to_be_enabled()
    again.click()
    visitor.see("finding_0")
    visitor.healthy()


def test_a_link_restores_the_view_in_a_warm_and_in_a_cold_browser(reader: NewReader, demo_address: str) -> None:
    query = "model=minilm~center&item=7&ranks=filtered"
    for scheme, cold in (("light", False), ("dark", True)):
        visitor = reader(scheme, cold=cold).open(f"{demo_address}/evalrank?{query}")
        expect(visitor.see("drill")).to_contain_text("minilm + center")
        visitor.set_properties().healthy()
        expect(visitor.at("item").get_by_role("spinbutton")).to_have_value("7")
        expect(visitor.at("model")).to_contain_text("minilm + center")
        for part in query.split("&"):
            visitor.address_has(part)


def test_shared_picks_survive_a_change_of_page(reader: NewReader, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/evalrank?model=minilm~center")
    visitor.see("curve")
    visitor.go_to("Compare", "Several models")
    visitor.see("dots_evalrank")
    expect(visitor.at("model")).to_contain_text("minilm + center")
    visitor.address_has("model=minilm~center")


def test_a_stale_link_says_what_is_missing(reader: NewReader, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/compare?part=overview&model=gone~none")
    expect(visitor.page.get_by_text("'gone'")).to_be_visible()
    visitor.healthy()
    visitor.press("dismiss_stale")
    expect(visitor.page.get_by_text("'gone'")).to_have_count(0)


def test_two_browsers_start_the_same_run_and_it_is_computed_once(
    serve: Serve, reader: NewReader, encoded_cache: Path
) -> None:
    address = serve(encoded_cache)
    first, second = reader().open(f"{address}/compare?part=overview"), reader().open(f"{address}/compare?part=overview")
    first.press("run_demo")
    first.see("jobs")
    second.see("run_demo").get_by_role("button").click()  # at once: it goes when the other one has started
    expect(second.see("jobs").get_by_role("button", name="Cancel")).to_have_count(1)
    for visitor in (first, second):
        for score in ("EvalRank", "HEROS"):
            visitor.at("scores").get_by_role("radio", name=score).click()
            visitor.see(f"dots_{score.casefold()}")
        expect(visitor.at("jobs").get_by_role("button", name="Cancel")).to_have_count(1)
    lines = (encoded_cache / "logs" / "jobs.jsonl").read_text("utf-8").splitlines()
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
    again = reader().open(f"{visitor.page.url.partition('?')[0]}?model=minilm~abtt:2%2Bwhiten:100&item=7")
    expect(again.see("drill")).to_contain_text("minilm + abtt:2+whiten:100")
    again.set_properties().healthy()


def test_a_typed_pair_wins_over_the_row_chosen_before(reader: NewReader, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/evalrank")
    visitor.see("curve")
    visitor.set_properties()
    visitor.choose_first_row(visitor.page.locator("[class*='st-key-pairs_1']"), "drill")
    number = visitor.at("item").get_by_role("spinbutton")
    for typed in ("7", "0"):
        number.fill(typed)
        number.press("Enter")
        visitor.address_has(f"item={typed}")
        visitor.set_properties()
        expect(number).to_have_value(typed)


def test_a_link_clicked_before_the_pickers_stand_keeps_the_picks(reader: NewReader, demo_address: str) -> None:
    """The navigation answers before a cold picker's code has arrived: the browser then sends no values at all."""
    visitor = reader()
    held: list[Route] = []
    code = re.compile(r"/static/js/(Multiselect|Selectbox|ButtonGroup)\.")

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route(code, hold)
    visitor.open(f"{demo_address}/evalrank?model=minilm~center&metric=l2")
    visitor.go_to("Findings")
    expect(visitor.page.get_by_role("heading", name="Findings", level=1)).to_be_visible()
    assert held
    visitor.page.unroute(code)  # lets go of what was held
    expect(visitor.at("model")).to_contain_text("minilm + center")
    visitor.address_has("model=minilm~center")
    visitor.address_has("metric=l2")
    visitor.set_properties().healthy()
    assert visitor.page.get_by_test_id("stAlert").filter(has_text="default value").count() == 0
