"""Embeddings on disk: a wrapper around any encoder (DESIGN section 5).

Texts are encoded longest first, in chunks, or in an order that the encoder knows to be better; every finished
chunk is a file, so that a killed process resumes with at most one chunk encoded again. The whole is written under
a temporary name and renamed.

Encoders that share a forward pass (``EncoderFamily``) are encoded together, under one lock and in common
chunks; each one's matrix is stored under its own digest.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

import numpy as np

from core.encoders.base import (
    Encoder,
    EncoderFamily,
    Encodings,
    FittedEncoder,
    PreparedTexts,
    PreparingEncoder,
    Sibling,
)
from core.errors import BlindspotError, DataCorrupt
from core.files.in_use import use
from core.files.writing import delete_file, exclusive, exclusive_now, write_atomically
from core.types import Bool, CancelToken, Float32, Int64, Progress, digest_of_strings

TEXTS_PER_CHUNK = 256
CHUNKS_ON_GPU = 16  # of that size make one there: 256 short texts are a few milliseconds, less than a file takes


@dataclass(frozen=True)
class EmbeddingFacts:
    """What is remembered about a set of embeddings, beside the matrix.

    ``seconds`` is the time spent encoding, model loading left out, over all processes that took part; siblings
    of one forward pass each show the whole of it. ``truncated`` counts the texts that were cut off at the
    encoder's maximum length; None where the encoder does not tell.
    """

    digest: str
    encoder: str
    revision: str
    dimension: int
    texts: int
    seconds: float
    device: str
    truncated: int | None = None

    @property
    def forward_pass(self) -> object:
        """The pass that they come from: its time was measured once and stored for all that it gave."""
        return (self.revision, self.texts, self.seconds, self.device) if self.seconds > 0 else self.digest

    @property
    def truncated_share(self) -> float | None:
        """Share of the texts that were cut off; None where it is not known."""
        return None if self.truncated is None else self.truncated / self.texts if self.texts else 0.0


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings of a list of texts: ``matrix`` is ``[n, d] float32``, memory-mapped and read-only.

    A text without a vector (of a partial encoder) has a row of NaN.
    """

    matrix: Float32
    facts: EmbeddingFacts
    encoded_now: int

    @cached_property
    def covered(self) -> Bool:
        """Per text, whether it has a vector, ``[n] bool``."""
        return ~np.isnan(self.matrix[:, 0])


@dataclass(frozen=True)
class StoredEmbeddings:
    """A set of embeddings on disk and the bytes that it takes."""

    facts: EmbeddingFacts
    size: int


@dataclass(frozen=True)
class Inventory:
    """All embeddings on disk; ``damaged`` are files of facts that cannot be read."""

    embeddings: tuple[StoredEmbeddings, ...]
    damaged: tuple[Path, ...]


