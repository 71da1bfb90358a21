"""The page Threshold by AppTest: the answer, its address, groups, calibration, another model, and what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.published import scored_pairs
from blindspot.numerics.thresholds.calibration import Way, calibrate
from blindspot.numerics.thresholds.curves import carried_over, wished
from blindspot.studies.threshold.pairs import Measured, Rule, of_runs
from blindspot.variants import Variant
from tests.studies.threshold.world import MARKED, SCORED, fill
from tests.support import transfer_world
from tests.support.pages import OpenApp, chart_named, table, values, written
from tests.support.world import World

A, B = Variant("trigrams", "none"), Variant("bigrams", "none")
BOTH = {"a": str(A), "b": str(B)}


@pytest.fixture(scope="module")
def cache(module_world: World) -> Path:
    fill(module_world)
    return module_world.cache


def measured(world: World, *variants: Variant) -> Measured:
    """The pairs as the store has them."""
    runs = [world.run("similarity", variant.encoder, SCORED) for variant in variants]
    return of_runs(runs, world.repository)


@pytest.mark.matrix
def test_the_answer_is_that_of_the_stored_similarities(open_app: OpenApp, cache: Path, module_world: World) -> None:
    pairs = measured(module_world, A).labeled(A, Rule(cut=4.0))
    found = wished(pairs, 0.8)
    assert found.point is not None and found.point.precision is not None  # noqa: PT018
    app = open_app(cache, "threshold", data=SCORED, wish="0.8", a=str(A))
    said = written(app)
    assert f"{found.point.threshold:.3f}" in said
    assert f"{found.point.precision.value:.3f}" in said
    assert f"{found.point.recall.value:.3f}" in said
    lines = {line.get("name"): line for line in chart_named(app, "threshold_curves")["data"]}
    assert values(lines["recall"]["y"])[0] == 1.0
    assert values(lines["precision"]["x"])[0] == pairs.similarity.min()
    assert app.number_input(key="wish").value == 0.8


@pytest.mark.heavy
def test_the_cut_moves_and_is_in_the_address(open_app: OpenApp, cache: Path, module_world: World) -> None:
    app = open_app(cache, "threshold", data=SCORED, cut="3", a=str(A))
    found = wished(measured(module_world, A).labeled(A, Rule(cut=3.0)), 0.95)
    assert found.point is not None
    assert f"{found.point.threshold:.3f}" in written(app)
    app.selectbox(key="cut").set_value("4").run()  # the usual one: four fifths of the range
    assert "cut" not in app.query_params


def test_groups(open_app: OpenApp, cache: Path, module_world: World) -> None:
    app = open_app(cache, "threshold", data=SCORED, wish="0.8", threshold_by="domain", a=str(A))
    rows = table(app, "group", "own threshold")
    assert rows["group"].tolist() == ["one", "two"]
    assert rows["pairs"].tolist() == [81, 80]
    pairs = measured(module_world, A).labeled(A, Rule(cut=4.0))
    sets = np.array(measured(module_world, A).domains)
    for name, own in zip(rows["group"], rows["own threshold"], strict=True):
        found = wished(pairs.within(sets == name), 0.8)
        assert own == (None if found.point is None else found.point.threshold)


def test_calibration(open_app: OpenApp, cache: Path, module_world: World) -> None:
    app = open_app(cache, "threshold", data=SCORED, view="calibration", a=str(A))
    pairs = measured(module_world, A).labeled(A, Rule(cut=4.0))
    rows = table(app, "calibration", "Brier score")
    assert rows["Brier score"].tolist() == [calibrate(pairs, way).brier.value for way in Way]
    assert len(chart_named(app, "threshold_reliability")["data"]) == 1 + len(Way)


@pytest.mark.heavy
def test_another_model(open_app: OpenApp, cache: Path, module_world: World) -> None:
    query = {"data": SCORED, "wish": "0.8", "view": "another model", **BOTH}
    app = open_app(cache, "threshold", **query)
    both = measured(module_world, A, B)
    rule = Rule(cut=4.0)
    a, b = (both.labeled(variant, rule) for variant in (A, B))
    found = wished(a, 0.8)
    assert found.point is not None
    over = carried_over(a, b, found.point.threshold)
    assert over.b.precision is not None
    assert f"{over.b.precision.value:.3f}" in written(app)
    app = open_app(cache, "threshold", **query, threshold_flips="b")
    rows = table(app, "pair", "similarity B")
    assert sorted(rows["pair"]) == sorted(both.numbers[over.only_b].tolist())


def test_with_b_the_headline_and_the_curves_are_of_both(open_app: OpenApp, cache: Path, module_world: World) -> None:
    app = open_app(cache, "threshold", data=SCORED, wish="0.6", **BOTH)
    both = measured(module_world, A, B)
    said = written(app)
    for variant in (A, B):
        found = wished(both.labeled(variant, Rule(cut=4.0)), 0.6)
        assert found.point is not None
        assert f"with {variant.label} from {found.point.threshold:.3f} on" in said
    names = {line.get("name") for line in chart_named(app, "threshold_curves")["data"]}
    assert names >= {f"{name}: {curve}" for name in ("trigrams", "bigrams") for curve in ("precision", "recall")}


def test_zero_and_one_are_not_the_same_and_the_same(open_app: OpenApp, module_world: World) -> None:
    texts = [f"{word} {n}" for n in range(12) for word in ("red", "green", "blue", "cat")]
    rows = [(one, f"{one} again" if n % 3 else f"dog {n}", float(n % 3 > 0)) for n, one in enumerate(texts)]
    module_world.add(scored_pairs.scored_pairs("toy-marked", {"one": rows}))
    module_world.run("similarity", "trigrams", "toy-marked")
    of_pairs = Measured(
        "x", np.arange(2), ("a", "b"), ("c", "d"), {}, None, ("0", "1"), ("", ""), (), 0, "digest"
    )  # fmt: skip
    assert (of_pairs.says_same, of_pairs.usual_rule(), of_pairs.same(of_pairs.usual_rule()).tolist()) == (
        *(True, Rule(label="1")),
        [False, True],
    )
    app = open_app(module_world.cache, "threshold", data="toy-marked", wish="0.6")
    assert not [box for box in app.selectbox if box.key in {"cut", "same"}], "there is nothing to choose"
    assert f"{len(rows):,} pairs" in written(app)
    assert "66.7% the same" in written(app)


def test_without_another_model_the_view_says_what_to_choose(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=SCORED, view="another model")
    assert any("B above" in box.value for box in app.info)


def test_pairs_that_a_model_lacks_are_counted(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=SCORED, wish="0.6", a="lacks~none")
    lacking = sum("river" in text for text in written(app).splitlines())
    assert lacking == 0
    assert "pairs left out" in written(app)


def test_labeled_pairs_and_the_label_in_the_address(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=transfer_world.PAIRS, wish="0.6", a=str(A))
    assert app.selectbox(key="same").value == "same"
    assert "60 pairs" in written(app)
    app.selectbox(key="same").set_value("other").run()
    assert app.query_params["same"] == "other"


def test_pairs_are_sampled_from_labeled_texts(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=transfer_world.SPLIT, wish="0.6", threshold_by="kind of pair")
    assert "sampled" in written(app)
    assert table(app, "group")["group"].tolist() == ["random", "similar words"]


def test_a_model_that_tells_no_pairs_apart_is_one_line(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=transfer_world.PAIRS, model="constant~none")
    (said,) = [box.value for box in app.info if "similarity" in box.value]
    assert "tells them apart" in said
    assert "\n" not in said.strip()


def test_texts_are_shown_as_texts(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=SCORED, view="another model", wish="0.5", **BOTH)
    assert MARKED not in written(app)


def test_what_is_not_encoded_is_offered(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "threshold", data=transfer_world.FOLDS)
    assert app.button(key="encode_here")


def test_a_store_without_pairs_offers_some(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "threshold")
    assert {button.key for button in app.button} >= {"pick_stsb-test", "pick_demo-scored"}
    app.button(key="pick_demo-scored").click().run()
    assert app.selectbox(key="data").value == "demo-scored"
    assert any("run" in str(button.key) for button in app.button)


@pytest.mark.parametrize("query", [{"wish": "7"}, {"wish": "x", "cut": "99", "threshold_by": "no", "a": "?"}])
def test_a_bad_address_gives_the_usual_view(open_app: OpenApp, cache: Path, query: dict[str, str]) -> None:
    app = open_app(cache, "threshold", data=SCORED, **query)
    assert 0.5 <= app.number_input(key="wish").value <= 0.999
    assert app.selectbox(key="cut").value == "4"
