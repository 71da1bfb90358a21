"""Sweeps in shards, ``runs import`` and ``runs export``: exit codes, what is named, what survives a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.format import ids_in, read_pack
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

SWEEP = (
    "sweep",
    "--encoder",
    "trigrams",
    "--encoder",
    "bigrams",
    "--dataset",
    "small-pairs",
    "--dataset",
    "demo-pairs",
)
SMALL = (*SWEEP, "--diagnostic", "evalrank", "--transform", "none", "--transform", "center", "--metric", "cos")
PATIENCE_SECONDS = 300


@pytest.fixture(autouse=True)
def small_things(world: World) -> None:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)


def scores(store: Path) -> dict[str, Any]:
    return {run.run_id: dict(run.metrics) for run in Repository.at(store).runs()}


@pytest.mark.heavy
def test_shards_are_imported_as_one_process_computes(
    blindspot: Command, environment: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = tmp_path / "packs"
    for i in (1, 2, 3):
        said = blindspot.json(*SMALL, "--shard", f"{i}/3", "--out", str(packs))
        assert said["failed"] == []
    assert not environment.store.exists()
    again = blindspot.json(*SMALL, "--shard", "2/3", "--out", str(packs))
    assert not any(run["computed"] for run in again["runs"])
    assert len(blindspot.json("runs", "import", str(packs))["imported"]) == 8
    second = blindspot.json("runs", "import", str(packs))
    assert (second["imported"], len(second["in_the_store"]), second["refused"]) == ([], 8, [])
    imported = scores(environment.store)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "elsewhere"))
    blindspot.json(*SMALL)
    assert scores(tmp_path / "elsewhere" / "results.duckdb") == imported


@pytest.mark.heavy
def test_what_is_exported_can_be_imported_elsewhere(
    blindspot: Command, environment: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = blindspot.json(*SMALL)["runs"]
    there = scores(environment.store)
    assert blindspot.json("runs", "export", runs[0]["run_id"], "--out", str(tmp_path / "one"))["exported"]
    assert len(ids_in(folder_at(str(tmp_path / "one")))) == 1
    assert len(blindspot.json("runs", "export", "--out", str(tmp_path / "all"))["exported"]) == 8
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "elsewhere"))
    assert blindspot("runs", "import", str(tmp_path / "all")).code == 0
    assert scores(tmp_path / "elsewhere" / "results.duckdb") == there
    assert blindspot("runs", "export").code == 2


def test_damaged_packs_are_listed_and_the_others_imported(blindspot: Command, tmp_path: Path) -> None:
    packs = tmp_path / "packs"
    blindspot.json(*SMALL, "--out", str(packs))
    first, second, *_ = ids_in(folder_at(str(packs)))
    (packs / "runs" / f"{first}.parquet").write_bytes(b"PAR1 no more")
    (packs / "runs" / f"{second}.json").write_text("{}")
    (packs / "runs" / "notes.json").write_text("{}")
    said = blindspot("runs", "import", str(packs), "--json")
    assert said.code == 1
    found = json.loads(said.out)
    assert {one["name"] for one in found["refused"]} == {first, second, "notes"}
    assert len(found["imported"]) == 6
    assert len(said.err.strip().splitlines()) == 1
    assert first in blindspot("runs", "import", str(packs)).out


@pytest.mark.heavy
def test_a_plan_says_what_each_worker_gets(blindspot: Command) -> None:
    whole = blindspot.json(*SMALL, "--dry-run")["groups"]
    assert sum(group["runs"] for group in whole) == 8
    assert {group["model"] for group in whole} == {"trigrams", "bigrams"}
    assert all(min(group["seconds"], group["memory_bytes"], group["disk_bytes"]) > 0 for group in whole)
    parts = [blindspot.json(*SMALL, "--dry-run", "--shard", f"{i}/2")["groups"] for i in (1, 2)]
    assert sum(group["runs"] for part in parts for group in part) == 8
    blindspot.json(*SMALL)
    assert blindspot.json(*SMALL, "--dry-run")["groups"] == []  # all are in the store


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/9999999"])
def test_a_shard_that_there_is_not_is_bad_input(blindspot: Command, tmp_path: Path, shard: str) -> None:
    assert blindspot(*SMALL, f"--shard={shard}", "--out", str(tmp_path)).code == 2


def test_bad_folders_are_said_in_a_line(blindspot: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for command in (
        (*SMALL, "--shard", "1/2"),
        ("runs", "import", str(tmp_path / "none")),
        ("runs", "import", "nosuch://somewhere"),
    ):
        said = blindspot(*command)
        assert (said.code, len(said.err.strip().splitlines())) == (2, 1), command
    said = blindspot(*SMALL, "--out", str(tmp_path / "file"))
    assert said.code == 1
    assert len(said.err.strip().splitlines()) == 1


def started(*command: str, cache: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "BLINDSPOT_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "blindspot", *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


DEMO = ("sweep", "--encoder", "random-projection", "--dataset", "demo-pairs", "--diagnostic", "evalrank")


@pytest.mark.slow
def test_kills_leave_packs_that_are_complete_or_absent(blindspot: Command, tmp_path: Path) -> None:
    packs, cache = tmp_path / "packs", tmp_path / "cache"
    command = (*DEMO, *(f"--transform={name}" for name in ("none", "center", "abtt:1", "abtt:2", "abtt:3", "whiten")))
    for wanted in (1, 3):
        process = started(*command, "--out", str(packs), cache=cache)
        until = time.monotonic() + PATIENCE_SECONDS
        while len(list(packs.glob("runs/*"))) < 2 * wanted and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name in ids_in(folder_at(str(packs))):
            read_pack(folder_at(str(packs)), name)
    assert started(*command, "--out", str(packs), cache=cache).wait(PATIENCE_SECONDS) == 0
    assert len(ids_in(folder_at(str(packs)))) == 6
    store = tmp_path / "imported" / "results.duckdb"
    process = started("runs", "import", str(packs), cache=store.parent)
    until = time.monotonic() + PATIENCE_SECONDS
    while not store.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for run in Repository.at(store).runs():
        assert run.metrics
    assert started("runs", "import", str(packs), cache=store.parent).wait(PATIENCE_SECONDS) == 0
    assert len(scores(store)) == 6
    with Repository.at(store).database.cursor() as cursor:
        rows = cursor.execute("SELECT count(*), count(DISTINCT (run_seq, item_no)) FROM result_evalrank_v2").fetchall()
        metrics = cursor.execute("SELECT count(DISTINCT run_seq) FROM metric").fetchall()
    assert rows[0][0] == rows[0][1] > 0
    assert metrics[0][0] == 6
