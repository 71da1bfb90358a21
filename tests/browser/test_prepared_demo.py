"""A hosted demo that begins without runs: not ready before all is there; then no page is empty."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from blindspot.server.routes import READY
from blindspot.settings import ROOT, Mode, Settings
from blindspot.ui.navigation import path_of, places
from blindspot.workspace import demo
from tests.browser.conftest import Reader
from tests.support.app_client import AppServer

# A training is its author's: where a store has none, its page shows how to record one. A repair trains on texts that
# nothing else evaluates on, which the built-in pairs are not once the whole demo has run. Sizes are of a model that the
# reader chooses.
UNPREPARED = ("training", "repair", "size")
PAGES = [place.stem for place in places() if place.stem not in UNPREPARED]
PATIENCE_SECONDS = 900  # beside the other tests; alone two minutes
# What draws a page's content: figures, tables, lists in HTML, cards for raters.
CONTENT = "[data-testid=stPlotlyChart], [data-testid=stDataFrame], [data-testid=stHtml]"
CONTENT += ", [data-testid=stForm], [class*=st-key-judge], .st-key-docs_text, .st-key-try_examples"
UNFINISHED = ("lab",)  # its grid is whole in no demo: the form that computes the rest comes after the sentence
SCREEN, SEEN = 800, 100  # pixels: of a laptop's window, and that its content has in it at least
EMPTY = ["empty", "doors", "run_demo", "no_scores", "no_runs_of_task", "to_encode"]  # containers and buttons


def answer(server: AppServer) -> httpx.Response:
    return httpx.get(f"{server.address}{READY}", timeout=300, verify=False)  # reading certificates takes long


def wait_for(server: AppServer, found: Callable[[httpx.Response], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not found(latest := answer(server)):
        assert latest.status_code == 503
        assert latest.json()["reasons"] == ["preparing"]
        assert not latest.json()["preparing"]["failed"], server.said
        assert time.monotonic() < deadline, latest.text
        time.sleep(0.5)


def begin(cache: Path, log: str, port: int | None = None) -> AppServer:
    return AppServer(cache, cache.with_name(log), port=port, BLINDSPOT_MODE="demo", BLINDSPOT_PREPARE="yes")


@pytest.fixture(scope="module")
def prepared(demo_cache: Path, tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[tuple[AppServer, Path]]:
    """A server that began without runs, with MiniLM's embeddings of the demo's pairs, and is ready."""
    cache = tmp_path_factory.mktemp("prepared") / "cache"
    shutil.copytree(demo_cache / "embeddings", cache / "embeddings")
    server = begin(cache, "log", port)
    wait_for(server, lambda latest: latest.status_code == 200)
    yield server, cache
    server.process.terminate()
    server.process.wait(120)


def assert_computed_once(cache: Path) -> None:
    """Each run of the demo."""
    lines = [json.loads(line) for line in (cache / "logs" / "jobs.jsonl").read_text("utf-8").splitlines()]
    runs = Counter(line["run_id"] for line in lines if line["kind"] == "run" and line["outcome"] == "computed")
    settings = Settings(cache=cache, mirror="", device="cpu", mode=Mode.DEMO)
    assert len(runs) == len(demo.requests(settings))
    assert set(runs.values()) == {1}


@pytest.mark.slow  # two more servers; tests/server/test_preparation.py has each part with small runs
def test_after_a_kill_two_servers_compute_what_is_missing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = begin(cache, "first.log")
    wait_for(first, lambda latest: latest.status_code == 503 and latest.json()["preparing"]["done"] >= 3)
    first.process.kill()
    first.process.wait(60)
    servers = [begin(cache, "second.log"), begin(cache, "third.log")]
    for server in servers:
        wait_for(server, lambda latest: latest.status_code == 200)
    for server in servers:
        server.process.terminate()
        server.process.wait(120)
    assert_computed_once(cache)


def test_every_page_has_its_answer_in_the_first_screen(
    prepared: tuple[AppServer, Path], reader: Callable[..., Reader]
) -> None:
    server, cache = prepared
    assert_computed_once(cache)
    visitor = reader()
    visitor.page.set_viewport_size({"width": 1280, "height": SCREEN})
    for page in PAGES:
        visitor.open(f"{server.address}/{path_of(page)}")
        expect(visitor.page.locator(CONTENT).filter(visible=True).first).to_be_visible(timeout=60_000)
        visitor.set_properties().healthy()
        for key in EMPTY:
            assert visitor.at(key).count() == 0, (page, key)
        assert page in UNFINISHED or top_of(visitor, CONTENT) < SCREEN - SEEN, (page, "its content begins too low")
        sentence = visitor.page.locator(".st-key-headline").filter(visible=True)
        assert page not in UNFINISHED or sentence.count(), page
        for box in (sentence.nth(place).bounding_box() for place in range(sentence.count())):
            assert box, page
            assert box["y"] + box["height"] < SCREEN, (page, "its sentence ends below the first screen")


def top_of(visitor: Reader, selector: str) -> float:
    """Of what stands highest; ``inf`` without any."""
    found = visitor.page.locator(selector).filter(visible=True)
    boxes = [found.nth(place).bounding_box() for place in range(found.count())]
    return min((box["y"] for box in boxes if box), default=math.inf)


@pytest.mark.slow  # of the docs' pictures, not of the app
def test_the_screenshots_show_the_numbers_of_today(
    prepared: tuple[AppServer, Path], reader: Callable[..., Reader]
) -> None:
    server, _ = prepared
    screenshots = SourceFileLoader("screenshots", str(ROOT / "docs" / "screenshots.py")).load_module()
    figures = json.loads(screenshots.FIGURES.read_text("utf-8"))
    visitor = reader()
    for shot in screenshots.SHOTS:
        screenshots.show(visitor.page, server.address, shot)
        today = Counter(screenshots.figures_on(visitor.page, screenshots.EVERYWHERE))
        assert figures[shot.name], "a picture without a number"
        assert not Counter(figures[shot.name]) - today, f"{shot.name} is out of date: make screenshots"
