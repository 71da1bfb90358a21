"""A hub of models on the loopback interface: it serves a folder as one repository, as huggingface_hub asks for it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

REPOSITORY = "org/model"
COMMIT = "a" * 40


@dataclass
class Hub:
    """``fetched`` are the files whose content was asked for, in order."""

    folder: Path
    url: str = ""
    fetched: list[str] = field(default_factory=list)

    def answer(self, path: str) -> bytes | None:
        """The body for a path; None for 404."""
        if path in (f"/api/models/{REPOSITORY}", f"/api/models/{REPOSITORY}/revision/main"):
            return json.dumps({"id": REPOSITORY, "sha": COMMIT, "siblings": []}).encode()
        if path == f"/api/models/{REPOSITORY}/revision/{COMMIT}":
            return json.dumps({"id": REPOSITORY, "sha": COMMIT, "siblings": []}).encode()
        if path.startswith(f"/api/models/{REPOSITORY}/tree/{COMMIT}"):
            files = sorted(file for file in self.folder.rglob("*") if file.is_file())
            return json.dumps([self._row(file) for file in files]).encode()
        file = self.folder / path.removeprefix(f"/{REPOSITORY}/resolve/{COMMIT}/")
        return file.read_bytes() if path.startswith(f"/{REPOSITORY}/resolve/{COMMIT}/") and file.is_file() else None

    def _row(self, file: Path) -> dict[str, object]:
        oid = hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
        return {
            "type": "file",
            "path": file.relative_to(self.folder).as_posix(),
            "size": file.stat().st_size,
            "oid": oid,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.hub.answer(path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(body or b"").hexdigest()}"')
        self.end_headers()
        if with_body and body is not None:
            if "/resolve/" in path:
                self.hub.fetched.append(path.partition(f"{COMMIT}/")[2])
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub that huggingface_hub asks in this process, until the context ends."""
    from huggingface_hub import constants

    hub = Hub(folder)
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
