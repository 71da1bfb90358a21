"""Backup and restoring of the store, also while the app runs.

A copy of the file alone lacks what DuckDB still has in its log beside it. A backup is made while this process holds the
file, after the log is written into it; the app waits for the second that it takes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

import duckdb

from blindspot.errors import BlindspotError, InputError
from blindspot.files.writing import cannot_write, require_regular
from blindspot.store.db import Database
from blindspot.store.inspection import StoreFacts, inspect

PATIENCE_SECONDS = 60.0  # a run that stores its results holds the store for seconds


def back_up(store: Path, target: Path) -> StoreFacts:
    """Copy a store to a new file; returns what the copy contains.

    Raises:
        InputError: there is no store, or the target exists.
        StoreBusy: another process held the store for too long.
        BlindspotError: the store is damaged, or the target cannot be written.
    """
    if not store.exists():
        raise InputError(f"there is no store {store}", remedy="run something first, or set BLINDSPOT_CACHE")
    if target.exists():
        raise InputError(f"{target} exists", remedy="choose another name, or delete it first")
    part = target.with_name(f"{target.name}.part")
    try:
        _copy(store, part)
        facts = _contents(part)
        part.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        part.unlink(missing_ok=True)
    return facts


def restore(backup: Path, store: Path) -> tuple[StoreFacts, Path | None]:
    """Put a backup in the store's place; the store that was there is kept beside it.

    Returns:
        What the restored store contains, and the file of the one before, None if there was none.

    Raises:
        InputError: the backup is no store.
        StoreBusy: another process held the store for too long.
        BlindspotError: a newer Blindspot wrote the backup, it is damaged, or the cache cannot be written.
    """
    require_regular(backup)
    facts = _contents(backup)
    part = store.with_name(f"{store.name}.restored")
    before = store.with_name(f"{store.stem}-before-{datetime.now().astimezone():%Y%m%d-%H%M%S}{store.suffix}")
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(backup, part)
        _flush(part)
        if not store.exists():
            part.replace(store)
            return facts, None
        # Both while the store is held, so that no other process writes into the file that goes.
        database = Database(store, PATIENCE_SECONDS)
        with closing(database), database.cursor() as cursor:
            cursor.execute("FORCE CHECKPOINT")
            os.link(store, before)
            part.replace(store)
    except OSError as error:
        raise cannot_write(store, error) from error
    finally:
        part.unlink(missing_ok=True)
    return facts, before


def _copy(store: Path, target: Path) -> None:
    """Copy the bytes of a store after emptying its log; nobody else can open it meanwhile."""
    with ExitStack() as held:
        source = held.enter_context(store.open("rb"))
        # Closing a file gives up the locks that this process has on it: so the store is closed before.
        database = held.enter_context(closing(Database(store, PATIENCE_SECONDS)))
        cursor = held.enter_context(database.cursor())
        cursor.execute("FORCE CHECKPOINT")
        with target.open("wb") as copy:
            shutil.copyfileobj(source, copy, 2**20)
            copy.flush()
            os.fsync(copy.fileno())


def _contents(path: Path) -> StoreFacts:
    """The contents of a file, after every column was read once: DuckDB compares checksums."""
    try:
        facts = inspect(Database(path), PATIENCE_SECONDS)
    except BlindspotError as error:
        if isinstance(error.__cause__, duckdb.Error):
            raise InputError(f"{path} is not a store that can be read: {error.__cause__}") from error
        raise
    if facts is None or not facts.schema_version:
        raise InputError(f"{path} is no store of Blindspot", expected="a file that blindspot store backup made")
    return facts


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
