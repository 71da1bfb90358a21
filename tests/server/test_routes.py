"""Readiness: on the command line and over HTTP, of a real server; what stands in its way is named."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from core import cli, doctor
from core.benchmarks.app_server import serving
from core.encoders import catalog as encoders
from core.server.routes import READY
from core.settings import Settings
from core.store.repository import Repository
from tests.support.store_samples import pair_set, store_run

HOLD = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def stored(settings: Settings, repository: Repository) -> Settings:
    store_run(repository, "run", pair_set())
    repository.database.close()
    return settings


@pytest.fixture
def held(stored: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """A foreign program that has the store open."""
    command = [sys.executable, "-c", HOLD, str(stored.store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def said(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    capsys.readouterr()
    code = cli.main(["doctor", "--ready"])
    out, err = capsys.readouterr()
    return code, out + err


def test_the_command_says_ready(
    stored: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(stored, monkeypatch, capsys) == (0, "ready\n")
    none_yet = replace(stored, cache=stored.cache.with_name("none"))
    assert said(none_yet, monkeypatch, capsys) == (0, "ready\n")
    assert not none_yet.cache.exists()


def test_the_command_names_who_holds_the_store(
    held: subprocess.Popen[bytes],
    stored: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, line = said(stored, monkeypatch, capsys)
    assert code == 1
    assert line.startswith(f"error: not ready: store: the store {stored.store} is held by process {held.pid} ")
    assert line.count("\n") == 1


def test_a_cache_that_cannot_be_written_and_a_damaged_store(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    (found,) = doctor.not_ready(replace(settings, cache=file / "below"), Repository.at(tmp_path / "none"))
    assert (found.name, "is no folder" in found.what) == ("cache", True)
    settings.cache.mkdir()
    settings.store.write_bytes(b"no store" * 1000)
    for in_server in (False, True):
        (found,) = doctor.not_ready(settings, Repository.at(settings.store), in_server=in_server)
        assert found.name == "store"
        assert str(settings.store) in found.what


def test_weights_that_are_gone(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = encoders.resolve("minilm", settings)
    monkeypatch.setattr(encoders, "resolve", lambda *_: replace(real, folder=tmp_path))
    (found,) = doctor.not_ready(settings, Repository.at(settings.store))
    assert (found.name, found.what) == ("weights", f"there is no {tmp_path / 'model.safetensors'}")


def asked_until(address: str, status: int) -> str:
    """Ask until the answer has a status (for two seconds the last one is given again); its text."""
    deadline = time.monotonic() + 60
    while (answer := httpx.get(f"{address}{READY}", timeout=300)).status_code != status:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)
    return answer.text


def test_a_server_answers_whether_it_is_ready(stored: Settings) -> None:
    with serving(stored.cache) as server:
        assert httpx.get(f"{server.address}/_stcore/health").text == "ok"
        first = httpx.get(f"{server.address}{READY}", timeout=300)
        assert (first.status_code, first.text, first.headers["cache-control"]) == (200, "ready\n", "no-store")
        # It lets go of the store: another program gets it at once.
        command = [sys.executable, "-c", HOLD, str(stored.store)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            assert asked_until(server.address, 503) == "not ready: store\n"
            assert httpx.get(f"{server.address}/_stcore/health").status_code == 200
            holder.kill()
        assert asked_until(server.address, 200) == "ready\n"
