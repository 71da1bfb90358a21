"""Computed arrays kept on disk, one .npz file each, named by a digest of everything that decides them.

Files are written atomically, marked as used when read (eviction removes the least recently used, see ``in_use``), and
recomputed if damaged. The name includes the version of the code that made the file, so older files are not found.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from blindspot.errors import DataCorrupt
from blindspot.files.in_use import use
from blindspot.files.writing import exclusive, write_atomically
from blindspot.types import CancelToken, digest_of_strings

T = TypeVar("T")
DAMAGED = (ValueError, KeyError, TypeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def path_of(folder: Path, version: int, *parts: str) -> Path:
    """The file of an artifact in a folder, named by a digest of these parts."""
    return folder / f"{digest_of_strings([str(version), *parts])[:32]}.npz"


class Artifacts(Generic[T]):
    """One kind of artifact.

    Args:
        to_arrays: gives the arrays that are written.
        of_arrays: rebuilds the artifact; an exception of ``DAMAGED`` means that the file is damaged.
        named: for messages about a damaged file.
        remembered: how many of the last ones read stay in memory, as long as their files do not change.
    """

    def __init__(
        self,
        to_arrays: Callable[[T], Mapping[str, Any]],
        of_arrays: Callable[[Mapping[str, Any]], T],
        remembered: int = 0,
        named: str = "file",
    ) -> None:
        self._to_arrays, self._of_arrays, self._most, self._named = to_arrays, of_arrays, remembered, named
        self._remembered: OrderedDict[tuple[Path, int, int], T] = OrderedDict()
        self._lock = Lock()

    def read(self, path: Path, *, mark: bool = True) -> T | None:
        """Read it; None if it does not exist.

        Args:
            mark: whether the file counts as used now.

        Raises:
            DataCorrupt: the file is damaged.
        """
        if mark:
            use(path)
        try:
            status = path.stat()
            key = (path, status.st_mtime_ns, status.st_size)
            with self._lock:
                if key in self._remembered:
                    self._remembered.move_to_end(key)
                    return self._remembered[key]
            content = BytesIO(path.read_bytes())
        except FileNotFoundError:
            return None  # it was never there, or is being removed
        try:
            with np.load(content, allow_pickle=False) as stored:
                value = self._of_arrays(stored)
        except DAMAGED as error:
            raise DataCorrupt(
                f"the stored {self._named} {path} is damaged: {error}", remedy="delete this file and run it again"
            ) from error
        with self._lock:
            self._remembered[key] = value
            while len(self._remembered) > self._most:
                self._remembered.popitem(last=False)
        return value

    def find(self, path: Path, *, mark: bool = True) -> T | None:
        """As ``read``, but also None if the file is damaged or unreadable, so that it is recomputed."""
        try:
            return self.read(path, mark=mark)
        except (DataCorrupt, OSError):
            return None

    def keep(self, path: Path, made: T) -> None:
        """Write it; raises ``BlindspotError`` and leaves nothing behind if the disk is full or read-only."""
        arrays = self._to_arrays(made)
        write_atomically(path, lambda file: np.savez(file, **arrays))

    def make_once(self, path: Path, make: Callable[[], T], cancel: CancelToken, *, mend: bool = True) -> T:
        """Read it, or make and keep it, one thread or process at a time.

        Args:
            mend: whether a damaged artifact is made again.

        Raises:
            Cancelled: while waiting for another thread or process that makes it; or raised by ``make``.
            DataCorrupt: it is damaged, and ``mend`` is False.
        """
        look = self.find if mend else self.read
        if (artifact := look(path)) is not None:
            return artifact
        with exclusive(path.with_suffix(".lock"), cancel):
            if (artifact := look(path)) is not None:  # made by the previous holder of the lock
                return artifact
            made = make()
            self.keep(path, made)
        return made
