"""Signals to the real app in the middle of its work: a real server, visited without a browser.

The command line: ``test_killed.py``.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.conftest import make_settings
from tests.support.app_client import PATIENCE_SECONDS, AppServer, visiting
from tests.support.held_store import held_by_a_child

ENCODER = "random-projection-64"
END_SECONDS = 30.0  # far less than the job would take; on a quiet machine it ends in under three


class Server(AppServer):
    def ends_soon(self, which: signal.Signals = signal.SIGTERM) -> None:
        """Send it a signal: it ends in time, says nothing of it, and leaves no process behind."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        began = time.monotonic()
        self.process.send_signal(which)
        code = self.process.wait(PATIENCE_SECONDS)
        seconds = time.monotonic() - began
        assert seconds < END_SECONDS
        assert code == 0
        assert not re.search("Traceback|Error|terminate called", self.said), self.said
        _, alive = psutil.wait_procs(children, timeout=2)
        assert alive == []


@contextmanager
def serving(cache: Path, folder: Path) -> Iterator[Server]:
    server = Server(cache, folder / "server.log")
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def ready(cache: Path) -> Settings:
    """A cache with the embeddings and the run of a small encoder."""
    settings = make_settings(cache)
    repository = Repository.at(settings.store)
    pipeline.run(requesting.request("evalrank", ENCODER, "none", "demo-pairs", {}, settings), settings, repository)
    repository.database.close()
    return settings


@pytest.mark.slow
def test_a_server_ends_in_the_middle_of_encoding_by_a_model(settings: Settings, tmp_path: Path) -> None:
    with serving(settings.cache, tmp_path) as server, visiting(server.address) as visitor:
        visitor.click("Run the demo")
        visitor.wait(lambda: re.search(r"encoding, [1-9][\d,]* of", visitor.shown()))
        server.ends_soon()
    repository = Repository.at(settings.store)
    (run,) = repository.runs()
    assert run.state is RunState.INTERRUPTED
    repository.database.close()
    assert list(settings.embeddings.glob("*.parts/*.npz")), "what was encoded is kept"


@pytest.mark.slow
@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_a_server_ends_while_a_model_is_loaded(settings: Settings, tmp_path: Path, which: signal.Signals) -> None:
    with serving(settings.cache, tmp_path) as server, visiting(server.address) as visitor:
        visitor.click("Run the demo")
        visitor.wait(lambda: visitor.sees("loading the encoder"))
        server.ends_soon(which)


@pytest.mark.slow
def test_a_server_ends_with_the_child_that_fits_umap(tmp_path: Path) -> None:
    settings = ready(tmp_path / "cache")
    with serving(settings.cache, tmp_path) as server:
        query = f"model={ENCODER}~none&data=demo-pairs"
        with visiting(server.address, "map", query) as visitor:
            visitor.click("Compute UMAP")
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not psutil.Process(server.process.pid).children():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            server.ends_soon()
    assert not [path for path in settings.maps.iterdir() if path.is_dir()], "the child's folder is gone"


@pytest.mark.slow
def test_a_server_ends_while_a_page_waits_for_the_store(tmp_path: Path) -> None:
    """Another program keeps the store: a page waits for it for a quarter of a minute."""
    settings = ready(tmp_path / "cache")
    with serving(settings.cache, tmp_path) as server, held_by_a_child(settings.store) as holder:
        with visiting(server.address):
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not settings.store.with_name("results.duckdb.wanted").exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            server.ends_soon()
        assert holder.stdin is not None
        holder.stdin.close()


@pytest.mark.slow
def test_a_page_names_the_program_that_keeps_the_store(tmp_path: Path) -> None:
    settings = ready(tmp_path / "cache")
    with serving(settings.cache, tmp_path) as server, held_by_a_child(settings.store) as holder:
        with visiting(server.address, "evalrank") as visitor:
            visitor.wait(lambda: visitor.sees(f"is held by process {holder.pid}"))
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait()
        with visiting(server.address, "evalrank") as visitor:
            visitor.wait(lambda: visitor.sees(ENCODER))
        server.ends_soon()
