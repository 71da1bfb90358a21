"""Grids: tasks, settings, requests, and which stored run answers which cell; on small runs of the real pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.published import pairs as loaders
from blindspot.errors import InputError
from blindspot.jobs.queue import JobQueue
from blindspot.runs import pipeline, requesting
from blindspot.runs.requests import RunRequest
from blindspot.store.repository import Repository
from blindspot.studies.lab import grid
from blindspot.studies.lab.grid import (
    Grid,
    Measure,
    Setting,
    Task,
    cannot_be,
    headlines,
    measures,
    requests,
    usual_tasks,
)
from blindspot.studies.lab.orders import Knob, contexts
from blindspot.transforms.chain import TransformChain
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.own_files import write
from tests.support.small_world import SMALL_PAIRS, Gate, GramEncoder, register_encoder, wait_until
from tests.support.tables import each
from tests.support.world import World

EVALRANK, GEOMETRY = Task("evalrank", "small-pairs"), Task("geometry", "small-pairs")
GRID = Grid(("bigrams", "trigrams"), ("none", "center", "truncate:8"), ("cos", "l2"), (EVALRANK, GEOMETRY))


@pytest.fixture(scope="module")
def lab(module_world: World) -> World:
    """All cells of ``GRID`` but those of the trigrams centred are stored."""
    module_world.add(GramEncoder("bigrams", 2), GramEncoder("trigrams", 3), SMALL_PAIRS)
    for request in requests(GRID, module_world.settings):
        if request.variant != Variant("trigrams", "center"):
            pipeline.run(request, module_world.settings, module_world.repository)
    return module_world


@pytest.fixture(scope="module")
def asked(lab: World) -> tuple[RunRequest, ...]:
    return requests(GRID, lab.settings)


def test_every_cell_once(asked: tuple[RunRequest, ...]) -> None:
    """EvalRank by both similarities, geometry without one; every encoder first with the first transform."""
    assert len(asked) == len(set(asked)) == 2 * 3 * 2 + 2 * 3
    evalrank = [r for r in asked if r.diagnostic == "evalrank"]
    assert {(str(r.variant), dict(r.params)["metric"]) for r in evalrank} == {
        (f"{e}~{t}", m) for e in GRID.encoders for t in GRID.transforms for m in GRID.metrics
    }
    assert [r.variant.transform for r in evalrank[:4]] == ["none"] * 4
    assert {r.variant.encoder for r in evalrank[:4]} == {"bigrams", "trigrams"}


def test_stored_cells_are_found_and_the_others_are_not(lab: World, asked: tuple[RunRequest, ...]) -> None:
    found = grid.stored_runs(asked, lab.repository)
    missing = [r for r in asked if r not in found]
    assert {r.variant for r in missing} == {Variant("trigrams", "center")}
    assert len(missing) == 3
    for request, run in found.items():
        assert pipeline.find(request, lab.settings, lab.repository) == run


def test_scores_stand_where_they_belong(lab: World, asked: tuple[RunRequest, ...]) -> None:
    found = grid.stored_runs(asked, lab.repository)
    wanted = (Measure(EVALRANK, "mrr"), Measure(GEOMETRY, "align"), Measure(GEOMETRY, "anisotropy"))
    table = grid.score_cells(asked, found, wanted)
    assert table.encoders == GRID.encoders
    assert len(table.settings) == 6 + 3 + 3
    for row, encoder in enumerate(table.encoders):
        for column, setting in enumerate(table.settings):
            task = setting.measure.task
            runs = [
                run
                for request, run in found.items()
                if Task(request.diagnostic, request.dataset) == task
                and request.variant == Variant(encoder, setting.chain)
                and dict(request.params).get("metric", "cos") == setting.metric
            ]
            expected = runs[0].metrics[setting.measure.score] if runs else float("nan")
            np.testing.assert_equal(table.values[row, column], expected)
    assert np.isnan(table.values).sum() == 4
    assert [s.measure.score for s in table.ranked.settings] == ["mrr"] * 4 + ["align"] * 2


def test_common_coverage_is_answered_by_a_run_over_all_items(lab: World, asked: tuple[RunRequest, ...]) -> None:
    """Which other encoders a request names makes no difference where they have a vector for everything."""
    other = {"bigrams": "trigrams", "trigrams": "bigrams"}
    named = [replace(r, covered_by=(other[r.variant.encoder],)) for r in asked if r.variant.transform == "none"]
    assert len(grid.stored_runs(named, lab.repository)) == len(named) == 6
    unknown = [replace(r, covered_by=("minilm",)) for r in named]
    assert grid.stored_runs(unknown, lab.repository) == {}


def test_held_out_is_another_run(lab: World, asked: tuple[RunRequest, ...]) -> None:
    held_out = requests(replace(GRID, fit_on="demo-minimal"), lab.settings)
    assert len(held_out) == len(asked)
    found = grid.stored_runs(held_out, lab.repository)
    assert {request.variant.transform for request in found} == {"none", "truncate:8"}, "they learn nothing from items"


def test_a_grid_of_nothing_is_refused(lab: World) -> None:
    with pytest.raises(InputError, match="no task"):
        requests(replace(GRID, tasks=()), lab.settings)
    with pytest.raises(InputError, match="no transform"):
        requests(replace(GRID, transforms=()), lab.settings)


def test_what_cannot_be_is_known_before(lab: World, asked: tuple[RunRequest, ...]) -> None:
    request = next(r for r in asked if r.variant == Variant("bigrams", "none"))

    def why(chain: str) -> str:
        return cannot_be(replace(request, variant=Variant("bigrams", chain)), lab.settings)

    assert why("none") == why("truncate:96") == why("abtt:95") == why("whiten") == why("whiten:96") == ""
    assert why("truncate:97") == "truncate:97 does not fit 96 dimensions"
    assert why("abtt:96") == "abtt:96 does not fit 96 dimensions"
    assert why("truncate:8+whiten:9") == "whiten:9 does not fit 8 dimensions"
    assert why("pca:8+truncate:8") == ""


def test_what_cannot_be_for_too_few_items(lab: World) -> None:
    request = requesting.request("evalrank", "random-projection", "none", "demo-pairs", {}, lab.settings)
    few = replace(request, variant=Variant("random-projection", "whiten:300"))
    assert cannot_be(few, lab.settings) == ""


@each("text", ["evalrank", "nothing@demo-pairs", "frequency@demo-words", "@demo-pairs"])
def test_what_is_no_task(text: str) -> None:
    with pytest.raises(InputError, match="no task"):
        Task.parse(text)


def test_tasks() -> None:
    assert Task.parse("heros@demo-minimal") == Task("heros", "demo-minimal")
    assert str(Task("heros", "demo-minimal")) == "heros@demo-minimal"
    with pytest.raises(InputError, match="does not run on"):
        Task.parse("heros@demo-pairs")


def test_readings_have_a_direction_or_describe() -> None:
    tasks = (EVALRANK, Task("heros", "demo-minimal"), GEOMETRY)
    found = measures(tasks)
    assert [r.score for r in headlines(tasks)] == ["mrr", "synonym>antonym", "align"]
    by_name = {r.score: r.direction for r in found}
    assert by_name["mrr"] == by_name["synonym>antonym"] == 1
    assert by_name["mean_rank"] == by_name["align"] == by_name["uniform"] == -1
    assert by_name["anisotropy"] == by_name["hubness_cos_sample"] == 0
    for name in by_name:
        assert not name.endswith(("_low", "_high", "_optimistic", "_ceiling", "_chance"))
    for task in tasks:
        assert next(r for r in found if r.task == task).score == task.entry.headline


def test_usual_tasks_follow_the_picked_dataset(tmp_path: Path) -> None:
    here = [DatasetRef("demo-pairs"), DatasetRef("demo-minimal")]
    assert [str(t) for t in usual_tasks(here[0], here)] == [
        "evalrank@demo-pairs",
        "heros@demo-minimal",
        "geometry@demo-pairs",
    ]
    scored = [DatasetRef("sts12"), DatasetRef("stsb-test")]
    with_scores = [str(t) for t in usual_tasks(scored[0], [*here, *scored])]
    assert with_scores == ["evalrank@demo-pairs", "heros@demo-minimal", "similarity@sts12", "geometry@demo-pairs"]
    mine = DatasetRef.parse(
        f"file:{write(tmp_path, 'csv', [{'query': f'a {n}', 'match': f'b {n}'} for n in range(3)])}"
    )
    with_own = [str(t) for t in usual_tasks(scored[0], [mine, *here, *scored])]
    assert with_own == [f"evalrank@{mine}", "heros@demo-minimal", "similarity@sts12", f"geometry@{mine}"]


def test_settings_tell_size_from_transform() -> None:
    setting = Setting.of(Measure(EVALRANK, "mrr"), "cos", TransformChain.parse("center+truncate:8+normalize"))
    assert (setting.transform, setting.size, setting.chain) == (
        "center+normalize",
        "truncate:8",
        "center+truncate:8+normalize",
    )


def test_whitening_to_fewer_dimensions_is_another_size_of_the_same_transform() -> None:
    measure = Measure(EVALRANK, "mrr")
    settings = [Setting.of(measure, "cos", TransformChain.parse(chain)) for chain in ("whiten", "whiten:3")]
    assert [(s.transform, s.size) for s in settings] == [("whiten", "full"), ("whiten", "whiten:3")]
    assert contexts(settings, Knob.SIZE) == [[0, 1]]
    assert contexts(settings, Knob.TRANSFORM) == []


def test_the_same_steps_in_another_order_are_not_laid_to_another_choice() -> None:
    measure = Measure(EVALRANK, "mrr")
    chains = ("truncate:8+whiten", "whiten+truncate:8")
    one_metric = [Setting.of(measure, "cos", TransformChain.parse(chain)) for chain in chains]
    assert all(contexts(one_metric, knob) == [] for knob in Knob)
    both = [Setting.of(measure, metric, TransformChain.parse(chain)) for chain in chains for metric in ("cos", "l2")]
    assert contexts(both, Knob.METRIC) == [[0, 1], [2, 3]]
    assert contexts(both, Knob.TRANSFORM) == []


@pytest.mark.heavy
def test_a_cancelled_grid_continues_where_it_was(asked: tuple[RunRequest, ...], tmp_path: Path) -> None:
    """As one job: cancelled while the second encoder's texts are encoded; what was stored is not computed again."""
    settings = make_settings(tmp_path / "cache")
    repository = Repository.at(settings.store)
    gate = Gate()
    with pytest.MonkeyPatch.context() as patch:
        register_encoder(patch, GramEncoder("trigrams", 3, gate))
        queue = JobQueue(settings, repository)
        try:
            first = queue.submit("grid", asked)
            wait_until(lambda: gate.reached > 0)
            before = grid.stored_runs(asked, repository)
            assert {r.variant.encoder for r in before} == {"bigrams"}
            queue.cancel(first)
            wait_until(lambda: not queue.active())
            missing = [r for r in asked if r not in before]
            gate.open(100)
            queue.submit("grid", missing)
            wait_until(lambda: not queue.active())
            after = grid.stored_runs(asked, repository)
            assert set(after) == set(asked)
            assert all(after[request] == run for request, run in before.items())
        finally:
            queue.close()


def test_what_was_transformed_for_one_similarity_serves_the_other(lab: World, asked: tuple[RunRequest, ...]) -> None:
    """Asked for in any order, a run's numbers are those of a fresh computation."""
    for request in [r for r in asked if r.variant == Variant("bigrams", "center")]:
        for neighbor in asked[:2]:
            pipeline.run(neighbor, lab.settings, lab.repository, again=True)
        assert pipeline.run(request, lab.settings, lab.repository, again=True).changed == {}
        assert pipeline.run(request, lab.settings, lab.repository, again=True).changed == {}


def test_how_much_of_a_test_a_corpus_holds() -> None:
    tested = loaders.pair_set("tested", pairs=[("a b", "c d")], background=["e f", "caf\u00e9"])
    corpus = loaders.pair_set("corpus", pairs=[("a b", "x")], background=["CAFE\u0301"])
    assert grid.share_seen(tested, corpus) == 2 / 4
    assert grid.share_seen(tested, tested) == 1.0
