"""The running app: a server, and a visitor without a browser, who speaks to Streamlit as its page does.

For tests that need a session on a real server and no picture of it; a browser costs seconds and 300 MB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from blindspot.settings import ROOT
from tests.support.loopback import free_port

PATIENCE_SECONDS = 300.0
REPEAT_SECONDS = 0.5


class AppServer:
    """``streamlit run app.py`` on a cache folder, with environment variables, on a port of this machine: a free one
    if none is given."""

    def __init__(
        self, cache: Path, log: Path, python: str = sys.executable, port: int | None = None, **variables: str
    ) -> None:
        self._log = log
        environment = os.environ | {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu", "BLINDSPOT_MODE": "local"}
        environment["BLINDSPOT_PREPARE"] = "nothing"  # MiniLM takes twelve seconds of processor time to load
        environment.pop("BLINDSPOT_MIRROR", None)
        port = port or free_port()
        self.address = f"http://127.0.0.1:{port}"
        command = [python, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1"]
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment | variables, stdout=out, stderr=out)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=2):
                    return
            except OSError:
                assert self.process.poll() is None, self.said
                assert time.monotonic() < deadline, self.said
                time.sleep(0.05)

    @property
    def said(self) -> str:
        return self._log.read_text("utf-8")


class Visitor:
    """One session. ``elements`` has what the page showed last, by its place on the page."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self._socket = socket
        self._page, self._query = page, query
        self.elements: dict[tuple[int, ...], Any] = {}
        self._fragments: dict[tuple[int, ...], str] = {}
        self._repeating: set[str] = set()  # fragments that the page asks for again and again
        self._repeated = 0.0
        self._rerun()

    def _rerun(self, clicked: str = "", fragment: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.fragment_id = self._query, self._page, fragment
        state.context_info.url = "http://127.0.0.1/"
        if clicked:
            state.widget_states.widgets.add(id=clicked, trigger_value=True)
        self._socket.send(message.SerializeToString())

    def _take(self, seconds: float) -> None:
        """Take in one message of the server's; where none comes, ask for the fragments that repeat themselves."""
        if self._repeating and time.monotonic() > self._repeated + REPEAT_SECONDS:
            self._repeated = time.monotonic()
            for fragment in self._repeating:
                self._rerun(fragment=fragment)
        try:
            received = self._socket.recv(min(seconds, REPEAT_SECONDS))
        except TimeoutError:
            return
        message = ForwardMsg()
        message.ParseFromString(bytes(received))  # type: ignore[arg-type]
        kind = message.WhichOneof("type")
        if kind == "auto_rerun":
            self._repeating.add(message.auto_rerun.fragment_id)
        elif kind == "stop_auto_rerun":
            self._repeating -= set(message.stop_auto_rerun.fragment_ids)
        elif kind == "delta":
            place = tuple(message.metadata.delta_path)
            self.elements[place] = message.delta.new_element
            self._fragments[place] = message.delta.fragment_id

    def wait(self, found: Callable[[], object]) -> None:
        """Until ``found`` says yes of what is shown."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not found():
            if time.monotonic() > deadline:
                raise TimeoutError(f"it never came; shown is: {self.shown()[-2_000:]}")
            self._take(deadline - time.monotonic())

    def shown(self) -> str:
        """Everything that is shown, as text."""
        return "\n".join(str(element) for element in self.elements.values())

    def sees(self, words: str) -> bool:
        return words in self.shown()

    def click(self, label: str) -> None:
        """Press the enabled button with this label, once it is there."""

        def buttons() -> list[tuple[str, str]]:
            return [
                (element.button.id, self._fragments.get(place, ""))
                for place, element in self.elements.items()
                if element.WhichOneof("type") == "button" and element.button.label == label
                and not element.button.disabled
            ]  # fmt: skip

        self.wait(buttons)
        self._rerun(*buttons()[0])


@contextmanager
def visiting(address: str, page: str = "", query: str = "") -> Iterator[Visitor]:
    """A session on the app at ``http://host:port``."""
    url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    with connect(url, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        yield Visitor(socket, page, query)
