"""Host names of a local app: a name of another site that leads here gets nothing (DNS rebinding)."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from blindspot.server.headers import LocalHosts, middleware
from blindspot.settings import Settings
from tests.support.tables import each

NAME = socket.gethostname().lower()


async def passed_on(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "passed on"})


def answers(host: bytes | None, kind: str = "http") -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "headers": [] if host is None else [(b"host", host)]}
    asyncio.run(LocalHosts(passed_on)(scope, None, send))  # type: ignore[arg-type]
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
    assert answers(None if host is None else host.encode(), "websocket")[0]["type"] == "websocket.close"


@pytest.mark.parametrize(
    ("variables", "is_local"),
    [({}, True), ({"BLINDSPOT_HOSTS": "demo.example.org"}, False), ({"BLINDSPOT_MODE": "demo"}, False)],
)
def test_names_that_are_set_go_before(variables: dict[str, str], is_local: bool) -> None:
    kinds = [one.cls for one in middleware(Settings.from_environment(variables))]
    assert (LocalHosts in kinds) is is_local
