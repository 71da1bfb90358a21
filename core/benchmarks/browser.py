"""A real browser for the app, if available: playwright is a requirement of the tests, not of the app."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.measuring import NotMeasured
from blindspot.errors import BlindspotError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 120_000.0
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

# Notes when a control is pressed (clicked, or Enter in a box), and when what follows is drawn; by the page's own clock.
# Drawn: the script has run to its end, nothing is marked as stale, and the browser has shown that. A script may be so
# quick that the browser never shows it as running: then the page has changed, and not again for a second.
_WATCH = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  window.bench = {pressed: 0, ran: false, ended: 0, changed: 0, drawn: 0};
  new MutationObserver(() => {
    if (app.getAttribute('data-test-script-state') !== 'notRunning') { bench.ran = true; bench.ended = 0; }
    else if (bench.ran) bench.ended = performance.now();
  }).observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
  new MutationObserver(() => { bench.changed = performance.now(); }).observe(
    app, {childList: true, subtree: true, characterData: true});
  const look = () => {
    const isStale = document.querySelector("[data-stale='true']");
    if (bench.ended > 0 && !isStale) requestAnimationFrame(() => { bench.drawn = performance.now(); });
    else if (!bench.ran && bench.changed > 0 && performance.now() - bench.changed > 1000 && !isStale)
      bench.drawn = bench.changed;
    else requestAnimationFrame(look);
  };
  const press = event => {
    if (event.key && event.key !== 'Enter') return;
    Object.assign(bench, {pressed: performance.now(), ran: false, ended: 0, changed: 0, drawn: 0});
    requestAnimationFrame(look);
  };
  document.addEventListener('pointerdown', press, {capture: true});
  document.addEventListener('keydown', press, {capture: true});
}
"""
_DRAWN = "() => bench.drawn > 0"
_SECONDS = "() => (bench.drawn - bench.pressed) / 1000"


@dataclass(frozen=True)
class Press:
    """A reader's click.

    Attributes:
        selector: playwright's selector of the target.
        sees: selector of what then appears on the page.
        menu: clicked first, unmeasured, if the target is hidden.
    """

    selector: str
    sees: str
    menu: str = ""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser; raises ``NotMeasured`` if playwright or chromium is not installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NotMeasured("playwright is not installed (requirements-dev.txt has it)") from error
    path = os.environ.get("BLINDSPOT_CHROMIUM") or shutil.which("chromium") or ""
    if not path:
        raise NotMeasured("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_of(browser: Browser) -> Iterator[Page]:
    """A fresh page: no cookies, no session, nothing cached."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    try:
        yield context.new_page()
    finally:
        context.close()


@contextmanager
def _in_time(what: str) -> Iterator[None]:
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    try:
        yield
    except PlaywrightTimeout as error:
        raise BlindspotError(f"in the browser, {what} did not come within {PATIENCE_MS / 1000:.0f} s") from error


def opened(page: Page, address: str) -> None:
    """Open an address, wait until it has settled, and record clicks from then on.

    Raises:
        BlindspotError: it does not settle (also raised by the other functions here).
    """
    settled = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    with _in_time(f"the end of {address}"):
        page.goto(address)
        page.wait_for_selector(settled, state="attached")
    page.evaluate(_WATCH)


def press(page: Page, what: Press) -> float:
    """Click, and wait until the page has settled; seconds in between, by the page's own clock."""
    with _in_time(f"what follows a click on {what.selector}"):
        if what.menu and not page.locator(what.selector).first.is_visible():  # a popover stays open
            page.locator(what.menu).click()
            page.locator(what.selector).first.wait_for()
        page.locator(what.selector).first.click()
        return _seconds(page, what.sees)


def enter(page: Page, selector: str, text: str, sees: str) -> float:
    """Put a text into a box and press Enter; seconds from Enter as ``press``."""
    with _in_time(f"what follows Enter in {selector}"):
        box = page.locator(selector)
        box.fill(text)
        box.press("Enter")
        return _seconds(page, sees)


def _seconds(page: Page, sees: str) -> float:
    page.wait_for_function(_DRAWN)
    seconds = float(page.evaluate(_SECONDS))
    page.locator(sees).first.wait_for()
    return seconds


def seconds_until(page: Page, selector: str, started: float) -> float:
    """Seconds from ``started`` (``time.perf_counter``) until the selector is visible."""
    with _in_time(selector):
        page.locator(selector).first.wait_for(state="visible")
    return time.perf_counter() - started
