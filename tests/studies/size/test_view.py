"""Grids of sizes against full size: lost items and the front by loops, tests and bounds by the diagnostics' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import uncertainty
from blindspot.numerics.statistics.compare import PairedTest, corrected_together
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import ALPHA, level_of_each
from blindspot.numerics.statistics.pairs import Dependence, exact_share
from blindspot.numerics.statistics.tolerance import drop
from blindspot.runs.comparison import headline_tests, paired_tests
from blindspot.store.records import RunRecord
from blindspot.studies.size import view as study
from blindspot.studies.size.figures import label_places
from blindspot.studies.size.grid import Setting, grid_of
from blindspot.studies.size.view import Cell, SizeView, answer, lost_by_kind, size_view
from blindspot.ui.markdown import as_text
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.world import World

DIMENSIONS, PRECISIONS = [32, 8], ["float32", "int8", "binary"]
ENCODER = "random-projection"


@pytest.fixture(scope="module")
def made(module_world: World) -> tuple[World, SizeView]:
    grid = grid_of(ENCODER, DatasetRef("demo-pairs"), DIMENSIONS, PRECISIONS, module_world.settings, rescored=[20])
    runs: Sequence[RunRecord] = [
        module_world.run("evalrank", str(request.variant), "demo-pairs") for request in grid.requests
    ]
    pairs = list(zip(grid.settings, runs, strict=True))
    return module_world, size_view(grid.entry, pairs, module_world.repository)


def test_scores_and_tests_are_the_diagnostics_own(made: tuple[World, SizeView]) -> None:
    world, found = made
    assert found.full.setting.chain == "none"
    assert [cell.value for cell in found.cells] == [pytest.approx(cell.run.metrics["mrr"]) for cell in found.cells]
    smaller = found.cells[1:]
    tests = headline_tests(found.entry, [(cell.run, found.full.run) for cell in smaller], world.repository)
    assert [cell.difference for cell in smaller] == tests
    assert [cell.p_corrected for cell in smaller] == [test.p_corrected for test in tests]
    assert any(cell.is_worse for cell in smaller), "8 bits are too few"
    rows = found.rows(None)
    assert [(row["score"], row["lost"]) for row in rows[1:]] == [(cell.value, cell.lost) for cell in smaller]
    assert (rows[0]["change"], rows[0]["lost"], "own ms" in rows[0]) == (None, None, False)
    for cell in smaller:
        (both,) = paired_tests(found.entry, [(cell.run, found.full.run)], world.repository)
        least = min(both, key=lambda test: test.p or 0.0)
        assert least.p_corrected == pytest.approx(min(1.0, corrected_together(both, least) * (least.p or 0.0)))
        assert cell.difference in both, "corrected over the main scores, as the page says"


def test_lost_items_and_bounds_by_a_loop(made: tuple[World, SizeView]) -> None:
    world, found = made
    (full,) = (scores["mrr"] for scores in uncertainty.item_scores([found.full.run], world.repository))
    for place, cell in enumerate(found.cells[1:], 1):
        (own,) = (scores["mrr"] for scores in uncertainty.item_scores([cell.run], world.repository))
        lost = sum(b < a - 1e-9 for a, b in zip(full.parts, own.parts, strict=True))
        won = sum(b > a + 1e-9 for a, b in zip(full.parts, own.parts, strict=True))
        n = len(full.parts)
        assert (cell.lost, cell.won, cell.changed) == pytest.approx((lost / n, won / n, (lost + won) / n))
        assert int(found.lost[:, place].sum()) == lost
        bound = drop(
            full.value - own.value, full.parts - own.parts, own.known, 0.0, ALPHA / (len(found.cells) - 1), 1.0, True
        )
        assert cell.loses_at_most == bound.high
        assert bound.high is not None
        assert bound.high >= full.value - own.value


def test_the_front_is_what_no_other_setting_beats(made: tuple[World, SizeView]) -> None:
    _, found = made

    def is_beaten(cell: Cell) -> bool:
        size = cell.setting.bytes_per_text
        return any(
            other.setting.bytes_per_text <= size
            and other.value >= cell.value
            and (other.setting.bytes_per_text < size or other.value > cell.value)
            for other in found.cells
        )

    front = [cell for cell in found.cells if not is_beaten(cell)]
    assert {cell.setting.chain for cell in found.front} == {cell.setting.chain for cell in front}


def test_the_answer_names_the_smallest_and_what_it_loses(made: tuple[World, SizeView]) -> None:
    _, found = made
    fine = [cell for cell in found.cells if cell.p_corrected is not None and not cell.is_worse]
    least = min(cell.setting.bytes_per_text for cell in fine)
    assert found.not_worse is not None
    assert found.not_worse.setting.bytes_per_text == least
    said = " ".join(answer(found, 1.0))
    assert found.not_worse.setting.label in said
    assert f"{least:,} MB" in said
    bounded = [cell for cell in found.cells[1:] if (cell.loses_at_most or 0) <= 1.0]
    within = found.within(1.0)
    assert within is not None
    assert within.setting.bytes_per_text == min(cell.setting.bytes_per_text for cell in bounded)
    assert found.within(0.0) is None


def cell(size: int, value: float, p: float | None, full: float = 0.8) -> Cell:
    """A setting of ``size`` bytes, made up."""
    difference = replace(DIFFERENCE, a=value, b=full, p_corrected=p)
    return Cell(Setting(size, "int8", f"truncate:{size}+int8"), RUN, value, None, difference)


DIFFERENCE = PairedTest("mrr", "MRR", True, (0.0, 1.0), 0.0, 0.0, 9, "groups", "t", p=1.0)
RUN: RunRecord = None  # type: ignore[assignment]  # not looked at


def test_by_hand_a_better_setting_is_not_worse_and_an_untested_one_is_no_answer() -> None:
    full = Cell(Setting(1_000, "float32", "none"), RUN, 0.8, None)
    cells = (full, cell(500, 0.9, 0.001), cell(100, 0.7, 0.2), cell(50, 0.6, 0.01), cell(10, 0.79, None))
    known = Dependence.of_groups(np.arange(1), Unit.PAIRS)
    gains, parts = np.zeros((2, 1, 5))
    found = SizeView(find_diagnostic("evalrank"), "mrr", cells, np.arange(1), ("a",), gains, parts, known)
    assert found.not_worse is cells[2]
    assert [one.setting.dimension for one in found.front] == [10, 500]
    assert [one.is_worse for one in cells] == [False, False, False, True, False]


def test_labels_of_dimensions_lie_on_no_other_and_are_left_out_where_there_is_no_room() -> None:
    far = [cell(10 * 4**power, 0.2 * power, 0.5) for power in range(4)]
    assert [label_places(far)[one.setting.chain] for one in far] == [*["bottom right"] * 3, "bottom left"]
    beside = [cell(100, 0.5, 0.5), cell(101, 0.5, 0.5), cell(10_000, 0.9, 0.5)]
    two = label_places(beside)
    assert len({two[one.setting.chain] for one in beside[:2]}) == 2
    crowd = [cell(1_000 + number, 0.5, 0.5) for number in range(20)] + [cell(100_000, 0.1, 0.5)]
    first = crowd[7].setting.chain
    places = label_places(crowd, first)
    assert first in places, "what the answer names"
    assert len(places) <= 5, "of 20 at one spot, and one far away"


def test_kinds_are_counted_by_a_loop(made: tuple[World, SizeView]) -> None:
    _, found = made
    n = len(found.numbers)
    kinds = OwnColumn("half", ("even", "odd"), (np.arange(n) % 2).astype(np.uint8))
    place = len(found.cells) - 1
    of_half = {one.kind: one for one in lost_by_kind(found, place, [kinds]) if one.column == "half"}
    for name, rest in (("even", 0), ("odd", 1)):
        rows = [i for i in range(n) if found.numbers[i] % 2 == rest]
        assert of_half[name].items == len(rows)
        assert of_half[name].lost == sum(bool(found.lost[i, place]) for i in rows)
        lost = found.lost[np.isin(found.numbers, found.numbers[rows]), place].astype(np.float64)
        at_once = exact_share(lost, found.known.of_some(np.array(rows)), level_of_each(2))
        assert of_half[name].share == at_once
    by_length = [one for one in lost_by_kind(found, place, []) if one.column == "length"]
    assert sum(one.items for one in by_length) == n
    assert sum(one.lost for one in by_length) == int(found.lost[:, place].sum())

    # of items that come in twos that are lost together, as wide as of half as many
    groups = np.arange(n) // 4 + n * (np.arange(n) % 2)  # two of either half
    gains = np.where((np.arange(n) // 4) % 2 == 0, -1.0, 0.0)[:, np.newaxis] * np.ones(place + 1)
    alone, twos = (
        replace(found, gains=gains, known=Dependence.of_groups(of, Unit.PAIRS)) for of in (np.arange(n), groups)
    )
    for single, pair in zip(*(lost_by_kind(of, place, [kinds])[:2] for of in (alone, twos)), strict=True):
        assert single.share.value == pair.share.value
        narrow, wide = (one.share.interval.high - one.share.interval.low for one in (single, pair))
        assert wide / narrow == pytest.approx(2**0.5, rel=0.05)


def test_minimal_pairs_and_scored_pairs_have_sizes(module_world: World) -> None:
    grid = grid_of(ENCODER, DatasetRef("demo-minimal"), [16], ["binary"], module_world.settings)
    runs = [module_world.run("heros", str(request.variant), "demo-minimal") for request in grid.requests]
    found = size_view(grid.entry, list(zip(grid.settings, runs, strict=True)), module_world.repository)
    assert found.parts is not None
    assert answer(found, 0.02)


# --- the page


@pytest.mark.heavy
def test_the_page_shows_the_grid_and_keeps_choices_in_the_address(
    open_app: OpenApp, made: tuple[World, SizeView]
) -> None:
    world, found = made
    query = {"data": "demo-pairs", "size_enc": ENCODER, "size_dim": ["64", "32"], "size_rescore": "20"}
    query["size_drop"] = "0.5"
    app = open_app(world.cache, "size", **query)
    asked = [one for one in found.cells if one.setting.dimension >= 32]
    rows = table(app, "dimensions", "precision", "score")
    assert rows["score"].tolist() == pytest.approx([one.value for one in asked])
    assert rows["MB per million"].tolist() == [one.setting.bytes_per_text for one in asked]
    assert {line["name"] for line in chart_named(app, "size_scores")["data"]} >= set(PRECISIONS)
    assert as_text(find_dataset("demo-pairs").limits) in written(app), "what scores on these pairs do not say"
    chosen = app.selectbox(key="size_setting")
    chain = next(one.setting.chain for one in asked[1:] if one.setting.chain != chosen.value)
    chosen.set_value(chain).run()
    place = [one.setting.chain for one in found.cells].index(chain)
    assert f"{int(found.lost[:, place].sum()):,} items" in written(app)
    assert app.query_params["size_setting"] == chain
    number = int(found.numbers[np.flatnonzero(found.lost[:, place])[0]])
    one = open_app(world.cache, "size", **query, size_setting=chain, item=str(number))
    (link,) = (each.proto for each in one.get("page_link") if each.proto.page == "evalrank")
    assert f"item={number}" in link.query_string


@pytest.mark.heavy
@pytest.mark.parametrize(
    "query",
    [{"size_enc": "gone"}, {"size_drop": "x"}, {"size_dim": "0"}, {"size_setting": "<b>"}, {"item": "7e9"}],
)
def test_whatever_an_address_says_the_page_is_drawn(
    open_app: OpenApp, made: tuple[World, SizeView], query: dict[str, str]
) -> None:
    app = open_app(made[0].cache, "size", **{"data": "demo-pairs", "size_enc": ENCODER, **query})
    assert not app.exception


def test_what_is_not_computed_is_offered(open_app: OpenApp, made: tuple[World, SizeView]) -> None:
    app = open_app(made[0].cache, "size", data="demo-pairs", size_enc="lsa")
    assert app.button(key="lab_run_size_study").label
    assert study.ROUNDING < 1e-6


def test_before_anything_is_computed_there_is_a_button_and_no_table(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "size", data="demo-pairs", size_dim=["384", "64"], size_precision=["float32", "int8"])
    (offered,) = (one for one in app.button_group if one.key == "size_dim")
    assert offered.options == ["384", "288", "256", "192", "128", "64", "32", "16"], "nothing above the model's own"
    assert app.button(key="lab_run_size_study").label
    assert not app.dataframe
