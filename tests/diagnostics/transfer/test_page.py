"""The page Transfer by AppTest, on toy tasks: its views, what it offers, the example in the address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.user_data.files import tabulate
from blindspot.diagnostics.transfer import learning_curve
from blindspot.diagnostics.transfer.page import tasks
from blindspot.names import in_address
from blindspot.runs import estimates
from tests.conftest import make_settings
from tests.support import transfer_world as toy
from tests.support.gone_world import OWN
from tests.support.pages import OpenApp, table, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

TWO = ["trigrams~none", "bigrams~none"]
SIDES = {"a": "trigrams~none", "b": "bigrams~none"}


@pytest.fixture
def cache(toys: World) -> Path:
    return toys.cache


def test_an_empty_store_offers_the_demo_and_the_ten(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path / "empty", "transfer")
    assert "No transfer results yet" in written(app)
    assert "10 tasks" in written(app)
    labels = {button.label for button in app.button}
    assert {"Run the demo", "Run two tasks", "Run all ten"} <= labels


def test_tasks_shows_every_task_whatever_dataset_is_picked(open_app: OpenApp, toys: World) -> None:
    app = open_app(toys.cache, "transfer", data="demo-pairs", model=TWO)
    rows = table(app, "model", toy.SPLIT, toy.FOLDS)
    run = toys.run("transfer", "trigrams", toy.SPLIT)
    assert rows.set_index("model").loc["trigrams", toy.SPLIT] == pytest.approx(100 * run.metrics["accuracy"])
    assert rows.set_index("model").loc["always the most frequent class", toy.SPLIT] == pytest.approx(
        100 * run.metrics["majority"]
    )
    shared = [toys.run("transfer", "trigrams", name) for name in (toy.FOLDS, toy.SPLIT)]
    assert rows["mean of 2"][0] == pytest.approx(50 * sum(one.metrics["accuracy"] for one in shared))
    counts = table(app, "task", "overlap").set_index("task")
    assert counts["overlap"][[toy.SPLIT, toy.FOLDS]].tolist() == [1, 2]
    assert f"{1 / 43:.1%} " in counts.loc[toy.SPLIT, "in words"]
    assert f"{toy.PAIRS} by bigrams" in written(app)


def test_without_overlap_other_numbers_are_shown(
    open_app: OpenApp, toys: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two models the one that is ahead knows no meaning: the demo names the word that gives its classes away."""
    monkeypatch.setattr(tasks, "KNOW_NO_MEANING", ("bigrams",))
    monkeypatch.setattr(tasks, "DEMO", toy.SPLIT)
    app = open_app(toys.cache, "transfer", data=toy.SPLIT, model=TWO, overlap="without", transfer_score="macro_f1")
    (why,) = [caption.value for caption in app.caption if "“not”" in caption.value]
    assert "bigrams" in why
    assert "trigrams" not in why
    run = toys.run("transfer", "trigrams", toy.SPLIT)
    rows = table(app, "model", toy.SPLIT)
    assert rows[toy.SPLIT][0] == pytest.approx(100 * run.metrics["macro_f1_without_overlap"])
    assert "Macro F1, without overlap" in written(app)


