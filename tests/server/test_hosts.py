"""Host names of a local app: a name of another site that leads here gets nothing (DNS rebinding)."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from blindspot.server.headers import Hosts, middleware
from blindspot.settings import Settings
from tests.support.tables import each

NAME = socket.gethostname().lower()


async def passed_on(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "passed on"})


def answers(host: bytes | None, kind: str = "http", **so: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "extensions": {"websocket.http.response": {}},
        "headers": [] if host is None else [(b"host", host)],
    }
    asyncio.run(Hosts(passed_on, **(so or {"names": (), "is_local": True}))(scope, None, send))  # type: ignore[arg-type]
    return sent


@each("host", ["localhost", "localhost:8501", "LOCALHOST", f"{NAME}:80", "127.0.0.1:8501", "[::1]:8501", "192.168.1.7",
               "app.localhost:8501", "10.0.0.3:1"])  # fmt: skip
def test_it_answers_to_this_machine(host: str) -> None:
    for kind in ("http", "websocket"):
        assert answers(host.encode(), kind) == [{"type": "passed on"}]


@each("host", ["evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1",
               "127.0.0.1@evil.example", "é", "xlocalhost", "1.2.3", None])  # fmt: skip
def test_it_answers_to_nobody_else(host: str | None) -> None:
    sent = answers(None if host is None else host.encode())
    assert sent[0]["status"] == 400
    assert b"BLINDSPOT_HOSTS" in sent[1]["body"]
    assert answers(None if host is None else host.encode(), "websocket")[0]["status"] == 400


@each("variables, host, is_answered", [
    ({}, "192.168.1.7", True), ({}, "demo.example.org", False),
    ({"BLINDSPOT_HOSTS": "demo.example.org,*.a.org"}, "demo.example.org:80", True),
    ({"BLINDSPOT_HOSTS": "demo.example.org,*.a.org"}, "B.a.org", True),
    ({"BLINDSPOT_HOSTS": "demo.example.org,*.a.org"}, "a.org", False),
    ({"BLINDSPOT_HOSTS": "demo.example.org"}, "192.168.1.7", False), ({"BLINDSPOT_MODE": "demo"}, "192.168.1.7", False),
    ({"BLINDSPOT_MODE": "demo"}, NAME, NAME == "localhost"), ({"BLINDSPOT_MODE": "demo"}, "127.0.0.1:8501", True),
    ({"BLINDSPOT_MODE": "demo"}, "[::1]:1", True), ({"BLINDSPOT_MODE": "demo"}, "localhost", True),
])  # fmt: skip
def test_names_that_are_set_and_a_demo_leave_only_this_machine_s_own(
    variables: dict[str, str], host: str, is_answered: bool
) -> None:
    (found,) = [one for one in middleware(Settings.from_environment(variables)) if one.cls is Hosts]
    assert (answers(host.encode(), **found.kwargs)[0]["type"] == "passed on") is is_answered
