"""Benchmarks of the app: the time of a page's script, of a click, of *Try it*, and of a cold start, on a filled store.

``page`` takes the time that Streamlit itself measures around a run of a page, in the real server (``streamlit run``)
and its script thread, with caches warm as they are for a reader who has just opened the page. The browser's share is in
``interaction`` and ``cold_start``.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks import app_big_store, app_server, app_store, browser
from benchmarks.app_store import FilledStore, filled
from benchmarks.browser import Press
from benchmarks.measuring import BenchmarkResult
from blindspot.store.db import Database
from blindspot.types import Progress

if TYPE_CHECKING:
    from playwright.sync_api import Page

RERUNS = 20
WARM_UPS = 1  # warm-up rounds of all interactions
ROUNDS = 2  # that do
COLD_STARTS = 3
ASKED = 20  # sentences in Try it
TRIED_BEFORE = 2  # the first one loads the model
PAGES = (
    *(
        "findings",
        "compare",
        "overview",
        "try_it",
        "run",
        "evalrank",
        "heros",
        "retrieval",
        "similarity",
        "words",
        "lab",
        "transfer",
        "probing",
        "evidence",
    ),
    *(
        "neighbors",
        "frequency",
        "map",
        "threshold",
        "size",
        "repair",
        "languages",
        "training",
        "intruder",
        "compare_votes",
    ),
    *("models", "data", "docs"),
)
PAGES_OF_MANY_RUNS = ("overview", "run", "evalrank")
OPENINGS = 3
FIRST_FINDING = ".st-key-finding_0"

_LINK = '[data-testid="stTopNavLink"][href$="/{}"]'
_IN_MENU = '[data-testid="stTopNavDropdownLink"][href$="/{}"]'
_MENU = '[data-testid="stTopNavSection"]:has-text("{}")'
_OPTIONS = ".st-key-options button"
_CHART = '[data-testid="stPlotlyChart"]'
# The most frequent interactions: change the page, the score, the level of detail. A round ends in the state it began
# with, so that every click changes something in the next one too.
INTERACTIONS = (
    Press(_IN_MENU.format("evalrank"), ".st-key-curve", _MENU.format("Diagnose")),
    Press(".st-key-ranks button:has-text('filtered')", ".st-key-curve", _OPTIONS),
    Press(".st-key-view button:has-text('kinds of pair')", _CHART),
    Press(".st-key-view button:has-text('A against B')", _CHART),
    Press(".st-key-view button:has-text('pairs')", _CHART),
    Press(".st-key-ranks button:has-text('raw')", ".st-key-curve", _OPTIONS),
    Press(_IN_MENU.format("heros"), _CHART, _MENU.format("Diagnose")),
    Press(".st-key-view button:has-text('sentences')", '[data-testid="stDataFrame"]'),
    Press(".st-key-view button:has-text('orderings')", _CHART),
    Press(_IN_MENU.format("models"), '[data-testid="stDataFrame"]', _MENU.format("Library")),
    Press(_LINK.format("findings"), FIRST_FINDING),
)


def page(progress: Progress) -> list[BenchmarkResult]:
    """Server-side script time of each page, p95 over 20 reruns; the worst page first."""
    return _pages("page", filled(progress), PAGES, progress)


def pages_big_store(progress: Progress) -> list[BenchmarkResult]:
    """As ``page``, with 100,000 runs; seconds until their store is open, and the bytes of its file per row."""
    store = app_big_store.big()
    results = _pages("pages_big_store", store.filled, PAGES_OF_MANY_RUNS, progress)
    seconds = []
    for _ in range(OPENINGS):
        database = Database(app_store.settings_of(store.filled.cache).store)
        start = perf_counter()
        with database.cursor():
            seconds.append(perf_counter() - start)
        database.close()
    per_row = store.bytes / store.rows
    return [
        *results,
        BenchmarkResult("pages_big_store_open", statistics.median(seconds), "s", tuple(seconds)),
        BenchmarkResult("pages_big_store_bytes_per_row", per_row, "bytes", (per_row,)),
    ]


def _pages(name: str, store: FilledStore, stems: Sequence[str], progress: Progress) -> list[BenchmarkResult]:
    from benchmarks import rerun_client

    results = []
    with app_server.serving(store.cache, rerun_client.SERVER_OPTION) as server:
        for i, stem in enumerate(stems):
            progress("page, script time", i, len(stems))
            with rerun_client.opened(server.address, stem, _query(stem, store)) as client:
                client.run()  # for imports and caches
                client.run()
                samples = tuple(client.run().script_seconds * 1e3 for _ in range(RERUNS))
            results.append(BenchmarkResult(f"{name}_{stem}", percentile_95(samples), "ms", samples))
    worst = max(results, key=lambda result: result.value)
    return [BenchmarkResult(name, worst.value, worst.unit, worst.samples), *results]


def percentile_95(samples: tuple[float, ...]) -> float:
    """The smallest sample that at least 95% of the samples do not exceed: of 20 the second largest."""
    ordered = sorted(samples)
    return ordered[-(-95 * len(ordered) // 100) - 1]


def _query(stem: str, store: FilledStore) -> Mapping[str, str]:
    """The dataset under which a page shows all the variants."""
    datasets = {"similarity": store.scored, "frequency": store.vocabulary, "words": "demo-analogies"}
    return {"data": datasets[stem]} if stem in datasets else {}


def interaction(progress: Progress) -> list[BenchmarkResult]:
    """Click to settled in a browser, median over the main interactions; raises ``NotMeasured`` without a browser."""
    samples: list[float] = []
    with browser.chromium() as chromium:
        store = filled(progress)
        with app_server.serving(store.cache) as server, browser.page_of(chromium) as reader:
            browser.opened(reader, server.address)
            for round_number in range(WARM_UPS + ROUNDS):
                progress("interaction, click to settled", round_number, WARM_UPS + ROUNDS)
                if round_number == WARM_UPS:
                    server.settle()
                seconds = [browser.press(reader, press) for press in INTERACTIONS]
                if round_number >= WARM_UPS:
                    samples += seconds
    return [BenchmarkResult("interaction", statistics.median(samples), "s", tuple(samples))]


def try_again(progress: Progress) -> list[BenchmarkResult]:
    """*Try it* in a browser, Enter to settled, p95: of sentences that were asked before, and the first time.

    MiniLM is loaded and has been asked for its own scale, and kernels are compiled. Raises ``NotMeasured`` without a
    browser.
    """
    times: list[list[float]] = [[], []]
    with browser.chromium() as chromium:
        store = filled(progress)
        with app_server.serving(store.cache) as server, browser.page_of(chromium) as reader:
            browser.opened(reader, f"{server.address}/try_it")
            for number in range(TRIED_BEFORE):
                _ask(reader, number)
            server.settle()
            for round_number, samples in enumerate(times):
                progress("Try it, Enter to settled", round_number, len(times))
                samples += [_ask(reader, TRIED_BEFORE + number) * 1e3 for number in range(ASKED)]
    first, again = map(tuple, times)
    return [
        BenchmarkResult("try_again", percentile_95(again), "ms", again),
        BenchmarkResult("try_again_first", percentile_95(first), "ms", first),
    ]


def _ask(reader: Page, number: int) -> float:
    asked = f"Anna paid {number} dollars"  # part of most rewrites
    sees = f'[role="table"]:has-text("{asked}")'
    return browser.enter(reader, ".st-key-sentence input", f"{asked} before the meeting with Peter.", sees)


def cold_start(progress: Progress) -> list[BenchmarkResult]:
    """``streamlit run`` to the first page's heading in a waiting browser, and to its first finding.

    Raises:
        NotMeasured: no browser here.
    """
    headings: list[float] = []
    findings: list[float] = []
    with browser.chromium() as chromium:
        store = filled(progress)
        for i in range(COLD_STARTS):
            progress("cold start", i, COLD_STARTS)
            with browser.page_of(chromium) as reader, app_server.serving(store.cache) as server:
                reader.goto(server.address, wait_until="commit")
                headings.append(browser.seconds_until(reader, "h1", server.started))
                findings.append(browser.seconds_until(reader, FIRST_FINDING, server.started))
    return [
        BenchmarkResult("cold_start", statistics.median(headings), "s", tuple(headings)),
        BenchmarkResult("cold_start_finding", statistics.median(findings), "s", tuple(findings)),
    ]