@pytest.mark.heavy
def test_scores_on_other_examples_are_not_shown_beside(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer")
    assert "Scores of lacks are missing where they were tested on other examples" in written(app)
    app = open_app(cache, "transfer", transfer_covered="own")
    assert "**not comparable**" in written(app)
    part = table(app, "task", "in part").set_index("task").loc[toy.SPLIT, "in part"]
    assert part.startswith("lacks ")
    assert "of 158" in part


def test_more_can_be_run_for_a_price(open_app: OpenApp, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    estimate = estimates.estimate
    monkeypatch.setattr(
        estimates, "estimate", lambda requests, *rest: asked.append(requests) or estimate(requests, *rest)
    )
    app = open_app(cache, "transfer", model=TWO)
    app.multiselect(key="transfer_run_tasks").set_value([toy.PAIRS, toy.SPLIT]).run()
    app.pills(key="transfer_run_classifiers").set_value(["logreg", "mlp-znorm"]).run()
    # Two variants, two tasks, two classifiers: eight, of which three are stored.
    assert len(asked[-1]) == 8
    assert "5 runs (3 stored)" in written(app)
    assert "Run 5" in {button.label for button in app.button}


def test_classifiers_are_laid_beside_each_other(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer", data=toy.SPLIT, model=TWO, view="classifiers")
    assert table(app, "least Kendall")["task"].tolist() == [toy.SPLIT]
    assert table(app, "model", "logreg", "mlp")["model"].tolist() == ["trigrams", "bigrams"]
    assert table(app, "C, logreg")["C, logreg"].notna().all()
    said = written(app)
    assert "same order" in said or "depends on the classifier" in said
    assert f"{toy.SPLIT} with `logreg-znorm`, `logreg-chosen`, `mlp-znorm`" in said  # what is missing is offered


def test_learning_curves_are_offered_and_drawn(open_app: OpenApp, toys: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_curve, "TRIED", learning_curve.TRIED[:1])  # thirteen times less to fit
    app = open_app(toys.settings.cache, "transfer", data=toy.SPLIT, model=TWO, view="scarce")
    assert "Learning curves of trigrams, bigrams" in written(app)
    for model in ("trigrams", "bigrams"):
        toys.run("learning_curve", model, toy.SPLIT)
    app.run()
    assert table(app, "model", "10", "30")["model"].tolist() == ["trigrams", "bigrams"]
    assert "Learning curves of" not in written(app)
    assert "trigrams" in written(app)


@pytest.mark.heavy
def test_a_store_with_nothing_but_learning_curves_shows_them(open_app: OpenApp, world: World) -> None:
    world.add(toy.split(), GramEncoder(), GramEncoder("bigrams", size=2))
    for model in ("trigrams", "bigrams"):
        world.run("learning_curve", model, toy.SPLIT)
    app = open_app(world.settings.cache, "transfer", data=toy.SPLIT)
    assert set(table(app, "model", "10", "30")["model"]) == {"trigrams", "bigrams"}
    app = open_app(world.settings.cache, "transfer", data=toy.SPLIT, view="tasks")
    assert not app.exception


def test_a_chosen_task_that_is_not_here_is_left_out(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer", model=TWO)
    app.session_state["tasks"] = [toy.SPLIT, "of-another-classifier"]
    assert app.run().multiselect(key="tasks").value == [toy.SPLIT]


def test_one_encoder_has_no_ranking(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer", data=toy.SPLIT, model=TWO[:1], view="classifiers")
    assert "at least two models" in written(app)


def test_confusion_shows_classes_in_the_datasets_order(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer", data=toy.SPLIT, model=TWO, view="confusion", **SIDES)
    assert table(app, "class", "precision A", "F1, A − B")["class"].tolist() == ["number", "animal", "color"]


@pytest.mark.parametrize("view", ["confusion", "items"])
def test_a_view_of_one_task_asks_for_one(open_app: OpenApp, cache: Path, view: str) -> None:
    app = open_app(cache, "transfer", data="demo-pairs", view=view)
    assert "has no labeled texts" in written(app)
    next(button for button in app.button if button.label == toy.SPLIT).click().run()
    assert app.selectbox(key="data").value == toy.SPLIT
    assert "has no labeled texts" not in written(app)


def test_a_task_without_runs_is_offered(open_app: OpenApp, cache: Path) -> None:
    app = open_app(cache, "transfer", data="demo-negation", model=TWO, view="items")
    assert "Demo negation has no runs with `logreg` and seed 1" in written(app)
    assert "Run it" in {button.label for button in app.button}


def items(open_app: OpenApp, cache: Path, task: str = toy.SPLIT, **query: str) -> AppTest:
    return open_app(cache, "transfer", data=task, model=TWO, view="items", **SIDES, **query)


def test_items_are_those_that_one_gets_right_and_the_other_wrong(open_app: OpenApp, cache: Path) -> None:
    counts = {}
    app = items(open_app, cache)
    for which in ("won-by-a", "won-by-b"):
        app.segmented_control(key="outcome").set_value(which).run()
        assert app.query_params["outcome"] == which
        found = next(m.value for m in app.markdown if "tested examples**" in m.value)
        counts[which] = int(found.removeprefix("**").split(" of ")[0])
    assert re.search(rf" better on {counts['won-by-a']} items?, .* on {counts['won-by-b']}, alike", written(app))


def test_filters_of_items(open_app: OpenApp, cache: Path) -> None:
    app = items(open_app, cache, gold="animal")
    assert "**14 of 43 tested examples**" in written(app)
    app.selectbox(key="gold").set_value("all").run()
    app.toggle(key="only_overlap").set_value(True).run()
    assert "**1 of 43 tested examples**" in written(app)
    assert table(app, "gold")["text"].tolist() == [toy.LEAKED]
    app.toggle(key="only_overlap").set_value(False).run()
    app.text_input(key="transfer_search").set_value("SO RED AND").run()
    assert table(app, "gold")["text"].tolist() == [toy.LEAKED]
    app.text_input(key="transfer_search").set_value("nothing like it").run()
    assert "No examples match" in written(app)


def test_the_example_of_a_link_is_shown_as_text(open_app: OpenApp, cache: Path) -> None:
    dataset = toy.folds()
    number = dataset.items.index(toy.MARKED) + 1  # one text stands twice, so examples are one ahead of texts
    app = items(open_app, cache, toy.FOLDS, item=str(number))
    assert toy.MARKED in [text.value for text in app.text]
    assert "Its class is **color**" in written(app)
    says = table(app, "model", "predicts", "probability")
    assert says["model"].tolist() == ["trigrams", "bigrams"]
    assert set(says[""]) <= {"right", "wrong"}
    assert "groups of same texts" in written(app), "one text is there twice"


def test_an_example_that_is_not_tested_is_said_to_be_so(open_app: OpenApp, cache: Path) -> None:
    app = items(open_app, cache, item="0")
    assert "Example 0 is not among the 43" in written(app)
    app = items(open_app, cache, toy.PAIRS)  # of one variant only
    assert "A wrong" in str(app.segmented_control(key="transfer_rows").options)


def test_own_labeled_texts_can_be_run_before_anything_was(open_app: OpenApp, tmp_path: Path) -> None:
    """As the page Data leads here: *Test encoders on it: Transfer*."""
    settings = make_settings(tmp_path / "empty")
    data = OWN["transfer"][0].encode()
    upload = uploads.add(tabulate(Path("mine.csv"), data).contents(), data, settings)
    for address in ({"data": in_address(upload.reference)}, {}):
        app = open_app(settings.cache, "transfer", **address)
        assert not app.error
        app.button(key="transfer_run_mine")  # there is one
        assert app.multiselect(key="transfer_run_tasks").value == [upload.reference]
        assert not app.button(key="transfer_run_form").disabled
