"""A hosted demo: two visitors and a file of the host's beside it, or served on a port."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets import uploads
from blindspot.jobs.queue import JobQueue
from blindspot.jobs.visitors import Visitor
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from tests.support.loopback import free_port

SECRET = "what only the host may read"
PAIRS = b"query,match\na cat,the cat\na dog,the dog\n"


@dataclass
class World:
    """A demo with two visitors, of whom ``other`` has an upload, and a file of the host's beside it."""

    settings: Settings
    repository: Repository
    queue: JobQueue
    me: Visitor
    other: Visitor
    upload: uploads.Upload
    secret: Path
    sweep: Path

    def files(self) -> dict[str, bytes]:
        """All files below the host's folder, the store left out: it is opened all the time."""
        root = self.secret.parent
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and "results.duckdb" not in path.name and "numba" not in path.parts
        }


def keep(data: bytes, visitor: Visitor, name: str = "pairs.csv") -> uploads.Upload:
    """As the page *Data* keeps an upload."""
    settings = visitor.place.settings
    return uploads.add(uploads.tabulate(name, data, True, settings).contents(), data, settings)


def asked(w: World, encoder: str = "minilm", dataset: str = "demo-pairs", fit_on: str = "") -> RunRequest:
    return requesting.request("evalrank", encoder, "none", dataset, {}, w.settings, fit_on=fit_on)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    headers: dict[str, str]


class Server:
    """A demo on a port of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host="Host" in named, skip_accept_encoding=True)
        for name, value in named.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in named:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        with connection.getresponse() as response:
            text = response.read().decode(errors="replace")
            return Answer(response.status, text, {k.lower(): v for k, v in response.getheaders()})


def answers(server: Server) -> bool:
    try:
        return server.ask("/_stcore/health").status == 200
    except OSError:
        return False


@contextmanager
def served(
    folder: Path, within: Sequence[str] = (), **variables: str
) -> Iterator[tuple[Server, subprocess.Popen[bytes], Path]]:
    """A demo of the real app, its process and its log; ``variables`` of the environment are added.

    ``within``: the command that runs its command.
    """
    server, log = Server(free_port()), folder / "log"
    command = [*within, sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(server.port)]
    environment = (
        os.environ
        | {"BLINDSPOT_MODE": "demo", "BLINDSPOT_PREPARE": "nothing", "BLINDSPOT_CACHE": str(folder / "cache")}
        | variables
    )
    with log.open("wb") as sink:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sink, stderr=sink)
        try:
            until(lambda: process.poll() is not None or answers(server))
            assert process.poll() is None, log.read_text()
            yield server, process, log
        finally:
            process.terminate()
            process.wait(120)


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
