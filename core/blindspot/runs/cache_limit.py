"""Eviction of the least recently used files of the cache, to keep it below a limit.

Only files that can be computed or downloaded again are evicted: never the store (runs, votes), uploads or other files
of users, nor files in use (``blindspot.files.in_use``) or used a moment ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, FAMILIES
from blindspot.encoders.known_texts import FOLDER
from blindspot.files.in_use import last_used, remove_unless_held
from blindspot.files.writing import bytes_of, exclusive_now
from blindspot.settings import Settings

GRACE_SECONDS = 10.0  # files used since are about to be read


@dataclass(frozen=True)
class Evictable:
    """A file that may be evicted, and the files ``beside`` that are useless without it.

    ``kind`` is ``embeddings``, ``list of texts``, ``map``, ``neighbors``, ``flow``, ``learned similarity`` or
    ``download``; ``size`` the bytes of all; ``used`` the time of the last use, in seconds since the epoch.
    """

    kind: str
    path: Path
    beside: tuple[Path, ...]
    size: int
    used: float


def evictable(settings: Settings) -> list[Evictable]:
    """Everything that may be evicted, least recently used first."""
    entries = []
    for kind, path, beside in _files(settings):
        size = sum(bytes_of(each) for each in (path, *beside))
        entries.append(Evictable(kind, path, beside, size, last_used(path)))
    return sorted(entries, key=lambda each: (each.used, each.path))


def _files(settings: Settings) -> Iterator[tuple[str, Path, tuple[Path, ...]]]:
    for matrix in settings.embeddings.glob("*.npy"):
        yield "embeddings", matrix, (matrix.with_suffix(".json"),)
    for file in (settings.embeddings.parent / FOLDER).glob("*.npy"):
        yield "list of texts", file, ()
    for kind, folder in computed_folders(settings).items():
        for path in folder.glob("*.npz"):
            yield kind, path, ()
    # Only files of the catalog: others in that folder may be the user's.
    entries = [*DATASETS.values(), *(entry for family in FAMILIES.values() for entry in family.members.values())]
    for path in {fetch.local_path(file, settings) for entry in entries for file in entry.files}:
        if path.is_file():
            yield "download", path, ()


def computed_folders(settings: Settings) -> dict[str, Path]:
    """Folders of results computed from embeddings, an ``.npz`` each, by kind."""
    return {
        "map": settings.maps,
        "neighbors": settings.hubs,
        "flow": settings.flows,
        "learned similarity": settings.learned,
    }


def keep_to_limit(settings: Settings, grace: float = GRACE_SECONDS) -> tuple[Evictable, ...]:
    """Remove least recently used files until the cache is below ``settings.cache_limit``; returns what was removed.

    Does nothing without a limit, or while another process does the same. The limit may not be reached, since files used
    in the last ``grace`` seconds stay.
    """
    limit = settings.cache_limit
    if limit is None or not settings.cache.is_dir():
        return ()
    settings = replace(settings, session="")  # a visitor's files go with the visitor
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
            # It may have been used since it was listed.
            if last_used(each.path) <= newest and (freed := remove_unless_held(each.path, each.beside)) is not None:
                size -= freed
                removed.append(each)
    return tuple(removed)
