"""Sweeps on Ray: after kills, the store is that of one process. ``make trust`` has three nodes and twelve kills."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from blindspot.runs.cluster import on_ray
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from tests.conftest import make_settings
from tests.support import ray_faults
from tests.support.commands import Command
from tests.support.loopback import free_port
from tests.support.whole_store import everything

ray = pytest.importorskip("ray")

SWEEP = (
    "sweep --encoder random-projection-64 --encoder random-projection-1024 --transform none --transform center "
    "--dataset demo-minimal --diagnostic heros"
).split()
LONG = [*SWEEP, *"--encoder lsa --transform whiten:32 --dataset demo-pairs --diagnostic evalrank".split()]
KILLS, NODES = 12, 3
PATIENCE_SECONDS = 500
STORE_BYTES = 80 << 20  # of Ray's objects; nothing large goes through it


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """The store of one process that computes all."""
    cache = tmp_path_factory.mktemp("alone")
    _driver(cache, []).wait(PATIENCE_SECONDS)
    repository = Repository.at(make_settings(cache).store)
    yield repository
    repository.database.close()


def _environment(cache: Path, address: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith("BLINDSPOT")}
    return mine | {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu", "RAY_ADDRESS": address}


def _driver(cache: Path, more: list[str], address: str = "local") -> subprocess.Popen[bytes]:
    """The sweep as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "blindspot", *LONG, *more, "--json"],
        cwd=ROOT,
        env=_environment(cache, address),
        stdout=(cache / "out").open("wb"),
        stderr=(cache / "err").open("ab"),
    )


@pytest.mark.process
@pytest.mark.server
def test_a_worker_that_dies_amid_writing_changes_nothing(
    blindspot: Command, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "local")
    monkeypatch.setenv(ray_faults.MARK, str(tmp_path))
    monkeypatch.setattr(on_ray, "_on_node", ray_faults.dying_on_node)
    out = tmp_path / "packs"
    said = blindspot(*SWEEP, "--on", "ray", "--workers", "2", "--out", str(out), "--json")
    assert said.code == 0, said.err
    assert (tmp_path / "died").exists()
    on_nodes = {run["run_id"]: run for run in said.json["runs"]}
    assert all(run["computed"] for run in on_nodes.values())
    assert len(list((out / "runs").glob("*.json"))) == len(list((out / "runs").glob("*.parquet"))) == len(on_nodes) == 4
    assert not ray.is_initialized()

    # Nothing is left to do, so that no cluster is needed.
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{free_port()}")
    again = blindspot.json(*SWEEP, "--on", "ray", "--out", str(out))
    assert [run["computed"] for run in again["runs"]] == [False] * len(on_nodes)

    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "alone"))
    here = {run["run_id"]: run for run in blindspot.json(*SWEEP)["runs"]}
    assert {i: run["metrics"] for i, run in here.items()} == {i: run["metrics"] for i, run in on_nodes.items()}
    one, other = (Repository.at(make_settings(cache).store) for cache in (settings.cache, tmp_path / "alone"))
    assert everything(one) == everything(other)
    for repository in (one, other):
        repository.database.close()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--on", "spark"), 2, "ray://HOST:PORT"),
        (("--on", "ray://"), 2, "ray://HOST:PORT"),
        (("--on", "ray://host:port"), 2, "ray://HOST:PORT"),
        (("--on", "ray", "--shard", "1/2"), 2, "--shard"),
        (("--on", "ray", "--workers", "0"), 2, "--workers"),
        (("--on", "ray", "--gpus-per-task", "-1"), 2, "--gpus-per-task"),
        (("--workers", "2"), 2, "--on"),
        (("--on", "slurm"), 1, "Slurm"),
    ],
)
def test_what_cannot_be_is_one_line(blindspot: Command, options: tuple[str, ...], code: int, said: str) -> None:
    assert said in blindspot.error(*SWEEP, *options, code=code)


@pytest.mark.server
@pytest.mark.parametrize("on", ["ray", "ray://"])
def test_a_cluster_that_cannot_be_reached_is_named_at_once(
    on: str, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    began = time.monotonic()
    line = blindspot.error(*SWEEP, "--on", on if on == "ray" else on + address, code=1)
    assert address in line
    assert time.monotonic() - began < 30


def test_a_cluster_of_another_version_is_named(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray refuses it itself, in several lines."""

    def init(*_: object, **__: object) -> None:
        raise RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1\n")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setenv("RAY_ADDRESS", "local")
    assert "Ray: 2.9.0 Python: 3.10.1" in blindspot.error(*SWEEP, "--on", "ray", code=1)


def test_ray_is_an_extra(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "requirements-cluster.txt" in blindspot.error(*SWEEP, "--on", "ray", code=1)


# --- make trust


@pytest.mark.slow
def test_twelve_kills_of_workers_nodes_and_drivers_change_nothing(tmp_path: Path, alone: Repository) -> None:
    from ray.cluster_utils import Cluster

    chance, kills = random.Random(27), 0
    options = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**options, "num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(**options) for _ in range(NODES)]
        for sweep in itertools.count():
            cache = tmp_path / str(sweep)
            cache.mkdir()
            began, seen = kills, []
            driver = _driver(cache, ["--on", "ray"], cluster.address)
            while (ended := driver.poll()) != 0:
                if ended is not None:  # killed, or too many kills met the same run
                    driver = _driver(cache, ["--on", "ray"], cluster.address)
                elif kills < KILLS and (at_work := _workers()):
                    time.sleep(3 * chance.random())
                    what = ["worker", "worker", "node", "driver"][kills % 4]
                    if what == "worker":
                        chance.choice(at_work).kill()
                    elif what == "node":
                        cluster.remove_node(nodes.pop(0), allow_graceful=False)
                        nodes.append(cluster.add_node(**options))
                    else:
                        driver.send_signal(signal.SIGKILL)
                        driver.wait()
                    kills += 1
                    seen.append(what)
                time.sleep(1)
            print(f"sweep {sweep}: {', '.join(seen)}", flush=True)
            assert kills == began + len(seen)
            repository = Repository.at(make_settings(cache).store)
            assert everything(repository) == everything(alone)
            repository.database.close()
            assert len({run["run_id"] for run in json.loads((cache / "out").read_bytes())["runs"]}) == len(alone.runs())
            assert not list((cache / "packs").glob("*")), "packs of a sweep that is done"
            if kills >= KILLS:
                break
    finally:
        cluster.shutdown()


def _workers() -> list[psutil.Process]:
    """Processes of this one's cluster that do a task now."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "ray::_on_node" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
