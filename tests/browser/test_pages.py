"""The navigation, and the pickers within reach on a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import ViewportSize, expect

from blindspot.diagnostic import Picker
from blindspot.ui.navigation import sections
from tests.browser.conftest import PATIENCE_MS, Reader

PHONE = ViewportSize(width=390, height=844)
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_every_page_is_in_the_navigation_and_its_pickers_within_reach_on_a_phone(
    reader: NewReader, demo_address: str
) -> None:
    visitor = reader()
    page = visitor.page
    visitor.open(f"{demo_address}/evalrank")
    for entry in (entry for entries in sections().values() for entry in entries):
        expect(visitor.link(entry.title)).to_be_visible()
    visitor.see(Picker.SIMILARITY)
    visitor.set_properties().healthy()
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stExpandSidebarButton").click()
    for picker in (Picker.DATASET, Picker.MODELS, Picker.SIMILARITY):
        visitor.see(picker).scroll_into_view_if_needed()
        expect(visitor.at(picker)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
