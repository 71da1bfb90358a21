"""The real app in a real Chromium: servers on free ports of this machine, and one browser for this folder's tests."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from blindspot.ui.navigation import sections
from tests.support.app_client import AppServer
from tests.support.loopback import free_port

CHROMIUM = os.environ.get("BLINDSPOT_CHROMIUM") or shutil.which("chromium") or ""
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
FAILED = pytest.StashKey[bool]()
# Waiting costs nothing where there is nothing to wait for, and beside other work a server and a browser may get a
# tenth of a core: the newcomer's way takes 10 s on a quiet machine, 205 s on a fifth of a core.
PATIENCE_MS = 300_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="no chromium on this machine: browser tests are skipped"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


# Not of the session: as long as a Playwright runs, no test can run an event loop of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def warm(browser: Browser) -> BrowserContext:
    """A context that keeps the app's scripts, which a new one loads and compiles for seconds."""
    return _context(browser)


def _context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    return context


@contextmanager
def _servers(folder: Path, ports: Sequence[int] = ()) -> Iterator[Callable[..., str]]:
    """A function that starts the app on a cache folder, with environment variables, and returns its address; what it
    started is stopped at the end."""
    servers: list[AppServer] = []

    def started(cache: Path, **variables: str) -> str:
        port = ports[len(servers)] if len(servers) < len(ports) else None
        servers.append(AppServer(cache, folder / f"server-{len(servers)}.log", port=port, **variables))
        return servers[-1].address

    try:
        yield started
    finally:
        for server in servers:
            server.process.terminate()
        for server in servers:
            server.process.wait(120)


@pytest.fixture(scope="package")
def port() -> int:
    """Of one test's server after the other: what a browser keeps of the app is its address's."""
    return free_port()


@pytest.fixture
def serve(tmp_path: Path, port: int) -> Iterator[Callable[..., str]]:
    """Start the app on a cache folder, with environment variables; its address. Stopped after the test."""
    with _servers(tmp_path, [port]) as started:
        yield started


