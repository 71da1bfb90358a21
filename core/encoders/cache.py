"""Embeddings on disk: a wrapper around any encoder (DESIGN section 5).

Texts are encoded longest first, in chunks; every finished chunk is a file, so that a killed process
resumes with at most one chunk encoded again. The whole is written under a temporary name and renamed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

import numpy as np

from core.encoders.base import Encoder
from core.errors import BlindspotError, DataCorrupt
from core.files import exclusive, write_atomically
from core.types import CancelToken, Float32, Int64, Progress

TEXTS_PER_CHUNK = 512


@dataclass(frozen=True)
class EmbeddingFacts:
    """What is remembered about a set of embeddings, beside the matrix.

    ``seconds`` is the time spent encoding, model loading left out, over all processes that took part.
    """

    digest: str
    encoder: str
    revision: str
    dimension: int
    texts: int
    seconds: float
    device: str


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of a list of texts: ``matrix`` is ``[n, d] float32``, memory-mapped and read-only."""

    matrix: Float32
    facts: EmbeddingFacts
    encoded_now: int


class EmbeddingCache:
    """The folder that holds embeddings; safe to use from several threads and processes."""

    def __init__(self, folder: Path, texts_per_chunk: int = TEXTS_PER_CHUNK) -> None:
        self.folder = folder
        self.texts_per_chunk = texts_per_chunk

    def read(self, digest: str) -> Embedded | None:
        """What is stored under ``digest``, or None.

        Raises:
            DataCorrupt: the files are there but damaged.
        """
        matrix, facts = self._matrix_path(digest), self._facts_path(digest)
        if not (matrix.is_file() and facts.is_file()):
            return None
        try:
            return Embedded(
                matrix=np.load(matrix, mmap_mode="r"),
                facts=EmbeddingFacts(**json.loads(facts.read_text("utf-8"))),
                encoded_now=0,
            )
        except (ValueError, TypeError, EOFError) as error:
            raise DataCorrupt(
                f"the stored embeddings {matrix} are damaged: {error}",
                remedy="delete this file and run it again: the texts are encoded anew",
            ) from error

    def encode(
        self, encoder: Encoder, texts: Sequence[str], texts_digest: str, progress: Progress, cancel: CancelToken
    ) -> Embedded:
        """The embeddings of ``texts``, encoded now where they are not stored yet.

        Raises:
            Cancelled: finished chunks stay on disk.
            BlindspotError: the encoder gave something that is not finite numbers, or the disk is full.
        """
        digest = encoder.identity.embedding_digest(texts_digest)
        if found := self.read(digest):
            return found
        # Whoever asks for the same embeddings meanwhile waits for them instead of encoding them again.
        with exclusive(self.folder / f"{digest}.lock", cancel):
            return self.read(digest) or self._encode_chunks(digest, encoder, texts, progress, cancel)

    def _encode_chunks(
        self, digest: str, encoder: Encoder, texts: Sequence[str], progress: Progress, cancel: CancelToken
    ) -> Embedded:
        parts = self.folder / f"{digest}.parts"
        sizes = np.array([len(text) for text in texts], dtype=np.int64)
        order = np.argsort(-sizes, kind="stable")  # longest first: a batch that does not fit fails early
        work = np.cumsum(sizes[order] + 1)
        matrix = np.empty((len(texts), encoder.info.dimension), dtype=np.float32)
        encoded_now, seconds = 0, 0.0
        for start in range(0, len(texts), self.texts_per_chunk):
            rows = order[start : start + self.texts_per_chunk]
            path = parts / f"{start:09d}.npz"
            chunk = _read_chunk(path, rows)
            if chunk is None:
                progress("encoding", start, len(texts), float(work[start - 1] / work[-1]) if start else 0.0)
                cancel.check()
                encoder.load()
                began = perf_counter()
                vectors = _checked(encoder, [texts[row] for row in rows], cancel)
                chunk = _Chunk(rows, vectors, perf_counter() - began)
                write_atomically(path, chunk.save)
                encoded_now += len(rows)
            matrix[rows] = chunk.vectors
            seconds += chunk.seconds
        progress("encoding", len(texts), len(texts), 1.0)
        facts = EmbeddingFacts(
            digest=digest,
            encoder=encoder.identity.reference,
            revision=encoder.identity.revision,
            dimension=matrix.shape[1],
            texts=len(texts),
            seconds=seconds,
            device=encoder.device,
        )
        write_atomically(self._matrix_path(digest), lambda f: np.save(f, matrix))
        write_atomically(self._facts_path(digest), lambda f: f.write(json.dumps(asdict(facts)).encode()))
        shutil.rmtree(parts, ignore_errors=True)
        return Embedded(np.load(self._matrix_path(digest), mmap_mode="r"), facts, encoded_now)

    def _matrix_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.npy"

    def _facts_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Some rows of the matrix: ``rows [k] int64``, ``vectors [k, d] float32``, seconds spent on them."""

    rows: Int64
    vectors: Float32
    seconds: float

    def save(self, file: BinaryIO) -> None:
        np.savez(file, rows=self.rows, vectors=self.vectors, seconds=np.float64(self.seconds))


def _read_chunk(path: Path, rows: Int64) -> _Chunk | None:
    """The chunk at ``path`` if it holds exactly ``rows`` (the chunk size may have changed since), else None."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        if not np.array_equal(stored["rows"], rows):
            return None
        return _Chunk(rows, stored["vectors"], float(stored["seconds"]))


def _checked(encoder: Encoder, texts: list[str], cancel: CancelToken) -> Float32:
    """Encode, and refuse what is not ``[n, d]`` finite numbers."""
    vectors = encoder.encode(texts, cancel)
    if vectors.shape != (len(texts), encoder.info.dimension):
        raise BlindspotError(
            f"encoder '{encoder.identity.reference}' gave an array of shape {vectors.shape}",
            expected=f"({len(texts)}, {encoder.info.dimension})",
        )
    broken = ~np.isfinite(vectors).all(axis=1)
    if broken.any():
        raise BlindspotError(
            f"encoder '{encoder.identity.reference}' gave NaN or infinite values for "
            f"{int(broken.sum())} text(s), the first being {texts[int(broken.argmax())][:60]!r}",
            remedy="leave these texts out or use another encoder",
        )
    return vectors
