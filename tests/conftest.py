"""What every test shares. Heavy things are made once per session: the model, the real embeddings."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import logging
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest

from blindspot.runs import pipeline, requesting
from blindspot.settings import Mode, Settings, prepare_runtime
from blindspot.store.db import Database
from blindspot.store.repository import Repository
from blindspot.workspace import demo
from tests.support import sources

pytest_plugins = [f"tests.support.{name}" for name in ("tiers", "pages", "commands", "world", "transfer_world")]

SLOWEST = "test_pipeline_realdata.py"  # it embeds 22,000 words and 25,000 sentences


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # With two processes what takes longest goes first, so that no process is left alone with it.
    items.sort(key=lambda item: (item.path.name != SLOWEST, item.path.parent.name != "browser"))
    if not os.environ.get("BLINDSPOT_MIRROR"):
        skip = pytest.mark.skip(reason="BLINDSPOT_MIRROR is not set: the real evaluation data is not here")
        for item in items:
            if "realdata" in item.keywords:
                item.add_marker(skip)


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests and modules, which every full collection would look through


def pytest_sessionfinish() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the session, so that nothing slow is computed twice."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(pytestconfig: pytest.Config) -> None:
    """Numba's kernels, compiled once for all processes and kept until a module that uses numba changes.

    Numba itself looks at the file of a kernel alone, not at those of the kernels that it calls.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    digest = hashlib.sha256(version("numba").encode())
    for path in sources.package():
        if "numba" in sources.text(path):
            digest.update(path.read_bytes())
    folder = pytestconfig.rootpath / ".pytest_cache" / "numba" / digest.hexdigest()[:16]
    for older in folder.parent.glob("*"):
        if older != folder:
            shutil.rmtree(older, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


@pytest.fixture(scope="session", autouse=True)
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new store of this process begins as a copy of an empty one: its schema takes longer than all that a test does
    with a small store."""
    connect = Database._connect
    empty = tmp_path_factory.mktemp("empty") / "results.duckdb"
    database = Database(empty)
    with database.cursor():
        pass
    database.close()

    def connected(database: Database) -> duckdb.DuckDBPyConnection:
        if not database.read_only and not database.path.exists():
            copy = database.path.with_name(f"{database.path.name}.{threading.get_ident()}")
            with suppress(OSError):  # the folder cannot be written to, which the product says; or a thread was faster
                shutil.copyfile(empty, copy)
                os.link(copy, database.path)
            copy.unlink(missing_ok=True)
        return connect(database)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_connect", connected)
        yield


def make_settings(cache: Path, mirror: str = "") -> Settings:
    settings = Settings(cache=cache, mirror=mirror, device="cpu", mode=Mode.LOCAL)
    prepare_runtime(settings)
    return settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty cache and no mirror."""
    return make_settings(tmp_path / "cache")


@pytest.fixture
def repository(settings: Settings) -> Iterator[Repository]:
    repository = Repository.at(settings.store)
    yield repository
    repository.database.close()


@pytest.fixture(scope="session")
def shared_settings(shared_cache: Path) -> Settings:
    """Settings with the session's cache and the mirror of the environment."""
    mirror = os.environ.get("BLINDSPOT_MIRROR", "")
    return make_settings(shared_cache, str(Path(mirror).resolve()) if mirror and "://" not in mirror else mirror)


@pytest.fixture(scope="module")
def shared_repository(shared_settings: Settings) -> Iterator[Repository]:
    """The store of the session's cache."""
    repository = Repository.at(shared_settings.store)
    yield repository
    repository.database.close()


class _Caught(logging.Handler):
    """Keeps the errors that the pages' error boundary did not foresee."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def unforeseen() -> Iterator[list[logging.LogRecord]]:
    """What the error boundary of the pages caught and nobody foresaw: it fails the test that brought it about, as it
    would if there were no boundary. A test that means to do so empties the list."""
    handler, log = _Caught(), logging.getLogger("blindspot.ui.boundary")
    log.addHandler(handler)
    yield handler.records
    log.removeHandler(handler)
    assert [record.exc_info for record in handler.records] == []


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """AppTest replaces the main module by a script that is soon gone, and a spawned process would look for it."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def demo_cache(tmp_path_factory: pytest.TempPathFactory, shared_settings: Settings) -> Path:
    """A cache whose store has EvalRank of the real model on the demo's pairs, plain and centered, and no other runs;
    HEROS is left to its own tests. It is not the session's: what other tests run there would stand on the pages.

    The first process computes it for all of them; the session has its embeddings, too.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "demo").exists():
            (_computed_demo(tmp_path_factory.mktemp("demo") / "cache")).rename(folder / "demo")
    own = make_settings(shutil.copytree(folder / "demo", tmp_path_factory.mktemp("demo") / "cache"))
    shutil.copytree(own.embeddings, shared_settings.embeddings, dirs_exist_ok=True)
    return own.cache


def _computed_demo(cache: Path) -> Path:
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    for variant in (demo.FIRST, demo.CENTERED):
        request = requesting.request("evalrank", variant.encoder, variant.transform, "demo-pairs", {}, settings)
        pipeline.run(request, settings, repository)
    repository.database.close()
    return settings.cache
