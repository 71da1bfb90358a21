"""The files for nginx and Caddy, run by the real programs: what they must bound, they bound.

Each stands before a small server on this machine. Skipped where the program is not installed (Debian's nginx-light and
caddy have all that the files name).
"""

from __future__ import annotations

import http.server
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from blindspot.settings import ROOT
from tests.support.loopback import free_port

HOSTING = ROOT / "assets" / "hosting"
PROGRAMS = ("nginx", "caddy")
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Proxy:
    name: str
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def ask(self, head: str, body: bytes = b"") -> bytes:
        """All that comes back until the proxy closes."""
        with closing(self.connect()) as sent:
            sent.sendall(f"{head}\r\nHost: localhost:{self.port}\r\nConnection: close\r\n\r\n".encode() + body)
            return until_closed(sent)


def until_closed(sent: socket.socket) -> bytes:
    found = b""
    while True:
        try:
            part = sent.recv(65_536)
        except ConnectionResetError:
            return found
        if not part:
            return found
        found += part


class Behind(http.server.BaseHTTPRequestHandler):
    """What the app is to the proxy: it answers at once, and keeps a websocket open until the other side goes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers.get("Upgrade"):
            self.send_response_only(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.end_headers()
            while self.connection.recv(1_024):
                pass
            self.close_connection = True
            return
        self._answer(b"here")

    def do_PUT(self) -> None:
        self._answer(b"%d" % len(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, text: bytes) -> None:
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module", params=PROGRAMS)
def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    name: str = request.param
    program = shutil.which(name) or shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin")
    if program is None:
        pytest.skip(f"{name} is not installed here")
    folder, port, behind = tmp_path_factory.mktemp(name), free_port(), free_port()
    command = (nginx if name == "nginx" else caddy)(program, folder, port, behind)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", behind), Behind)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env={"HOME": str(folder)})
        try:
            found = Proxy(name, port)
            until_it_answers(found, process, folder / "log")
            yield found
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)
            server.shutdown()


def nginx(program: str, folder: Path, port: int, behind: int) -> list[str]:
    """The shipped file without TLS, on a port of its own."""
    text = (HOSTING / "nginx.conf").read_text("utf-8").replace("/var/log/nginx/", f"{folder}/")
    text = re.sub(r"(?m)^\s*ssl_.*\n", "", text).replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    (folder / "site.conf").write_text(text.replace("127.0.0.1:8501", f"127.0.0.1:{behind}"), "utf-8")
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{places}include {folder}/site.conf;\n}}\n"
    )
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]


def caddy(program: str, folder: Path, port: int, behind: int) -> list[str]:
    """The shipped file without TLS, on a port of its own."""
    text = (HOSTING / "Caddyfile").read_text("utf-8").replace("127.0.0.1:8501", f"127.0.0.1:{behind}")
    text = text.replace("demo.example.org {", f"http://localhost:{port} {{").replace(
        "{\n\tservers", "{\n\tadmin off\n\tservers", 1
    )
    (folder / "Caddyfile").write_text(text, "utf-8")
    return [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def until_it_answers(proxy: Proxy, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if b"here" in proxy.ask("GET / HTTP/1.1"):
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.process
@pytest.mark.server
def test_an_upload_of_the_size_that_a_demo_takes_passes_and_a_larger_one_does_not(proxy: Proxy) -> None:
    fits = 2 * 2**20 + 64 * 2**10
    answer = proxy.ask(f"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nContent-Length: {fits}", b"x" * fits)
    assert status(answer) == 200
    assert answer.endswith(str(fits).encode())
    with closing(proxy.connect()) as sent:
        sent.sendall(f"PUT / HTTP/1.1\r\nHost: localhost:{proxy.port}\r\nContent-Length: 209715200\r\n\r\n".encode())
        if proxy.name == "caddy":  # it looks while it passes the body on
            try:
                for _ in range(80):
                    sent.sendall(b"x" * 2**16)
            except OSError:
                return  # closed before the end
        assert status(sent.recv(65_536)) in {413, 502}


@pytest.mark.process
@pytest.mark.server
def test_headers_are_bounded(proxy: Proxy) -> None:
    answer = proxy.ask("GET / HTTP/1.1\r\nX-Long: " + "x" * 200_000)
    assert not answer or status(answer) in {400, 431, 494}


def upgrade(proxy: Proxy) -> socket.socket:
    sent = proxy.connect()
    sent.sendall(
        f"GET /_stcore/stream HTTP/1.1\r\nHost: localhost:{proxy.port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    return sent


@pytest.mark.process
@pytest.mark.server
def test_websockets_pass_and_nginx_bounds_them_by_address(proxy: Proxy) -> None:
    with ExitStack() as stack:
        found = []
        for _ in range(60):
            sent = stack.enter_context(closing(upgrade(proxy)))
            found.append(status(sent.recv(4_096)))
    assert found[:5] == [101] * 5
    if proxy.name == "nginx":
        assert set(found) == {101, 429}
        assert found.count(101) <= 40
    else:
        assert set(found) == {101}, "Caddy has a bound by address now: say so in docs/hosting.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "half",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: lo", id="headers"),
        pytest.param(b"PUT / HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 1000\r\n\r\nabc", id="body"),
    ],
)
def test_half_sent_requests_are_given_up(half: bytes, proxy: Proxy) -> None:
    """Ten seconds for nginx, up to thirty for Caddy; without a bound the socket's own patience would end it."""
    with ExitStack() as stack:
        waiting = [stack.enter_context(closing(proxy.connect())) for _ in range(30)]
        for sent in waiting:
            sent.sendall(half % proxy.port if b"%d" in half else half)
        for sent in waiting:
            until_closed(sent)  # TimeoutError where it stays open
        assert b"here" in proxy.ask("GET / HTTP/1.1")
