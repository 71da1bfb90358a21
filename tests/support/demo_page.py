"""Pages of a demo, as their front end talks with the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from benchmarks.rerun_client import RerunClient
from tests.support.demo_host import Server

TEXTS = "Anna paid 5 dollars on Monday.\nHe did not see the 3 red houses in Paris."


class Returning(RerunClient):
    """A page that knows its session and keeps what it was told."""

    session, toasts = "", ""

    def receive(self) -> bytes:
        data = super().receive()
        message = ForwardMsg.FromString(data)
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id
        self.toasts += message.delta.new_element.toast.body
        return data


@contextmanager
def page_of(server: Server, name: str, session: str = "") -> Iterator[Returning]:
    names = ["streamlit", "none", *([session] if session else [])]
    socket = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    with connect(socket, subprotocols=names, max_size=None, compression=None) as connection:  # type: ignore[arg-type]
        yield Returning(connection, name, "")


def widget(page: RerunClient, key: str) -> str:
    return next(one.widget_id for one in page.widgets.values() if one.widget_id.endswith(key))
