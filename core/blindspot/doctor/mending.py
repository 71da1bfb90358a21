"""Repairs by the doctor, each with consent: leftovers of crashes, damaged and useless files.

Everything is checked again right before a repair. Files that are locked, held (``files.in_use``) or were just written
are in use and left alone.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetEntry
from blindspot.datasets.fetch import DataState, FileState
from blindspot.doctor.disk import (
    CACHE,
    LEFT_BY_A_CRASH,
    damaged_embeddings,
    damaged_results,
    halves,
    is_held,
    left_over,
    unfinished_files,
)
from blindspot.doctor.findings import size
from blindspot.doctor.results import STORE, command
from blindspot.encoders.cache import EmbeddingCache, remove_chunks
from blindspot.errors import BlindspotError
from blindspot.files.in_use import last_used, remove_unless_held
from blindspot.files.writing import bytes_of, delete_file, exclusive, exclusive_now
from blindspot.runs.cache_limit import computed_folders
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.types import CancelToken

AREA_DATASETS = "datasets"
QUIET_SECONDS = 600.0  # a file untouched for so long is not being written
SET_ASIDE = ".damaged"  # suffix of damaged files that were kept
WAITING = ".wanted"  # suffix of a process's file while it waits for the store


@dataclass(frozen=True)
class Mend:
    """A repair.

    Attributes:
        area, name: as in a finding.
        what: what is wrong, in one line.
        action: imperative, such as ``delete it``.
        do: does it and returns what was done, in one line; raises BlindspotError.
        advice: an alternative, or "".
    """

    area: str
    name: str
    what: str
    action: str
    do: Callable[[], str]
    advice: str = ""


def mends(settings: Settings, repository: Repository, quiet: float = QUIET_SECONDS) -> Iterator[Mend]:
    """All repairs, each found only after the previous one is done or declined.

    Args:
        quiet: age in seconds of files that no lock protects.

    Raises:
        BlindspotError: the store cannot be read.
    """
    if not settings.cache.is_dir():
        return
    yield from _interrupted_runs(repository)
    yield from _corrupt_downloads(settings)
    yield from _damaged(settings)
    yield from _broken_off(settings)
    yield from _halves(settings, quiet)
    if repository.database.path.exists():  # its message says what to do
        yield from _orphans(settings, repository, quiet)
        yield from _entries_without_files(settings, repository)
    yield from _leftovers(settings, quiet)
    yield from _stale_locks(settings)


# --- the store


def _interrupted_runs(repository: Repository) -> Iterator[Mend]:
    for run in repository.runs(state=RunState.INTERRUPTED):
        yield Mend(
            STORE,
            f"run {run.run_id}",
            f"interrupted: {run.plan.diagnostic} of {run.plan.variant.label} on {run.plan.dataset}, "
            f"begun {run.started_at:%Y-%m-%d %H:%M} UTC",
            "forget it (what was encoded for it stays)",
            lambda run=run: _drop(repository, run),  # type: ignore[misc]
            f"to go on with it: {command(run.plan)}",
        )


def _drop(repository: Repository, run: RunRecord) -> str:
    return "forgotten" if repository.drop_interrupted(run) else "left: it goes on, or was done meanwhile"


def _entries_without_files(settings: Settings, repository: Repository) -> Iterator[Mend]:
    on_disk = {stored.facts.digest for stored in EmbeddingCache(settings.embeddings).inventory().embeddings}
    needed = {run.plan.embedding_digest for run in repository.runs(metrics=[])}
    gone = [facts.digest for facts in repository.embeddings() if facts.digest not in on_disk | needed]
    if gone:
        yield Mend(
            STORE,
            "embeddings",
            f"{counted(len(gone), 'entry', 'entries')} of embeddings that are not on disk and that no run uses",
            "forget them",
            lambda: f"{repository.forget_costs(gone)} forgotten",
        )


# --- downloads


def _corrupt_downloads(settings: Settings) -> Iterator[Mend]:
    for entry in DATASETS.values():
        for file in entry.files:
            state = fetch.file_state(file, settings)
            if state.state is DataState.CORRUPT:
                yield Mend(
                    AREA_DATASETS,
                    entry.id,
                    f"{state.path} is corrupt: {state.detail}",
                    "set it aside and download it again",
                    lambda entry=entry, file_state=state: _again(entry, file_state, settings),  # type: ignore[misc]
                )


def _again(entry: DatasetEntry, file_state: FileState, settings: Settings) -> str:
    aside = file_state.path.with_name(f"{file_state.path.name}{SET_ASIDE}")
    with exclusive(file_state.path.with_name(f"{file_state.path.name}.lock"), CancelToken()):  # as a download does
        states = [fetch.file_state(file, settings) for file in entry.files]
        if file_state.path not in {state.path for state in states if state.state is DataState.CORRUPT}:
            return "left: it is whole now"
        file_state.path.replace(aside)
    try:
        fetch.fetch_dataset(entry, settings)
    except BlindspotError as error:
        return f"set aside as {aside.name}, and downloaded when it is next needed: now it could not be: {error}"
    return f"downloaded again; the damaged one is {aside}"


# --- what is computed again


def _damaged(settings: Settings) -> Iterator[Mend]:
    for path in damaged_embeddings(settings):
        yield _deletion("embeddings", f"{path} is damaged", [path.with_suffix(".npy")])
    for kind, path in damaged_results(settings):
        yield _deletion(kind, f"{path} is damaged", [path])


def _broken_off(settings: Settings) -> Iterator[Mend]:
    for parts in sorted(settings.embeddings.glob("*.parts")):
        with exclusive_now(parts.with_suffix(".lock")) as is_ours:
            if not is_ours:
                continue  # it goes on
        chunks = len(list(parts.glob("*.npz")))
        yield Mend(
            CACHE,
            "encoding",
            f"an encoding broke off: {counted(chunks, 'chunk')}, {size(bytes_of(parts))}, in {parts}",
            "delete them",
            lambda parts=parts: _delete_chunks(parts),  # type: ignore[misc]
            "to go on with it: run the same again",
        )


def _delete_chunks(parts: Path) -> str:
    freed = bytes_of(parts)
    if not remove_chunks(parts):
        return "left: it goes on"
    return f"left: {parts} cannot be deleted" if parts.exists() else f"deleted, {size(freed)} freed"


def _halves(settings: Settings, quiet: float) -> Iterator[Mend]:
    paths = [path for path in halves(settings) if _is_quiet(path, quiet)]
    if paths:
        what = f"{counted(len(paths), 'file')} without the other half, such as {paths[0]}"
        yield _deletion("embeddings", what, paths, lambda path: path in halves(settings))


def _orphans(settings: Settings, repository: Repository, quiet: float) -> Iterator[Mend]:
    """Embeddings that nothing in the store uses: no run, comparison with an encoder, held-out dataset or page. Siblings
    of used embeddings count as used."""
    runs = repository.runs(metrics=[])
    needed = {facts.digest for facts in repository.embeddings()} | {run.plan.embedding_digest for run in runs}
    needed |= {run.manifest.get("transform", {}).get("held_out", {}).get("embeddings", "") for run in runs}
    compared = {encoder for run in runs for encoder in run.plan.covered_by}
    stored = EmbeddingCache(settings.embeddings).inventory().embeddings
    passes = {each.facts.forward_pass for each in stored if each.facts.digest in needed}
    orphans = [
        settings.embeddings / f"{each.facts.digest}.npy"
        for each in stored
        if each.facts.digest not in needed
        and each.facts.encoder not in compared
        and each.facts.forward_pass not in passes
        and _is_quiet(settings.embeddings / f"{each.facts.digest}.npy", quiet)
    ]
    if orphans:
        taken = sum(bytes_of(matrix) + bytes_of(matrix.with_suffix(".json")) for matrix in orphans)
        what = f"{counted(len(orphans), 'set')} that nothing in the store speaks of, {size(taken)}"
        yield _deletion("embeddings", what, orphans)


# --- what a crash left behind


def _leftovers(settings: Settings, quiet: float) -> Iterator[Mend]:
    paths = left_over(settings, (*LEFT_BY_A_CRASH, f"*{SET_ASIDE}", ".work-*", f"*{WAITING}"))
    if left := [path for path in paths if _is_left(path, settings, quiet)]:
        yield _deletion("leftovers", unfinished_files(left), left, lambda path: _is_left(path, settings, quiet))


def _is_left(path: Path, settings: Settings, quiet: float) -> bool:
    """Whether a file or folder is unused: it is old, and no process has it open."""
    if path.name.startswith(".work-"):  # a child process that fits a map: its parent holds this lock
        with exclusive_now(settings.maps / ".umap.lock") as is_ours:
            return is_ours
    inside = [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]
    return all(_is_quiet(each, quiet) for each in inside) and not _open_anywhere(inside)


def _is_quiet(path: Path, quiet: float) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - path.lstat().st_mtime >= quiet
    return False


def _open_anywhere(paths: Iterable[Path]) -> bool:
    """Whether a process that we may inspect has one of the files open (Linux only)."""
    wanted = {os.path.realpath(path) for path in paths}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()) in wanted:
                return True
    return False


def _stale_locks(settings: Settings) -> Iterator[Mend]:
    folders = (settings.embeddings, settings.data, settings.logs, *computed_folders(settings).values())
    locks = [lock for folder in folders for lock in sorted(folder.rglob("*.lock")) if last_used(lock)]
    stale = [lock for lock in locks if not is_held(lock)]
    if stale:
        what = f"{counted(len(stale), 'lock')} that no process holds, such as {stale[0]}"
        yield Mend(CACHE, "locks", what, "delete them", lambda: _unlock(stale))


def _unlock(locks: Sequence[Path]) -> str:
    done = 0
    for lock in locks:
        if lock.exists():
            with exclusive_now(lock) as is_ours:  # removes it at the end
                done += is_ours
    return f"{counted(done, 'lock')} deleted"


# --- deleting


def _deletion(name: str, what: str, files: Sequence[Path], still: Callable[[Path], bool] = os.path.lexists) -> Mend:
    noun = "it" if len(files) == 1 else "them"
    return Mend(CACHE, name, what, f"delete {noun}", lambda: _delete(files, still))


def _delete(files: Sequence[Path], still: Callable[[Path], bool]) -> str:
    """Delete files that are ``still`` as they were found and that no process holds; a matrix goes with its facts."""
    freed, kept = 0, 0
    for path in files:
        facts = [path.with_suffix(".json")] if path.suffix == ".npy" else []
        there = [each for each in (path, *facts) if os.path.lexists(each)]
        count = sum(map(bytes_of, there))
        if there and still(path):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_file() and not path.is_symlink():
                remove_unless_held(path, facts)
            else:  # a link; or facts without a matrix
                for each in there:
                    delete_file(each)
        remain = [each for each in there if os.path.lexists(each)]
        kept += bool(remain)
        freed += count - sum(map(bytes_of, remain))
    left = f"; {counted(kept, 'file')} left: in use, or not ours to delete" if kept else ""
    return f"{size(freed)} freed{left}"
