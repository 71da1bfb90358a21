"""Marks and locks on cached files in use, so that eviction leaves them alone.

A job reads files of the cache repeatedly: embeddings, the flow of a transform, a dataset. So files read within
``holding`` are locked until its end, by a shared lock (``flock``) on the file itself, which works between processes and
is released when a process dies. Files read elsewhere (by a page) are only marked as used; if such a file is removed,
open memory maps stay valid.

The time of use is the file's access time, set explicitly: many file systems do not update it, and the modification
time says when a file was made.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MARK_SECONDS = 1.0  # a younger mark is not renewed


class _Holds(threading.local):
    """Open file descriptors of this thread by path; None outside of ``holding``."""

    descriptors: dict[Path, int] | None = None


_HOLDS = _Holds()


@contextmanager
def holding() -> Iterator[None]:
    """Protect every file that this thread reads from removal, until the end of the outermost ``holding``."""
    if _HOLDS.descriptors is not None:
        yield
        return
    _HOLDS.descriptors = {}
    try:
        yield
    finally:
        descriptors, _HOLDS.descriptors = _HOLDS.descriptors, None
        for descriptor in descriptors.values():
            os.close(descriptor)


def use(path: Path) -> bool:
    """Mark a file as used now, and lock it within ``holding``; False if it does not exist (any more)."""
    held = _HOLDS.descriptors
    if held is not None and path not in held:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:
            return path.exists()  # no permission: reading it will say so
        if not _locked(descriptor, alone=False) or not _is_at(descriptor, path):
            os.close(descriptor)
            return False  # it is being removed at this moment
        held[path] = descriptor
    try:
        stat = path.stat()
        if time.time() - stat.st_atime > MARK_SECONDS:
            with suppress(PermissionError):  # another user's file: its time of use is not kept
                os.utime(path, ns=(time.time_ns(), stat.st_mtime_ns))
    except FileNotFoundError:
        return False
    except OSError:  # a read-only disk, where nothing is removed either
        return True
    return True


def last_used(path: Path) -> float:
    """Time of a file's last use, or creation, in seconds since the epoch; 0 if it does not exist."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0.0
    return max(stat.st_atime, stat.st_mtime)


def remove_unless_held(path: Path, others: Sequence[Path] = ()) -> int | None:
    """Remove a file, after ``others`` that are useless without it, unless a process has locked the file.

    Returns:
        The bytes freed; None if it is locked or cannot be removed.
    """
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        if not (_locked(descriptor, alone=True) and _is_at(descriptor, path)):
            return None
        freed = 0
        for each in (*others, path):
            with suppress(FileNotFoundError):
                size = each.stat().st_size
                each.unlink()
                freed += size
    except OSError:  # another user's file, or (on Windows) an open one
        return None
    finally:
        os.close(descriptor)
    return freed


if sys.platform == "win32":  # nobody can remove an open file there

    def _locked(descriptor: int, *, alone: bool) -> bool:  # noqa: ARG001
        return True

else:
    import fcntl

    def _locked(descriptor: int, *, alone: bool) -> bool:
        """Whether the lock was free.

        On a file system without locks, readers go on without one, and nothing is removed.
        """
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return not alone
        return True


def _is_at(descriptor: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False
