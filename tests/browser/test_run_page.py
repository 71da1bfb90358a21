"""The page Run in real browsers: one queue for all sessions, which outlives them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.support.small_world import wait_until

Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def start(visitor: Reader) -> None:
    """Four runs, with post-processing and without."""
    visitor.see("run_transforms").get_by_role("combobox").fill("center")
    visitor.page.get_by_role("option", name="center", exact=True).click()
    visitor.page.keyboard.press("Escape")  # as long as the list is open, nothing else has a role
    visitor.press("run_all", "Run 4")


def waiting(visitor: Reader) -> Locator:
    """The queued jobs, a row each."""
    return visitor.page.locator("[class*='st-key-waiting_']")


def test_what_one_browser_starts_another_sees_orders_and_cancels(
    serve: Serve, reader: NewReader, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    address = f"{serve(cache)}/run"
    first, second = reader().open(address), reader("dark").open(address)
    for visitor in (first, second):
        visitor.see("run_all")
    start(first)
    for visitor in (first, second):
        expect(visitor.see("jobs")).to_contain_text("4 runs, 0 done")
        visitor.see("queue_list").locator("summary").click()
    expect(waiting(second)).to_have_count(3)
    expect(waiting(second).last).to_contain_text("HEROS of minilm + center")
    waiting(second).last.get_by_role("button").first.click()
    for visitor in (first, second):
        expect(waiting(visitor).first).to_contain_text("HEROS of minilm + center")

    # starting the same again adds nothing: there is no button for it
    expect(second.at("run_all").get_by_role("button", name="Running")).to_be_disabled()
    second.press("cancel_all")
    expect(waiting(first)).to_have_count(0)
    cancel = second.at("jobs").get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_have_count(1)  # while the page is drawn again, the line that goes is there, too
    cancel.first.click()
    expect(first.page.get_by_text("cancelled").first).to_be_visible()
    for visitor in (first, second):
        expect(visitor.at("jobs")).to_have_count(0)
        visitor.healthy()
    assert not Repository.at(cache / "results.duckdb").runs(state=RunState.DONE)
    expect(first.see("run_all").get_by_role("button", name="Run 4")).to_be_enabled()


def test_closing_the_browser_does_not_stop_a_run(serve: Serve, reader: NewReader, encoded_cache: Path) -> None:
    address = f"{serve(encoded_cache)}/run"
    visitor = reader().open(address)
    start(visitor)
    visitor.see("jobs")
    visitor.page.close()
    log = encoded_cache / "logs" / "jobs.jsonl"  # who looked into the store would hold it, and the server needs it

    def all_done() -> bool:
        time.sleep(0.2)
        return log.exists() and log.read_text("utf-8").count("\n") >= 4

    wait_until(all_done, PATIENCE_MS / 1000)
    assert len(Repository.at(encoded_cache / "results.duckdb").runs(state=RunState.DONE)) == 4

    later = reader().open(address)
    expect(later.see("estimate").get_by_role("link")).to_have_count(1)
    expect(later.at("run_all")).to_have_count(0)
    later.healthy()
    # the newest run is chosen by its box, and shows what it rests on
    table = later.page.locator("[class*='st-key-history_0_']").get_by_test_id("stDataFrameResizable")
    table.click(position={"x": 16, "y": 52})
    expect(later.see("manifest")).to_contain_text("HEROS of minilm + center on Demo minimal pairs")
    table.click(position={"x": 16, "y": 52 + 3 * 35})
    expect(later.see("comparison")).to_contain_text("EvalRank of minilm on Demo pairs")
