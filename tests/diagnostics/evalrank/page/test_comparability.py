"""The EvalRank page where encoders lack words: items ranked, coverage, the toolkit protocol, frequency."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.runs import pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from tests.conftest import make_settings
from tests.support.pages import OpenApp, chart, written


def names_in_first_chart(app: AppTest) -> set[str]:
    traces = chart(app, 0)["data"]
    return {trace["name"] for trace in traces if trace["type"] == "bar"}


def vectors(path: Path, words: str, seed: int) -> str:
    draw = np.random.default_rng(seed)
    path.write_text("".join(f"{w} {' '.join(f'{x:.3f}' for x in draw.standard_normal(8))}\n" for w in words.split()))
    return f"vectors:{path}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, str, str, dict[str, RunRecord]]:
    """A store with two files of word vectors on their own words, on a user's file of pairs."""
    folder = tmp_path_factory.mktemp("comparability")
    settings = make_settings(folder / "cache")
    pairs = folder / "pairs.csv"
    pairs.write_text("query,mate\ncat,dog\ndog,cat\ncow,pig\nhen,owl\n")
    first = vectors(folder / "first.txt", "cat dog cow pig fox", 1)
    second = vectors(folder / "second.txt", "cat dog hen owl fox", 2)
    repository = Repository.at(settings.store)
    dataset, runs = f"file:{pairs}", {}
    for name, encoder in (("first", first), ("second", second)):
        request = pipeline.request("evalrank", encoder, "none", dataset, {}, settings)
        runs[name] = pipeline.run(request, settings, repository).record
    request = pipeline.request("evalrank", first, "none", dataset, {"protocol": "toolkit"}, settings)
    runs["toolkit"] = pipeline.run(request, settings, repository).record
    return settings, dataset, second, runs


def open_pairs(open_app: OpenApp, world: tuple, **query: str) -> AppTest:
    settings, dataset = world[:2]
    name = Path(dataset).name
    app = open_app(settings.cache, "evalrank", **query)
    picker = app.sidebar.selectbox(key="data")
    return picker.set_value(next(o for o in picker.options if o.endswith(name))).run()


def test_runs_on_different_items_are_not_mixed_and_a_common_one_is_offered(open_app: OpenApp, world: tuple) -> None:
    app = open_pairs(open_app, world)
    assert not app.exception
    assert len(names_in_first_chart(app)) == 1
    assert "on their common items all can be compared" in written(app)
    assert not app.button(key="run_common").disabled
    # the offer is what the command line computes with both encoders
    settings, dataset, _, runs = world
    both = [r.plan.variant.encoder for r in (runs["first"], runs["second"])]
    repository = Repository.at(settings.store)
    common = [
        pipeline.run(pipeline.request("evalrank", e, "none", dataset, {}, settings, both), settings, repository).record
        for e in both
    ]
    try:
        app = open_pairs(open_app, world)
        assert names_in_first_chart(app) == {"vectors:first.txt", "vectors:second.txt"}
        assert "all these encoders have a vector: 2 of 6 items, and so for 2 of 4 pairs" in written(app)
        assert "these scores are **not comparable**" not in written(app)
    finally:
        for record in common:
            repository.delete(record)


def test_own_items_are_said_not_to_be_comparable(open_app: OpenApp, world: tuple) -> None:
    app = open_pairs(open_app, world)
    app.segmented_control(key="support").set_value("own").run()
    assert not app.exception
    assert names_in_first_chart(app) == {"vectors:first.txt", "vectors:second.txt"}
    assert "these scores are **not comparable**" in written(app)
    assert "`vectors:first.txt` has a vector for 4 of 6 items, and so for 3 of 4 pairs" in written(app)
    assert "`vectors:second.txt` has a vector for 4 of 6 items, and so for 3 of 4 pairs" in written(app)


def test_the_toolkit_is_explained_with_both_numbers(open_app: OpenApp, world: tuple) -> None:
    app = open_pairs(open_app, world)
    app.sidebar.segmented_control(key="protocol").set_value("toolkit").run()
    assert not app.exception
    runs = world[3]
    note = next(str(i.value) for i in app.info if "as the published toolkit" in str(i.value))
    assert f"Hits@1 **{runs['toolkit'].metrics['hits@1']:.4f}**" in note
    assert f"Hits@1 **{runs['first'].metrics['hits@1']:.4f}**" in note
    assert "1 of 4 pairs" in note
    assert "another machine may give other digits" in note
    assert names_in_first_chart(app) == {"vectors:first.txt"}
