"""Checks of a cluster, and of what sweeps on one left in the cache."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot import doctor
from blindspot.doctor import cluster, disk
from blindspot.doctor.findings import State
from blindspot.runs.cluster import node
from blindspot.runs.cluster import sweeps as on_cluster
from blindspot.settings import Mode, Settings
from blindspot.store.repository import Repository
from tests.support.cluster_calls import Calls
from tests.support.findings import by_name, check
from tests.support.loopback import free_port

DAY = 86_400


def test_without_a_cluster_nothing_is_said(settings: Settings) -> None:
    assert [*cluster.nodes(settings), *cluster.left_in_cache(settings)] == []


def test_each_node_is_asked_for_its_versions_and_the_folder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Calls(software={"b": {**node.software(), "torch": "1.0"}})
    monkeypatch.setattr(on_cluster, "engine_of", lambda *_: engine)
    cluster_settings = replace(settings, ray="ray://head:10001")
    reached, good, bad = cluster.nodes(cluster_settings)
    check(reached, State.OK, "calls", "ray==" if sys.modules.get("ray") else "")
    check(good, State.OK)
    check(bad, State.PROBLEM, "torch", "1.0")
    assert engine.closed == 1
    assert [*cluster.left_in_cache(settings)] == []


@pytest.mark.server
def test_a_cluster_that_does_not_answer_is_a_problem_in_one_line(settings: Settings) -> None:
    pytest.importorskip("ray")
    address = f"ray://127.0.0.1:{free_port()}"
    (found,) = cluster.nodes(replace(settings, ray=address))
    check(found, State.PROBLEM, address)
    assert found.remedy


def test_ray_that_is_not_installed_is_a_problem_with_the_command(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for address in ("local", "auto", "ray://head"):
        (found,) = cluster.nodes(replace(settings, ray=address))
        check(found, State.PROBLEM, "ray", remedy="requirements-cluster.txt")


def test_on_a_demo_no_cluster_is_asked(settings: Settings) -> None:
    (found,) = cluster.nodes(replace(settings, ray="ray://127.0.0.1:1", mode=Mode.DEMO))
    check(found, State.OK)


def test_packs_and_jobs_are_listed_with_size_age_and_what_to_do(settings: Settings) -> None:
    for name, days in (("old", 3), ("new", 0)):
        runs = settings.packs / name / "runs"
        runs.mkdir(parents=True)
        for file in ("0a.json", "0a.parquet"):
            (runs / file).write_bytes(bytes(1_000))
        then = time.time() - days * DAY - 60
        for path in (settings.packs / name, runs, *runs.iterdir()):
            os.utime(path, (then, then))
    settings.slurm.mkdir()
    (settings.slurm / "7_submission.sh").write_bytes(bytes(500))
    found = by_name(cluster.left_in_cache(settings))
    packs = found["result packs"]
    check(packs, State.NOTE, "2 sweeps", "2 runs", "3 days", "3.9 KiB", remedy=f"runs import {settings.packs / 'old'}")
    assert packs.what.index("old (") < packs.what.index("new (")
    check(found["slurm"], State.NOTE, "1 file", "500 bytes", remedy=str(settings.slurm))
    (size,) = disk.usage(settings)
    check(size, State.OK, "result packs 3.9 KiB", "slurm 500 bytes")
    every = doctor.examine(settings, Repository.at(settings.store), {})
    assert {"result packs", "slurm"} <= {one.name for one in every if one.state is State.NOTE}


def test_an_empty_folder_is_nothing(settings: Settings, tmp_path: Path) -> None:
    settings.packs.mkdir(parents=True)
    assert [*cluster.left_in_cache(settings)] == []
