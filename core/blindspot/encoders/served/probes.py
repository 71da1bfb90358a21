"""Identity of a served model: its answers to five probe texts, kept in a small file of the cache.

A server says nothing about its weights, so its answers identify the model. Answers are compared by cosine and length,
since the same model answers a little differently by batch and machine.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from blindspot.encoders.served.reference import ServedReference
from blindspot.errors import DataCorrupt
from blindspot.files.writing import write_atomically
from blindspot.settings import Settings
from blindspot.types import Float32

PROBES = (
    "The cat sat on the mat.",
    "How do I change the key of a rental car before 9 a.m. on Monday, 23 November?",
    "Zürich, naïve café – über 1.234,56 €",
    "bank",
    "Embeddings turn texts into vectors. Texts that mean the same should lie close together, others far apart, "
    "whatever their words are, and a model that reads no further than the first sentence cannot know what this one "
    "says.",
)
MOST_APART = 1e-3  # 1 - cosine of two answers by one model
MOST_LONGER = 1e-2  # of their lengths, as a share


@dataclass(frozen=True, eq=False)
class Version:
    """A model as it answered: ``vectors [5, d] float32``, first seen at ``since`` (ISO 8601)."""

    vectors: Float32
    since: str

    @property
    def revision(self) -> str:
        return hashlib.sha256(np.ascontiguousarray(self.vectors, dtype="<f4").tobytes()).hexdigest()[:40]

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def is_same(self, vectors: Float32) -> bool:
        """Whether these answers are this model's."""
        if vectors.shape != self.vectors.shape:
            return False
        was, now = self.vectors.astype(np.float64), vectors.astype(np.float64)
        lengths = np.linalg.norm(was, axis=1), np.linalg.norm(now, axis=1)
        least = np.maximum(lengths[0] * lengths[1], np.finfo(np.float64).tiny)
        are_near = 1 - (was * now).sum(axis=1) / least <= MOST_APART
        are_long = np.abs(lengths[1] - lengths[0]) <= MOST_LONGER * lengths[0]
        return bool((are_near & are_long).all())


def versions_of(reference: ServedReference, settings: Settings) -> tuple[Version, ...]:
    """All versions of a model that were seen here, the current one last; empty if it was never asked.

    Raises:
        DataCorrupt: the file is damaged.
    """
    path = path_of(reference, settings)
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return _read(path, status.st_mtime_ns, status.st_size)


def remember(vectors: Float32, reference: ServedReference, settings: Settings) -> tuple[Version, ...]:
    """Make the version that gave these answers the current one, also in the file; returns all versions."""
    stored = versions_of(reference, settings)
    same = next((version for version in reversed(stored) if version.is_same(vectors)), None)
    if same is not None and same is stored[-1]:
        return stored
    current = same or Version(vectors, datetime.now(UTC).isoformat(timespec="seconds"))
    versions = (*(version for version in stored if version is not same), current)
    content = {
        "model": str(reference.of_model),
        "versions": [
            {
                "since": v.since,
                "dimension": v.dimension,
                "vectors": base64.b64encode(v.vectors.astype("<f4").tobytes()).decode(),
            }
            for v in versions
        ],
    }
    write_atomically(path_of(reference, settings), lambda f: f.write(json.dumps(content).encode()))
    return versions


def change_in_words(reference: ServedReference, versions: Sequence[Version]) -> str:
    """A sentence if the server's answers have changed; "" for one version."""
    if len(versions) < 2:
        return ""
    return (
        f"{reference.host} answers the probe texts differently since {versions[-1].since[:10]}: it is another model "
        "now. Results from before are kept as an older version, and no embeddings are mixed."
    )


def path_of(reference: ServedReference, settings: Settings) -> Path:
    return settings.home / "served" / f"{reference.model_digest}.json"


@lru_cache(maxsize=64)
def _read(path: Path, _mtime_ns: int, _size: int) -> tuple[Version, ...]:
    try:
        stored = json.loads(path.read_bytes())["versions"]
        return tuple(
            Version(np.frombuffer(base64.b64decode(v["vectors"]), dtype="<f4").reshape(len(PROBES), -1), v["since"])
            for v in stored
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(
            f"the file {path} about a served model is damaged: {error}", remedy="delete it and check the model again"
        ) from error
