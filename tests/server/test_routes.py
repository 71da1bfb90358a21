"""Readiness of a real server, on the command line and over HTTP."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from benchmarks.app_server import serving
from blindspot import doctor
from blindspot.doctor import readiness
from blindspot.encoders.catalog import resolve_encoder
from blindspot.numerics import warm_up
from blindspot.server.routes import READY
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.held_store import held_by_a_child
from tests.support.store_samples import pair_set, store_run


@pytest.fixture
def stored(settings: Settings, repository: Repository) -> Settings:
    store_run(repository, "run", pair_set())
    repository.database.close()
    return settings


def test_the_command_says_ready(blindspot: Command, stored: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert blindspot.out("doctor", "--ready") == "ready\n"
    none_yet = stored.cache.with_name("none")
    monkeypatch.setenv("BLINDSPOT_CACHE", str(none_yet))
    assert blindspot.out("doctor", "--ready") == "ready\n"
    assert not none_yet.exists()


@pytest.mark.process
def test_the_command_names_who_holds_the_store(blindspot: Command, stored: Settings) -> None:
    with held_by_a_child(stored.store) as holder:
        line = blindspot.error("doctor", "--ready", code=1)
    assert line.startswith(f"not ready: store: the store {stored.store} is held by process {holder.pid} ")


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
    real = resolve_encoder("minilm", settings)
    monkeypatch.setattr(readiness, "encoder_of", lambda *_: replace(real, folder=tmp_path))
    (found,) = doctor.not_ready(settings, Repository.at(settings.store))
    assert (found.name, found.what) == ("weights", f"there is no {tmp_path / 'model.safetensors'}")


def asked_until(address: str, status: int) -> object:
    """Ask until the answer has a status (for two seconds the last one is given again); its JSON."""
    deadline = time.monotonic() + 60
    while (answer := httpx.get(f"{address}{READY}", timeout=300, verify=False)).status_code != status:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)
    return answer.json()


@pytest.mark.process
@pytest.mark.server
def test_a_server_answers_whether_it_is_ready_and_readies_the_kernels(
    stored: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm_up.warm_up()  # in the cache of the tests
    folder = tmp_path / "numba"
    shutil.copytree(os.environ["NUMBA_CACHE_DIR"], folder, ignore=shutil.ignore_patterns("compiled-*"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    with serving(stored.cache) as server:
        assert httpx.get(f"{server.address}/_stcore/health").text == "ok"
        first = httpx.get(f"{server.address}{READY}", timeout=300)
        assert (first.status_code, first.json(), first.headers["cache-control"]) == (200, {"ready": True}, "no-store")
        with held_by_a_child(stored.store):  # it lets go of the store: another program gets it at once
            assert asked_until(server.address, 503) == {"ready": False, "reasons": ["store"]}
            assert httpx.get(f"{server.address}/_stcore/health").status_code == 200
        assert asked_until(server.address, 200) == {"ready": True}
        deadline = time.monotonic() + 120
        while not list(folder.glob("compiled-*")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        shutil.rmtree(stored.cache)
        told = asked_until(server.address, 503)
        assert isinstance(told, dict)
        assert "cache" in told["reasons"], "also when something is written there again"
