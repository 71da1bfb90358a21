"""A visitor of a demo whose connection is lost: their texts stay until the server gives up on them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from blindspot.server.rerun_client import RerunClient
from tests.support.demo_host import Server, served, until

PATIENCE_SECONDS = 4
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
def page_of(server: Server, session: str = "") -> Iterator[Returning]:
    names = ["streamlit", "none", *([session] if session else [])]
    socket = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    with connect(socket, subprotocols=names, max_size=None, compression=None) as connection:  # type: ignore[arg-type]
        yield Returning(connection, "data", urlencode({}))


def widget(page: RerunClient, key: str) -> str:
    return next(one.widget_id for one in page.widgets.values() if one.widget_id.endswith(key))


@pytest.mark.process
@pytest.mark.server
def test_a_lost_connection_loses_nothing_for_a_while(tmp_path: Path) -> None:
    with served(tmp_path, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=str(PATIENCE_SECONDS)) as (server, _, _):
        with page_of(server) as first:
            first.run()
            typed = WidgetState(id=widget(first, "make_texts"), string_value=TEXTS)
            first.run([typed])
            first.run([typed, WidgetState(id=widget(first, "make_keep"), trigger_value=True)])
            (home,) = (tmp_path / "cache" / "sessions").iterdir()
            assert list((home / "uploads").iterdir())
        time.sleep(1)
        assert home.is_dir(), "a connection that is lost is no visitor who has left"
        with page_of(server, first.session) as again:
            again.run()
            assert again.session == first.session
            assert "connected again" in again.toasts
        until(lambda: not home.exists())
