"""Compare in a real browser: opened cold, an item chosen, and the way from there to the pair."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
