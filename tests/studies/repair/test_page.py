"""Page *Repair*: the stored report, the offer to make one, what cannot be repaired, and strange addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.settings import Mode
from blindspot.studies.repair import fitting, page, task
from blindspot.studies.repair.results import Report, answer
from blindspot.studies.repair.task import RepairTask
from blindspot.types import CancelToken, no_progress
from blindspot.ui.resources import jobs
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.world import World

ENCODER = "random-projection"
WHERE = {"data": "demo-minimal", "repair_enc": ENCODER}


@pytest.fixture(scope="module")
def made(module_world: World) -> Iterator[tuple[World, Report]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "STEPS", 30)
        patch.setattr(task, "SHUFFLED", 1)
        asked = RepairTask.of(ENCODER, DatasetRef("demo-minimal"), module_world.settings)
        yield (
            module_world,
            task.make(asked, module_world.settings, module_world.repository, no_progress, CancelToken()),
        )


@pytest.mark.trains
def test_the_answer_the_chart_and_every_measure(made: tuple[World, Report], open_app: OpenApp) -> None:
    world, report = made
    app = open_app(world.cache, "repair", **WHERE)
    assert not app.exception
    assert answer(report)[0] in written(app)
    assert any(code.value == report.chain for code in app.code)
    shown = table(app, "measured on", "after")
    for cell, measure in zip(shown["after"], report.measures, strict=True):
        unit = 100 if cell.endswith("%") else 1
        assert float(cell.rstrip("%").replace("−", "-")) == pytest.approx(
            unit * measure.after, abs=0.06 if unit == 100 else 6e-4
        )
    (trained,) = (trace for trace in chart_named(app, "repair_changes")["data"] if trace["name"] == "repair")
    assert len(trained["y"]) == sum(one.counts for one in report.measures)
    assert not any(button.key == "repair_train" for button in app.button)


@pytest.mark.matrix
def test_the_tolerance_decides_the_verdict(made: tuple[World, Report], open_app: OpenApp) -> None:
    world, report = made
    app = open_app(world.cache, "repair", **WHERE, repair_drop="1.0")
    assert answer(report, 1.0)[0] in written(app)


@pytest.mark.trains
def test_the_command_on_screen_asks_for_the_same_repair(made: tuple[World, Report]) -> None:
    world, _ = made
    usual = RepairTask.of(ENCODER, DatasetRef("demo-minimal"), world.settings)
    assert page.command(usual).split()[2:] == [
        *("--encoder", ENCODER, "--data", "demo-minimal", "--output", "repaired")
    ]
    other = replace(
        usual,
        method=fitting.Method.QUERIES,
        keep=10.0,
        seed=3,
        kinds=("antonym", "negation_main"),
        tests=(DatasetRef("demo-pairs"), DatasetRef("demo-words")),
    )
    words = page.command(other).split()
    pairs = list(zip(words[2::2], words[3::2], strict=True))
    options = dict(pairs)
    asked = RepairTask.of(
        options["--encoder"],
        DatasetRef(options["--data"]),
        world.settings,
        method=options["--method"],
        keep=float(options["--keep"]),
        seed=int(options["--seed"]),
        kinds=[word for name, word in pairs if name == "--kind"],
        tests=[DatasetRef(word) for name, word in pairs if name == "--test-on"],
    )
    assert asked == other


@pytest.fixture(scope="module")
def tested_elsewhere(made: tuple[World, Report]) -> tuple[RepairTask, Report]:
    """A repair that a command tested on a dataset of its choice, where none was tested as usual."""
    world, _ = made
    asked = RepairTask.of(
        ENCODER,
        DatasetRef("demo-minimal"),
        world.settings,
        tests=[DatasetRef("demo-pairs")],
        keep=10.0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "STEPS", 30)
        patch.setattr(task, "SHUFFLED", 1)
        return asked, task.make(asked, world.settings, world.repository, no_progress, CancelToken())


@pytest.mark.trains
def test_a_repair_with_tests_of_its_own_is_shown_with_them(
    made: tuple[World, Report], tested_elsewhere: tuple[RepairTask, Report], open_app: OpenApp
) -> None:
    world, _ = made
    asked, report = tested_elsewhere
    usual = replace(asked, tests=())
    assert task.find(usual, world.settings) is None
    assert list(task.kept(usual, world.settings)) == [asked]
    where = {**WHERE, "repair_keep": "10"}
    app = open_app(world.cache, "repair", **where)
    picker = app.selectbox(key="repair_tested")
    assert picker.value == task.path_of(asked, world.settings).stem
    assert any("Demo pairs" in option for option in picker.options)
    assert answer(report)[0] in written(app)
    assert len(table(app, "measured on", "after")) == len(report.measures)
    assert any("--test-on demo-pairs" in code.value for code in app.code)
    link = dict(app.query_params)
    app.selectbox(key="repair_tested").set_value("usual").run()
    assert app.button(key="repair_train").disabled is False
    again = open_app(world.cache, "repair", **link)
    assert answer(report)[0] in written(again), "a copied link shows the same"
    other = open_app(world.cache, "repair", **WHERE)
    assert not any(box.key == "repair_tested" for box in other.selectbox), "of this repair, there is one"


@pytest.mark.trains
def test_a_repair_that_was_tested_on_a_file_is_not_for_visitors_of_a_demo(
    made: tuple[World, Report], tested_elsewhere: tuple[RepairTask, Report]
) -> None:
    world, _ = made
    asked, report = tested_elsewhere
    private = replace(asked, tests=(DatasetRef("file:/texts/private.csv"),))
    path = task.path_of(private, world.settings)
    path.write_text(json.dumps(replace(report, tested_on=private.tests).to_json()), "utf-8")
    usual = replace(asked, tests=())
    assert private in task.kept(usual, world.settings)
    assert set(task.kept(usual, replace(world.settings, mode=Mode.DEMO))) == {asked}
    path.unlink()


@pytest.mark.matrix
def test_one_kind_is_another_repair(made: tuple[World, Report], open_app: OpenApp) -> None:
    world, _ = made
    app = open_app(world.cache, "repair", **WHERE, repair_kind="negation_main")
    assert app.multiselect(key="repair_kind").value == ["negation_main"]
    assert set(app.multiselect(key="repair_kind").options) == {
        "antonym",
        "negated clause",
        "negated word",
        "random word",
    }
    assert app.button(key="repair_train").disabled is False


@pytest.mark.trains
def test_what_is_not_trained_yet_is_offered(made: tuple[World, Report], open_app: OpenApp) -> None:
    world, _ = made
    app = open_app(world.cache, "repair", **WHERE, repair_method="queries")
    assert app.button(key="repair_train").disabled is False
    assert not app.code
    assert not jobs().jobs()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"data": "demo-scored"}, "(sidebar) is not a"),  # the dataset of the newest run is shown
        ({"data": "demo-minimal", "repair_enc": "lsa"}, "fits no other"),
    ],
)
def test_what_cannot_be_repaired_is_said(
    made: tuple[World, Report], open_app: OpenApp, query: dict[str, str], said: str
) -> None:
    world, _ = made
    app = open_app(world.cache, "repair", **query)
    assert not app.exception
    assert said in " ".join(one.value for one in [*app.info, *app.caption])


@pytest.mark.matrix
def test_a_strange_address_is_as_none(made: tuple[World, Report], open_app: OpenApp) -> None:
    world, report = made
    app = open_app(world.cache, "repair", **WHERE, repair_method="<b>", repair_rank="-1", repair_drop="1e99")
    assert not app.exception
    assert answer(report)[0] in written(app)
