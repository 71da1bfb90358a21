"""A hosted demo, as a queue with visitors and as a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.jobs import visitors
from blindspot.jobs.queue import JobQueue
from blindspot.settings import Mode, Settings
from blindspot.store.repository import Repository
from tests.support.demo_host import PAIRS, SECRET, Server, World, keep, served


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("host")
    secret, sweep = root / "secret.csv", root / "sweep.toml"
    secret.write_text(f"query,match\n{SECRET},{SECRET} too\nand,{SECRET}\n")
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
    hosts = {"BLINDSPOT_HOSTS": "demo.example.org,*.demo.example.org"}
    with served(tmp_path_factory.mktemp("served"), **hosts) as (found, _, log):
        yield found
    assert "Traceback" not in log.read_text()
    assert "External URL" not in log.read_text()
