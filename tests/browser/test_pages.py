"""Every page in a real window: opened cold by its address, pickers in view at two desktop sizes, within reach on a
phone.

The server is ``streamlit run app.py`` where the requirements are installed and Blindspot is not.
"""

from __future__ import annotations

import subprocess
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import ViewportSize, expect

from blindspot.diagnostic import Picker
from blindspot.ui.navigation import path_of, sections
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.support.app_client import AppServer

PAGES = [entry for entries in sections().values() for entry in entries]
PLACES = [(entry, place) for entry in PAGES for place in entry.parts or (entry,)]
DESKTOPS = (ViewportSize(width=1280, height=720), ViewportSize(width=1400, height=900))
PHONE = ViewportSize(width=390, height=844)
# Of the pickers that are on the page: which are not wholly within the window.
OUT_OF_VIEW = """keys => keys.filter(key => {
    const box = document.querySelector(`.st-key-${key}`)?.getBoundingClientRect();
    return !box || !box.height || box.left < 0 || box.top < 0
        || box.right > innerWidth || box.bottom > innerHeight;
})"""
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def address(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the app on the demo's runs, served by a Python that has the libraries of this one, but not Blindspot."""
    folder = tmp_path_factory.mktemp("not-installed")
    venv.create(folder / "environment", with_pip=False)
    (packages,) = folder.glob("environment/lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    python = str(folder / "environment" / "bin" / "python")
    assert subprocess.run(
        [python, "-c", "import blindspot.ui"], cwd=folder, stderr=subprocess.PIPE, check=False
    ).returncode
    server = AppServer(demo_cache, folder / "log", python)
    yield server.address
    server.process.terminate()
    server.process.wait(120)


def test_a_page_opened_cold_by_its_address_has_its_pickers_in_view(
    reader: NewReader, address: str, subtests: pytest.Subtests
) -> None:
    """Each address is a new session; the browser is one, which compiles the app's scripts once."""
    visitor = reader()
    page = visitor.page
    for entry, place in PLACES:
        with subtests.test(place.stem):
            page.set_viewport_size(DESKTOPS[0])
            visitor.open(f"{address}/{path_of(place.stem)}")
            expect(page.get_by_role("heading", name=entry.title, level=1, exact=True)).to_be_visible()
            wanted = [picker for picker in place.pickers if picker is not Picker.POSTPROCESSED]  # nothing to leave out
            for picker in wanted:
                visitor.see(picker)
            for picker in set(Picker) - set(place.pickers):
                expect(visitor.at(picker)).to_have_count(0)
            visitor.set_properties().healthy()
            for size in DESKTOPS:
                page.set_viewport_size(size)
                page.wait_for_function(f"keys => !({OUT_OF_VIEW})(keys).length", arg=wanted)
            names = page.get_by_role("link").evaluate_all("links => links.map(link => link.ariaLabel || '')")
            assert not any(":material" in name for name in names)
            assert urlparse(page.url).path == f"/{entry.stem}"
            expect(page).to_have_title(f"{entry.title} · Blindspot")


def test_every_page_is_in_the_navigation_and_its_pickers_within_reach_on_a_phone(
    reader: NewReader, address: str
) -> None:
    visitor = reader()
    page = visitor.page
    visitor.open(f"{address}/evalrank")
    for entry in PAGES:
        expect(visitor.link(entry.title)).to_be_visible()
    visitor.see(Picker.SIMILARITY)
    visitor.set_properties().healthy()
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stExpandSidebarButton").click()
    for picker in (Picker.DATASET, Picker.MODELS, Picker.SIMILARITY):
        visitor.see(picker).scroll_into_view_if_needed()
        expect(visitor.at(picker)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
