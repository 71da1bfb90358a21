"""A demo whose cache is on a full disk, a real one: what is stored is shown, and what cannot be stored is said."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from blindspot.server.routes import FRESH_SECONDS
from tests.support.demo_host import Server, served, until
from tests.support.demo_page import TEXTS, Returning, page_of, widget

MEGABYTES = 64
FULL = "nothing can be stored on this server: its disk is full"
PAGES = ("overview", "evalrank", "heros", "run", "data", "models", "map", "intruder")


def can_mount() -> bool:
    """Whether a user may have a file system of their own here, in a namespace of their own."""
    unshare = shutil.which("unshare")
    return (
        unshare is not None
        and subprocess.run([unshare, "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], check=False).returncode == 0
    )


def said_on(page: Returning, states: list[WidgetState] | None = None) -> str:
    """All words of a run of a page."""
    words = []
    heard = page.receive

    def receive() -> bytes:
        data = heard()
        words.append(str(ForwardMsg.FromString(data).delta))
        return data

    page.receive = receive  # type: ignore[method-assign]
    page.run(states or [])
    page.receive = heard  # type: ignore[method-assign]
    return " ".join(words)


def ready(server: Server) -> tuple[int, object]:
    time.sleep(FRESH_SECONDS)
    answer = server.ask("/ready")
    return answer.status, json.loads(answer.body).get("reasons")


@pytest.mark.process
@pytest.mark.server
@pytest.mark.heavy
@pytest.mark.skipif(not can_mount(), reason="no file system of one's own here")
def test_a_full_disk_is_said_and_nothing_is_half_written(demo_cache: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    mount = f'mount -t tmpfs -o size={MEGABYTES}m none "{cache}" && cp -r "{demo_cache}/." "{cache}" && exec "$@"'
    with served(tmp_path, ["unshare", "-rm", "sh", "-c", mount, "sh"]) as (server, process, log):
        inside = Path(f"/proc/{process.pid}/root{cache}")
        assert ready(server) == (200, None)
        filler = inside / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4_096):
                pass
        assert shutil.disk_usage(inside).free == 0
        before = {path for path in inside.rglob("*") if path.is_file()}
        assert ready(server) == (503, ["cache"])
        words = ""
        for name in PAGES:
            with page_of(server, name) as page:
                words += said_on(page)
        with page_of(server, "data") as page:
            page.run()
            typed = WidgetState(id=widget(page, "make_texts"), string_value=TEXTS)
            page.run([typed])
            kept = said_on(page, [typed, WidgetState(id=widget(page, "make_keep"), trigger_value=True)])
            assert FULL in kept
        with page_of(server, "run") as page:
            page.run()
            started = said_on(page, [WidgetState(id=widget(page, "run_all"), trigger_value=True)])
            until(lambda: FULL in said_on(page))
        words += kept + started
        assert str(tmp_path) not in words, "a path of the server"
        assert "No space left" not in words, "what only the host can mend"
        after = {path for path in inside.rglob("*") if path.is_file() and path.suffix != ".wal"}
        assert after <= before, "half-written"
        filler.unlink()
        assert ready(server) == (200, None)
        with page_of(server, "data") as page:
            page.run()
            page.run([typed])
            kept = said_on(page, [typed, WidgetState(id=widget(page, "make_keep"), trigger_value=True)])
            assert "was added" in kept
        assert process.poll() is None
    assert "Traceback" not in log.read_text()
