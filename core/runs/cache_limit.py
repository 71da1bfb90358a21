"""Keeping the cache below a limit: what was not used for longest goes first, and comes back when it is needed.

Only what can be computed or downloaded again may go: embeddings, maps, lists of neighbours, trained flows, learned
similarities, downloads of the catalog's datasets. Never the store (runs, votes), uploads or other files of users, nor
what somebody holds (``core.files.in_use``) or used a moment ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.files.in_use import last_used, remove_unless_held
from core.files.writing import bytes_of, exclusive_now
from core.settings import Settings

GRACE_SECONDS = 10.0  # what was made or used since is about to be read


@dataclass(frozen=True)
class Evictable:
    """Something in the cache that may go.

    Attributes:
        kind: ``embeddings``, ``map``, ``neighbours``, ``flow``, ``learned similarity`` or ``download``.
        path: the file that is held by who uses it.
        beside: files that are of no use without it.
        size: bytes of all.
        used: when it was last used, seconds since the epoch.
    """

    kind: str
    path: Path
    beside: tuple[Path, ...]
    size: int
    used: float


def evictable(settings: Settings) -> list[Evictable]:
    """All that may go, what was not used for longest first."""
    found = []
    for kind, path, beside in _files(settings):
        size = sum(bytes_of(each) for each in (path, *beside))
        found.append(Evictable(kind, path, beside, size, last_used(path)))
    return sorted(found, key=lambda each: (each.used, each.path))


def _files(settings: Settings) -> Iterator[tuple[str, Path, tuple[Path, ...]]]:
    for matrix in settings.embeddings.glob("*.npy"):
        yield "embeddings", matrix, (matrix.with_suffix(".json"),)
    for kind, folder in computed_folders(settings).items():
        for path in folder.glob("*.npz"):
            yield kind, path, ()
    # By the catalog, not by the folder: nobody knows where another file there came from.
    files = {fetch.local_path(file, settings) for entry in datasets.DATASETS.values() for file in entry.files}
    for path in files:
        if path.is_file():
            yield "download", path, ()


def computed_folders(settings: Settings) -> dict[str, Path]:
    """Where what follows from embeddings is kept, one file each (``.npz``), by kind."""
    return {
        "map": settings.maps,
        "neighbours": settings.hubs,
        "flow": settings.flows,
        "learned similarity": settings.learned,
    }


def keep_to_limit(settings: Settings, grace: float = GRACE_SECONDS) -> tuple[Evictable, ...]:
    """Remove what was not used for longest until the whole cache takes no more than ``settings.cache_limit``.

    Nothing happens without a limit, or while another process does the same. It may not be reached: see
    ``bytes_of(settings.cache)`` afterwards.

    Args:
        grace: what was used in the last so many seconds stays.

    Returns:
        What was removed.
    """
    limit = settings.cache_limit
    if limit is None or not settings.cache.is_dir():
        return ()
    settings = replace(settings, session="")  # a visitor's part goes with the visitor
    size = bytes_of(settings.cache)
    if size <= limit:
        return ()
    removed = []
    with exclusive_now(settings.cache / ".limit.lock") as is_ours:
        if not is_ours:
            return ()
        newest = time.time() - grace
        for each in evictable(settings):
            if size <= limit or each.used > newest:
                break
            # Looked at again: it may have been used since the list was made.
            if last_used(each.path) <= newest and (freed := remove_unless_held(each.path, each.beside)) is not None:
                size -= freed
                removed.append(each)
    return tuple(removed)
