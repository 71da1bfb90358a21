"""A real HTTP server on the loopback interface that can misbehave in the ways real ones do."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What a server serves and how it behaves; may be changed between requests.

    Attributes:
        url: ``http://127.0.0.1:PORT``.
        files: content by path, such as ``/a/b.txt``.
        redirects: target by path.
        breaks: per coming request, the number of body bytes after which the connection is cut.
        honours_range: whether ``Range`` is understood.
        gate: every response waits for it after its first byte.
        ranges: the ``Range`` header of every request so far, in order.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    breaks: list[int] = field(default_factory=list)
    honours_range: bool = True
    gate: threading.Event = field(default_factory=threading.Event)
    ranges: list[str | None] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        site = self.site
        wanted = self.headers.get("Range")
        site.ranges.append(wanted)
        if self.path in site.redirects:
            self._head(302, 0, Location=site.redirects[self.path])
            return
        content = site.files.get(self.path)
        if content is None:
            self._head(404, 0)
            return
        start = 0
        if wanted and site.honours_range:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self._head(416, 0)
                return
            position = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            self._head(206, len(content) - start, **position)
        else:
            self._head(200, len(content))
        body = content[start:]
        cut = site.breaks.pop(0) if site.breaks else None
        try:
            self.wfile.write(body[: min(1, len(body) if cut is None else cut)])
            site.gate.wait(300)
            self.wfile.write(body[1:cut])
        except (BrokenPipeError, ConnectionResetError):  # the client hung up: it was cancelled
            self.close_connection = True
            return
        if cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _head(self, status: int, length: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that hangs up is no news
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[Site]:
    """A running server that serves nothing yet."""
    site = Site()
    site.gate.set()
    handler = type("Handler", (_Handler,), {"site": site})
    with _Server(("127.0.0.1", 0), handler) as server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            site.gate.set()
            server.shutdown()
            thread.join()


def free_port() -> int:
    """A port of the loopback interface on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
