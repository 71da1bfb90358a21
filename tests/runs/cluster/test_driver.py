"""Driver of a sweep on a cluster, with nodes that are calls in this process: what goes wrong on one, and what is stored
in the end."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.errors import BlindspotError
from blindspot.files import writing
from blindspot.runs import pipeline, sweeps
from blindspot.runs.cluster import driver, node
from blindspot.runs.cluster.driver import Note
from blindspot.runs.cluster.engine import Ended
from blindspot.runs.computing import Done, Failed
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.conftest import make_settings
from tests.support.cluster_calls import Calls
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.whole_store import everything
from tests.support.world import World


@pytest.fixture
def requests(world: World) -> Sequence[RunRequest]:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
    sweep = sweeps.Sweep(
        ("trigrams", "bigrams"), ("none", "center"), ("small-pairs", "demo-pairs"), ("evalrank",), {"metric": ("cos",)}
    )
    return sweeps.expand(sweep, world.settings).requests


@pytest.fixture
def alone(requests: Sequence[RunRequest], tmp_path: Path) -> Iterator[Repository]:
    """The store of one process that computes the same."""
    other = make_settings(tmp_path / "alone")
    repository = Repository.at(other.store)
    for request in requests:
        pipeline.run(request, other, repository)
    yield repository
    repository.database.close()


class Ran:
    """What came of a sweep on nodes."""

    def __init__(self, engine: Calls, requests: Sequence[RunRequest], world: World, out: str = "packs") -> None:
        self.watched: list[tuple[int, float | None]] = []
        folder = folder_at(str(world.cache / out))
        events = list(
            driver.run(
                requests, engine, folder, world.settings, world.repository, lambda *seen: self.watched.append(seen)
            )
        )
        self.notes = [event.text for event in events if isinstance(event, Note)]
        self.stored = {event.request: event.outcome for event in events if isinstance(event, Done)}
        self.failed = {event.request: str(event.error) for event in events if isinstance(event, Failed)}
        assert engine.closed == 1
        assert len(events) == len(self.notes) + len(self.stored) + len(self.failed)
        assert not self.stored.keys() & self.failed.keys()


@pytest.mark.heavy
@pytest.mark.parametrize("limit", [None, 1])
def test_the_store_is_that_of_a_single_process(
    limit: int | None, requests: Sequence[RunRequest], world: World, alone: Repository
) -> None:
    ran = Ran(Calls(limit=limit), requests, world)
    assert (ran.notes, ran.failed, set(ran.stored)) == ([], {}, set(requests))
    assert everything(world.repository) == everything(alone)
    assert ran.watched[0][1] is not None, "as estimated"
    assert ran.watched[0][1] > 0
    assert ran.watched[-1][0] == len(requests)
    assert ran.watched[-1][1] == pytest.approx(0.0, abs=1e-6)


def test_what_is_there_is_not_computed_again(requests: Sequence[RunRequest], world: World) -> None:
    Ran(Calls(), requests[:3], world)
    began = world.repository.digest()
    ran = Ran(Calls(), requests[:3], world)
    assert [outcome.computed for outcome in ran.stored.values()] == [False] * 3
    assert world.repository.digest() == began


@pytest.mark.heavy
def test_a_node_with_another_version_is_left_out(
    requests: Sequence[RunRequest], world: World, alone: Repository
) -> None:
    other = {**node.software(), "blindspot": "0.1 (code 00000000)", "torch": "1.0"}
    ran = Ran(Calls(software={"a": other}), requests, world)
    (note,) = ran.notes
    assert "\n" not in note
    assert "0.1 (code 00000000)" in note
    assert (ran.failed, set(ran.stored)) == ({}, set(requests))
    assert everything(world.repository) == everything(alone)


def test_where_no_node_may_work_one_line_says_so(requests: Sequence[RunRequest], world: World) -> None:
    other = {**node.software(), "blindspot": "0.1"}
    with pytest.raises(BlindspotError, match=r"no node .*0\.1") as caught:
        Ran(Calls(software={"a": other, "b": other}), requests, world)
    assert "\n" not in str(caught.value)
    assert world.repository.runs() == []


class Blind(Calls):
    """As on Slurm, the nodes are not known."""

    def nodes(self) -> None:  # type: ignore[override]
        return None

    def check(self, task: bytes) -> list[Ended]:
        return []


@pytest.mark.heavy
@pytest.mark.parametrize("bad", ["ab", "abcde"])
def test_where_nodes_are_not_known_a_run_is_given_up_after_three(
    bad: str, requests: Sequence[RunRequest], world: World
) -> None:
    other = {**node.software(), "blindspot": "0.1"}
    ran = Ran(Blind(tuple("abcde"), software=dict.fromkeys(bad, other)), requests, world)
    if bad == "ab":
        assert (ran.failed, set(ran.stored)) == ({}, set(requests))
    else:
        assert (set(ran.failed), ran.stored) == (set(requests), {})
        assert all("0.1" in error for error in ran.failed.values())
        assert driver.MOST_REFUSALS <= len(ran.notes) <= len(bad)


@pytest.mark.heavy
def test_a_folder_that_is_not_shared_is_named_with_the_node(
    requests: Sequence[RunRequest], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[str] = []
    monkeypatch.setattr(
        node, "folder_at", lambda address: folder_at(str(world.cache / "elsewhere") if there[-1] == "a" else address)
    )
    ran = Ran(Calls(before=there.append), requests, world)
    (note,) = ran.notes
    assert "not shared" in note
    assert str(world.cache / "packs") in note
    assert set(ran.stored) == set(requests)
    assert not (world.cache / "elsewhere").exists()


@pytest.mark.heavy
def test_a_full_disk_of_one_node_leaves_it_out(
    requests: Sequence[RunRequest], world: World, alone: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[str] = []

    def fsync(number: int) -> None:
        if there and there[-1] == "a" and "/packs/runs/" in str(Path(f"/proc/self/fd/{number}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing.os, "fsync", fsync)
    ran = Ran(Calls(before=there.append), requests, world)
    (note,) = ran.notes
    assert os.strerror(errno.ENOSPC) in note
    assert (ran.failed, set(ran.stored)) == ({}, set(requests))
    assert everything(world.repository) == everything(alone)
    assert not list((world.cache / "packs").rglob("*.tmp"))


@pytest.mark.heavy
@pytest.mark.parametrize("error", [BlindspotError, RuntimeError, FileNotFoundError])
@pytest.mark.parametrize("ids", [("a", "b"), ("a",)])
def test_a_model_that_fails_on_one_node_is_tried_on_another(
    ids: tuple[str, ...], error: type[Exception], requests: Sequence[RunRequest], world: World
) -> None:
    """Whatever its library raises."""
    there: list[str] = []

    def fail(_: object) -> None:
        if there[-1] == "a":
            raise error("its weights are damaged here")

    world.add(GramEncoder("trigrams", 3, before=fail))
    ran = Ran(Calls(ids, before=there.append), requests, world)
    mine = {request for request in requests if request.variant.encoder == "trigrams"}
    if ids == ("a",):
        assert set(ran.failed) == mine
        assert all("its weights are damaged here" in error for error in ran.failed.values())
        assert ran.notes == []
    else:
        assert ran.failed == {}
        assert len(ran.notes) == sum("its weights are damaged here" in note for note in ran.notes)
    assert set(ran.stored) == set(requests) - set(ran.failed)
    assert not any("\n" in said for said in (*ran.notes, *ran.failed.values()))


@pytest.mark.heavy
def test_a_request_that_kills_its_worker_fails_alone(requests: Sequence[RunRequest], world: World) -> None:
    poison = requests[0]
    ran = Ran(Calls(dies=lambda at, task: poison in _requests(task)), requests, world)
    assert set(ran.failed) == {poison}
    assert set(ran.stored) == set(requests) - {poison}


def _requests(task: bytes) -> tuple[RunRequest, ...]:
    loaded = pickle.loads(task)
    assert isinstance(loaded, node.Task)
    return loaded.requests


@pytest.mark.heavy
def test_a_lost_task_is_done_again(requests: Sequence[RunRequest], world: World, alone: Repository) -> None:
    met: set[bytes] = set()

    def dies(at: str, task: bytes) -> bool:
        return bool(_requests(task)) and not (task in met or met.add(task))

    ran = Ran(Calls(dies=dies), requests, world)
    assert (ran.failed, set(ran.stored)) == ({}, set(requests))
    assert everything(world.repository) == everything(alone)


@pytest.mark.heavy
def test_an_interrupted_driver_stops_the_nodes_and_goes_on_later(
    requests: Sequence[RunRequest], world: World, alone: Repository
) -> None:
    engine = Calls()
    events = driver.run(
        requests, engine, folder_at(str(world.cache / "packs")), world.settings, world.repository, lambda *_: None
    )
    assert isinstance(next(events), Done)
    events.close()
    assert engine.closed == 1
    Ran(Calls(), requests, world)
    assert everything(world.repository) == everything(alone)


def test_variables_of_libraries_are_set_in_processes_of_the_engine_only(
    requests: Sequence[RunRequest], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba refuses another number of threads in the process of an app, or of tests, whose threads run already."""
    variables = {"OMP_NUM_THREADS": "3"}
    monkeypatch.setattr(os, "environ", variables)
    monkeypatch.setattr(node.computing, "compute", lambda *_: iter(()))
    folder = folder_at(str(world.cache / "packs"))
    folder.write(node.TOKEN, b"token")
    task, check = (
        pickle.dumps(node.Task(some, folder.address, "token", node.variables_of(world.settings)))
        for some in (tuple(requests), ())
    )
    for given, process_is_ours in ((task, False), (check, True)):
        assert node.work(node.software(), given, "a", process_is_ours=process_is_ours)["refused"] == ""
        assert variables == {"OMP_NUM_THREADS": "3"}
    assert node.work(node.software(), task, "a", process_is_ours=True)["refused"] == ""
    assert variables["NUMBA_NUM_THREADS"] == "3"
    assert Path(variables["NUMBA_CACHE_DIR"]).is_relative_to(world.cache)


def test_settings_of_the_node_go_before_those_of_the_driver(settings: Settings) -> None:
    mine = replace(settings, mirror="/data", cache_limit=12_345_678)
    assert Settings.from_environment(node.variables_of(mine)) == mine


def test_a_full_disk_is_found_behind_other_errors() -> None:
    error = BlindspotError("cannot write")
    error.__cause__ = OSError(errno.ENOSPC, "full")
    assert node.is_of_node(error)
    assert not node.is_of_node(BlindspotError("cannot write"))
    assert not node.is_of_node(OSError(errno.ENOENT, "none"))
