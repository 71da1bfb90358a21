"""The page Neighbors in a real browser: a neighbor is chosen, the way back, and a copied link to an own text."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, Reader

expect.set_options(timeout=PATIENCE_MS)
ITEM = "() => new URLSearchParams(location.search).get('item')"


def test_a_neighbor_is_walked_to_and_an_own_text_is_linked(reader: Callable[..., Reader], demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/neighbors?model=minilm~none&model=minilm~center&item=7")
    first = visitor.page.locator("[class*='st-key-near_']").get_by_test_id("stDataFrameResizable")
    expect(first).to_be_visible()
    visitor.set_properties().healthy()
    first.click(position={"x": 300, "y": 55})  # the table is a canvas: the text at rank 1
    visitor.page.wait_for_function(ITEM + " !== '7'", timeout=PATIENCE_MS)
    visitor.set_properties().healthy()
    visitor.press("walk_back")
    visitor.address_has("item=7")
    box = visitor.at("q").get_by_role("textbox")
    box.fill("a dog sleeps")
    box.press("Enter")
    expect(visitor.page.get_by_text("Your text", exact=True)).to_be_visible()
    visitor.set_properties().healthy()
    visitor.address_has("q=a dog sleeps")

    second = reader("dark").open(visitor.page.url)
    expect(second.page.get_by_text("Your text", exact=True)).to_be_visible()
    expect(second.at("q").get_by_role("textbox")).to_have_value("a dog sleeps")
    second.set_properties().healthy()
