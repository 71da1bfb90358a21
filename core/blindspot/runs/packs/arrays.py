"""Embeddings of a large dataset in parts: workers encode some of its rows each, and one machine puts them together.

A part is an array of ``ROWS`` rows and its facts, written last, in ``arrays/<digest of the embeddings>/`` of a folder
of result packs. Which rows a part has follows from the dataset alone, so any number of workers finds the same parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from time import perf_counter
from typing import Any

import numpy as np

from blindspot.encoders.base import Encoder, LongestFirst
from blindspot.encoders.cache import Embedded, EmbeddingCache, check_vectors
from blindspot.errors import InputError
from blindspot.runs.packs.folders import Folder
from blindspot.types import CancelToken, Float32, Progress, no_progress

ROWS = 65_536  # of a part: 100 MB of 384 dimensions
TEXTS_AT_ONCE = 256
MOST_FACTS, MOST_HEADER = 10_000, 1_000  # bytes
STAGE = "encoding"


@dataclass(frozen=True)
class Parts:
    """The parts of an encoder's embeddings of some texts, in a folder."""

    folder: Folder
    encoder: Encoder
    texts: Sequence[str]
    texts_digest: str
    rows: int = field(default_factory=lambda: ROWS)

    @property
    def digest(self) -> str:
        return self.encoder.identity.embedding_digest(self.texts_digest)

    @property
    def starts(self) -> range:
        """First row of each part."""
        return range(0, len(self.texts), self.rows)

    def name(self, start: int) -> str:
        """Of a part, without its ending."""
        return f"arrays/{self.digest}/{start:012d}-{min(start + self.rows, len(self.texts)):012d}"

    def missing(self) -> list[int]:
        """First rows of the parts that are not there; raises ``BlindspotError``."""
        there = set(self.folder.names(f"arrays/{self.digest}"))
        return [start for start in self.starts if f"{self.name(start).rpartition('/')[2]}.json" not in there]


def encode(
    parts: Parts, number: int, of: int, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> int:
    """Encode every ``of``-th part from the ``number``-th (from 1) on, unless it is there; how many were encoded now.

    Raises:
        Cancelled: whole parts stay.
        InputError: the vector of a text depends on the others of its list.
        BlindspotError: the folder cannot be written to, or vectors are not finite.
    """
    encoder, cancel = parts.encoder, cancel or CancelToken()
    if not getattr(encoder, "encodes_alone", False):
        raise InputError(
            f"'{encoder.identity.reference}' cannot be encoded in parts: a vector depends on the other texts",
            expected="a model that encodes each text by itself",
        )
    missing, mine = set(parts.missing()), parts.starts[number - 1 :: of]
    rows = sum(min(parts.rows, len(parts.texts) - start) for start in mine)
    done, new = 0, 0
    for start in mine:
        texts = parts.texts[start : start + parts.rows]
        if start in missing:
            encoder.load()
            vectors, began = np.empty((len(texts), encoder.info.dimension), dtype=np.float32), perf_counter()
            order = LongestFirst(encoder, texts).order
            for first in range(0, len(texts), TEXTS_AT_ONCE):
                progress(STAGE, done + first, rows)
                cancel.check()
                here = order[first : first + TEXTS_AT_ONCE]
                some = [texts[row] for row in here.tolist()]
                vectors[here] = encoder.encode(some, cancel)
                check_vectors(encoder, vectors[here], some)
            _write(parts, start, vectors, perf_counter() - began)
            new += 1
        done += len(texts)
    progress(STAGE, rows, rows)
    return new


def _write(parts: Parts, start: int, vectors: Float32, seconds: float) -> None:
    file = BytesIO()
    np.save(file, vectors)
    data = file.getvalue()
    facts = {"sha256": hashlib.sha256(data).hexdigest(), "seconds": seconds, "device": parts.encoder.device}
    parts.folder.write(f"{parts.name(start)}.npy", data)
    parts.folder.write(f"{parts.name(start)}.json", json.dumps(facts).encode("ascii"))


def put_together(
    parts: Parts, cache: EmbeddingCache, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> Embedded:
    """Put all parts into the cache, as the embeddings that one process encodes; memory is that of one part.

    Raises:
        InputError: a part is missing, damaged or another model's.
        BlindspotError: the disk is full.
    """
    if missing := parts.missing():
        raise InputError(
            f"{len(missing)} of {len(parts.starts)} parts are missing in {parts.folder.address}, the first of them of "
            f"the texts from {missing[0]:,}",
            remedy="encode them with the same --shard again",
        )
    facts = [_facts(parts, start) for start in parts.starts]
    seconds = sum(float(fact["seconds"]) for fact in facts)
    devices = {str(fact["device"]) for fact in facts} or {parts.encoder.device}

    def pieces() -> Iterator[tuple[int, Float32]]:
        for start, fact in zip(parts.starts, facts, strict=True):
            progress("putting parts together", start, len(parts.texts))
            if cancel:
                cancel.check()
            yield start, _read(parts, start, str(fact["sha256"]))

    return cache.put_together(
        parts.encoder, parts.texts, parts.texts_digest, pieces(), seconds, " and ".join(sorted(devices))
    )


def _facts(parts: Parts, start: int) -> dict[str, Any]:
    name = f"{parts.name(start)}.json"
    try:
        content = json.loads(parts.folder.read(name, MOST_FACTS))
        return {
            "sha256": str(content["sha256"]),
            "seconds": float(content["seconds"]),
            "device": str(content["device"]),
        }
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(parts, name, "has no facts of a part") from error


def _read(parts: Parts, start: int, sha256: str) -> Float32:
    name = f"{parts.name(start)}.npy"
    shape = (min(parts.rows, len(parts.texts) - start), parts.encoder.info.dimension)
    data = parts.folder.read(name, MOST_HEADER + 4 * shape[0] * shape[1])
    if hashlib.sha256(data).hexdigest() != sha256:
        raise _damaged(parts, name, "differs from its checksum")
    try:
        vectors = np.load(BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise _damaged(parts, name, "is no array") from error
    if vectors.shape != shape or vectors.dtype != np.float32:
        raise _damaged(parts, name, f"is {' x '.join(map(str, vectors.shape))} {vectors.dtype}")
    return np.asarray(vectors, dtype=np.float32)


def _damaged(parts: Parts, name: str, what: str) -> InputError:
    return InputError(f"{parts.folder.address}/{name} {what}", remedy="delete it, and encode that part again")
