"""The benchmarks of the app on a small store: they measure what they say, in the real server and a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import app, app_big_store, app_server, app_store, browser, rerun_client
from benchmarks.app_big_store import Size
from benchmarks.app_store import FilledStore
from benchmarks.measuring import BenchmarkResult
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError
from blindspot.store.repository import Repository
from blindspot.types import no_progress
from tests.browser.conftest import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.server]
NEEDS_CHROMIUM = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FilledStore:
    folder = tmp_path_factory.mktemp("bench")
    return app_store.fill(folder, no_progress, ("random-projection-64",), ("evalrank", "heros"))


@pytest.fixture(autouse=True)
def small(store: FilledStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_store, "_FILLED", [store])
    monkeypatch.setattr(app, "RERUNS", 2)
    monkeypatch.setattr(app, "WARM_UPS", 0)
    monkeypatch.setattr(app, "ROUNDS", 1)
    monkeypatch.setattr(app, "COLD_STARTS", 1)


def test_the_app_is_measured_in_its_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAGES", ("models", "overview"))
    headline, *each = app.page(no_progress)
    assert [result.name for result in each] == ["page_models", "page_overview"]
    worst = max(each, key=lambda result: result.value)
    assert headline == BenchmarkResult("page", worst.value, "ms", worst.samples)
    for result in each:
        assert len(result.samples) == 2
        assert min(result.samples) > 1  # milliseconds: a page that is not run takes none


def test_the_pages_of_a_big_store_are_measured_on_copies_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = Size(models=3, transforms=2, datasets=2)
    fill = app_store.fill
    monkeypatch.setattr(app_store, "fill", lambda *given: fill(*given, ("evalrank", "heros")))
    store = app_big_store.fill(tmp_path, size)
    repository = Repository.at(app_store.settings_of(store.filled.cache).store)
    originals = [run for run in repository.runs() if run.plan.variant.encoder == app_big_store.ENCODER]
    copies = [run for run in repository.runs() if run.plan.variant.encoder != app_big_store.ENCODER]
    assert store.runs == len(originals) + len(copies)
    assert len(copies) == 2 * 3 * 2 * 2
    assert len({run.run_id for run in copies}) == len(copies)
    for run in copies:
        (source,) = (
            one
            for one in originals
            if one.plan.diagnostic == run.plan.diagnostic and one.plan.variant.transform == "none"
        )
        assert set(run.metrics) == set(source.metrics)
        entry = find_diagnostic(run.plan.diagnostic)
        own, other = (repository.items(entry, [one.run_id], texts=True) for one in (run, source))
        assert own.drop(columns="run_id").equals(other.drop(columns="run_id"))
    assert store.rows == sum(
        len(repository.items(find_diagnostic(run.plan.diagnostic), [run.run_id], texts=False))
        for run in (*originals, *copies)
    )
    repository.database.close()
    monkeypatch.setattr(app_big_store, "big", lambda: store)
    found = {result.name: result for result in app.pages_big_store(no_progress)}
    assert found["pages_big_store"].value == max(
        found[f"pages_big_store_{stem}"].value for stem in ("overview", "run", "evalrank")
    )
    assert 0 < found["pages_big_store_open"].value < 10
    assert found["pages_big_store_bytes_per_row"].value == store.bytes / store.rows


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_clicks_and_a_cold_start_are_measured_in_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "INTERACTIONS", app.INTERACTIONS[:3])  # the others take as long again, each
    (result,) = app.interaction(no_progress)
    assert (result.name, result.unit, len(result.samples)) == ("interaction", "s", 3)
    assert min(result.samples) > 0
    monkeypatch.setattr(app, "ASKED", 2)
    again, first = app.try_again(no_progress)
    assert [result.name for result in (again, first)] == ["try_again", "try_again_first"]
    assert all(len(result.samples) == 2 and min(result.samples) > 1 for result in (again, first)), "milliseconds"
    heading, finding = app.cold_start(no_progress)
    assert (heading.name, finding.name) == ("cold_start", "cold_start_finding")
    assert 0 < heading.value <= finding.value


def test_a_rerun_shows_the_page_that_was_opened(store: FilledStore) -> None:
    with app_server.serving(store.cache, rerun_client.SERVER_OPTION, prepare="nothing") as server:
        with rerun_client.opened(server.address, "evalrank") as client:
            runs = [client.run() for _ in range(3)]
        assert all(0 < run.script_seconds <= run.seconds for run in runs)
        with rerun_client.opened(server.address, "data") as client:
            client.run()
            data = client.run()
    assert runs[1].bytes_sent == pytest.approx(runs[2].bytes_sent, rel=0.05)
    assert data.bytes_sent != pytest.approx(runs[2].bytes_sent, rel=0.2)


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    with pytest.raises(BlindspotError, match=r"(?i)no such option"), app_server.serving(tmp_path, ("--nonsense", "1")):
        pass


@NEEDS_CHROMIUM
def test_what_does_not_come_is_an_error_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with browser.chromium() as chromium, browser.page_of(chromium) as page:
        page.set_content("<h1>Nothing else</h1>")
        monkeypatch.setattr(browser, "PATIENCE_MS", 200.0)
        page.set_default_timeout(200.0)
        with pytest.raises(BlindspotError, match="table did not come within 0 s"):
            browser.seconds_until(page, "table", 0.0)
