"""A report in a browser that has no network: figures in either scheme, text without JavaScript."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from blindspot.store.repository import Repository
from blindspot.studies.findings.collection import Selection
from blindspot.studies.report.content import gather
from blindspot.studies.report.making import as_html
from tests.browser.conftest import PATIENCE_MS
from tests.conftest import make_settings


def test_a_report_opens_anywhere(browser: Browser, demo_cache: Path, tmp_path: Path) -> None:
    settings = make_settings(demo_cache)
    repository = Repository.at(settings.store)
    report = gather(repository, settings, Selection())
    repository.database.close()
    path = tmp_path / "report.html"
    path.write_text(as_html(report), "utf-8")
    mrr = f"{report.every_run[0].metrics['mrr']:.3f}"
    grounds = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme, offline=True)  # type: ignore[arg-type]
        page = context.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("#figure-0 .main-svg", timeout=PATIENCE_MS)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
        assert said == []
        context.close()
    assert len(grounds) == 2
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert mrr in page.inner_text("#scores")
    assert "blindspot run" in page.inner_text("#reproduce-it")
    context.close()