class EmbeddingCache:
    """The folder that holds embeddings; safe to use from several threads and processes."""

    def __init__(self, folder: Path, texts_per_chunk: int = TEXTS_PER_CHUNK) -> None:
        self.folder = folder
        self.texts_per_chunk = texts_per_chunk

    def read(self, digest: str, *, is_use: bool = True) -> Embedded | None:
        """What is stored under ``digest``, or None.

        Args:
            is_use: whether somebody wants the vectors, so that they count as used now (``core.files.in_use``).

        Raises:
            DataCorrupt: the files are there but damaged.
        """
        matrix, facts = self._matrix_path(digest), self._facts_path(digest)
        if not (matrix.is_file() and facts.is_file()) or (is_use and not use(matrix)):
            return None
        try:
            return Embedded(
                matrix=np.load(matrix, mmap_mode="r"),
                facts=EmbeddingFacts(**json.loads(facts.read_text("utf-8"))),
                encoded_now=0,
            )
        except FileNotFoundError:
            return None  # removed at this moment: it is encoded again when it is needed
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
        siblings = encoder.family if isinstance(encoder, EncoderFamily) else (Sibling(encoder.identity, encoder.info),)
        family = _Family(encoder, {s.identity.embedding_digest(texts_digest): s for s in siblings})
        if found := self.read(digest):
            self._remove_left_over(family)
            return found
        # Whoever asks for the same embeddings, or for a sibling's, waits for them instead of encoding again.
        with exclusive(self.folder / f"{family.key}.lock", cancel):
            return self.read(digest) or self._encode_chunks(digest, family, texts, progress, cancel)

    def _remove_left_over(self, family: _Family) -> None:
        """Remove the chunks of embeddings that are whole: whoever wrote them was killed before he did."""
        parts = self.folder / f"{family.key}.parts"
        if parts.is_dir() and all(self._facts_path(digest).is_file() for digest in family.siblings):
            with exclusive_now(parts.with_suffix(".lock")) as is_ours:
                if is_ours:
                    shutil.rmtree(parts, ignore_errors=True)

    def inventory(self) -> Inventory:
        """What is on disk, in order of the encoders' references; no matrix is opened."""
        found, damaged = [], []
        for path in sorted(self.folder.glob("*.json")):
            try:
                facts = EmbeddingFacts(**json.loads(path.read_text("utf-8")))
                size = path.stat().st_size + self._matrix_path(path.stem).stat().st_size
            except FileNotFoundError:
                continue  # removed at this moment, or half of it was: it is encoded again when it is needed
            except (ValueError, TypeError):
                damaged.append(path)
                continue
            # The name decides what is read and deleted, whatever the file says.
            found.append(StoredEmbeddings(replace(facts, digest=path.stem), size))
        found.sort(key=lambda stored: (stored.facts.encoder, stored.facts.digest))
        return Inventory(tuple(found), tuple(damaged))

    def delete(self, digest: str) -> None:
        """Remove embeddings from disk, where they are there.

        Raises:
            BlindspotError: the disk does not let us.
        """
        for path in (self._facts_path(digest), self._matrix_path(digest)):
            delete_file(path)

    def delete_unfinished(self, digests: Collection[str]) -> None:
        """Remove the finished chunks of encodings that were interrupted, where one of ``digests`` is among them.

        What is being encoded now is left alone. Chunks of siblings go too: they are encoded together.
        """
        for parts in self.folder.glob("*.parts"):
            chunk = next(parts.glob("*.npz"), None)
            if chunk is None:
                continue
            with np.load(chunk, allow_pickle=False) as stored:
                if set(digests).isdisjoint(stored):
                    continue
            with exclusive_now(parts.with_suffix(".lock")) as is_ours:
                if is_ours:
                    shutil.rmtree(parts, ignore_errors=True)

    def _encode_chunks(
        self, digest: str, family: _Family, texts: Sequence[str], progress: Progress, cancel: CancelToken
    ) -> Embedded:
        encoder = family.encoder
        parts = self.folder / f"{family.key}.parts"
        encoded_now, seconds = 0, 0.0

        def load() -> None:
            progress("loading the encoder", 0, 1, 0.0)
            cancel.check()
            encoder.load()

        if isinstance(encoder, PreparingEncoder):
            load()
            began = perf_counter()
            prepared = encoder.prepare(texts, cancel)
            seconds = perf_counter() - began
        else:
            prepared = _LongestFirst(encoder, texts)
        order = prepared.order
        work = np.cumsum(prepared.work[order] + 1)
        matrices = {
            key: np.empty((len(texts), s.info.dimension), dtype=np.float32) for key, s in family.siblings.items()
        }
        truncated = None if family.is_single else 0
        size = self.texts_per_chunk * (CHUNKS_ON_GPU if encoder.device.startswith("cuda") else 1)
        for start in range(0, len(texts), size):
            rows = order[start : start + size]
            path = parts / f"{start:09d}.npz"
            chunk = _read_chunk(path, rows, family)
            if chunk is None:
                if not encoded_now and isinstance(prepared, _LongestFirst):
                    load()
                    if isinstance(encoder, FittedEncoder):
                        progress("fitting the encoder", 0, 1, 0.0)
                        encoder.fit(texts, cancel)
                progress("encoding", start, len(texts), float(work[start - 1] / work[-1]) if start else 0.0)
                cancel.check()
                began = perf_counter()
                encodings = family.encode(prepared, texts, rows, cancel)
                chunk = _Chunk(rows, encodings, perf_counter() - began)
                write_atomically(path, lambda f, c=chunk: c.save(f, family))  # type: ignore[misc]
                encoded_now += len(rows)
            for matrix, vectors in zip(matrices.values(), chunk.encodings.vectors, strict=True):
                matrix[rows] = vectors
            truncated = None if truncated is None else truncated + chunk.encodings.truncated
            seconds += chunk.seconds
        progress("encoding", len(texts), len(texts), 1.0)
        # The one that was asked for comes last: until it is there, asking again completes its siblings too.
        for key, sibling in sorted(family.siblings.items(), key=lambda item: item[0] == digest):
            if key != digest and self._matrix_path(key).is_file() and self._facts_path(key).is_file():
                continue
            facts = EmbeddingFacts(
                digest=key,
                encoder=sibling.identity.reference,
                revision=sibling.identity.revision,
                dimension=matrices[key].shape[1],
                texts=len(texts),
                seconds=seconds,
                device=encoder.device,
                truncated=truncated,
            )
            self._store(facts, matrices[key])
        use(self._matrix_path(digest))
        shutil.rmtree(parts, ignore_errors=True)
        return Embedded(np.load(self._matrix_path(digest), mmap_mode="r"), facts, encoded_now)

    def _store(self, facts: EmbeddingFacts, matrix: Float32) -> None:
        write_atomically(self._matrix_path(facts.digest), lambda f: np.save(f, matrix))
        write_atomically(self._facts_path(facts.digest), lambda f: f.write(json.dumps(asdict(facts)).encode()))

    def _matrix_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.npy"

    def _facts_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"


