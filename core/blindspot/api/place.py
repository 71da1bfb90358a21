"""Place of results: a store that the app shows, or a folder that ends with the program."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from blindspot.errors import InputError
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.repository import Repository

_TEMPORARY: dict[int, Path] = {}  # by process
_LOCK = threading.Lock()


class Place:
    """Settings, and the store in them.

    Attributes:
        is_kept: whether results outlive the program.
    """

    def __init__(self, settings: Settings, *, is_kept: bool) -> None:
        self.settings = settings
        self.is_kept = is_kept
        self.repository = Repository.at(settings.store)
        prepare_runtime(settings)


def place_of(store: str | os.PathLike[str] | None, device: str | None) -> Place:
    """Where to put results.

    Args:
        store: a cache folder, as in ``BLINDSPOT_CACHE``; None for one that is removed when the program ends.
        device: as in ``BLINDSPOT_DEVICE``; None for the value of that variable.

    Raises:
        InputError: the store is a file; a setting in the environment is wrong.
    """
    folder = _temporary() if store is None else Path(store).expanduser().resolve()
    if store is not None and folder.is_file():
        raise InputError(f"{folder} is a file", expected="the folder that BLINDSPOT_CACHE names, such as cache/")
    return _place(folder, device or os.environ.get("BLINDSPOT_DEVICE") or "auto", store is not None)


@lru_cache(maxsize=32)
def _place(folder: Path, device: str, is_kept: bool) -> Place:
    settings = Settings.from_environment(os.environ | {"BLINDSPOT_DEVICE": device})
    if not is_kept:  # downloads and compiled kernels are worth keeping
        prepare_runtime(settings)
        (folder / "data").symlink_to(settings.data, target_is_directory=True) if settings.data.is_dir() else None
    return Place(replace(settings, cache=folder), is_kept=is_kept)


def _temporary() -> Path:
    """One folder for the process; a forked one has its own."""
    with _LOCK:
        if os.getpid() not in _TEMPORARY:
            folder = Path(tempfile.mkdtemp(prefix="blindspot-"))
            _TEMPORARY[os.getpid()] = folder
            atexit.register(_remove, folder, os.getpid())
        return _TEMPORARY[os.getpid()]


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
