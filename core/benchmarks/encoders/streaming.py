"""Memory and time of encoding a million texts to disk, in a process of its own.

``python -m benchmarks.encoders.streaming TEXTS`` encodes made-up texts with ``random-projection`` and writes
the figures to stdout.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.measuring import BenchmarkResult
from benchmarks.resident import Watch, own_bytes
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken, Progress, no_progress

TEXTS = 1_000_000
ENCODER = "random-projection"
WORDS, WORDS_PER_TEXT = 30_000, 8


@dataclass(frozen=True)
class Streamed:
    """Figures of a process that encodes.

    Attributes:
        texts_bytes: its own memory, without pages of files, before encoding: texts, interpreter, libraries.
        beyond_bytes: what encoding adds to that at its peak.
        disk_bytes: of the matrix.
        cpu_seconds: of encoding, checking and writing, on all threads.
    """

    texts_bytes: int
    beyond_bytes: int
    disk_bytes: int
    cpu_seconds: float


def encode_out_of_core(progress: Progress) -> list[BenchmarkResult]:
    """A million texts, encoded to disk: memory beyond the texts; processor time per million and bytes come with it."""
    progress("encode_out_of_core", 0, 1)
    found = streamed(TEXTS)
    parts = (
        ("texts", found.texts_bytes / 1e6, "MB"),
        ("matrix", found.disk_bytes / 1e6, "MB"),
        ("cpu_seconds", found.cpu_seconds, "s"),
    )
    own = found.beyond_bytes / 1e6
    return [
        BenchmarkResult("encode_out_of_core", own, "MB", (own,)),
        *(BenchmarkResult(f"encode_out_of_core_{name}", value, unit, (value,)) for name, value, unit in parts),
    ]


def streamed(texts: int) -> Streamed:
    """Encode so many texts in a new process; raises ``BlindspotError`` if it failed."""
    command = [sys.executable, "-m", "benchmarks.encoders.streaming", str(texts)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 0:
        raise BlindspotError(f"encoding {texts:,} texts in a process of its own failed: {done.stderr.strip()[-500:]}")
    return Streamed(**json.loads(done.stdout))


def made_texts(count: int) -> list[str]:
    """Texts of a few words, whose frequencies fall as in language (Zipf)."""
    rng = np.random.default_rng(27)
    shares = 1 / np.arange(1, WORDS + 1)
    words = np.array([f"w{number:x}" for number in range(WORDS)])
    made: list[str] = []
    for start in range(0, count, 100_000):
        drawn = rng.choice(WORDS, size=(min(100_000, count - start), WORDS_PER_TEXT), p=shares / shares.sum())
        made += [" ".join(row) for row in words[drawn]]
    return made


def _measure(count: int, folder: Path) -> Streamed:
    texts = made_texts(count)
    encoder = resolve_encoder(ENCODER, Settings.from_environment())
    encoder.encode(texts[:2_000], CancelToken())  # loads the libraries
    before, began = own_bytes() or 0, process_time()
    with Watch() as watch:
        found = EmbeddingCache(folder / "embeddings").encode(encoder, texts, "made up", no_progress, CancelToken())
    return Streamed(before, (watch.own or before) - before, found.matrix.nbytes, process_time() - began)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        sys.stdout.write(json.dumps(asdict(_measure(int(sys.argv[1]), Path(where)))))
