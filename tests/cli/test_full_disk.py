"""A disk that is full and one that is read-only: one clear line, and a store that has lost nothing.

A small tmpfs is mounted for the command alone where this machine lets us (``unshare``); elsewhere a limit on the size
of files does the same to whoever writes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from blindspot.runs import pipeline, requesting
from blindspot.settings import ROOT, Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.conftest import make_settings
from tests.support.commands import python

ENCODER = "random-projection-64"
# A copy of the cache on a disk of its own, of which little or nothing is free; what is left of it, outside.
ON_A_DISK = """
set -e
mount -t tmpfs -o size=16m none "$DISK"
cp -a "$CACHE/." "$DISK"
case $FREE in
    read-only) mount -o remount,ro "$DISK" ;;
    *) head -c 16m /dev/zero > "$DISK/filler" 2> /dev/null || true; truncate -s "-$FREE" "$DISK/filler" ;;
esac
code=0
"$@" || code=$?
cp -a "$DISK/." "$LEFT"
exit $code
"""


def may_mount() -> bool:
    command = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Filled:
    """A cache with one finished run."""

    settings: Settings
    run_id: str
    metrics: dict[str, float]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    settings = make_settings(tmp_path_factory.mktemp("filled") / "cache")
    repository = Repository.at(settings.store)
    request = requesting.request("evalrank", ENCODER, "none", "demo-pairs", {}, settings)
    record = pipeline.run(request, settings, repository).record
    repository.database.close()
    return Filled(settings, record.run_id, dict(record.metrics))


def environment(cache: Path) -> dict[str, str]:
    return os.environ | {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu", "BLINDSPOT_MODE": "local"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "blindspot", *arguments]


def run_of(metric: str = "l2", encoder: str = ENCODER) -> list[str]:
    return command("run", "evalrank", "--encoder", encoder, "--dataset", "demo-pairs", "--metric", metric)


def one_line(said: subprocess.CompletedProcess[str]) -> str:
    """The error of a command: its last line, and the only one that is no progress."""
    assert said.returncode == 1, said.stderr
    assert "Traceback" not in said.stderr + said.stdout
    *_, last = said.stderr.splitlines()
    assert last.startswith("error: ")
    assert "unexpected" not in last
    return last


def assert_whole(cache: Path, filled: Filled) -> None:
    """The finished run is as it was, nothing else is finished, and the same command now comes to its end."""
    repository = Repository.at(cache / "results.duckdb")
    done = repository.runs(state=RunState.DONE)
    assert [(run.run_id, dict(run.metrics)) for run in done] == [(filled.run_id, filled.metrics)]
    assert len(repository.runs()) <= 2
    assert repository.runs(state=RunState.RUNNING) == []
    assert not list((cache / "embeddings").rglob("*.tmp"))
    settings = make_settings(cache)
    request = requesting.request("evalrank", ENCODER, "none", "demo-pairs", {"metric": "l2"}, settings)
    assert pipeline.run(request, settings, repository).computed
    repository.database.close()


@pytest.mark.process
@pytest.mark.skipif(not may_mount(), reason="this machine lets us mount nothing: see the limit on the size of files")
@pytest.mark.parametrize(
    ("free", "what", "words"),
    [
        pytest.param("0", run_of(), "cannot read or write the store", marks=pytest.mark.slow),
        pytest.param("600k", run_of("cos", "random-projection-1024"), "cannot write", marks=pytest.mark.slow),
        ("8k", run_of(), "cannot"),
        pytest.param("read-only", run_of(), "cannot open the store", marks=pytest.mark.slow),
        pytest.param("read-only", command("runs"), "cannot open the store", marks=pytest.mark.slow),
    ],
    ids=["full", "too full to encode", "too full to store", "read-only", "reading what is read-only"],
)
def test_a_disk_that_takes_nothing_more(filled: Filled, tmp_path: Path, free: str, what: list[str], words: str) -> None:
    disk, left = tmp_path / "disk", tmp_path / "left"
    disk.mkdir()
    left.mkdir()
    places = {"CACHE": str(filled.settings.cache), "FREE": free, "DISK": str(disk), "LEFT": str(left)}
    said = subprocess.run(
        ["unshare", "-rm", "sh", "-c", ON_A_DISK, "sh", *what],
        cwd=ROOT,
        env=environment(disk) | places,
        capture_output=True, text=True, check=False
    )  # fmt: skip
    error = one_line(said)
    assert words in error
    assert ("Read-only file system" if free == "read-only" else "No space left on device") in error
    assert "BLINDSPOT_CACHE" in error or "free some space" in error
    (left / "filler").unlink(missing_ok=True)
    assert_whole(left, filled)


LIMITED = """
import resource, sys
from blindspot import cli
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))
sys.exit(cli.main(sys.argv[2:]))
"""


@pytest.mark.slow
def test_a_file_that_may_not_grow(filled: Filled, tmp_path: Path) -> None:
    """Python ignores the signal, so that whoever writes is told; the store may grow by nothing."""
    cache = tmp_path / "cache"
    shutil.copytree(filled.settings.cache, cache)
    limit = (cache / "results.duckdb").stat().st_size
    said = python("-c", LIMITED, str(limit), *run_of("cos", "random-projection-1024")[3:], env=environment(cache))
    error = one_line(said)
    assert "cannot write" in error
    assert "written; free some space" in error or "File too large; free some space" in error
    assert_whole(cache, filled)
