"""Embeddings on disk: a cache around any encoder.

Texts are encoded longest first, or in the encoder's own order, in chunks. Every finished chunk is a file, so a killed
process loses at most one chunk. The complete matrix is written row by row under a temporary name, so that memory does
not grow with it, and renamed. Encoders that share a forward pass (``EncoderFamily``) encode together, under one lock;
each one's matrix is stored under its own digest.
Texts that are in other stored embeddings of the same encoder are copied from there (``blindspot.encoders.known_texts``)
where a text's vector does not depend on the others.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

import numpy as np

from blindspot.encoders.base import (
    Encoder,
    EncoderFamily,
    Encodings,
    FittedEncoder,
    JoinedEncoder,
    LongestFirst,
    PreparedTexts,
    PreparingEncoder,
    Sibling,
    SizedEncoder,
    notes_of,
    ran_on,
)
from blindspot.encoders.known_texts import FOLDER, Known, KnownTexts
from blindspot.errors import BlindspotError, DataCorrupt
from blindspot.files.in_use import use
from blindspot.files.matrices import MatrixFile
from blindspot.files.writing import delete_file, exclusive, exclusive_now, write_atomically
from blindspot.types import Bool, CancelToken, Float32, Int64, Progress, digest_of_strings

TEXTS_PER_CHUNK = 256
ROWS_AT_ONCE = 8_192  # copied
CHUNKS_ON_GPU = 16  # merged into one on a GPU, where 256 short texts take less time than writing a file


@dataclass(frozen=True)
class EmbeddingFacts:
    """Metadata stored next to a matrix of embeddings.

    ``seconds`` is the encoding time without model loading, over all processes that took part; texts copied from other
    embeddings count with their share of the time there. Siblings of one forward pass each show all of it.
    ``truncated`` counts truncated texts; None if the encoder does not say. ``device`` names all devices that took
    part; ``device_note`` says why the CPU did if a GPU should have.
    """

    digest: str
    encoder: str
    revision: str
    dimension: int
    texts: int
    seconds: float
    device: str
    truncated: int | None = None
    device_note: str = ""

    @property
    def forward_pass(self) -> object:
        """Key of the forward pass: siblings share it, since its time was measured once and stored for each."""
        return (self.revision, self.texts, self.seconds, self.device) if self.seconds > 0 else self.digest

    @property
    def truncated_share(self) -> float | None:
        return None if self.truncated is None else self.truncated / self.texts if self.texts else 0.0


@dataclass(frozen=True, eq=False)
class Embedded:
    """Embeddings: ``matrix [n, d] float32``, memory-mapped, read-only; NaN rows for texts without a vector.

    ``encoded_now`` texts were encoded for this call; ``copied_now`` ones were taken from other stored embeddings.
    """

    matrix: Float32
    facts: EmbeddingFacts
    encoded_now: int
    copied_now: int = 0

    @cached_property
    def covered(self) -> Bool:
        """``[n] bool``: which texts have a vector."""
        return ~np.isnan(self.matrix[:, 0])


@dataclass(frozen=True)
class StoredEmbeddings:
    """A set of embeddings on disk and its size in bytes."""

    facts: EmbeddingFacts
    size: int


@dataclass(frozen=True)
class Inventory:
    """All embeddings on disk; ``damaged`` are metadata files that cannot be read."""

    embeddings: tuple[StoredEmbeddings, ...]
    damaged: tuple[Path, ...]


class EmbeddingCache:
    """The folder of embeddings; safe for several threads and processes."""

    def __init__(self, folder: Path, texts_per_chunk: int = TEXTS_PER_CHUNK) -> None:
        self.folder = folder
        self.texts_per_chunk = texts_per_chunk
        self.known = KnownTexts(folder.parent / FOLDER)

    def read(self, digest: str, *, is_use: bool = True) -> Embedded | None:
        """The embeddings under ``digest``, or None; ``is_use`` marks them as used now (``blindspot.files.in_use``).

        Raises:
            DataCorrupt: the files are damaged.
        """
        matrix, facts = self._matrix_path(digest), self._facts_path(digest)
        if not (matrix.is_file() and facts.is_file()) or (is_use and not use(matrix)):
            return None
        try:
            return Embedded(np.load(matrix, mmap_mode="r"), EmbeddingFacts(**json.loads(facts.read_text("utf-8"))), 0)
        except FileNotFoundError:
            return None  # just removed
        except (ValueError, TypeError, EOFError) as error:
            raise DataCorrupt(
                f"the stored embeddings {matrix} are damaged: {error}",
                remedy="delete this file and run it again: the texts are encoded anew",
            ) from error

    def encode(
        self, encoder: Encoder, texts: Sequence[str], texts_digest: str, progress: Progress, cancel: CancelToken
    ) -> Embedded:
        """The embeddings of ``texts``, encoded if they are not stored; those of a ``JoinedEncoder`` are made from the
        embeddings of its encoders, which are stored, too.

        Raises:
            Cancelled: finished chunks stay on disk.
            BlindspotError: the encoder gave values that are not finite, or the disk is full.
        """
        digest = encoder.identity.embedding_digest(texts_digest)
        if isinstance(encoder, JoinedEncoder):
            if stored := self.read(digest):
                return stored
            parts = [self.encode(part, texts, texts_digest, progress, cancel) for part in encoder.encoders]
            return self._joined(encoder, parts, encoder.join, texts, texts_digest)
        siblings = encoder.family if isinstance(encoder, EncoderFamily) else (Sibling(encoder.identity, encoder.info),)
        family = _Family(encoder, {s.identity.embedding_digest(texts_digest): s for s in siblings})
        stored = self.read(digest)
        if stored:
            self._remove_left_over(family)
            with suppress(BlindspotError):  # the embeddings may be older than lists of texts; a disk may be read-only
                self._remember(family, texts_digest, texts)
        else:  # others that need these embeddings, or a sibling's, wait here instead of encoding them again
            with exclusive(self.folder / f"{family.key}.lock", cancel):
                stored = self.read(digest) or self._encode_chunks(digest, family, texts, progress, cancel)
                self._remember(family, texts_digest, texts)
        return stored

    def _joined(
        self,
        encoder: Encoder,
        parts: Sequence[Embedded],
        join: Callable[[Sequence[Float32]], Float32],
        texts: Sequence[str],
        texts_digest: str,
    ) -> Embedded:
        """See ``encode``; seconds are the sum over the parts, and truncated texts those of the part that has most."""
        starts = range(0, len(texts), ROWS_AT_ONCE)
        pieces = ((at, join([part.matrix[at : at + ROWS_AT_ONCE] for part in parts])) for at in starts)
        facts = [part.facts for part in parts]
        devices = {device for fact in facts for device in fact.device.split(" and ")}
        joined = self.put_together(
            encoder,
            texts,
            texts_digest,
            pieces,
            sum(fact.seconds for fact in facts),
            " and ".join(sorted(devices)),
            truncated=max((fact.truncated for fact in facts if fact.truncated is not None), default=None),
            device_note=" ".join(dict.fromkeys(fact.device_note for fact in facts if fact.device_note)),
        )
        encoded, copied = (max(getattr(p, name) for p in parts) for name in ("encoded_now", "copied_now"))
        return replace(joined, encoded_now=encoded, copied_now=copied)

    def put_together(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        texts_digest: str,
        pieces: Iterable[tuple[int, Float32]],
        seconds: float,
        device: str,
        *,
        truncated: int | None = None,
        device_note: str = "",
    ) -> Embedded:
        """Store embeddings that were encoded elsewhere; one piece at a time is in memory.

        Args:
            pieces: first row and ``[k, d]``, all rows once; each piece is checked when it is read.
            seconds: the time that encoding took.

        Raises:
            BlindspotError: a piece has values that are not finite, or the disk is full.
        """
        digest, count = encoder.identity.embedding_digest(texts_digest), 0
        with exclusive(self.folder / f"{digest}.lock", CancelToken()):
            with MatrixFile(self._matrix_path(digest), len(texts), encoder.info.dimension) as file:
                for start, vectors in pieces:
                    check_vectors(encoder, vectors, texts[start : start + len(vectors)])
                    file.write(np.arange(start, start + len(vectors)), vectors)
                    count += len(vectors)
                if count != len(texts):
                    raise BlindspotError(f"{count:,} rows were given for {len(texts):,} texts")
                file.finish()
            name, revision, d = encoder.identity.reference, encoder.identity.revision, encoder.info.dimension
            self._store(EmbeddingFacts(digest, name, revision, d, count, seconds, device, truncated, device_note))
            self.known.remember(texts_digest, texts)
        embeddings = self.read(digest)
        if embeddings is None:
            raise BlindspotError(f"the embeddings {digest} were just removed", remedy="try again")
        return embeddings

    def _remember(self, family: _Family, texts_digest: str, texts: Sequence[str]) -> None:
        if family.encodes_alone:
            self.known.remember(texts_digest, texts)

    def _remove_left_over(self, family: _Family) -> None:
        """Remove the chunks of complete embeddings, left over if the writer was killed before it could remove them."""
        parts = family.parts_in(self.folder)
        if parts.is_dir() and all(self._facts_path(digest).is_file() for digest in family.siblings):
            remove_chunks(parts)

    def inventory(self) -> Inventory:
        """All embeddings on disk, ordered by encoder reference; opens no matrix."""
        stored_embeddings, damaged = [], []
        for path in sorted(self.folder.glob("*.json")):
            try:
                facts = EmbeddingFacts(**json.loads(path.read_text("utf-8")))
                size = path.stat().st_size + self._matrix_path(path.stem).stat().st_size
            except FileNotFoundError:
                continue  # just removed, or one half of the pair is missing
            except (ValueError, TypeError):
                damaged.append(path)
                continue
            # The file's name decides what is read and deleted, not its content.
            stored_embeddings.append(StoredEmbeddings(replace(facts, digest=path.stem), size))
        stored_embeddings.sort(key=lambda stored: (stored.facts.encoder, stored.facts.digest))
        return Inventory(tuple(stored_embeddings), tuple(damaged))

    def delete(self, digest: str) -> None:
        """Delete embeddings, if there; raises ``BlindspotError`` if the file system refuses."""
        for path in (self._facts_path(digest), self._matrix_path(digest)):
            delete_file(path)

    def delete_unfinished(self, digests: Collection[str]) -> None:
        """Delete chunks of interrupted encodings of ``digests``, siblings included, unless one is being encoded now."""
        for parts in self.folder.glob("*.parts"):
            chunk = next(parts.glob("*.npz"), None)
            if chunk is None:
                continue
            with np.load(chunk, allow_pickle=False) as stored:
                is_wanted = not set(digests).isdisjoint(stored)
            if is_wanted:
                remove_chunks(parts)

    def _encode_chunks(
        self, digest: str, family: _Family, texts: Sequence[str], progress: Progress, cancel: CancelToken
    ) -> Embedded:
        with _Matrices(family, self.folder, len(texts)) as matrices:
            return self._fill(digest, family, texts, matrices, progress, cancel)

    def _fill(
        self,
        digest: str,
        family: _Family,
        texts: Sequence[str],
        matrices: _Matrices,
        progress: Progress,
        cancel: CancelToken,
    ) -> Embedded:
        parts = family.parts_in(self.folder)
        is_copied, seconds = self._copied(family, texts, matrices)
        devices = {family.encoder.device} if is_copied.any() else set[str]()
        missing = np.flatnonzero(~is_copied).astype(np.int64)
        if is_copied.any():
            texts = [texts[row] for row in missing.tolist()]
        if isinstance(family.encoder, SizedEncoder) and texts:
            family = replace(family, encoder=family.encoder.for_work(sum(map(len, texts))))
        encoder, encoded_now = family.encoder, 0

        def load() -> None:
            progress("loading the encoder", 0, 1, 0.0)
            cancel.check()
            encoder.load()

        if isinstance(encoder, PreparingEncoder) and texts:
            load()
            began = perf_counter()
            prepared = encoder.prepare(texts, cancel)
            seconds += perf_counter() - began
        else:
            prepared = LongestFirst(encoder, texts)
        order = prepared.order
        work = np.cumsum(prepared.work[order] + 1)
        matrices.open()  # not before it is known what takes more room
        truncated = 0 if getattr(encoder, "counts_truncated", isinstance(encoder, EncoderFamily)) else None
        size = self.texts_per_chunk * (CHUNKS_ON_GPU if encoder.device.startswith("cuda") else 1)
        for start in range(0, len(texts), size):
            rows = missing[order[start : start + size]]
            path = parts / f"{start:09d}.npz"
            chunk = _read_chunk(path, rows, family)
            if chunk is None:
                if not encoded_now and isinstance(prepared, LongestFirst):
                    load()
                    if isinstance(encoder, FittedEncoder):
                        progress("fitting the encoder", 0, 1, 0.0)
                        encoder.fit(texts, cancel)
                progress("encoding", start, len(texts), float(work[start - 1] / work[-1]) if start else 0.0)
                cancel.check()
                began = perf_counter()
                encodings = family.encode(prepared, texts, order[start : start + size], cancel)
                chunk = _Chunk(rows, encodings, perf_counter() - began, ran_on(encoder))
                write_atomically(path, lambda f, c=chunk: c.save(f, family))  # type: ignore[misc]
                encoded_now += len(rows)
            matrices.write(rows, chunk.encodings.vectors)
            truncated = None if truncated is None else truncated + chunk.encodings.truncated
            seconds += chunk.seconds
            devices |= set(chunk.device.split(" and "))
        progress("encoding", len(texts), len(texts), 1.0)
        device = " and ".join(sorted(devices)) or encoder.device
        facts = self._store_family(family, digest, matrices, seconds, truncated, device, encoded_now > 0)
        use(self._matrix_path(digest))
        shutil.rmtree(parts, ignore_errors=True)
        return Embedded(np.load(self._matrix_path(digest), mmap_mode="r"), facts, encoded_now, int(is_copied.sum()))

    def _store_family(
        self,
        family: _Family,
        digest: str,
        matrices: _Matrices,
        seconds: float,
        truncated: int | None,
        device: str,
        is_new: bool,
    ) -> EmbeddingFacts:
        """Store each sibling's matrix; returns the facts of the one that was asked for."""
        # That one is stored last: until it is there, another request completes its siblings too.
        for key, sibling in sorted(family.siblings.items(), key=lambda item: item[0] == digest):
            if key != digest and self._matrix_path(key).is_file() and self._facts_path(key).is_file():
                continue
            facts = EmbeddingFacts(
                digest=key,
                encoder=sibling.identity.reference,
                revision=sibling.identity.revision,
                dimension=sibling.info.dimension,
                texts=matrices.rows,
                seconds=seconds,
                device=device,
                truncated=truncated,
                device_note=" ".join(notes_of(family.encoder) if is_new else ()),  # else about earlier texts
            )
            matrices.finish(key)
            self._store(facts)
        return facts

    def _copied(self, family: _Family, texts: Sequence[str], matrices: _Matrices) -> tuple[Bool, float]:
        """Fill in the rows of texts that are in other embeddings of all siblings.

        Returns:
            Which rows they are, ``[n] bool``; and the seconds that it took to encode and to copy them.
        """
        if not family.encodes_alone:
            return np.zeros(len(texts), dtype=np.bool_), 0.0
        began, spent = perf_counter(), 0.0

        def take(texts_digest: str, rows_known: Known) -> Bool:
            nonlocal spent
            others = self._others(family, texts_digest)
            if not others or int(rows_known.places.max()) >= len(others[0].matrix):
                return np.zeros(len(rows_known.rows), dtype=np.bool_)
            is_whole = np.zeros(len(rows_known.rows), dtype=np.bool_)
            for start in range(0, len(rows_known.rows), ROWS_AT_ONCE):
                some = slice(start, start + ROWS_AT_ONCE)
                pieces = [other.matrix[rows_known.places[some]] for other in others]
                whole: Bool = np.all([np.isfinite(vectors).all(axis=1) for vectors in pieces], axis=0)
                matrices.write(rows_known.rows[some][whole], [vectors[whole] for vectors in pieces])
                is_whole[some] = whole
            spent += others[0].facts.seconds * int(is_whole.sum()) / len(others[0].matrix)
            return is_whole

        is_copied = self.known.find(texts, take)
        return is_copied, spent + perf_counter() - began if is_copied.any() else 0.0

    def _others(self, family: _Family, texts_digest: str) -> list[Embedded]:
        """All siblings' embeddings of other texts; empty unless rows of all can be copied as they are.

        Only the total of truncated texts is known, so rows are only copied from embeddings without a truncated text.
        """
        others = []
        for sibling in family.siblings.values():
            try:
                other = self.read(sibling.identity.embedding_digest(texts_digest))
            except DataCorrupt:  # reported where these embeddings are asked for
                return []
            if (
                other is None
                or other.facts.truncated
                or other.facts.device != family.encoder.device
                or other.matrix.shape != (other.facts.texts, sibling.info.dimension)
            ):
                return []
            others.append(other)
        return others if len({len(other.matrix) for other in others}) == 1 else []

    def _store(self, facts: EmbeddingFacts) -> None:
        # A note is rare: without one, versions that know none can read the file.
        fields = {name: value for name, value in asdict(facts).items() if value or name != "device_note"}
        write_atomically(self._facts_path(facts.digest), lambda f: f.write(json.dumps(fields).encode()))

    def _matrix_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.npy"

    def _facts_path(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"


def remove_chunks(parts: Path) -> bool:
    """Delete the chunks of an encoding; False if it is in progress."""
    with exclusive_now(parts.with_suffix(".lock")) as is_ours:
        if is_ours:
            shutil.rmtree(parts, ignore_errors=True)
        return is_ours


@dataclass(frozen=True, eq=False)
class _Family:
    """An encoder and, by digest of the embeddings, all siblings of its forward pass."""

    encoder: Encoder
    siblings: Mapping[str, Sibling]

    @property
    def key(self) -> str:
        """Name of the lock and the chunks, the same for every sibling."""
        digests = sorted(self.siblings)
        return digests[0] if len(digests) == 1 else digest_of_strings(digests)[:32]

    def parts_in(self, folder: Path) -> Path:
        """The folder of its chunks."""
        return folder / f"{self.key}.parts"

    @property
    def encodes_alone(self) -> bool:
        """See ``Encoder``: a text has the same vector in any list."""
        return bool(getattr(self.encoder, "encodes_alone", False))

    def encode(self, prepared: PreparedTexts, texts: Sequence[str], rows: Int64, cancel: CancelToken) -> Encodings:
        """Encode some rows; refuses anything but ``[n, d]`` finite numbers per sibling."""
        encodings = prepared.encode(rows, cancel)
        some = [texts[row] for row in rows]
        for sibling, vectors in zip(self.siblings.values(), encodings.vectors, strict=True):
            check_vectors(sibling, vectors, some)
        return encodings


class _Matrices:
    """A file of ``[rows, d]`` for each sibling, made beside the chunks when it is first needed; a context."""

    def __init__(self, family: _Family, folder: Path, rows: int) -> None:
        self.rows, self._family, self._folder = rows, family, folder
        self._files: dict[str, MatrixFile] = {}

    def __enter__(self) -> _Matrices:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        with suppress(OSError):  # there are chunks, or it was never made
            self._family.parts_in(self._folder).rmdir()

    def open(self) -> None:
        """Reserve the space on disk; raises ``BlindspotError`` if there is too little."""
        for key, sibling in self._family.siblings.items():
            if key not in self._files:
                path = self._folder / f"{key}.npy"
                temporary = self._family.parts_in(self._folder) / f"{path.name}.tmp"
                self._files[key] = MatrixFile(path, self.rows, sibling.info.dimension, temporary)

    def write(self, rows: Int64, vectors: Sequence[Float32]) -> None:
        """Write ``[k, d]`` per sibling into ``rows [k]``."""
        self.open()
        for file, some in zip(self._files.values(), vectors, strict=True):
            file.write(rows, some)

    def finish(self, key: str) -> None:
        self._files[key].finish()


@dataclass(frozen=True, eq=False)
class _Chunk:
    """The encodings of ``rows [k] int64``, the seconds that they took, and the device."""

    rows: Int64
    encodings: Encodings
    seconds: float
    device: str

    def save(self, file: BinaryIO, family: _Family) -> None:
        arrays: dict[str, Any] = dict(zip(family.siblings, self.encodings.vectors, strict=True))
        arrays |= {"seconds": np.float64(self.seconds), "truncated": np.int64(self.encodings.truncated)}
        arrays["device"] = np.array(self.device)
        np.savez(file, rows=self.rows, **arrays)


def _read_chunk(path: Path, rows: Int64, family: _Family) -> _Chunk | None:
    """The chunk at ``path`` if it has exactly ``rows``, else None."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        if not {*family.siblings, "truncated", "device"} <= set(stored) or not np.array_equal(stored["rows"], rows):
            return None  # from another chunk size or version
        vectors = tuple(stored[key] for key in family.siblings)
        return _Chunk(
            rows, Encodings(vectors, int(stored["truncated"])), float(stored["seconds"]), str(stored["device"])
        )


def check_vectors(sibling: Sibling | Encoder, vectors: Float32, texts: Sequence[str]) -> None:
    """Raise ``BlindspotError`` unless an encoder gave ``[n, d]`` finite numbers for ``n`` texts."""
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
