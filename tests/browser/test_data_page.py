"""The page *Data* in a real browser: a row of the list, a download that others see, pairs of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from blindspot.datasets.catalog import DATASETS, find_dataset
from blindspot.store.repository import Repository
from blindspot.workspace.data.datasets import ROW
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.support.loopback import serving

Serve = Callable[..., str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_a_row_of_the_list_picks_the_dataset_and_its_download_is_everybodys(
    serve: Serve, reader: NewReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = find_dataset("evalrank-word").files[0]
    with serving() as mirror:
        mirror.files[f"/{file.source}/{file.path}"] = b"x" * file.size  # never the right one
        mirror.gate.clear()
        address = serve(tmp_path / "cache", BLINDSPOT_MIRROR=mirror.url, NO_PROXY="127.0.0.1")
        visitor = reader().open(f"{address}/data")
        visitor.see("data")
        visitor.set_properties()
        table = visitor.page.locator("[class*='st-key-datasets_']").get_by_test_id("stDataFrameResizable")
        row = sorted(DATASETS, key=lambda one: bool(DATASETS[one].files)).index("evalrank-word")  # those here first
        table.hover()
        visitor.page.mouse.wheel(0, ROW * row)  # to the top, below the header
        table.click(position={"x": 16, "y": ROW + 16})  # the row's box to choose
        visitor.address_has("data=evalrank-word")
        expect(visitor.page.get_by_role("heading", name="EvalRank words")).to_be_visible()
        expect(visitor.at("data").get_by_role("combobox")).to_have_value("EvalRank words")
        visitor.press("fetch", "Download")
        expect(visitor.see("jobs")).to_contain_text(f"fetching {Path(file.path).name}, 0.0 of 0.3 MB")
        second = reader().open(f"{address}/data?data=evalrank-word")
        expect(second.see("fetch").get_by_role("button", name="Downloading …")).to_be_disabled()
        second.press("jobs", "Cancel")
        expect(second.at("jobs")).to_contain_text("cancelling")  # it has been heard before the file may go on
        mirror.gate.set()
        expect(visitor.page.get_by_text("was cancelled")).to_be_visible()
        for other in (visitor, second):
            expect(other.at("fetch").get_by_role("button", name="Download", exact=True)).to_be_enabled()
        visitor.press("fetch")
        expect(visitor.page.get_by_text(f"{file.path} is not the file")).to_be_visible()
        visitor.set_properties().healthy()


def test_own_pairs_are_uploaded_corrected_run_and_removed(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    path, cache = tmp_path / "my pairs.csv", tmp_path / "cache"
    rows = "some words,a <b>dog</b> runs,a dog is running\nmore words,it rains,rain falls\n"
    path.write_text(f"third,left,right\n{rows}", "utf-8")  # which two are the pair is not clear
    visitor = reader().open(f"{serve(cache)}/data")
    visitor.see("data")
    visitor.page.locator("[class*='st-key-own_'] summary").first.click()
    visitor.page.locator("input[type=file]").first.set_input_files(path)
    visitor.choose("Query column", "left")
    expect(visitor.at("upload_keep")).to_have_count(0)
    visitor.choose("Match column", "right")
    visitor.press("upload_keep")
    expect(visitor.page.get_by_role("heading", name="my_pairs")).to_be_visible()
    (folder,) = (cache / "uploads").iterdir()
    visitor.address_has(f"data=my_pairs~{folder.name[:6]}")

    visitor.page.get_by_test_id("stMain").locator("a[href^='evalrank']").click()
    visitor.type_model("random-projection").press("run_new")
    visitor.see("curve")
    visitor.set_properties().healthy()
    (run,) = Repository.at(cache / "results.duckdb").runs()
    assert run.plan.dataset == f"file:{folder / 'my_pairs.jsonl'}"
    assert run.metrics["pairs"] == 2

    visitor.go_to("Data")
    visitor.press("remove")
    visitor.press("remove_for_good")
    expect(visitor.at("data").get_by_role("combobox")).to_have_value("Demo pairs")
    visitor.set_properties().healthy()
    assert not folder.exists()
