"""Atomic writing of files, locks, and safe reading of files that users name."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from filelock import FileLock, Timeout

from blindspot.errors import BlindspotError, Cancelled, DiskRefused, InputError
from blindspot.types import CancelToken

LFS_POINTER = b"version https://git-lfs"  # beginning of a placeholder for a file that was not fetched


def check_new_folder(folder: Path) -> None:
    """Raise ``InputError`` unless a folder can be written: it is new or empty, and its parent exists."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already", expected="a folder that is new or empty")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InputError(f"there is no folder {parent}", expected="an existing folder for the new one")


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file's bytes."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def bytes_of(path: Path) -> int:
    """Bytes of a file, or of everything in a folder; links count as themselves, vanished files as nothing."""
    try:
        if path.is_symlink() or not path.is_dir():
            return path.lstat().st_size
        return sum(bytes_of(inside) for inside in path.iterdir())
    except FileNotFoundError:
        return 0


def require_regular(path: Path) -> int:
    """Check that a path is a regular file on disk, so that reading it cannot block forever.

    Returns:
        The file's size in bytes.

    Raises:
        InputError: it does not exist, is a folder, a pipe or a device, or is inaccessible.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"there is no file {path}", remedy="check the path") from error
    except (OSError, ValueError, RuntimeError) as error:  # a zero character, a circle of links
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"cannot read {path}: {why}", remedy="check the path and its permissions") from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path} is a folder", expected="a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is no regular file", expected="a file on disk")
    return status.st_size


def read_limited(path: Path, most: int) -> bytes:
    """The bytes of a file that a user names.

    Args:
        most: largest size in bytes.

    Raises:
        InputError: as in ``require_regular``; or it is larger, or cannot be read.
    """
    if (size := require_regular(path)) > most:
        raise InputError(f"{path} has {size:,} bytes", expected=f"at most {most:,}")
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


def require_name(path: str, expected: str) -> None:
    """Check that a path is valid text, since stores, manifests and addresses contain it.

    Raises:
        InputError: it has a byte that is not UTF-8, or a zero character.
    """
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name {path!r} is not UTF-8", expected=expected, remedy="rename the file or folder"
        ) from error
    if "\0" in path:
        raise InputError(f"{path!r} names no file: it has a zero character", expected=expected)


def path_named(text: str) -> tuple[Path, bool]:
    """The path that somebody typed, and whether it exists; False for text that cannot be a path."""
    path = Path(text)
    with suppress(RuntimeError, ValueError):  # no such user
        path = path.expanduser()
    try:
        return path, path.exists()
    except OSError:  # a name of a megabyte
        return path, False


def make_folder(folder: Path) -> None:
    """Create a folder with its parents; raises ``BlindspotError`` if the file system refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


@contextmanager
def exclusive(path: Path, cancel: CancelToken) -> Iterator[None]:
    """Hold the lock file ``path``, waiting for the thread or process that holds it; it is removed at the end.

    Raises:
        Cancelled: while waiting.
        BlindspotError: the file system refuses.
    """
    make_folder(path.parent)
    lock = FileLock(path)
    try:
        lock.acquire(cancel_check=lambda: cancel.cancelled)
    except Timeout as error:  # there is no time limit: a cancelled wait ends so
        raise Cancelled from error
    except OSError as error:
        raise cannot_write(path, error) from error
    with _held(lock, path):
        yield


@contextmanager
def exclusive_now(path: Path) -> Iterator[bool]:
    """As ``exclusive`` if the lock is free; otherwise yields False at once."""
    lock = FileLock(path, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise cannot_write(path, error) from error
    with _held(lock, path):
        yield True


@contextmanager
def _held(lock: FileLock, path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(PermissionError):  # Windows keeps an open file: an empty lock file does no harm
            path.unlink(missing_ok=True)  # before the release: afterwards it may belong to another process
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
    """Remove a file, or a link but not its target; a missing file is fine.

    Raises:
        BlindspotError: the file system refused.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BlindspotError(
            f"cannot delete {path}: {error.strerror or error}", remedy="check who may write there, then try again"
        ) from error


_OF_THE_DISK = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EROFS", "EFBIG") if hasattr(errno, name)}


def disk_error(error: BaseException) -> BlindspotError | None:
    """The error for a full or read-only disk, if that caused an error in a library that writes its own files (numba
    keeps compiled kernels); None for other errors."""
    if not isinstance(error, OSError) or error.errno not in _OF_THE_DISK:
        return None
    return cannot_write(Path(os.fsdecode(error.filename)) if error.filename else Path("a file in the cache"), error)


def cannot_write(path: Path, error: OSError) -> DiskRefused:
    """The error for a disk that is full, read-only or not writable for us."""
    return DiskRefused(
        f"cannot write {path}: {error.strerror or error}",
        remedy="free some space or point to another folder (BLINDSPOT_CACHE for the cache), then run it again",
    )
