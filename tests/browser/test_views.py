"""A click on another view draws it alone; what the view starts is shown above it. In a real browser."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from blindspot.diagnostics.evalrank import page as evalrank
from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[..., str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


FIRST, *VIEWS = evalrank.VIEWS


def view_button(visitor: Reader, view: str) -> Locator:
    return visitor.at("view").get_by_role("radio", name=view, exact=True)


def words(visitor: Reader) -> str:
    """Everything written on the page but in figures and tables, which are drawn a moment later."""
    said: str = (
        visitor.set_properties()
        .page.get_by_test_id("stMain")
        .evaluate(
            """main => {
            const copy = main.cloneNode(true), drawn = '[data-testid=stPlotlyChart], [data-testid=stDataFrame]';
            copy.querySelectorAll(drawn).forEach(one => one.remove());
            return copy.textContent;
        }"""
        )
    )
    return said


def assert_soon(is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not is_so():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.2)


def test_a_view_is_the_same_by_a_click_and_by_its_address(reader: NewReader, demo_address: str) -> None:
    """Also the first one, when the reader comes back to it; and nothing above is drawn again."""
    visitor, colleague = reader().open(f"{demo_address}/evalrank"), reader()
    visitor.see("view")
    visitor.set_properties().page.evaluate("document.querySelector('h1').dataset.first = 'yes'")
    for view in (*VIEWS, FIRST):
        view_button(visitor, view).click()
        if view != FIRST:
            visitor.address_has(f"view={view}")
        else:  # the usual one is not in the address
            visitor.page.wait_for_function("!new URLSearchParams(location.search).has('view')")
        colleague.open(visitor.page.url).see("view")
        colleague.set_properties()
        assert_soon(lambda: words(visitor) == words(colleague), f"{view} is another by a click")
        visitor.healthy()
    assert visitor.page.evaluate("document.querySelector('h1').dataset.first") == "yes"


def test_work_that_a_view_starts_is_shown_above_it(
    serve: Serve, reader: NewReader, demo_cache: Path, tmp_path: Path
) -> None:
    shutil.copytree(demo_cache, tmp_path / "own")
    visitor = reader().open(f"{serve(tmp_path / 'own')}/evalrank")
    visitor.see("view")
    view_button(visitor, "trust").click()
    visitor.press("trust_protocol")
    told = visitor.at("jobs").or_(visitor.page.get_by_test_id("stToast"))  # its progress or, if it was quick, its end
    expect(told.first).to_be_visible()
    expect(visitor.at("trust_protocol")).to_have_count(0)  # it was computed, and the view has what it asked for
    visitor.set_properties().healthy()