@pytest.fixture(scope="package")
def demo_address(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app on the demo's runs, for tests that change nothing there: a server takes seconds to start."""
    with _servers(tmp_path_factory.mktemp("demo-server")) as started:
        yield started(demo_cache)


@pytest.fixture
def encoded_cache(demo_cache: Path, tmp_path: Path) -> Path:
    """A cache without runs that has MiniLM's embeddings of the demo's pairs: encoding them takes ten seconds."""
    shutil.copytree(demo_cache / "embeddings", tmp_path / "cache" / "embeddings")
    return tmp_path / "cache"


class Reader:
    """A person in front of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> Reader:
        self.page.goto(address)
        return self.set_properties()

    def set_properties(self) -> Reader:
        """Wait until the script has run; then assert on content, not on time."""
        self.page.wait_for_selector(
            '[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=PATIENCE_MS, state="attached"
        )
        return self

    def link(self, title: str) -> Locator:
        """A page's link in the navigation; opens the menu that it is in."""
        bar = self.page.get_by_test_id("stTopNav")
        bar.wait_for()
        (section,) = (name for name, entries in sections().items() if title in {entry.title for entry in entries})
        if section and not self.page.get_by_role("menuitem", name=title, exact=True).count():
            bar.get_by_role("button", name=section, exact=True).click()
        role = "menuitem" if section else "link"
        return self.page.get_by_role(role, name=title, exact=True)

    def go_to(self, title: str, part: str = "") -> Reader:
        """Follow a page's link in the navigation, and choose a part of it."""
        self.link(title).click()
        if part:
            self.see("part").get_by_role("radio", name=part, exact=True).click()
        return self

    def at(self, key: str) -> Locator:
        """The element with a key."""
        return self.page.locator(f".st-key-{key}")

    def see(self, key: str) -> Locator:
        """Wait for the element with a key."""
        locator = self.at(key)
        locator.first.wait_for(timeout=PATIENCE_MS)
        return locator

    def press(self, key: str, name: str | None = None) -> Reader:
        """Press the button within the element with a key, by the keyboard: a click is lost where tables that are still
        being drawn move the button between mouse down and mouse up."""
        button = self.see(key).get_by_role("button", name=name)
        expect(button).to_be_enabled(timeout=PATIENCE_MS)
        self.set_properties()
        button.press("Enter")
        return self

    def choose(self, which: str, option: str) -> Reader:
        """Choose an option of a selectbox by its label; again where a rerun closed the list as it opened."""
        wanted = self.page.get_by_role("option", name=option)
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while True:
            self.set_properties().page.get_by_role("combobox", name=which).click()
            try:
                wanted.click(timeout=5_000)
            except PlaywrightTimeout:
                if time.monotonic() > deadline:
                    raise
                self.page.keyboard.press("Escape")
            else:
                return self.set_properties()

    def type_model(self, reference: str) -> Reader:
        """Type a model where one can be run on the picked dataset; one that is not MiniLM is loaded in no time."""
        box = self.see("new_encoder").get_by_role("combobox")
        self.set_properties()
        box.fill(reference)
        box.press("Enter")
        expect(box).to_have_value(reference)
        return self.set_properties()

    def choose_first_row(self, table: Locator, key: str) -> Locator:
        """Choose a table's first row, and wait for the element that it opens; again where a rerun replaced the table
        as it was clicked. The table is a canvas: its first row's box stands at its left."""
        opened = self.at(key)
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while True:
            table.get_by_test_id("stDataFrameResizable").first.click(position={"x": 16, "y": 52})
            try:
                opened.first.wait_for(timeout=15_000)
            except PlaywrightTimeout:
                if time.monotonic() > deadline:
                    raise
            else:
                return opened

    def address_has(self, part: str) -> None:
        """Wait until the address carries a query parameter: the browser writes it a moment after the page."""
        self.page.wait_for_function(
            "part => new URLSearchParams(location.search).getAll(part.split('=')[0]).includes(part.split('=')[1])",
            arg=part,
            timeout=PATIENCE_MS,
        )

    def healthy(self) -> None:
        """No traceback, no dialog about a page that does not exist, the app's navigation."""
        assert self.page.get_by_test_id("stException").count() == 0
        assert self.page.get_by_text("Page not found").count() == 0
        assert self.page.get_by_test_id("stTopNav").is_visible()


def _is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1"


def _keep_what_was_seen(pages: Sequence[Page], folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(pages, 1):
        file = folder / f"{name}-{number}"
        page.screenshot(path=f"{file}.png", full_page=True)
        Path(f"{file}.html").write_text(f"<!-- {page.url} -->\n{page.content()}", "utf-8")
        print(f"what page {number} of {name} showed: {file}.png")


@pytest.fixture
def reader(
    browser: Browser, warm: BrowserContext, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., Reader]]:
    """A new page each time, without cookies of tests before; ``cold``: of a browser that never saw the app. No page of
    any test asks for anything from elsewhere, and nothing of a page is refused by its own security headers: looked at
    after each test.

    Of a test that failed, what its pages showed is kept: a picture and the HTML, in ``BLINDSPOT_ARTIFACTS`` or the
    test's own folder.
    """
    contexts = [warm]
    outside: list[str] = []
    refused: list[str] = []

    def listen(page: Page) -> None:
        page.on("request", lambda request: outside.append(request.url) if _is_outside(request.url) else None)
        page.on("websocket", lambda socket: outside.append(socket.url) if _is_outside(socket.url) else None)
        page.on("console", lambda said: refused.append(said.text) if "Content Security Policy" in said.text else None)

    def new(scheme: str = "light", *, cold: bool = False) -> Reader:
        if cold:
            contexts.append(_context(browser))
            contexts[-1].on("page", listen)
        page = contexts[-1 if cold else 0].new_page()
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        return Reader(page)

    warm.on("page", listen)
    yield new
    pages = [page for context in contexts for page in context.pages]
    if request.node.stash.get(FAILED, False):
        _keep_what_was_seen(pages, Path(os.environ.get("BLINDSPOT_ARTIFACTS") or tmp_path / "seen"), request.node.name)
    warm.remove_listener("page", listen)
    for page in warm.pages:
        page.evaluate("location.protocol === 'http:' && (localStorage.clear(), sessionStorage.clear())")
        page.close()
    warm.clear_cookies()
    for context in contexts[1:]:
        context.close()
    assert outside == []
    assert refused == []
