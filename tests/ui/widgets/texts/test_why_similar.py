"""Contributions of words, as the drill-downs of pairs show them, by AppTest: against cosines of the stored vectors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.runs.embeddings import embedded_of
from blindspot.store.records import RunRecord
from tests.support.pages import OpenApp, written
from tests.support.small_world import CAT, DOG, SMALL_PAIRS, GramEncoder
from tests.support.world import World

MARKUP = "a <b>bold</b> *dog*"
SCORED = scored_pairs(
    "toy-scores", {"one": [("dogs run", MARKUP, 4.5), ("cats sleep", "dogs run", 0.5), ("a", "b c", 1)]}
)
SENTENCES = MinimalPairSet(
    "toy-minimal",
    ("a big dog", "a large dog", "a small dog", "some rain", "much rain", "no rain", "old men", "aged men", "new men"),
    np.array([0, 3, 6], dtype=np.int32),
    {"synonym": np.array([1, 4, 7], dtype=np.int32), "antonym": np.array([2, 5, 8], dtype=np.int32)},
)
SUM, LEFT_OUT = "random-projection-64", "trigrams"
TWO = [f"{SUM}~none", f"{LEFT_OUT}~none"]


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    """Runs by diagnostic and encoder of one encoder whose parts add up, and one of which words are left out."""
    module_world.add(SMALL_PAIRS, SCORED, SENTENCES, GramEncoder())
    found = {}
    for diagnostic, dataset in (("evalrank", SMALL_PAIRS), ("similarity", SCORED), ("heros", SENTENCES)):
        for encoder in (SUM, LEFT_OUT):
            found[f"{diagnostic} {encoder}"] = module_world.run(diagnostic, encoder, dataset.id)
    module_world.run("evalrank", SUM, SMALL_PAIRS.id, protocol="toolkit")
    module_world.repository.database.close()
    return found


def cosine(run: RunRecord, world: World, first: int, second: int) -> float:
    x, y = (embedded_of(run, world.settings).matrix[item].astype(np.float64) for item in (first, second))
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def shown(app: AppTest) -> list[float]:
    """The cosines that the maps say."""
    said = re.findall(r"(?:add up to|The cosine is) \*\*(-?[0-9.]+)\*\*", written(app))
    return [float(value) for value in said]


def maps(app: AppTest) -> list[str]:
    return [html.proto.body for html in app.get("html") if "Contributions to the similarity" in html.proto.body]


def check(app: AppTest, expected: list[float]) -> None:
    assert not app.error
    assert shown(app) == pytest.approx(expected, abs=6e-4)
    assert len(maps(app)) == len(expected)


@pytest.mark.matrix
def test_nothing_is_asked_before_the_reader_does(
    open_app: OpenApp, runs: dict[str, RunRecord], module_world: World
) -> None:
    app = open_app(module_world.cache, "evalrank", data=SMALL_PAIRS.id, model=TWO, view="pairs", item="0")
    assert not maps(app)
    app.toggle(key="why").set_value(True).run()
    assert len(maps(app)) == 2


def test_a_pair_of_evalrank(open_app: OpenApp, runs: dict[str, RunRecord], module_world: World) -> None:
    address = {
        "data": SMALL_PAIRS.id,
        "model": TWO,
        "view": "pairs",
        "a": TWO[0],
        "b": TWO[1],
        "item": "1",
        "why": "true",
    }
    app = open_app(module_world.cache, "evalrank", **address)
    ends = int(SMALL_PAIRS.queries[1]), int(SMALL_PAIRS.matches[1])
    check(app, [cosine(runs[f"evalrank {encoder}"], module_world, *ends) for encoder in (SUM, LEFT_OUT)])
    assert "the similarity shown" in written(app)
    assert "leaving words out" in written(app)
    assert "“through”, only in the match" in written(app)


@pytest.mark.usefixtures("runs")
def test_under_l2_the_cosine_is_explained(open_app: OpenApp, module_world: World) -> None:
    run = module_world.run("evalrank", SUM, SMALL_PAIRS.id, metric="l2")
    app = open_app(
        module_world.cache, "evalrank", data=SMALL_PAIRS.id, model=TWO[:1], view="pairs", item="1", why="true"
    )
    app.sidebar.segmented_control(key="metric").set_value("l2").run()
    check(app, [cosine(run, module_world, int(SMALL_PAIRS.queries[1]), int(SMALL_PAIRS.matches[1]))])
    assert "this explains the cosine" in written(app)


@pytest.mark.usefixtures("runs")
def test_the_toolkits_arithmetic_is_not_taken_apart(open_app: OpenApp, module_world: World) -> None:
    app = open_app(
        module_world.cache, "evalrank", data=SMALL_PAIRS.id, model=TWO[:1], view="pairs", item="1", why="true"
    )
    app.segmented_control(key="protocol").set_value("toolkit").run()
    assert not maps(app)
    assert "Choose the protocol “definition”" in written(app)


def test_a_pair_of_similarity(open_app: OpenApp, runs: dict[str, RunRecord], module_world: World) -> None:
    address = {"data": SCORED.id, "model": TWO, "view": "pairs", "a": TWO[0], "b": TWO[1]}
    app = open_app(module_world.cache, "similarity", **address, item="0", why="true")
    ends = int(SCORED.firsts[0]), int(SCORED.seconds[0])
    check(app, [cosine(runs[f"similarity {encoder}"], module_world, *ends) for encoder in (SUM, LEFT_OUT)])
    for html in maps(app):
        assert "<b>bold</b>" not in html
        assert "&lt;b&gt;bold&lt;/b&gt;"[:14] in html
    assert r"\<b\>bold\</b\>" in written(app)


def test_a_sentence_of_heros(open_app: OpenApp, runs: dict[str, RunRecord], module_world: World) -> None:
    address = {"data": SENTENCES.id, "model": TWO, "view": "sentences", "a": TWO[0], "b": TWO[1]}
    app = open_app(module_world.cache, "heros", **address, item="1", sent_rewrite="antonym", why="true")
    check(app, [cosine(runs[f"heros {encoder}"], module_world, 3, 5) for encoder in (SUM, LEFT_OUT)])
    assert "“no”, only in the rewrite" in written(app)


@pytest.mark.matrix
@pytest.mark.usefixtures("runs")
def test_a_neighbor_of_an_item_and_of_an_own_text(open_app: OpenApp, module_world: World) -> None:
    number = SMALL_PAIRS.items.index(DOG)
    address = {"data": SMALL_PAIRS.id, "model": TWO, "k": "5", "why": "true", "why_rank": "3"}
    app = open_app(module_world.cache, "neighbors", **address, item=str(number))
    check(app, _third(app))
    app = open_app(module_world.cache, "neighbors", **address, q="the cat of a dog")
    check(app, _third(app))
    module_world.run("evalrank", "lsa~center", SMALL_PAIRS.id)
    app = open_app(module_world.cache, "neighbors", **address | {"model": "lsa~center"}, q=CAT)
    check(app, _third(app))
    assert "lsa + center" in maps(app)[0]


def _third(app: AppTest) -> list[float]:
    """Similarities at rank 3, a model each, to the digits that the table has."""
    (found,) = (frame.value for frame in app.dataframe if frame.value.columns[0] == "rank")
    return [float(cell.split()[0]) for cell in found.iloc[2, 1:]]


@pytest.mark.usefixtures("runs")
def test_a_table_says_that_it_cannot(open_app: OpenApp, module_world: World, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [(text, f"[{i % 3 + 1}, {i % 5}, 1]") for i, text in enumerate(SCORED.items)]
    pd.DataFrame(rows, columns=["text", "embedding"]).to_csv(path, index=False)
    module_world.run("similarity", f"table:{path}", SCORED.id)
    address = {"data": SCORED.id, "model": f"table:{path}~none", "view": "pairs"}
    app = open_app(module_world.cache, "similarity", **address, item="0", why="true")
    assert not maps(app)
    assert "whole texts" in written(app)
