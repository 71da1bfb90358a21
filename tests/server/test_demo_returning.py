"""A visitor of a demo whose connection is lost: their texts and the parts of their page stay until the server gives up
on them; other parts there are none."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.support.demo_host import served, until
from tests.support.demo_page import TEXTS, page_of, widget

PATIENCE_SECONDS = 4


@pytest.mark.process
@pytest.mark.server
def test_a_lost_connection_loses_nothing_for_a_while(tmp_path: Path) -> None:
    with served(tmp_path, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=str(PATIENCE_SECONDS)) as (server, _, _):
        with page_of(server, "data") as first:
            first.run()
            typed = WidgetState(id=widget(first, "make_texts"), string_value=TEXTS)
            first.run([typed])
            first.run([typed, WidgetState(id=widget(first, "make_keep"), trigger_value=True)])
            (home,) = (tmp_path / "cache" / "sessions").iterdir()
            assert list((home / "uploads").iterdir())
        time.sleep(1)
        assert home.is_dir(), "a connection that is lost is no visitor who has left"
        with page_of(server, "data", first.session) as again:
            again.run()
            assert again.session == first.session
            assert "connected again" in again.toasts
        until(lambda: not home.exists())


@pytest.mark.process
@pytest.mark.server
def test_only_a_part_that_the_session_has_is_redrawn(demo_cache: Path, tmp_path: Path) -> None:
    """Its id is compared before Streamlit sees it, which writes unknown ones into its log, as they are."""
    shutil.copytree(demo_cache, tmp_path / "cache")
    with served(tmp_path) as (server, _, log):
        with page_of(server, "evalrank") as page:
            page.run()
            (part, *_) = {widget.fragment for widget in page.widgets.values()} - {""}
            for made_up in ("f" * 32, "0 is my line in your log"):
                page.send(rerun_of(made_up))
            with page_of(server, "evalrank") as stranger:
                stranger.send(rerun_of(part))
            assert page.run(fragment=part).bytes_sent > 0, "its own, after those"
        with page_of(server, "evalrank", page.session) as again:
            assert again.run(fragment=part).bytes_sent > 0, "a browser that is back draws no whole page"
            assert again.session == page.session
    assert "does not exist anymore" not in log.read_text()
    assert "my line" not in log.read_text()


def rerun_of(fragment: str) -> bytes:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    data: bytes = message.SerializeToString()
    return data
