"""Ten browsers click through all pages of one server for a minute and vote: nothing breaks, no vote is lost, and the
server does not keep what they leave behind. Run it with ``make trust``; it prints its figures."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from benchmarks import app_store
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Task
from blindspot.ui.navigation import sections
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.support.judgment_samples import comparative_set, intruder_set

BROWSERS, SECONDS = 10, 60.0
MOST_GROWTH = 200e6  # bytes
IDLE_SECONDS = 8.0  # before memory is measured
AGAIN_SECONDS = 8.0  # a settled page that is another than was asked for is asked for again
STUCK_SECONDS = 120.0  # a page that does not settle for so long hangs
QUERIES = 200  # of the intruder test: more than a minute's votes of anybody
VOTES_PER_VISIT = 3
TITLES = [entry.title for entries in sections().values() for entry in entries]
INTRUDER = "People"
# What a browser looks at without waiting: whether the script has run, and how many answers it says there are.
LOOK = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const progress = document.querySelector('[data-testid="stProgress"]');
    return {
        settled: app !== null && app.dataset.testScriptState === 'notRunning',
        exceptions: document.querySelectorAll('[data-testid="stException"]').length,
        asked: document.querySelector('.st-key-nickname input') !== null,
        progress: progress === null ? '' : progress.innerText,
        heading: document.querySelector('h1')?.innerText ?? '',
    };
}"""
GO = """async title => {
    const clicked = () => {
        for (const link of document.querySelectorAll('a[data-testid^="stTopNav"]'))
            if (link.innerText.trim().endsWith(title)) { link.click(); return true; }
        return false;
    };
    if (clicked()) return true;
    for (const menu of document.querySelectorAll('[data-testid="stTopNavSection"]')) {
        menu.click();
        await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        if (clicked()) return true;
    }
    return false;
}"""
CHOOSE_VIEW = """number => {
    const views = document.querySelectorAll('[data-testid="stMain"] [data-testid="stButtonGroup"] button');
    if (views.length) views[number % views.length].click();
    return views.length;
}"""


@dataclass
class Visitor:
    """Somebody who clicks. ``confirmed`` is how many answers the page said were kept."""

    page: Page
    rater: str
    rng: random.Random
    to_visit: list[str] = field(default_factory=list)
    visited: set[str] = field(default_factory=set)
    at: str = ""
    looks_left: int = 0
    votes_left: int = 0
    pressed_at_count: int | None = None
    since: float = float("-inf")
    acted: float = field(default_factory=time.monotonic)
    confirmed: int = 0
    clicks: int = 0
    again: int = 0
    exceptions: list[str] = field(default_factory=list)

    def go_on(self) -> None:
        """Do the next thing, if the page is ready for it."""
        seen = self.page.evaluate(LOOK)
        if seen["exceptions"]:
            self.exceptions.append(f"{self.at}: an exception on the page")
        now = time.monotonic()
        assert now - self.acted < STUCK_SECONDS, f"{self.rater} is stuck on {self.at}: {seen}"
        if not seen["settled"]:
            return
        if self.at == INTRUDER and self._votes(seen, now):
            return
        if now - self.since < 0.3:  # a click is on its way
            return
        if self.at and self.looks_left and self.at != INTRUDER:
            self.looks_left -= 1
            self.clicks += bool(self.page.evaluate(CHOOSE_VIEW, self.rng.randrange(8)))
        elif not self.at or seen["heading"] == self.at:
            self._leave()
        elif now - self.since > AGAIN_SECONDS:  # the click came to nothing: while a page changes, Streamlit drops some
            self.page.evaluate(GO, self.at)
            self.again += 1
            self.since = now
            return
        else:
            return
        self.acted = self.since = now

    def _leave(self) -> None:
        if self.at:
            self.visited.add(self.at)
        if not self.to_visit:
            self.to_visit = [*self.rng.sample(TITLES, len(TITLES)), INTRUDER]
        title = self.to_visit.pop()
        if self.page.evaluate(GO, title):
            self.at, self.looks_left, self.votes_left = title, 1, VOTES_PER_VISIT
            self.clicks += 1

    def _votes(self, seen: dict[str, object], now: float) -> bool:
        """Give the nickname, or answer, where there is something to answer."""
        if seen["asked"]:
            if now - self.since > AGAIN_SECONDS:  # once: the form stays until the script has run
                with suppress(PlaywrightTimeout):  # it was replaced at this moment: once more, later
                    box = self.page.locator(".st-key-nickname input")
                    box.fill(self.rater, timeout=2_000)
                    box.press("Enter", timeout=2_000)
                self.since = time.monotonic()
            return True
        found = re.search(r"(\d+) of (\d+) answered", str(seen["progress"]))
        if found is None or seen["heading"] != INTRUDER:
            return True  # it is coming
        count = int(found[1])
        if self.pressed_at_count is not None and count > self.pressed_at_count:
            self.confirmed, self.pressed_at_count, self.since, self.acted = count, None, now, now
            self.votes_left -= 1
        if self.votes_left <= 0:
            return False
        if self.pressed_at_count is None and now - self.since > 0.6:  # an item is settled after 0.4
            self.page.keyboard.press(str(self.rng.randrange(5)))
            self.pressed_at_count, self.since = count, now
            self.clicks += 1
        elif self.pressed_at_count is not None and now - self.since > 15:  # the key came too soon: once more
            self.pressed_at_count = None
        return True


