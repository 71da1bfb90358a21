"""Judging in a real browser: ten at once, by keyboard alone on a phone, and nothing that names an encoder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from blindspot.store.repository import Repository
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Task
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.support.judgment_samples import comparative_set, intruder_set
from tests.support.store_samples import pair_set, store_run

Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

PHONE = {"width": 390, "height": 844}
ANSWERS = 4
SETTLED_MS = 400  # an item is settled then, as a rule
PRESSES = 10  # of a key on a busy machine, until it counts
INTRUDER = replace(intruder_set(), title="Words of minilm-static")

expect.set_options(timeout=PATIENCE_MS)


def filled(cache: Path) -> Judgments:
    store = Judgments.at(cache / "results.duckdb")
    comparative = comparative_set()
    for items in (INTRUDER, comparative):
        store.add_set(items)
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id, Task.COMPARATIVE: comparative.set_id}, "key")
    store.database.close()  # the server's process wants it
    return store


def wait_answered(page: Page, done: int) -> None:
    """Until the page says how many are answered; and then until an item is settled."""
    see_answered(page, done)
    page.wait_for_timeout(SETTLED_MS)


def see_answered(page: Page, done: int) -> None:
    expect(page.get_by_test_id("stProgress")).to_contain_text(f"{done} of {len(INTRUDER.items)} answered")


def press(page: Page, key: str, done: int) -> None:
    """Press a key until the page says that so many are answered: an item that is not settled yet takes no answer."""
    page.keyboard.press(key)
    press_again(page, key, done)


def press_again(page: Page, key: str, done: int) -> None:
    """As ``press``, where the key was pressed once already."""
    for _ in range(PRESSES):
        try:
            page.get_by_test_id("stProgress").filter(has_text=f"{done} of").wait_for(timeout=PATIENCE_MS / PRESSES)
        except PlaywrightTimeout:
            page.keyboard.press(key)
            continue
        break
    wait_answered(page, done)


def card(page: Page, place: int) -> Locator:
    return page.locator(f"[class*='st-key-choice_{place}_'] button")


def focus_by_tab(page: Page, selector: str, presses: int = 200) -> None:
    """Press Tab until an element has the focus. Several rounds of the page: a rerun that replaces the element with the
    focus sends it back to the start."""
    passed = []
    for _ in range(presses):
        page.keyboard.press("Tab")
        if page.evaluate("selector => Boolean(document.activeElement.closest(selector))", selector):
            return
        passed.append(page.evaluate("(document.activeElement.textContent || '').slice(0, 40)"))
    raise AssertionError(f"{presses} times Tab do not lead to {selector}, but to {passed}")


@pytest.mark.parametrize("browsers", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_browsers_vote_at_once_and_the_server_is_killed(
    serve: Serve, reader: NewReader, tmp_path: Path, browsers: int
) -> None:
    cache = tmp_path / "cache"
    store = filled(cache)
    address = serve(cache)
    visitors = [reader() for _ in range(browsers)]
    for visitor in visitors:
        visitor.page.goto(f"{address}/people?part=intruder&session=team", wait_until="commit")
    for number, visitor in enumerate(visitors):
        box = visitor.see("nickname").get_by_role("textbox")
        box.fill(f"rater {number}")
        box.press("Enter")
    for visitor in visitors:
        wait_answered(visitor.page, 0)
    for done in range(ANSWERS):
        keys = [str((number + done) % 5) for number in range(browsers)]  # 0: "I don't know"
        for visitor, key in zip(visitors, keys, strict=True):
            visitor.page.keyboard.press(key)
        for visitor, key in zip(visitors, keys, strict=True):
            press_again(visitor.page, key, done + 1)
    for visitor in visitors:
        visitor.healthy()
    port = address.rpartition(":")[2]
    (server,) = (child for child in psutil.Process().children() if port in child.cmdline())
    server.kill()
    server.wait(120)
    votes = store.votes(INTRUDER.set_id, "team")
    assert Counter(vote.rater for vote in votes) == {f"rater {number}": ANSWERS for number in range(browsers)}
    assert len({(vote.rater, vote.item_no) for vote in votes}) == browsers * ANSWERS
    unknown = Counter(vote.rater for vote in votes if vote.option is None)
    expected = Counter(f"rater {n}" for n in range(browsers) for done in range(ANSWERS) if (n + done) % 5 == 0)
    assert unknown == expected


def test_by_keyboard_alone_on_a_phone(serve: Serve, browser: Browser, tmp_path: Path) -> None:
    artifacts = Path(os.environ.get("BLINDSPOT_ARTIFACTS") or tmp_path / "artifacts")
    artifacts.mkdir(parents=True, exist_ok=True)
    cache = tmp_path / "cache"
    store = filled(cache)
    context = browser.new_context(viewport=PHONE, device_scale_factor=2)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    rater = Reader(page).open(f"{serve(cache)}/people?part=intruder&session=team")
    rater.see("nickname")
    focus_by_tab(page, ".st-key-nickname input")
    page.keyboard.type("Ada 10 up")  # keys that answer, undo and pause elsewhere
    page.keyboard.press("Enter")
    wait_answered(page, 0)
    for button in [*(card(page, place) for place in range(1, 5)), page.locator("[class*='st-key-unknown_'] button")]:
        box = button.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert box["y"] + box["height"] <= PHONE["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.screenshot(path=artifacts / "intruder-phone-item.png")
    press(page, "1", 1)
    press(page, "0", 2)
    press(page, "u", 1)
    page.screenshot(path=artifacts / "intruder-phone-undone.png")
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    page.screenshot(path=artifacts / "intruder-phone-paused.png")
    page.keyboard.press("p")
    wait_answered(page, 1)

    page.reload()
    rater.see("nickname").get_by_role("textbox").fill("ada 10 up")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Welcome back")).to_be_visible()
    wait_answered(page, 1)
    for _ in range(60):  # held down: two seconds of repeats
        page.keyboard.down("2")
        page.wait_for_timeout(33)
    page.keyboard.up("2")
    wait_answered(page, 2)
    card(page, 3).dblclick()
    wait_answered(page, 3)
    focus_by_tab(page, "[class*='st-key-choice_2_']")
    press(page, "Enter", 4)
    page.wait_for_function("Boolean(document.activeElement.closest('.st-key-answers'))")  # the cards keep the focus
    assert len(store.votes(INTRUDER.set_id)) == 4
    assert page.get_by_text("too soon").count() == 0, "the browser keeps such answers away"

    shown = card(page, 1).inner_text()
    store.remove_set(INTRUDER.set_id)
    store.database.close()
    page.keyboard.press("1")
    expect(page.get_by_text("The answer was not saved")).to_be_visible()
    assert card(page, 1).inner_text() == shown
    assert page.get_by_test_id("stException").count() == 0
    page.screenshot(path=artifacts / "intruder-phone-removed.png")
    context.close()


def test_nothing_names_an_encoder_while_one_answers(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    repository = Repository.at(cache / "results.duckdb")
    store_run(repository, "run", pair_set(), transform="center")
    repository.database.close()
    filled(cache)
    visitor = reader().open(f"{serve(cache)}/compare?part=overview&model=minilm~center")
    expect(visitor.see("model")).to_contain_text("minilm + center")
    for title in ("Intruder", "Votes"):
        visitor.go_to("People", title)
        if title == "Intruder":
            visitor.see("nickname").get_by_role("textbox").fill("Ada :red -> b")
            visitor.page.keyboard.press("Enter")
        expect(visitor.page.get_by_role("heading", name="People", exact=True)).to_be_visible()
        visitor.set_properties()  # until then the cards may be those of the page before
        expect(card(visitor.page, 2)).to_be_visible()
        expect(visitor.at("model")).to_have_count(0)
        visitor.page.wait_for_function("!location.search.includes('model=')")
        visitor.page.get_by_test_id("stTooltipIcon").first.hover()
        expect(card(visitor.page, 2)).to_be_visible()
        everything = visitor.page.content() + visitor.page.url + visitor.page.title()
        assert "choice_2_" in everything
        assert "Ada :red -&gt; b" in everything.replace("\N{WORD JOINER}", ""), "a nickname as it is"
        for name in ("minilm", "lsa~", "lsa +", "Words of"):
            assert name not in everything
    visitor.go_to("Compare", "Several models")
    expect(visitor.see("model")).to_contain_text("minilm + center")
    visitor.address_has("model=minilm~center")
