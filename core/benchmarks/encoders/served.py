"""Encoding through a server on this machine, against the server's own time.

The server runs in a process of its own, with MiniLM behind OpenAI's form of requests; its own time is that in which it
answers at least one request, from the request's headers to the last byte of the answer.
"""

from __future__ import annotations

import base64
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.encoders.encoding import SENTENCES, TO_WARM_UP, minilm, sentences
from benchmarks.measuring import BenchmarkResult
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken, Float32, Progress, no_progress

SAMPLES = 3
BUSY = "/busy"  # tells the server's own seconds so far


def encode_api(progress: Progress) -> list[BenchmarkResult]:
    """EvalRank sentences through a server on this machine, encoded and stored: time over the server's own.

    The largest difference from MiniLM in this process comes with it.

    Raises:
        NotMeasured: the sentences are not here.
    """
    import httpx

    texts = sentences(Settings.from_environment(), SENTENCES)
    own = minilm(Settings.from_environment()).encode(texts[:TO_WARM_UP], CancelToken())
    ratios, difference = [], 0.0
    with _running() as url, httpx.Client(trust_env=False) as client:
        for i in range(SAMPLES + 1):
            progress(f"encode_api, {len(texts):,} sentences", i, SAMPLES + 1)
            some = texts[:TO_WARM_UP] if not i else texts
            before = float(client.get(f"{url}{BUSY}").text)
            began = perf_counter()
            vectors = _stored(f"api:{url}/v1#minilm", some)
            seconds = perf_counter() - began
            spent = float(client.get(f"{url}{BUSY}").text) - before
            difference = max(difference, float(np.abs(vectors[:TO_WARM_UP] - own).max()))
            if i:
                ratios.append(seconds / spent)
    return [
        BenchmarkResult("encode_api", statistics.median(ratios), "ratio", tuple(ratios)),
        BenchmarkResult("encode_api_difference", difference, "largest difference", (difference,)),
    ]


def _stored(reference: str, texts: tuple[str, ...]) -> Float32:
    """Encode into a new cache, the probe texts included; returns the vectors, in memory."""
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(Settings.from_environment(), cache=Path(folder))
        encoder = resolve_encoder(reference, settings)
        if not isinstance(encoder, ServedEncoder):
            raise TypeError(f"{reference} is on no server")
        encoder.verify(CancelToken())
        cache = EmbeddingCache(settings.embeddings)
        return np.array(cache.encode(encoder, texts, "benchmark", no_progress, CancelToken()).matrix)


@contextmanager
def _running() -> Iterator[str]:
    """The server's address; it ends with its input."""
    command = [sys.executable, "-c", "from benchmarks.encoders.served import serve; serve()"]
    with subprocess.Popen(  # noqa: S603 - our own
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


class _Own:
    """The server's own seconds: those in which at least one request is being answered."""

    def __init__(self) -> None:
        self.seconds, self._since, self._at_work, self._lock = 0.0, 0.0, 0, threading.Lock()

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self._since = perf_counter() if not self._at_work else self._since
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                self.seconds += 0.0 if self._at_work else perf_counter() - self._since


def serve() -> None:
    """Serve MiniLM until the input ends; the first line of the output is the address."""
    encoder = minilm(Settings.from_environment())
    encoder.load()
    own, one_at_a_time = _Own(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            self._send(str(own.seconds).encode())

        def do_POST(self) -> None:
            with own.counted():
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with one_at_a_time:
                    vectors = encoder.encode(asked["input"], CancelToken())
                data = [
                    {"index": i, "embedding": base64.b64encode(v.astype("<f4").tobytes()).decode()}
                    for i, v in enumerate(vectors)
                ]
                self._send(json.dumps({"data": data}).encode())

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()
        server.shutdown()
