"""Compare in a real browser: opened cold, an item chosen, and the way from there to the pair."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_from_the_verdict_to_the_items_of_a_row(reader: NewReader, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/compare?a=minilm~none&b=minilm~center")
    expect(visitor.see("headline")).to_contain_text("minilm + center")
    visitor.see("forest")
    visitor.set_properties()
    visitor.see("row_links").get_by_role("link", name="EvalRank: Demo pairs").click()
    visitor.see("curve")
    visitor.address_has("b=minilm~center")
    visitor.set_properties().healthy()


def test_an_item_opens_on_its_page_with_the_view_of_the_link(reader: NewReader, demo_address: str) -> None:
    """Both pages have choices of the same keys: Streamlit drops bound ones from such a link."""
    visitor = reader().open(f"{demo_address}/compare?a=minilm~none&b=minilm~center&view=items&item=0")
    expect(visitor.at("item").get_by_role("spinbutton")).to_have_value("0")
    link = visitor.page.locator("a[href*='item=']").filter(has_text="Open in").first
    wanted = parse_qs(urlsplit(str(link.get_attribute("href"))).query)
    link.click()
    visitor.page.wait_for_url(lambda url: "/compare" not in url, timeout=PATIENCE_MS)
    expect(visitor.at("item").get_by_role("spinbutton")).to_have_value(wanted["item"][0])
    visitor.address_has(f"item={wanted['item'][0]}")
    visitor.address_has("b=minilm~center")