def filled(folder: Path) -> tuple[Path, Judgments, str]:
    """A cache with runs, and a session of judging in it; and the id of its intruder test."""
    store = app_store.fill(folder, encoder_ids=("random-projection-64", "lsa"), diagnostic_ids=("evalrank", "heros"))
    judgments = Judgments.at(store.cache / "results.duckdb")
    intruder, comparative = intruder_set(QUERIES), comparative_set()
    for items in (intruder, comparative):
        judgments.add_set(items)
    judgments.add_session("team", {Task.INTRUDER: intruder.set_id, Task.COMPARATIVE: comparative.set_id}, "key")
    judgments.database.close()
    return store.cache, judgments, intruder.set_id


def resident(server: psutil.Process) -> int:
    """What the server has resident after some idle seconds. Nothing makes Python collect: what it would still collect
    counts as growth, so the figure is an upper bound of that after a collection."""
    time.sleep(IDLE_SECONDS)
    return sum(process.memory_info().rss for process in (server, *server.children(recursive=True)))


@pytest.mark.slow
def test_ten_browsers_for_a_minute(serve: Callable[..., str], reader: Callable[..., Reader], tmp_path: Path) -> None:
    cache, judgments, set_id = filled(tmp_path)
    address = serve(cache)
    port = address.rpartition(":")[2]
    (server,) = (child for child in psutil.Process().children() if port in child.cmdline())
    visitors = [Visitor(reader().page, f"rater {n}", random.Random(n)) for n in range(BROWSERS)]
    for visitor in visitors:
        visitor.page.on("pageerror", lambda error, v=visitor: v.exceptions.append(f"{v.at}: {error}"))
        visitor.page.goto(f"{address}/people?part=intruder&session=team", wait_until="commit")
    for visitor in visitors:
        visitor.page.wait_for_selector('[data-testid="stTopNavLink"]', timeout=PATIENCE_MS)
    # Warm-up: somebody has been everywhere, everybody somewhere: modules are loaded, sessions begun, caches filled.
    began = time.monotonic()
    while any(len(v.visited) < 3 for v in visitors) or set().union(*(v.visited for v in visitors)) != set(TITLES):
        for visitor in visitors:
            visitor.go_on()
    warm_up = time.monotonic() - began
    before, clicks_before = resident(server), sum(visitor.clicks for visitor in visitors)
    for visitor in visitors:
        visitor.acted = time.monotonic()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        for visitor in visitors:
            visitor.go_on()
    growth = resident(server) - before
    for visitor in visitors:  # an answer that was under way has been confirmed by now
        if found := re.search(r"(\d+) of \d+ answered", str(visitor.page.evaluate(LOOK)["progress"])):
            visitor.confirmed = max(visitor.confirmed, int(found[1]))
    votes = judgments.votes(set_id, "team")
    kept = {v.rater: sum(vote.rater == v.rater for vote in votes) for v in visitors}
    clicks = sum(visitor.clicks for visitor in visitors) - clicks_before
    print(
        f"{BROWSERS} browsers, {SECONDS:.0f} s: {clicks} clicks ({sum(v.again for v in visitors)} repeated), "
        f"{sum(v.confirmed for v in visitors)} votes confirmed, "
        f"{len(votes)} in the store, memory {before / 1e6:.0f} MB after a warm-up of {warm_up:.0f} s, "
        f"growth {growth / 1e6:.0f} MB"
    )
    log = next(tmp_path.glob(f"server-{port}.log")).read_text("utf-8", errors="replace")
    assert [line for line in log.splitlines() if re.search(r"Traceback|Error|Exception|exception", line)] == []
    assert [said for visitor in visitors for said in visitor.exceptions] == []
    assert clicks > BROWSERS  # they did not just stand there
    assert min(v.confirmed for v in visitors) >= VOTES_PER_VISIT
    assert {v.rater: v.confirmed - kept[v.rater] for v in visitors if kept[v.rater] < v.confirmed} == {}
    assert growth < MOST_GROWTH
