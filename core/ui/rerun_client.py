"""A browser without a screen: opens a page of a running server, reruns it, and hears how long the script took.

It speaks the websocket protocol of Streamlit's own front end. A server that was started with
``browser.gatherUsageStats`` sends the time of every script run beside the page: from the start of the run to its end
in the script's own thread, as its telemetry would have it (only a real browser passes it on). That is the figure taken
here; nothing of Streamlit is replaced or patched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from core.errors import BlindspotError

PATIENCE_SECONDS = 120.0  # a first run imports what it needs
SERVER_OPTION = ("--browser.gatherUsageStats", "true")


@dataclass(frozen=True)
class ScriptRun:
    """One run of a page.

    Attributes:
        script_seconds: in the server's script thread, reruns that the script itself asked for included.
        seconds: from the request to the arrival of the last message.
        bytes_sent: of all messages together.
    """

    script_seconds: float
    seconds: float
    bytes_sent: int


class RerunClient:
    """One session with a page; ``opened`` makes it."""

    def __init__(self, connection: ClientConnection, page: str, query: str) -> None:
        self._connection = connection
        self._page = page
        self._query = query
        self._page_hash = ""

    def run(self) -> ScriptRun:
        """Run the whole page once, its widgets as they first stand; the first time the session begins with it.

        Raises:
            BlindspotError: the page failed, or did not end in time.
        """
        request = BackMsg()
        request.rerun_script.query_string = self._query
        request.rerun_script.page_script_hash = self._page_hash
        if not self._page_hash:
            request.rerun_script.page_name = self._page
        start = perf_counter()
        self._connection.send(request.SerializeToString())
        script, size = 0.0, 0
        while True:
            data = self._receive()
            size += len(data)
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "navigation":  # the page that the address named, as app.py found it
                self._page_hash = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                raise BlindspotError(f"the page {self._page} failed: {message.delta.new_element.exception.message}")
            elif kind == "page_profile":
                script += message.page_profile.exec_time / 1e6
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    raise BlindspotError(f"the page {self._page} did not run to its end")
                return ScriptRun(script, perf_counter() - start, size)

    def _receive(self) -> bytes:
        try:
            data = self._connection.recv(timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise BlindspotError(f"the page {self._page} did not end within {PATIENCE_SECONDS:.0f} s") from error
        if isinstance(data, str):
            raise BlindspotError(f"the server sent text where Streamlit sends bytes: {data[:80]}")
        return data


@contextmanager
def opened(address: str, page: str, query: Mapping[str, str | Sequence[str]] | None = None) -> Iterator[RerunClient]:
    """A fresh session with a page of the server at ``address`` (``http://host:port``), closed at the end."""
    socket = f"ws{address.removeprefix('http')}/_stcore/stream"
    # No proxy: the server is on this machine. No limit: a page with large tables is one message per table.
    with connect(socket, max_size=None, proxy=None, compression=None) as connection:
        yield RerunClient(connection, page, urlencode(query or {}, doseq=True))
