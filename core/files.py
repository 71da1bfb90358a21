"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from filelock import FileLock, Timeout

from core.errors import BlindspotError, Cancelled
from core.types import CancelToken


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file's bytes."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Create a folder with its parents.

    Raises:
        BlindspotError: the disk does not let us.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


@contextmanager
def exclusive(path: Path, cancel: CancelToken) -> Iterator[None]:
    """Hold the lock file ``path``, waiting for the thread or process that holds it; it is removed at the end.

    Raises:
        Cancelled: while waiting.
        BlindspotError: the disk does not let us.
    """
    make_folder(path.parent)
    lock = FileLock(path)
    try:
        lock.acquire(cancel_check=lambda: cancel.cancelled)
    except Timeout as error:  # there is no time limit: this is how a cancelled wait ends
        raise Cancelled from error
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows keeps an open file: an empty lock file does no harm
            path.unlink(missing_ok=True)  # before the release: afterwards it may be another one's
        lock.release()


@contextmanager
def exclusive_now(path: Path) -> Iterator[bool]:
    """As ``exclusive`` where nobody holds the lock file; yields False at once where somebody does."""
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield True
    finally:
        with suppress(PermissionError):
            path.unlink(missing_ok=True)
        lock.release()


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it into place.

    Raises:
        BlindspotError: the disk is full or read-only; nothing is left behind.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("wb") as f:
            write(f)
            f.flush()
            os.fsync(f.fileno())
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def delete_file(path: Path) -> None:
    """Remove a file, or a link without what it leads to; none there is as good.

    Raises:
        BlindspotError: the disk does not let us.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BlindspotError(
            f"cannot delete {path}: {error.strerror or error}", remedy="check who may write there, then try again"
        ) from error


def cannot_write(path: Path, error: OSError) -> BlindspotError:
    """The error for a disk that is full, read-only or not ours."""
    return BlindspotError(
        f"cannot write {path}: {error.strerror or error}",
        remedy="free some space or point to another folder (BLINDSPOT_CACHE for the cache), then run it again",
    )
