"""Stores that are only read: by many processes at once, and by nobody written to."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import httpx
import pytest

from benchmarks.app_server import serving
from blindspot.doctor import readiness
from blindspot.errors import BlindspotError, InputError
from blindspot.jobs.queue import JobQueue
from blindspot.runs import pipeline, requesting
from blindspot.settings import READ_ONLY, ROOT, Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.pages import OpenApp

HOLD = """
import sys, time
from pathlib import Path
from blindspot.store.repository import Repository
repository = Repository.at(Path(sys.argv[1]))
with repository.database.cursor() as cursor:
    print(cursor.execute("SELECT count(*) FROM run").fetchall()[0][0], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def only_read(environment: Settings, demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A cache with the demo's results, in a process that may only read."""
    monkeypatch.setenv("BLINDSPOT_CACHE", str(demo_copy))
    monkeypatch.setenv("BLINDSPOT_STORE", READ_ONLY)
    return Settings.from_environment()


@pytest.mark.process
def test_several_processes_have_it_open_at_once(only_read: Settings) -> None:
    runs = len(Repository.at(only_read.store).runs())
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(only_read.store)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        for holder in holders:
            assert holder.stdout
            assert int(holder.stdout.readline()) == runs > 0
        assert len(Repository.at(only_read.store).runs()) == runs  # and this process, too
    finally:
        for holder in holders:
            holder.communicate(timeout=60)


def test_nothing_is_written(only_read: Settings, blindspot: Command) -> None:
    before = only_read.store.read_bytes()
    repository = Repository.at(only_read.store)
    run = repository.runs()[0]
    with pytest.raises(BlindspotError):
        repository.delete(run)
    with pytest.raises(BlindspotError):
        repository.remember_alias("a", "b")
    request = requesting.request_of(run, only_read)
    assert pipeline.run(request, only_read, repository).record.run_id == run.run_id  # what is stored is found
    queue = JobQueue(only_read, repository)
    with pytest.raises(InputError):
        queue.submit("a run", [request])
    said = blindspot(
        "run", "evalrank", "--encoder", "random-projection", "--transform", "abtt:7", "--dataset", "demo-pairs"
    )
    assert (said.code, len(said.err.strip().splitlines())) == (1, 1)
    assert only_read.store.read_bytes() == before


def test_a_store_that_is_not_there_is_empty_and_not_made(
    tmp_path: Path, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "new"))
    monkeypatch.setenv("BLINDSPOT_STORE", READ_ONLY)
    assert blindspot.json("runs")["runs"] == []
    assert not (tmp_path / "new").exists()


def test_another_word_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_STORE", "readonly")
    with pytest.raises(InputError, match="BLINDSPOT_STORE"):
        Settings.from_environment()


def test_a_store_of_another_schema_is_said_in_a_line(only_read: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLINDSPOT_STORE")
    writer = Repository.at(only_read.store)
    with writer.database.transaction() as cursor:
        cursor.execute("DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)")
    writer.database.close()
    monkeypatch.setenv("BLINDSPOT_STORE", READ_ONLY)
    with pytest.raises(BlindspotError, match="schema version"):
        Repository.at(only_read.store).runs()


def test_a_store_that_is_replaced_is_read_anew(only_read: Settings, tmp_path: Path) -> None:
    repository = Repository.at(only_read.store)
    assert repository.runs()
    fewer = tmp_path / "fewer.duckdb"
    fewer.write_bytes(only_read.store.read_bytes())
    with duckdb.connect(str(fewer)) as connection:
        connection.execute("DELETE FROM run")
    fewer.replace(only_read.store)
    assert repository.runs() == []


def test_pages_say_that_nothing_can_be_run(only_read: Settings, open_app: OpenApp) -> None:
    at = open_app(only_read.cache, "run")
    assert [caption for caption in at.caption if "stored results" in caption.value]
    starts = [button for button in at.button if button.key == "run_all"]
    assert all(button.disabled for button in starts)


def test_it_is_ready_where_nothing_can_be_written(only_read: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run as root, who can write everywhere."""
    monkeypatch.setattr(readiness, "cannot_write_to", lambda folder: f"{folder} is on a read-only file system")
    assert readiness.not_ready(only_read, Repository.at(only_read.store)) == ()
    writing = replace(only_read, read_only=False)
    assert [finding.name for finding in readiness.not_ready(writing, Repository.at(writing.store))] == ["cache"]


@pytest.mark.process
@pytest.mark.server
def test_two_servers_have_one_store(only_read: Settings) -> None:
    """Real servers, both with the file open, asked in turn."""
    with serving(only_read.cache, prepare="nothing") as one, serving(only_read.cache, prepare="nothing") as other:
        for _ in range(3):
            for server in (one, other):
                assert httpx.get(f"{server.address}/ready", timeout=60).json()["ready"] is True
