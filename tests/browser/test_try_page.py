"""The page Try it in a real browser, by keyboard alone: a sentence, its link, lines, and the way on."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, Reader

expect.set_options(timeout=PATIENCE_MS)
SENTENCE = "Anna paid 5 dollars before the meeting with Peter."
FOCUSED = """() => {
    const focused = document.activeElement
    return [focused?.closest('[class*=st-key-]')?.className ?? '', focused?.tagName ?? '']
}"""


def tab_to(reader: Reader, key: str, tag: str) -> None:
    """Press Tab until the focus is on an element of a tag in the element with a key."""
    for _ in range(60):
        within, focused = reader.page.evaluate(FOCUSED)
        if f"st-key-{key} " in within and focused == tag:
            return
        reader.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {key}")


def test_a_sentence_and_lines_by_keyboard_alone(reader: Callable[..., Reader], demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/try_it")
    page, keys = visitor.page, visitor.page.keyboard
    visitor.see("sentence")
    tab_to(visitor, "sentence", "INPUT")
    keys.type(SENTENCE)
    keys.press("Enter")
    expect(page.get_by_role("table", name="Changes the meaning")).to_contain_text("before after")
    expect(page.get_by_text("rewrites that change the meaning are more similar")).to_have_count(2)
    visitor.set_properties().healthy()
    visitor.address_has(f"sentence={SENTENCE}")
    tab_to(visitor, "try_examples", "BUTTON")
    keys.press("Enter")
    expect(page.get_by_role("table", name="Changes the meaning")).to_contain_text("Monday")
    expect(visitor.at("sentence").get_by_role("textbox")).to_have_value(
        "The train to Glasgow leaves at half past six on Monday."
    )
    visitor.set_properties()

    second = reader("dark").open(f"{demo_address}/try_it?sentence={SENTENCE}&try_models=minilm~none")
    second.page.set_viewport_size({"width": 390, "height": 800})
    expect(second.page.get_by_text("rewrites that change the meaning are more similar")).to_have_count(1)
    main = second.set_properties().page.get_by_test_id("stMain")
    assert main.evaluate("element => element.scrollWidth <= element.clientWidth"), "nothing is cut"
    link = second.page.get_by_role("link", name="Find it in a dataset").get_attribute("href") or ""
    assert parse_qs(urlsplit(link).query)["q"] == [SENTENCE]

    tab_to(visitor, "view", "BUTTON")
    keys.press("ArrowRight")
    keys.press("Space")
    visitor.see("lines")
    tab_to(visitor, "lines", "TEXTAREA")
    keys.type("It rains.")
    keys.press("Enter")
    keys.type("It does not rain.")
    keys.press("Control+Enter")
    expect(page.get_by_text("add up to")).to_have_count(2)
    visitor.set_properties().healthy()
    visitor.address_has("lines=It rains.\nIt does not rain.")
