"""A hosted demo in a real browser: every page of it opened cold on one server."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect

from blindspot.store.repository import Repository
from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[..., str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_no_page_of_a_demo_asks_for_anything_from_elsewhere(
    serve: Serve, reader: NewReader, browser: Browser, demo_cache: Path, tmp_path: Path
) -> None:
    """What is asked for outside, and what the headers refuse, is counted by the fixture ``reader``, here as in every
    browser test; ``test_links.py`` opens all pages cold. Here are the pages that differ on a demo."""
    cache = tmp_path / "cache"
    shutil.copytree(demo_cache, cache)
    address = serve(cache, BLINDSPOT_MODE="demo")
    visitor = reader()
    for stem, title in (("evalrank", "EvalRank"), ("run", "Run"), ("models", "Models"), ("people", "People")):
        visitor.page.goto("about:blank")
        visitor.open(f"{address}/{stem}")
        expect(visitor.page.get_by_role("heading", name=title, level=1)).to_be_visible()
        visitor.set_properties().healthy()

    # what a text in a page could at most try, its browser refuses; outside of the fixture's count
    with browser.new_context() as context:
        page = context.new_page()
        answers: list[str] = []
        page.on("response", lambda response: answers.append(response.url) if "invalid" in response.url else None)
        page.goto(f"{address}/compare?part=overview")
        tried = page.evaluate(
            """async () => {
                const said = [];
                document.addEventListener("securitypolicyviolation", event => said.push(event.effectiveDirective));
                const image = new Image();
                image.src = "https://elsewhere.invalid/x.png";
                const script = document.createElement("script");
                script.textContent = "window.ran = true";
                document.body.append(script);
                const loaded = await fetch("https://elsewhere.invalid/").then(() => true, () => false);
                await new Promise(resolve => setTimeout(resolve, 100));
                return {said: said.sort(), loaded, ran: window.ran === true};
            }"""
        )
    assert tried == {"said": ["connect-src", "img-src", "script-src-elem"], "loaded": False, "ran": False}
    assert answers == []


def test_an_upload_is_seen_by_its_visitor_alone(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    address = serve(cache, BLINDSPOT_MODE="demo")
    first = reader().open(f"{address}/data")
    first.page.locator("[class*='st-key-own_'] summary").first.click()
    rows = "\n".join(f"a secret about {word},what nobody knows of {word}" for word in ("tea", "bread", "rain"))
    file = {"name": "diary.csv", "mimeType": "text/csv", "buffer": f"query,match\n{rows}\n".encode()}
    first.page.locator("input[type=file]").first.set_input_files(files=[file])
    first.press("upload_keep")
    expect(first.page.get_by_role("heading", name="diary")).to_be_visible()
    first.page.wait_for_url("**data=diary~*", timeout=PATIENCE_MS)
    link = first.page.url
    first.go_to("EvalRank")
    first.see("new_transform")
    first.type_model("random-projection").press("run_new")
    first.see("curve")
    first.set_properties().healthy()

    second = reader(cold=True).open(link)
    expect(second.page.get_by_text("This link names")).to_be_visible()
    assert second.page.get_by_text("secret").count() == 0
    second.open(f"{address}/evalrank")
    second.set_properties().healthy()
    assert second.page.get_by_text("diary").count() == 0
    assert Repository.at(cache / "results.duckdb").runs() == []
    (home,) = (cache / "sessions").iterdir()
    assert (home / "results.duckdb").is_file()
