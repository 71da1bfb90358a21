"""A reader picks pairs out of the figure, opens one and sends the link to a colleague; in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pytest
from playwright.sync_api import expect

from blindspot.diagnostic import find_diagnostic
from blindspot.store.repository import Repository
from tests.browser.conftest import PATIENCE_MS, Reader

Serve = Callable[..., str]
NewReader = Callable[..., Reader]

expect.set_options(timeout=PATIENCE_MS)


def ranks(cache: Path) -> list[tuple[float, float]]:
    """Per pair its rank without and with centering, as stored."""
    repository = Repository.at(cache / "results.duckdb")
    runs = {
        str(r.plan.variant): r.run_id for r in repository.runs(dataset="demo-pairs") if r.plan.params["metric"] == "cos"
    }
    sides = [
        repository.items(find_diagnostic("evalrank"), [runs[v]], texts=True)["rank"].tolist()
        for v in ("minilm~none", "minilm~center")
    ]
    repository.database.close()
    return list(zip(*sides, strict=True))


def drag_a_box(visitor: Reader, across: tuple[float, float], up: tuple[float, float]) -> None:
    """Over a part of the figure, as shares of its width from the left and of its height from the bottom."""
    plot = visitor.see("scatter").locator(".nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    xs = [box["x"] + box["width"] * share for share in across]
    ys = [box["y"] + box["height"] * (1 - share) for share in up]
    mouse = visitor.page.mouse
    mouse.move(xs[0], ys[0])
    mouse.down()
    mouse.move(sum(xs) / 2, sum(ys) / 2, steps=4)
    mouse.move(xs[1], ys[1], steps=4)
    mouse.up()


def test_a_selection_in_the_figure_filters_the_table_and_a_link_restores_the_view(
    reader: NewReader, demo_cache: Path, demo_address: str
) -> None:
    visitor = reader().open(f"{demo_address}/evalrank?a=minilm~none&b=minilm~center&ranks=raw")
    visitor.see("scatter")
    visitor.set_properties()
    drag_a_box(visitor, (0.2, 0.95), (0.15, 0.95))
    said = visitor.page.get_by_text("pairs selected")
    expect(said).to_be_visible()
    box = visitor.at("area").get_by_role("textbox")
    expect(box).not_to_have_value("")
    area = box.input_value()
    low_a, high_a, low_b, high_b = (float(number) for number in re.split("[-,]", area))
    assert low_a > 1
    inside = [low_a <= a <= high_a and low_b <= b <= high_b for a, b in ranks(demo_cache)]
    count = sum(inside)
    assert 0 < count < len(inside)
    expect(said).to_have_text(f"{count} pairs selected")
    expect(visitor.page.get_by_text(f"{count} pairs. Choose a row")).to_be_visible()

    # it survives a sort
    visitor.at("direction").get_by_text("low to high").click()
    visitor.address_has("direction=low to high")
    visitor.set_properties()
    expect(said).to_have_text(f"{count} pairs selected")

    visitor.choose_first_row(visitor.page.locator("[class*='st-key-pairs_1']"), "drill")
    visitor.press("next_pair")
    expect(visitor.page.get_by_text(f"2 of {count} in the table")).to_be_visible()
    stored = ranks(demo_cache)
    in_order = sorted((i for i, here in enumerate(inside) if here), key=lambda i: max(stored[i]))
    pair = str(in_order[1])
    expect(visitor.at("item").get_by_role("spinbutton")).to_have_value(pair)
    visitor.address_has(f"item={pair}")
    visitor.address_has(f"area={area}")
    visitor.set_properties().healthy()

    # what is downloaded is the filtered table
    with visitor.page.expect_download(timeout=PATIENCE_MS) as download:
        visitor.press("download-csv")
    rows = pyarrow.csv.read_csv(download.value.path())
    assert rows.num_rows == count
    assert rows["item_no"][1].as_py() == int(pair)

    # the link, in a fresh browser
    second = reader("dark").open(visitor.page.url)
    expect(second.page.get_by_text(f"2 of {count} in the table")).to_be_visible()
    expect(second.page.get_by_text("pairs selected")).to_have_text(f"{count} pairs selected")
    expect(second.at("item").get_by_role("spinbutton")).to_have_value(pair)
    expect(second.at("a").get_by_role("combobox")).to_have_value("minilm")
    expect(second.at("b").get_by_role("combobox")).to_have_value("minilm + center")
    expect(second.at("drill")).to_contain_text("words")
    second.set_properties().healthy()

    second.press("clear_area")
    expect(second.page.get_by_text(f"{len(inside)} pairs. Choose a row")).to_be_visible()
    second.page.wait_for_function("() => !new URLSearchParams(location.search).has('area')", timeout=PATIENCE_MS)


@pytest.mark.slow
def test_a_lasso_filters_too(reader: NewReader, demo_cache: Path, demo_address: str) -> None:
    visitor = reader().open(f"{demo_address}/evalrank?a=minilm~none&b=minilm~center")
    plot = visitor.see("scatter")
    visitor.set_properties()
    plot.scroll_into_view_if_needed()
    plot.hover()
    plot.locator("[data-attr='dragmode'][data-val='lasso']").click()
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    mouse = visitor.page.mouse
    corners = [(0.2, 0.9), (0.9, 0.85), (0.9, 0.05), (0.25, 0.05), (0.2, 0.9)]
    for i, (x, y) in enumerate(corners):
        mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y, steps=6)
        if not i:
            mouse.down()
    mouse.up()
    said = visitor.page.get_by_text("pairs selected")
    expect(said).to_be_visible()
    count = int(said.inner_text().split()[0])
    assert 0 < count < len(ranks(demo_cache))
    expect(visitor.page.get_by_text(f"{count} pairs. Choose a row")).to_be_visible()
    expect(visitor.at("area").get_by_role("textbox")).to_have_value("")
    visitor.set_properties()
    visitor.press("clear_area")
    expect(said).to_have_count(0)
    visitor.set_properties().healthy()
