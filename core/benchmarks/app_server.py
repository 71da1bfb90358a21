"""``streamlit run app.py`` as people start it, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from blindspot.errors import BlindspotError
from blindspot.settings import ROOT, Mode

PATIENCE_SECONDS = 60.0
LOOK_SECONDS, MOST_BUSY = 2.0, 0.1  # of a core: what an idle server may use
_STOP_SECONDS = 10.0


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        address: ``http://host:port``.
        started: start of its process, by ``time.perf_counter``.
        log: its output so far.
    """

    address: str
    started: float
    log: Path
    process: psutil.Process

    def settle(self) -> None:
        """Wait until it and its children do next to nothing: a new one compiles kernels for half a minute.

        Raises:
            BlindspotError: it goes on for minutes.
        """
        deadline, used = time.monotonic() + 3 * PATIENCE_SECONDS, self._used()
        while time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
            before, used = used, self._used()
            if abs(used - before) < MOST_BUSY * LOOK_SECONDS:  # less: a child has ended
                return
        raise BlindspotError("the app's server does not come to rest")

    def _used(self) -> float:
        """Seconds of processor time of the processes that run now."""
        used = 0.0
        for process in (self.process, *self.process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                used += sum(process.cpu_times()[:2])
        return used


@contextmanager
def serving(
    cache: Path,
    options: Sequence[str] = (),
    *,
    mode: Mode = Mode.LOCAL,
    script: str = "app.py",
    prepare: str = "no",
) -> Iterator[Server]:
    """The app on a cache folder, on a free port of this machine, answering; stopped at the end.

    Args:
        options: further options of Streamlit, as on its command line.
        script: served instead of the app.
        prepare: ``yes``: compute the demo first; ``/ready`` says when that is done; ``nothing``: nor load MiniLM ahead.

    Raises:
        BlindspotError: it ended at once, or does not answer.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu", "BLINDSPOT_MODE": mode.value}
    environment["BLINDSPOT_PREPARE"] = prepare  # unless "yes", the cache is measured or tested as it is
    environment.pop("BLINDSPOT_MIRROR", None)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", *options]
    log_path = cache / f"server-{port}.log"
    with log_path.open("wb") as log:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)  # noqa: S603 - ours
        try:
            _wait_for(port, process, log_path)
            yield Server(f"http://127.0.0.1:{port}", started, log_path, psutil.Process(process.pid))
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the port is open and a browser gets an answer."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BlindspotError(f"the app's server ended at once: {_end_of(log)}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise BlindspotError(f"the app's server did not answer within {PATIENCE_SECONDS:.0f} s: {_end_of(log)}")


def _end_of(log: Path) -> str:
    return " ".join(log.read_text("utf-8", errors="replace").split())[-500:]
