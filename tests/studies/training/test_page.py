"""The page *Training*: the score over the steps, and the pairs lost and won, as the evaluator has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import blindspot as bs
from blindspot.figures.theme import Scheme
from blindspot.studies.training import figures
from blindspot.studies.training.steps import Evaluated, evaluated, series_of
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart_named, table, values, written

PAIRS = [(f"question {n} on the {thing}", f"the {thing}: answer {n}") for thing in "cat dog".split() for n in range(12)]
MINIMAL = {
    "original": ["a big house", "a fast car"],
    "synonym": ["a large house", "a quick car"],
    "antonym": ["a small house", "a slow car"],
}
STEPS = ("step-0", "step-20", "step-40")


@dataclass(frozen=True)
class Made:
    cache: Path
    evaluator: bs.Evaluator

    @property
    def found(self) -> Evaluated:
        return evaluated(series_of("made", self.evaluator._place.repository)[0], self.evaluator._place.repository)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Three steps of a model that counts other letters at each: it wins and loses pairs."""
    cache = make_settings(tmp_path_factory.mktemp("made")).cache
    evaluator = bs.Evaluator(PAIRS, MINIMAL, name="made", store=cache)
    for number, label in enumerate(STEPS):
        letters = ("0123dc", "etaoin", "6789dg1")[number]
        evaluator(lambda texts, own=letters: [[text.count(c) + 1 for c in own] for text in texts], steps=20 * number)
        assert evaluator.steps[-1] == label
    return Made(cache, evaluator)


def test_the_score_and_the_lost_pairs_are_the_evaluators(open_app: OpenApp, made: Made) -> None:
    app = open_app(made.cache, "training")
    (line,) = chart_named(app, "training_score")["data"]
    assert values(line["x"]) == [0, 20, 40]
    assert values(line["y"]) == [float(made.evaluator.runs[label]["evalrank"]) for label in STEPS]
    changed = made.evaluator.changed()
    lost = changed[changed["gain"] < 0]
    assert 0 < len(lost) < len(changed)
    assert table(app, "no.", "step 0", "step 40")["no."][0] == lost["item_no"].iloc[0]
    assert len(chart_named(app, "training_lines")["data"]) == len(lost)
    assert f"{len(lost):,} were lost" in written(app)


def test_side_steps_and_the_chosen_pair_are_in_the_address(open_app: OpenApp, made: Made) -> None:
    changed = made.evaluator.changed("step-20", "step-40")
    won = changed[changed["gain"] > 0].iloc[::-1]
    number = int(won["item_no"].iloc[0])
    query = {"training": "made", "training_from": "step-20", "training_side": "won", "item": str(number)}
    app = open_app(made.cache, "training", **query)
    assert app.number_input(key="item").value == number
    *others, chosen = chart_named(app, "training_lines")["data"]
    assert chosen["name"] == str(number)
    assert all(chosen["line"]["width"] > line["line"]["width"] for line in others)
    (details,) = (one.proto.body for one in app.get("html") if "<table" in one.proto.body)
    assert PAIRS[number][0] in details
    (link,) = (one.proto for one in app.get("page_link") if one.proto.page == "evalrank")
    assert f"item={number}" in link.query_string
    assert "step-20" in link.query_string
    app.segmented_control(key="training_side").set_value("lost").run()
    app.selectbox(key="training_to").set_value("step-20").run()  # one step with itself
    assert not [one for one in app.get("plotly_chart") if "training_lines" in one.proto.id]


def test_minimal_pairs_have_a_series_of_their_own(open_app: OpenApp, made: Made) -> None:
    of_minimal = series_of("made", made.evaluator._place.repository)[1]
    app = open_app(made.cache, "training", training_on=of_minimal.id)
    (line,) = chart_named(app, "training_score")["data"]
    assert values(line["y"]) == [float(made.evaluator.runs[label]["heros"]) for label in STEPS]


def test_without_a_training_there_is_the_code_for_one(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "cache", "training")
    (code,) = app.code
    assert f"bs.Evaluator(pairs, name=\"my training\", store='{tmp_path / 'cache'}')" in code.value


def test_an_address_of_nothing_shows_what_there_is(open_app: OpenApp, made: Made) -> None:
    app = open_app(made.cache, "training", training="<b>gone</b>", training_on="x", training_to="step-99", item="7e9")
    assert app.selectbox(key="training").value == "made"
    assert app.selectbox(key="training_to").value == "step-40"


def test_texts_in_figures_are_text(tmp_path: Path) -> None:
    odd = [("<b>bold</b>", "<script>x</script>"), ("$a$ **b**", "[l](u)"), ("plain", "words")]
    evaluator = bs.Evaluator(odd, name="odd", store=tmp_path)
    for number in range(2):
        evaluator(lambda t, own="abx<"[number:]: [[text.count(c) + 1 for c in own] for text in t], steps=number)
    repository = evaluator._place.repository
    found = evaluated(series_of("odd", repository)[0], repository)
    figure = figures.items_over_steps(found, [0, 1, 2], 1, Scheme.LIGHT)
    assert all("<b" not in text and "<script" not in text for line in figure.data for text in line.text)


def test_few_steps_have_a_tick_and_a_score_each(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = len(made.found.series.numbers)
    for most, has_each in ((steps, True), (steps - 1, False)):
        monkeypatch.setattr(figures, "FEW_STEPS", most)
        figure = figures.score_over_steps(made.found, Scheme.LIGHT)
        assert (figure.layout.xaxis.tickvals is not None) == has_each
        assert (figure.data[0].text is not None) == has_each


def test_lines_are_the_values_a_little_apart(made: Made) -> None:
    found = made.found
    numbers = found.numbers.tolist()
    figure = figures.items_over_steps(found, numbers, None, Scheme.DARK)
    assert len(figure.data) == len(numbers)
    for line in figure.data:
        ranks = found.shown[numbers.index(int(line.name))]
        np.testing.assert_allclose(line.y, ranks, rtol=figures.SPREAD + 1e-9)
        assert [said for _, said in line.customdata] == [f"{rank:,.6g}" for rank in ranks]


def test_other_pages_show_the_last_step_and_say_what_they_hide(open_app: OpenApp, made: Made) -> None:
    app = open_app(made.cache, "overview")
    assert [len(frame.value) for frame in app.dataframe] == [2]
    assert "1 earlier step" in written(app)
    assert not [button for button in app.button if button.key == "show_postprocessed"]
