"""Responses and requests of a demo behind TLS, and files on their way: without a server."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from blindspot import policy
from blindspot.jobs import visitors
from blindspot.server import headers as hosting
from tests.support.tables import each

Sent = list[dict[str, Any]]


async def app(scope: Any, receive: Any, send: Any) -> None:
    cookies = [(b"set-cookie", b"_streamlit_xsrf=a"), (b"set-cookie", b"b=c; Secure")]
    await send({"type": "http.response.start", "status": 200, "headers": cookies})


def sent_by(middleware: Any, kind: str = "http", scheme: str = "http", **headers: str) -> Sent:
    sent: Sent = []

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": "/", "scheme": scheme, "headers": given, "extensions": {}}
    asyncio.run(middleware(scope, None, send))
    return sent


def test_behind_tls_browsers_are_told_to_stay_there() -> None:
    middleware = hosting.Headers(app, {})
    for asked in ({"scheme": "https"}, {"x_forwarded_proto": "https"}):
        found = sent_by(middleware, **asked)[0]["headers"]
        assert (b"strict-transport-security", b"max-age=31536000") in found
        assert [value for name, value in found if name == b"set-cookie"] == [
            b"_streamlit_xsrf=a; Secure",
            b"b=c; Secure",
        ]
    plain = sent_by(middleware)[0]["headers"]
    assert [name for name, _ in plain] == [b"set-cookie"] * 2
    assert plain[0][1] == b"_streamlit_xsrf=a", "over http a browser would not send it back"


@each("origin", ["http://demo.org", "https://demo.org:443", "https://other.org", "ftp://demo.org", "null", "demo.org"])
def test_another_origin_is_refused(origin: str) -> None:
    demo = hosting.Demo(app, may=policy.DEMO, kept=lambda _page: (0, 0))
    assert sent_by(demo, host="demo.org", origin=origin, x_forwarded_proto="https")[0]["status"] == 403


def test_its_own_origin_is_answered() -> None:
    demo = hosting.Demo(app, may=policy.DEMO, kept=lambda _page: (0, 0))
    assert sent_by(demo, host="demo.org", origin="https://demo.org", x_forwarded_proto="https")[0]["status"] == 200
    assert sent_by(demo, host="demo.org:8501", origin="http://demo.org:8501")[0]["status"] == 200
    for told in ({"scheme": "wss"}, {"scheme": "ws", "x_forwarded_proto": "wss"}, {"x_forwarded_proto": "https,http"}):
        assert sent_by(demo, "websocket", host="demo.org", origin="https://demo.org", **told)[0]["status"] == 200


def test_files_on_their_way_count_before_they_are_there() -> None:
    """Ten at once would each find room for itself."""
    entered, statuses = [], []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        entered.append(scope["path"])
        await asyncio.sleep(0.01)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    demo = hosting.Demo(slow, may=policy.DEMO, kept=lambda _page: (0, 0))
    scope = {"type": "http", "method": "PUT", "scheme": "http", "extensions": {}}
    size = [(b"content-length", str(2 * 2**20).encode())]

    async def all_at_once() -> None:
        paths = [f"/_stcore/upload_file/page/{number}" for number in range(12)]
        await asyncio.gather(*(demo({**scope, "path": path, "headers": size}, None, send) for path in paths))

    asyncio.run(all_at_once())
    assert policy.DEMO.uploads_kept is not None
    fit = policy.DEMO.uploads_kept[0] // (2 * 2**20)
    assert (statuses.count(204), statuses.count(413), len(entered)) == (fit, 12 - fit, fit)
    assert demo._open == []


def test_no_record_of_the_log_names_a_visitors_folder(caplog: pytest.LogCaptureFixture) -> None:
    secret = f"/var/cache/sessions/12-{'ab' * 16}/uploads/my-pairs-1/pairs.csv"
    before = logging.getLogRecordFactory()
    try:
        visitors.keep_out_of_logs()
        log = logging.getLogger("blindspot.test")
        log.warning("cannot read %s: it is gone", secret)
        log.warning("cannot read file:%s?query=a", secret)
        try:
            Path(secret).read_bytes()
        except OSError:
            log.exception("job %s failed", 3)
        log.warning("12-%s of /var/cache/x", "ab")
    finally:
        logging.setLogRecordFactory(before)
    said = [record.getMessage() for record in caplog.records]
    assert "ab" * 16 not in caplog.text
    assert said[0] == "cannot read (an upload): it is gone"
    assert "No such file" in caplog.text
    assert said[3] == "12-ab of /var/cache/x"
