"""A hosted demo, as a queue with visitors and as a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from core.jobs import visitors
from core.jobs.queue import JobQueue
from core.settings import ROOT, Mode, Settings
from core.store.repository import Repository
from tests.support.demo_host import PAIRS, SECRET, Server, World, answers, keep, until
from tests.support.loopback import free_port


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("host")
    secret, sweep = root / "secret.csv", root / "sweep.toml"
    secret.write_text(f"query,mate\n{SECRET},{SECRET} too\nand,{SECRET}\n")
    sweep.write_text(
        f'encoders = ["minilm"]\ndatasets = ["file:{secret}"]\ndiagnostics = ["evalrank"]\ntransforms = ["none"]\n'
    )
    settings = Settings(cache=root / "cache", mirror="", device="cpu", mode=Mode.DEMO)
    repository = Repository.at(settings.store)
    queue = JobQueue(settings, repository)
    me, other = visitors.begin(settings, queue), visitors.begin(settings, queue)
    upload = keep(PAIRS, other)
    yield World(settings, repository, queue, me, other, upload, secret, sweep)
    queue.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    port = free_port()
    environment = os.environ | {
        "BLINDSPOT_MODE": "demo",
        "BLINDSPOT_CACHE": str(folder / "cache"),
        "BLINDSPOT_HOSTS": "demo.example.org,*.demo.example.org",
    }
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        found = Server(port)
        try:
            until(lambda: process.poll() is not None or answers(found))
            assert process.poll() is None, (folder / "log").read_text()
            yield found
        finally:
            process.terminate()
            process.wait(120)
    log_text = (folder / "log").read_text()
    assert "Traceback" not in log_text
    assert "External URL" not in log_text
