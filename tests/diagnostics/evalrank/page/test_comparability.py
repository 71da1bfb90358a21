"""The EvalRank page where encoders lack words: items ranked, coverage, the toolkit protocol, frequency."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.runs import pipeline, requesting
from blindspot.store.records import RunRecord
from tests.support.animals import write_vectors
from tests.support.pages import OpenApp, dots_of_evalrank, written
from tests.support.world import World


def names_in_first_chart(app: AppTest) -> set[str]:
    return {label for label, _ in dots_of_evalrank(app)["mrr"]["customdata"]}


@pytest.fixture(scope="module")
def made(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, dict[str, RunRecord]]:
    """A store with two files of word vectors on their own words, on a user's file of pairs."""
    folder = tmp_path_factory.mktemp("comparability")
    pairs = folder / "pairs.csv"
    pairs.write_text("query,match\ncat,dog\ndog,cat\ncow,pig\nhen,owl\n")
    first = write_vectors(folder / "first.txt", "cat dog cow pig fox".split(), 1)
    second = write_vectors(folder / "second.txt", "cat dog hen owl fox".split(), 2)
    dataset = f"file:{pairs}"
    runs = {name: module_world.run("evalrank", f, dataset) for name, f in (("first", first), ("second", second))}
    return module_world, dataset, runs | {"toolkit": module_world.run("evalrank", first, dataset, protocol="toolkit")}


def open_pairs(open_app: OpenApp, made: tuple) -> AppTest:
    world, dataset, _ = made
    app = open_app(world.cache, "evalrank")
    picker = app.sidebar.selectbox(key="data")
    return picker.set_value(next(o for o in picker.options if o.startswith(Path(dataset).stem))).run()


@pytest.mark.heavy
def test_runs_on_different_items_are_not_mixed_and_a_common_one_is_offered(open_app: OpenApp, made: tuple) -> None:
    app = open_pairs(open_app, made)
    assert len(names_in_first_chart(app)) == 1
    assert not app.button(key="run_common").disabled
    # the offer is what the command line computes with both encoders
    world, dataset, runs = made
    settings, repository = world.settings, world.repository
    both = [r.plan.variant.encoder for r in (runs["first"], runs["second"])]
    requests = [requesting.request("evalrank", e, "none", dataset, {}, settings, both) for e in both]
    common = [pipeline.run(request, settings, repository).record for request in requests]
    try:
        app = open_pairs(open_app, made)
        assert names_in_first_chart(app) == {"first", "second"}
        assert "2 of 6 texts, and so for 2 of 4 pairs" in written(app)
        assert "these scores are **not comparable**" not in written(app)
    finally:
        for record in common:
            repository.delete(record)


def test_own_items_are_said_not_to_be_comparable(open_app: OpenApp, made: tuple) -> None:
    app = open_pairs(open_app, made)
    app.segmented_control(key="covered").set_value("own").run()
    assert names_in_first_chart(app) == {"first", "second"}
    assert "these scores are **not comparable**" in written(app)
    assert "`first` has a vector for 4 of 6 texts, and so for 3 of 4 pairs" in written(app)
    assert "`second` has a vector for 4 of 6 texts, and so for 3 of 4 pairs" in written(app)


@pytest.mark.matrix
def test_the_toolkit_is_explained_with_both_numbers(open_app: OpenApp, made: tuple) -> None:
    app = open_pairs(open_app, made)
    app.segmented_control(key="protocol").set_value("toolkit").run()
    runs = made[2]
    note = next(str(i.value) for i in app.info if "by the published toolkit" in str(i.value))
    assert f"Hits@1 **{runs['toolkit'].metrics['hits@1']:.4f}**" in note
    assert f"Hits@1 **{runs['first'].metrics['hits@1']:.4f}**" in note
    assert "1 of 4 pairs" in note
    assert "another machine may give other digits" in note
    assert names_in_first_chart(app) == {"first"}
