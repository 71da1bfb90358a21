"""The page Probing by AppTest: an empty store, its views on made-up tasks, 1,000 classes, published correlations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from blindspot.datasets.kinds.probing import PROBES
from blindspot.diagnostics.probing.correlation import FEWEST
from tests.support import transfer_world as toy
from tests.support.pages import OpenApp, chart_named, charts, table, written
from tests.support.probing_world import length_lines, word_lines
from tests.support.probing_world import written as file_of
from tests.support.small_world import GramEncoder
from tests.support.world import World

NAMES = [f"grams-{size}" for size in range(1, FEWEST + 1)]
A, B = NAMES[1:3]
TWO = {"a": f"{A}~none", "b": f"{B}~none"}


@pytest.fixture(scope="module")
def probed(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, str]:
    """Two models on two probing tasks and a transfer task."""
    folder = tmp_path_factory.mktemp("senteval")
    length = file_of(folder, "sentence_length.txt", length_lines())
    words = file_of(folder, "word_content.txt", word_lines(120))
    module_world.add(toy.split(), *(GramEncoder(name, size=i) for i, name in enumerate(NAMES, 1)))
    run_all(module_world, (A, B), length, words)
    return module_world, length, words


def run_all(world: World, names: Iterable[str], length: str, words: str) -> None:
    for name in names:
        for diagnostic, dataset in (("probing", length), ("probing", words), ("transfer", toy.SPLIT)):
            world.run(diagnostic, name, dataset)
    world.repository.database.close()


def test_an_empty_store_offers_the_built_in_tasks(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "empty", "probing")
    assert not app.exception
    assert "`sentence_length.txt`" in written(app)
    assert app.button(key="transfer_run_demo")


def test_tasks_in_the_papers_order_with_question_chance_and_majority(
    open_app: OpenApp, probed: tuple[World, str, str]
) -> None:
    world, length, words = probed
    app = open_app(world.cache, "probing", data=length)
    assert not app.exception
    counts = table(app, "task", "chance")
    assert all(PROBES[name].question in written(app) for name in ("sentence_length", "word_content"))
    assert counts["task"].tolist() == ["Sentence length", "Word content"]
    assert counts["chance"].tolist() == ["33.3%", "0.8%"]
    scores = table(app, "model", "Sentence length").set_index("model")
    run = world.run("probing", A, words)
    assert scores.loc[A, "Word content"] == pytest.approx(100 * run.metrics["accuracy"])
    assert scores.iloc[-1]["Word content"] == pytest.approx(100 * run.metrics["majority"])


@pytest.mark.parametrize("view", ["classifiers", "confusion", "items", "transfer"])
def test_every_view_renders(open_app: OpenApp, probed: tuple[World, str, str], view: str) -> None:
    world, length, _ = probed
    app = open_app(world.cache, "probing", data=length, view=view, **TWO)
    assert not app.exception
    assert not app.error


@pytest.mark.heavy
def test_many_classes_have_a_table_and_no_matrix(open_app: OpenApp, probed: tuple[World, str, str]) -> None:
    world, _, words = probed
    app = open_app(world.cache, "probing", data=words, view="confusion", **TWO)
    assert charts(app) == []
    assert len(table(app, "class", "F1 A", "F1 B")) == 120


@pytest.mark.heavy
def test_published_correlations_stand_beside_measured_ones(open_app: OpenApp, probed: tuple[World, str, str]) -> None:
    world, length, words = probed
    run_all(world, NAMES, length, words)
    app = open_app(world.cache, "probing", data=length, view="transfer")
    rows = table(app, "probing task", "measured", "published").set_index("probing task")
    assert rows["published"].round(2).to_dict() == {"Sentence length": 0.83, "Word content": 0.04, "mean": 0.64}
    figure = chart_named(app, "probing_correlations")
    (cells,) = figure["data"][0]["z"]  # of the one transfer task
    assert rows["measured"].tolist()[:2] == pytest.approx(cells)
    alone = open_app(world.cache, "probing", data=length, model=[f"{NAMES[0]}~none"], view="transfer")
    assert "there is 1" in written(alone)
    assert table(alone, "probing task", "published")["published"].notna().sum() == 3


def test_a_dataset_of_another_kind_offers_the_tasks(open_app: OpenApp, probed: tuple[World, str, str]) -> None:
    world, *_ = probed
    app = open_app(world.cache, "probing", data="demo-negation", view="items")
    assert "is not a probing task" in written(app)
    assert {"Sentence length", "Word content"} <= {button.label for button in app.button}
