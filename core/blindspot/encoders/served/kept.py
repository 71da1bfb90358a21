"""Vectors that were fetched before an error, kept so that they are not paid for again.

The cache of embeddings writes whole chunks. If a chunk fails, the vectors that had arrived are written here, by text,
and taken from here once, when the same texts are wanted again, in any dataset.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from blindspot.files.writing import delete_file, write_atomically
from blindspot.types import Float32

MOST = 8_192  # vectors in the file
RECENT = 1_024  # in memory: two roles of a chunk come one after the other, and the second may fail


class Kept:
    """Vectors of one version of a model, by prompt and text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recent: OrderedDict[str, Float32] = OrderedDict()
        self._taken: set[str] = set()
        self._stored: OrderedDict[str, Float32] = OrderedDict()
        if path.is_file():
            with np.load(path, allow_pickle=False) as stored:
                self._stored.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def take(self, texts: Sequence[str], prompt: str) -> dict[int, Float32]:
        """Kept vectors by row. Vectors taken in an earlier call are removed, since their chunk is written now."""
        if self._taken:
            for key in self._taken:
                del self._stored[key]
            self._taken.clear()
            self._write()
        if not self._stored:
            return {}
        keys = [_key(text, prompt) for text in texts]
        by_row = {row: self._stored[key] for row, key in enumerate(keys) if key in self._stored}
        self._taken = {keys[row] for row in by_row}
        return by_row

    def note(self, texts: Sequence[str], prompt: str, by_row: Mapping[int, Float32]) -> None:
        """Remember vectors, by row, in case a later step fails."""
        for row, vector in by_row.items():
            self._recent[_key(texts[row], prompt)] = vector
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    def save(self) -> None:
        """Write what was noted lately; raises ``BlindspotError`` if the disk is full."""
        self._taken.clear()
        self._stored.update(self._recent)
        while len(self._stored) > MOST:
            self._stored.popitem(last=False)
        self._write()

    def _write(self) -> None:
        if not self._stored:
            delete_file(self._path)
            return
        keys, vectors = np.array(list(self._stored)), np.stack(list(self._stored.values()))
        write_atomically(self._path, lambda f: np.savez(f, keys=keys, vectors=vectors))


def _key(text: str, prompt: str) -> str:
    return hashlib.sha256(f"{len(prompt)}:{prompt}{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
