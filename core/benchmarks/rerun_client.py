"""Headless browser: opens a page of a running server, reruns it and measures the script's time.

It speaks the websocket protocol of Streamlit's front end. A server started with ``browser.gatherUsageStats`` sends the
time of every script run, measured in the script's own thread; only a real browser would pass it on as telemetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

from blindspot.errors import BlindspotError
from blindspot.ui.navigation import place_of

PATIENCE_SECONDS = 120.0  # a first run imports what it needs
_ENDED_WELL = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
SERVER_OPTION = ("--browser.gatherUsageStats", "true")


@dataclass(frozen=True)
class ScriptRun:
    """One run of a page.

    ``script_seconds`` are those of the server's script thread, including reruns that the script asked for; ``seconds``
    those from the request to the last message; ``bytes_sent`` those of all messages.
    """

    script_seconds: float
    seconds: float
    bytes_sent: int


@dataclass(frozen=True)
class Widget:
    """A widget: its kind and ``element`` in Streamlit's protocol, and the id of its fragment or ""."""

    widget_id: str
    kind: str
    fragment: str
    element: Any


class RerunClient:
    """One session with a page; ``opened`` makes it."""

    def __init__(self, connection: ClientConnection, page: str, query: str) -> None:
        self._connection = connection
        self._page = page
        self._query = query
        self._page_hash = ""
        self.widgets: dict[str, Widget] = {}  # by id, since the last whole run

    def run(self, states: Sequence[WidgetState] = (), fragment: str = "") -> ScriptRun:
        """Run the page, or one fragment of it, with these widget states.

        Raises:
            BlindspotError: the page failed, or did not end in time.
        """
        if not fragment:
            self.widgets.clear()
        request = BackMsg()
        request.rerun_script.query_string = self._query
        request.rerun_script.page_script_hash = self._page_hash
        request.rerun_script.widget_states.widgets.extend(states)
        request.rerun_script.fragment_id = fragment
        if not self._page_hash:
            request.rerun_script.page_name = self._page
        start = perf_counter()
        self._connection.send(request.SerializeToString())
        script, size = 0.0, 0
        while True:
            data = self.receive()
            size += len(data)
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "navigation":  # the page that app.py chose
                self._page_hash = message.navigation.page_script_hash
            elif kind == "delta":
                self._drawn(message.delta)
            elif kind == "page_profile":
                script += message.page_profile.exec_time / 1e6
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    self.widgets.clear()
                    continue
                if message.script_finished not in _ENDED_WELL:
                    raise BlindspotError(f"the page {self._page} did not run to its end")
                return ScriptRun(script, perf_counter() - start, size)

    def send(self, message: bytes) -> None:
        self._connection.send(message)

    def _drawn(self, delta: Delta) -> None:
        kind = delta.new_element.WhichOneof("type")
        if kind == "exception":
            raise BlindspotError(f"the page {self._page} failed: {delta.new_element.exception.message}")
        element = getattr(delta.new_element, kind) if kind else None
        if kind and (widget_id := getattr(element, "id", "")):
            self.widgets[widget_id] = Widget(widget_id, kind, delta.fragment_id, element)

    def receive(self) -> bytes:
        try:
            data = self._connection.recv(timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise BlindspotError(f"the page {self._page} did not end within {PATIENCE_SECONDS:.0f} s") from error
        if isinstance(data, str):
            raise BlindspotError(f"the server sent text where Streamlit sends bytes: {data[:80]}")
        return data


@contextmanager
def opened(address: str, page: str, query: Mapping[str, str | Sequence[str]] | None = None) -> Iterator[RerunClient]:
    """A fresh session with a page, or a part of one, of the server at ``http://host:port``, closed at the end."""
    socket = f"ws{address.removeprefix('http')}/_stcore/stream"
    # No size limit: a table is one message.
    with connect(socket, max_size=None, proxy=None, compression=None) as connection:
        whole, of_part = place_of(page)
        yield RerunClient(connection, whole.stem, urlencode({**of_part, **(query or {})}, doseq=True))
