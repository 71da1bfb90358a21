"""Sweeps on a cluster as tasks of the app's queue: progress, cancel, failures, and what goes on after a crash."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.errors import BlindspotError, Cancelled
from blindspot.runs import pipeline, sweeps
from blindspot.runs.cluster import sweeps as on_cluster
from blindspot.runs.cluster.sweeps import ClusterSweep
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, no_progress
from tests.conftest import make_settings
from tests.support.cluster_calls import Calls
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.whole_store import everything
from tests.support.world import World

Use = Callable[[Calls], Settings]


@pytest.fixture
def use(world: World, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Make the cluster of ``BLINDSPOT_RAY`` one of calls."""

    def used(engine: Calls) -> Settings:
        monkeypatch.setattr(on_cluster, "engine_of", lambda *_: engine)
        return replace(world.settings, ray="ray://head:10001")

    return used


@pytest.fixture
def requests(world: World) -> Sequence[RunRequest]:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
    sweep = sweeps.Sweep(("trigrams", "bigrams"), ("none", "center"), ("small-pairs",), ("evalrank",))
    return sweeps.expand(sweep, world.settings).requests


def alone(requests: Sequence[RunRequest], folder: Path) -> object:
    """Everything in the store of one process."""
    other = make_settings(folder)
    repository = Repository.at(other.store)
    for request in requests:
        pipeline.run(request, other, repository)
    found = everything(repository)
    repository.database.close()
    return found


def test_progress_counts_all_runs_and_the_store_is_that_of_one_process(
    world: World, requests: Sequence[RunRequest], use: Use, tmp_path: Path
) -> None:
    settings, told = use(Calls()), list[tuple[str, int, int, float | None]]()
    pipeline.run(requests[0], world.settings, world.repository)
    note = ClusterSweep(tuple(requests)).do(
        settings, world.repository, lambda *one: told.append((*one, None)[:4]), CancelToken()
    )
    assert note == ""
    counts = [(done, total) for stage, done, total, _ in told if stage == on_cluster.ON_NODES]
    assert counts == sorted(counts)
    assert counts[0] == (1, len(requests)), "the stored one"
    assert counts[-1] == (len(requests), len(requests))
    assert told[0][0] == on_cluster.CONNECTING
    assert [share for *_, share in told if share is not None][-1] == 1.0
    assert everything(world.repository) == alone(requests, tmp_path / "alone")
    assert not list(world.settings.packs.glob("*")), "packs of a sweep that is done"


def test_a_cancelled_sweep_keeps_what_is_done_and_goes_on(
    world: World, requests: Sequence[RunRequest], use: Use, tmp_path: Path
) -> None:
    cancel, engine = CancelToken(), Calls()

    def stop(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if done:
            cancel.cancel()

    settings, task = use(engine), ClusterSweep(tuple(requests))
    with pytest.raises(Cancelled):
        task.do(settings, world.repository, stop, cancel)
    assert engine.closed == 1
    assert 0 < len(world.repository.runs()) < len(requests)
    assert list(settings.packs.glob("*/runs/*.json"))
    assert "1 run" in task.do(use(Calls()), world.repository, no_progress, CancelToken()), "its pack was there"
    assert everything(world.repository) == alone(requests, tmp_path / "alone")


@pytest.mark.heavy
def test_packs_that_a_killed_app_did_not_take_in_are_not_computed_again(
    world: World, requests: Sequence[RunRequest], use: Use, tmp_path: Path
) -> None:
    """The nodes have written everything, and the app was killed before it read any of it."""
    engine, out = Calls(), str(tmp_path / "shared")
    settings, task = replace(use(engine), ray_folder=out), ClusterSweep(tuple(requests))
    other = make_settings(tmp_path / "before")
    task.do(replace(settings, cache=other.cache), Repository.at(other.store), no_progress, CancelToken())
    (folder,) = Path(out).iterdir()
    assert len(list(folder.glob("runs/*.json"))) == len(requests), "a folder that was named is kept"

    def none(*_: object) -> Calls:
        raise AssertionError("nothing is left to compute")

    settings = replace(settings, ray_folder="")
    shutil.copytree(folder, settings.packs / folder.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_cluster, "engine_of", none)
        note = task.do(settings, world.repository, no_progress, CancelToken())
    assert f"{len(requests)} runs" in note
    assert everything(world.repository) == alone(requests, tmp_path / "alone")
    assert not list(settings.packs.glob("*"))


def test_runs_that_fail_are_named_and_the_others_are_stored(
    world: World, requests: Sequence[RunRequest], use: Use
) -> None:
    def fail(_: object) -> None:
        raise BlindspotError("its weights are damaged")

    world.add(GramEncoder("trigrams", 3, before=fail))
    with pytest.raises(BlindspotError, match="its weights are damaged") as caught:
        ClusterSweep(tuple(requests)).do(use(Calls()), world.repository, no_progress, CancelToken())
    assert "\n" not in str(caught.value)
    mine = [request for request in requests if request.variant.encoder == "trigrams"]
    assert str(caught.value).startswith(f"{len(mine)} of {len(requests)} ")
    assert all(request.label in str(caught.value) for request in mine)
    assert len(world.repository.runs()) == len(requests) - len(mine)


def test_what_cannot_be_reached_or_is_not_installed_is_one_line(
    world: World, requests: Sequence[RunRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, task = replace(world.settings, ray="ray://127.0.0.1:9"), ClusterSweep(tuple(requests))
    if sys.modules.get("ray", True) is not None:
        pytest.importorskip("ray")
        with pytest.raises(BlindspotError, match=r"ray://127\.0\.0\.1:9") as caught:
            task.do(settings, world.repository, no_progress, CancelToken())
        assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BlindspotError, match="BLINDSPOT_RAY") as caught:
        task.do(settings, world.repository, no_progress, CancelToken())
    assert "\n" not in str(caught.value)
    assert world.repository.runs() == []


def test_nodes_answer_before_any_work(world: World, use: Use, tmp_path: Path) -> None:
    settings = replace(use(Calls()), ray_folder=str(tmp_path / "shared"))
    title, answers = on_cluster.answers_of_nodes(settings)
    assert title == "calls"
    assert [(answer["node"], answer["refused"]) for answer in answers] == [("a", ""), ("b", "")]
    assert folder_at(settings.ray_folder).names("") == [], "what was written is removed"
