"""A real HTTP server of embeddings on the loopback interface, which can be made to misbehave.

It speaks OpenAI's ``POST /v1/embeddings`` (floats and base64), Text Embeddings Inference's ``POST /embed``, Ollama's
``POST /api/embed`` and Cohere's ``POST /v2/embed``, with HTTP/1.1 keep-alive and a thread per connection.

    with embedding_server(hash_vectors) as site:
        ...                          # POST to f"{site.url}/v1/embeddings"
        site.embed = other           # another model from now on
        site.change = lambda request, reply: replace(reply, status=429, headers={"Retry-After": "1"})

``embed`` decides the vectors; ``change`` gets every request with the reply that would be sent and returns the reply to
send instead: another status, headers, payload (JSON), raw body, a delay, or a connection that is cut.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import perf_counter
from typing import Any

import numpy as np

from blindspot.types import Float32

Embed = Callable[[list[str]], Float32]  # n texts to [n, d]


def hash_vectors(texts: Sequence[str], dimension: int = 32) -> Float32:
    """``[n, dimension] float32`` unit vectors that depend on each text alone; the same in every process."""
    out = np.empty((len(texts), dimension), dtype=np.float32)
    for row, text in enumerate(texts):
        seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
        vector = np.random.default_rng(seed).standard_normal(dimension)
        out[row] = vector / np.linalg.norm(vector)
    return out


@dataclass(frozen=True)
class Request:
    """A request as received; ``number`` counts from 0, header names are in lower case."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """What is sent.

    Attributes:
        payload: sent as JSON (NaN and infinity as Python's json writes them), unless there is a ``body``.
        body: raw bytes instead of the payload.
        headers: sent in addition; a Content-Length replaces the true one.
        delay: seconds before the first byte.
        cut: bytes of the body after which the connection is closed; -1: closed before the status line.
        raw: sent instead of status line, headers and body; then the connection is closed.
        drip: seconds between single bytes of the body.
    """

    status: int = 200
    payload: Any = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    raw: bytes | None = None
    drip: float = 0.0


Change = Callable[[Request, Reply], Reply]


def _as_it_is(request: Request, reply: Reply) -> Reply:
    return reply


@dataclass
class EmbeddingSite:
    """A server: how it behaves, which may be changed between requests, and what it was asked.

    Attributes:
        url: ``http://127.0.0.1:PORT``; OpenAI's base URL is ``f"{url}/v1"``.
        embed: the model.
        change: misbehavior.
        key: the bearer token that requests need, else 401; "" for none.
        info: reply to ``GET /info`` (Text Embeddings Inference); None: 404.
        requests: all ``POST`` requests so far, in order of arrival.
        busy_seconds: time in which at least one request was being answered, from its headers to its last byte.
    """

    embed: Embed
    url: str = ""
    change: Change = _as_it_is
    key: str = ""
    info: Mapping[str, Any] | None = None
    requests: list[Request] = field(default_factory=list)
    busy_seconds: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _at_work: int = 0
    _since: float = 0.0
    _stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def texts(self) -> list[str]:
        """All texts that were asked for, repeats included."""
        return [text for request in self.requests for text in request.texts]

    @property
    def hosts(self) -> set[str]:
        """``Host`` headers seen."""
        return {request.headers.get("host", "") for request in self.requests}

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count the time inside as the server's own."""
        with self._lock:
            if not self._at_work:
                self._since = perf_counter()
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                if not self._at_work:
                    self.busy_seconds += perf_counter() - self._since

    def receive(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Request:
        with self._lock:
            request = Request(len(self.requests), path, headers, body, tuple(_texts_of(path, body)))
            self.requests.append(request)
        return request

    def reply_to(self, request: Request) -> Reply:
        """The reply of a healthy server."""
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return Reply(401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}})
        answer = _STYLES.get(_style_of(request.path))
        if answer is None:
            return Reply(404, {"error": {"message": f"no such path: {request.path}"}})
        vectors = np.asarray(self.embed(list(request.texts)), dtype=np.float32)
        return Reply(200, answer(request.body, vectors))


def _style_of(path: str) -> str:
    path = path.partition("?")[0]
    endings = {"/embeddings": "openai", "/api/embed": "ollama", "/v2/embed": "cohere", "/embed": "tei"}
    return next((style for ending, style in endings.items() if path.endswith(ending)), "")


def _texts_of(path: str, body: Mapping[str, Any]) -> list[str]:
    name = {"tei": "inputs", "cohere": "texts"}.get(_style_of(path), "input")
    found = body.get(name, [])
    return [found] if isinstance(found, str) else list(found)


def as_base64(vector: Float32) -> str:
    """Little-endian float32, as OpenAI sends it."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _openai(body: Mapping[str, Any], vectors: Float32) -> Any:
    is_base64 = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": i, "embedding": as_base64(v) if is_base64 else v.tolist()}
        for i, v in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 7 * len(data), "total_tokens": 7 * len(data)}
    return {"object": "list", "data": data, "model": body.get("model", ""), "usage": usage}


def _tei(body: Mapping[str, Any], vectors: Float32) -> Any:
    return vectors.tolist()


def _ollama(body: Mapping[str, Any], vectors: Float32) -> Any:
    return {"model": body.get("model", ""), "embeddings": vectors.tolist(), "total_duration": 1}


def _cohere(body: Mapping[str, Any], vectors: Float32) -> Any:
    return {"id": "1", "embeddings": {"float": vectors.tolist()}, "texts": list(body.get("texts", []))}


_STYLES: dict[str, Callable[[Mapping[str, Any], Float32], Any]] = {
    "openai": _openai,
    "tei": _tei,
    "ollama": _ollama,
    "cohere": _cohere,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # status line, headers and body in one packet
    site: EmbeddingSite

    def do_GET(self) -> None:
        if self.path == "/info" and self.site.info is not None:
            self._send(Reply(payload=self.site.info))
        else:
            self._send(Reply(404, {"error": "not found"}))

    def do_POST(self) -> None:
        site = self.site
        with site.busy():
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            request = site.receive(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self._send(site.change(request, site.reply_to(request)))

    def _send(self, reply: Reply) -> None:
        if reply.delay:
            self.site._stopping.wait(reply.delay)
        body = json.dumps(reply.payload).encode() if reply.body is None else reply.body
        try:
            if reply.raw is not None:
                self.wfile.write(reply.raw)
                self.wfile.flush()
                self.close_connection = True
                return
            if reply.cut != -1:
                self.send_response(reply.status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for start in range(len(body) if reply.drip else 0):
                    self.wfile.write(body[start : start + 1])
                    self.wfile.flush()
                    if self.site._stopping.wait(reply.drip):
                        break
                if not reply.drip:
                    self.wfile.write(body[: reply.cut])
                self.wfile.flush()
            if reply.cut is not None:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
        except OSError:  # the client hung up: it was cancelled, or has had enough
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that hangs up is no news
            super().handle_error(request, client_address)


@contextmanager
def embedding_server(embed: Embed = hash_vectors) -> Iterator[EmbeddingSite]:
    """A running, healthy server."""
    site = EmbeddingSite(embed)
    handler = type("Handler", (_Handler,), {"site": site})
    server = _Server(("127.0.0.1", 0), handler)
    server.block_on_close = False  # threads of kept-alive connections wait for their clients
    with server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            site._stopping.set()
            server.shutdown()
            thread.join()
