"""Pickers in a real window: in view without scrolling at two desktop sizes, within reach on a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import ViewportSize, expect

from blindspot.diagnostic import Picker
from blindspot.ui.navigation import sections
from tests.browser.conftest import PATIENCE_MS, Reader

PAGES = [entry for entries in sections().values() for entry in entries]
DESKTOPS = (ViewportSize(width=1280, height=720), ViewportSize(width=1400, height=900))
PHONE = ViewportSize(width=390, height=844)
# Of the pickers that are on the page: which are not wholly within the window.
OUT_OF_VIEW = """keys => keys.filter(key => {
    const box = document.querySelector(`.st-key-${key}`)?.getBoundingClientRect();
    return !box || !box.height || box.left < 0 || box.top < 0
        || box.right > innerWidth || box.bottom > innerHeight;
})"""

expect.set_options(timeout=PATIENCE_MS)


def test_pickers_are_in_view_on_every_page_and_within_reach_on_a_phone(
    reader: Callable[..., Reader], demo_address: str
) -> None:
    """One session walks all pages: the window is resized, nothing is loaded again."""
    visitor = reader()
    page = visitor.page
    page.set_viewport_size(DESKTOPS[0])
    visitor.open(f"{demo_address}/overview")
    for entry in PAGES:
        visitor.go_to(entry.title)
        expect(page.get_by_role("heading", name=entry.title, level=1, exact=True)).to_be_visible()
        wanted = [picker for picker in entry.pickers if picker is not Picker.POSTPROCESSED]  # nothing to leave out here
        for picker in wanted:
            visitor.see(picker)
        for picker in set(Picker) - set(entry.pickers):
            expect(visitor.at(picker)).to_have_count(0)
        for size in DESKTOPS:
            page.set_viewport_size(size)
            page.wait_for_function(f"keys => !({OUT_OF_VIEW})(keys).length", arg=wanted)
        names = page.get_by_role("link").evaluate_all("links => links.map(link => link.ariaLabel || '')")
        assert not any(":material" in name for name in names)
        page.set_viewport_size(DESKTOPS[0])

    visitor.go_to("EvalRank")
    visitor.see(Picker.PROTOCOL)
    visitor.set_properties().healthy()
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stExpandSidebarButton").click()
    for picker in (Picker.DATASET, Picker.MODELS, Picker.SIMILARITY, Picker.PROTOCOL):
        visitor.see(picker).scroll_into_view_if_needed()
        expect(visitor.at(picker)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
