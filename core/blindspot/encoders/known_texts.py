"""Texts with vectors in the cache: a digest per text of every list of texts that was encoded.

Each list is one file, the same for all models. The models' own files say which of them have its vectors, so nothing is
kept twice, and deleting embeddings needs no correction here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindspot.files.in_use import use
from blindspot.files.writing import delete_file, write_atomically
from blindspot.types import Bool, Int64

FOLDER = "texts"  # beside the folder of embeddings
TEXTS_AT_ONCE = 65_536

UInt64 = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Known:
    """Texts that a list has: ``rows [k] int64`` among those asked for, and their ``places [k] int64`` in the list."""

    rows: Int64
    places: Int64


class KnownTexts:
    """The lists; safe for several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def remember(self, texts_digest: str, texts: Sequence[str]) -> None:
        """Keep a list; raises ``BlindspotError`` if the disk is full."""
        path = self._path(texts_digest)
        if not path.is_file():
            digests = digests_of(texts)
            write_atomically(path, lambda f: np.save(f, digests))

    def find(self, texts: Sequence[str], take: Callable[[str, Known], Bool]) -> Bool:
        """Offer each list's share of the texts until all are taken.

        Args:
            take: gets a list's digest and its texts among those still wanted; returns which of these it takes.

        Returns:
            ``[n] bool``: which texts were taken.
        """
        paths = sorted(self.folder.glob("*.npy"))
        taken = np.zeros(len(texts), dtype=np.bool_)
        if not paths or not len(texts):
            return taken
        wanted = digests_of(texts)
        order = np.argsort(wanted[:, 0], kind="stable")
        halves = wanted[order, 0]
        for path in paths:
            there = self._read(path)
            # A text may be asked for twice: each text asked for looks for its place, not each place for its text.
            by_half = np.argsort(there[:, 0], kind="stable")
            at = np.searchsorted(there[by_half, 0], halves)
            at = by_half[np.minimum(at, len(there) - 1)] if len(there) else np.zeros(0, dtype=np.int64)
            same = (there[at] == wanted[order]).all(axis=1) if len(there) else np.zeros(len(order), dtype=np.bool_)
            same &= ~taken[order]
            if same.any():
                matches = Known(order[same], at[same])
                taken[matches.rows[take(path.stem, matches)]] = True
            if taken.all():
                break
        return taken

    def _read(self, path: Path) -> UInt64:
        """``[n, 2] uint64``; a damaged list is removed, and counts as empty."""
        if not use(path):
            return np.empty((0, 2), dtype=np.uint64)
        try:
            digests = np.load(path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            return np.empty((0, 2), dtype=np.uint64)
        except (ValueError, EOFError):
            digests = np.empty(0)
        if digests.ndim != 2 or digests.shape[1] != 2 or digests.dtype != np.uint64:
            delete_file(path)
            return np.empty((0, 2), dtype=np.uint64)
        return np.asarray(digests)

    def _path(self, texts_digest: str) -> Path:
        return self.folder / f"{texts_digest}.npy"


def digests_of(texts: Sequence[str]) -> UInt64:
    """``[n, 2] uint64``: 128 bits of each text."""
    digests_of_texts = np.empty((len(texts), 2), dtype=np.uint64)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = texts[start : start + TEXTS_AT_ONCE]
        digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in some)
        digests_of_texts[start : start + len(some)] = np.frombuffer(digests, dtype="<u8").reshape(-1, 2)
    return digests_of_texts