@dataclass(frozen=True, eq=False)
class _Family:
    """The encoder that was asked, with all that comes out of its forward pass, by the digest of the embeddings."""

    encoder: Encoder
    siblings: Mapping[str, Sibling]

    @property
    def is_single(self) -> bool:
        """Whether the encoder knows of no families, and gives its own vectors only."""
        return not isinstance(self.encoder, EncoderFamily)

    @property
    def key(self) -> str:
        """Names lock and chunks: the same for every sibling."""
        digests = sorted(self.siblings)
        return digests[0] if len(digests) == 1 else digest_of_strings(digests)[:32]

    def encode(self, prepared: PreparedTexts, texts: Sequence[str], rows: Int64, cancel: CancelToken) -> Encodings:
        """Encode some rows, and refuse what is not ``[n, d]`` finite numbers for every sibling."""
        encodings = prepared.encode(rows, cancel)
        some = [texts[row] for row in rows]
        for sibling, vectors in zip(self.siblings.values(), encodings.vectors, strict=True):
            _check(sibling, vectors, some)
        return encodings


@dataclass(frozen=True, eq=False)
class _LongestFirst:
    """Texts for an encoder that does not look at them first: a batch that does not fit fails early."""

    encoder: Encoder
    texts: Sequence[str]

    @cached_property
    def work(self) -> Int64:
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    @property
    def order(self) -> Int64:
        return np.argsort(-self.work, kind="stable")

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        some = [self.texts[row] for row in rows]
        if isinstance(self.encoder, EncoderFamily):
            return self.encoder.encode_family(some, cancel)
        return Encodings((self.encoder.encode(some, cancel),), 0)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Some rows of the matrices: ``rows [k] int64``, what encoding their texts gave, seconds spent on it."""

    rows: Int64
    encodings: Encodings
    seconds: float

    def save(self, file: BinaryIO, family: _Family) -> None:
        arrays: dict[str, Any] = dict(zip(family.siblings, self.encodings.vectors, strict=True))
        arrays |= {"seconds": np.float64(self.seconds), "truncated": np.int64(self.encodings.truncated)}
        np.savez(file, rows=self.rows, **arrays)


def _read_chunk(path: Path, rows: Int64, family: _Family) -> _Chunk | None:
    """The chunk at ``path`` if it holds exactly ``rows`` (the chunk size may have changed since), else None."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        if not {*family.siblings, "truncated"} <= set(stored) or not np.array_equal(stored["rows"], rows):
            return None  # of another chunk size, or of a version that stored something else
        vectors = tuple(stored[key] for key in family.siblings)
        return _Chunk(rows, Encodings(vectors, int(stored["truncated"])), float(stored["seconds"]))


def _check(sibling: Sibling, vectors: Float32, texts: list[str]) -> None:
    reference = sibling.identity.reference
    if vectors.shape != (len(texts), sibling.info.dimension):
        raise BlindspotError(
            f"encoder '{reference}' gave an array of shape {vectors.shape}",
            expected=f"({len(texts)}, {sibling.info.dimension})",
        )
    broken = ~np.isfinite(vectors).all(axis=1)
    if sibling.info.is_partial:
        broken &= ~np.isnan(vectors).all(axis=1)
    if broken.any():
        raise BlindspotError(
            f"encoder '{reference}' gave NaN or infinite values for "
            f"{int(broken.sum())} text(s), the first being {texts[int(broken.argmax())][:60]!r}",
            remedy="leave these texts out or use another encoder",
        )
