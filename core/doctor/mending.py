"""What the doctor can put right, each thing with consent: what a crash left behind, what is damaged or of no use.

Everything is looked at again at the moment when it is mended. What is locked, held (``files.in_use``) or was written
in the last minutes is somebody's, and is left alone.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.fetch import DataState, FileState
from core.doctor.disk import CACHE, LEFT_BY_A_CRASH
from core.doctor.findings import counted, size
from core.doctor.results import STORE, command
from core.encoders.cache import EmbeddingCache, EmbeddingFacts
from core.errors import BlindspotError, DataCorrupt
from core.files.in_use import last_used, remove_unless_held
from core.files.writing import bytes_of, delete_file, exclusive, exclusive_now
from core.runs.cache_limit import computed_folders
from core.settings import Settings
from core.store import mending as store
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.types import CancelToken, Progress, no_progress

DATASETS = "datasets"
QUIET_SECONDS = 600.0  # who writes a file writes to it within that time
SET_ASIDE = ".damaged"  # what names of files end with that were set aside
WAITING = ".wanted"  # what a process leaves beside the store while it waits for it


@dataclass(frozen=True)
class Mend:
    """Something that can be put right.

    Attributes:
        area, name: as of a finding.
        what: what is wrong, in one line.
        action: what is done about it, as an imperative: ``delete it``.
        do: does it; what was done, in one line. Raises BlindspotError.
        advice: another way, which the person may choose instead; "" where there is none.
    """

    area: str
    name: str
    what: str
    action: str
    do: Callable[[], str]
    advice: str = ""


def mends(
    settings: Settings, repository: Repository, quiet: float = QUIET_SECONDS, progress: Progress = no_progress
) -> Iterator[Mend]:
    """All that can be put right here, one after the other: each is looked for after the one before was dealt with.

    Args:
        quiet: seconds for which nobody must have written to a file that no lock protects.
        progress: of downloads.

    Raises:
        BlindspotError: the store cannot be read.
    """
    if not settings.cache.is_dir():
        return
    yield from _interrupted_runs(repository)
    yield from _corrupt_downloads(settings, progress)
    yield from _damaged(settings)
    yield from _broken_off(settings)
    yield from _halves(settings, quiet)
    if repository.database.path.exists():  # without it nobody knows what was needed
        yield from _orphans(settings, repository, quiet)
        yield from _costs_of_nothing(settings, repository)
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
    return (
        "forgotten" if store.drop_interrupted(repository.database, run) else "left: it goes on, or was done meanwhile"
    )


def _costs_of_nothing(settings: Settings, repository: Repository) -> Iterator[Mend]:
    on_disk = {stored.facts.digest for stored in EmbeddingCache(settings.embeddings).inventory().embeddings}
    needed = {run.plan.embedding_digest for run in repository.runs(metrics=[])}
    gone = [facts.digest for facts in repository.embeddings() if facts.digest not in on_disk | needed]
    if gone:
        yield Mend(
            STORE,
            "embeddings",
            f"{counted(len(gone), 'entry', 'entries')} of embeddings that are not on disk and that no run stands on",
            "forget them",
            lambda: f"{store.forget_costs(repository.database, gone)} forgotten",
        )


# --- downloads


def _corrupt_downloads(settings: Settings, progress: Progress) -> Iterator[Mend]:
    for entry in datasets.DATASETS.values():
        for file in entry.files:
            found = fetch.file_state(file, settings)
            if found.state is DataState.CORRUPT:
                yield Mend(
                    DATASETS,
                    entry.id,
                    f"{found.path} is corrupt: {found.detail}",
                    "set it aside and download it again",
                    lambda entry=entry, found=found: _again(entry, found, settings, progress),  # type: ignore[misc]
                )


def _again(entry: DatasetEntry, found: FileState, settings: Settings, progress: Progress) -> str:
    aside = found.path.with_name(f"{found.path.name}{SET_ASIDE}")
    with exclusive(found.path.with_name(f"{found.path.name}.lock"), CancelToken()):  # as who downloads it
        states = [fetch.file_state(file, settings) for file in entry.files]
        if found.path not in {state.path for state in states if state.state is DataState.CORRUPT}:
            return "left: it is whole now"
        found.path.replace(aside)
    try:
        fetch.fetch_dataset(entry, settings, progress)
    except BlindspotError as error:
        return f"set aside as {aside.name}, and downloaded when it is next needed: now it could not be: {error}"
    return f"downloaded again; the damaged one is {aside}"


# --- what is computed again


def _damaged(settings: Settings) -> Iterator[Mend]:
    cache = EmbeddingCache(settings.embeddings)
    inventory = cache.inventory()
    broken = [*inventory.damaged]
    for stored in inventory.embeddings:
        matrix = settings.embeddings / f"{stored.facts.digest}.npy"
        try:
            found = cache.read(stored.facts.digest, is_use=False)
        except DataCorrupt:
            broken.append(matrix)
            continue
        if found is not None and found.matrix.shape != (stored.facts.texts, stored.facts.dimension):
            broken.append(matrix)
    for path in broken:
        yield _deletion("embeddings", f"{path} is damaged", [path.with_suffix(".npy")])
    for kind, folder in computed_folders(settings).items():
        for path in sorted(folder.glob("*.npz")):
            if not is_zipfile(path):
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
    with exclusive_now(parts.with_suffix(".lock")) as is_ours:
        if not is_ours:
            return "left: it goes on"
        freed = bytes_of(parts)
        shutil.rmtree(parts, ignore_errors=True)
    return f"left: {parts} cannot be deleted" if parts.exists() else f"deleted, {size(freed)} freed"


def _halves(settings: Settings, quiet: float) -> Iterator[Mend]:
    ends = {".npy": ".json", ".json": ".npy"}
    files = [path for end in ends for path in settings.embeddings.glob(f"*{end}")]
    halves = [p for p in sorted(files) if not p.with_suffix(ends[p.suffix]).exists() and _is_quiet(p, quiet)]
    if halves:
        what = f"{counted(len(halves), 'file')} without the other half, such as {halves[0]}"
        yield _deletion("embeddings", what, halves, lambda path: not path.with_suffix(ends[path.suffix]).exists())


def _orphans(settings: Settings, repository: Repository, quiet: float) -> Iterator[Mend]:
    """Embeddings that nothing in the store speaks of: no run, no run that was compared with their encoder, nothing
    that was fitted on them, no page that had them encoded; nor of any that came out of the same forward pass."""
    runs = repository.runs(metrics=[])
    needed = {facts.digest for facts in repository.embeddings()} | {run.plan.embedding_digest for run in runs}
    needed |= {_fitted_on(run) for run in runs}
    compared = {encoder for run in runs for encoder in run.plan.support}
    stored = EmbeddingCache(settings.embeddings).inventory().embeddings
    passes = {_pass_of(each.facts) for each in stored if each.facts.digest in needed}
    orphans = [
        settings.embeddings / f"{each.facts.digest}.npy"
        for each in stored
        if each.facts.digest not in needed
        and each.facts.encoder not in compared
        and _pass_of(each.facts) not in passes
        and _is_quiet(settings.embeddings / f"{each.facts.digest}.npy", quiet)
    ]
    if orphans:
        taken = sum(bytes_of(matrix) + bytes_of(matrix.with_suffix(".json")) for matrix in orphans)
        what = f"{counted(len(orphans), 'set')} that nothing in the store speaks of, {size(taken)}"
        yield _deletion("embeddings", what, orphans)


def _pass_of(facts: EmbeddingFacts) -> tuple[object, ...]:
    return facts.revision, facts.texts, facts.seconds, facts.device


def _fitted_on(run: RunRecord) -> str:
    """The embeddings of the other dataset that a run's transform was fitted on, or ""."""
    return str(run.manifest.get("transform", {}).get("held_out", {}).get("embeddings", ""))


# --- what a crash left behind


def _leftovers(settings: Settings, quiet: float) -> Iterator[Mend]:
    patterns = (*LEFT_BY_A_CRASH, f"*{SET_ASIDE}", ".work-*", f"*{WAITING}")
    found = sorted({path for pattern in patterns for path in settings.cache.rglob(pattern)})
    found = [path for path in found if not any(parent in found for parent in path.parents)]
    left = [path for path in found if _is_left(path, settings, quiet)]
    if left:
        shown = ", ".join(str(path) for path in left[:3]) + (", ..." if len(left) > 3 else "")
        what = f"{counted(len(left), 'unfinished file')}, {size(sum(map(bytes_of, left)))}: {shown}"
        yield _deletion("leftovers", what, left, lambda path: _is_left(path, settings, quiet))


def _is_left(path: Path, settings: Settings, quiet: float) -> bool:
    """Whether nobody works on a file or folder: it was quiet, and no process has it open."""
    if path.name.startswith(".work-"):  # of a child that fits a map: its parent holds this lock
        with exclusive_now(settings.maps / ".umap.lock") as is_ours:
            return is_ours
    inside = [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]
    return all(_is_quiet(each, quiet) for each in inside) and not _open_anywhere(inside)


def _is_quiet(path: Path, quiet: float) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - path.lstat().st_mtime >= quiet
    return False


def _open_anywhere(paths: Iterable[Path]) -> bool:
    """Whether a process that we may look into has one of the files open (Linux; elsewhere their age has to do)."""
    wanted = {os.path.realpath(path) for path in paths}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()) in wanted:
                return True
    return False


def _stale_locks(settings: Settings) -> Iterator[Mend]:
    folders = (settings.embeddings, settings.data, settings.logs, *computed_folders(settings).values())
    locks = [lock for folder in folders for lock in sorted(folder.rglob("*.lock")) if last_used(lock)]
    stale = [lock for lock in locks if _is_free(lock)]
    if stale:
        what = f"{counted(len(stale), 'lock')} that no process holds, such as {stale[0]}"
        yield Mend(CACHE, "locks", what, "delete them", lambda: _unlock(stale))


def _is_free(lock: Path) -> bool:
    """Whether nobody holds a lock file; it stays."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock, blocking=False):
            return True
    except (Timeout, OSError):
        return False


def _unlock(locks: Sequence[Path]) -> str:
    done = 0
    for lock in locks:
        if lock.exists():
            with exclusive_now(lock) as is_ours:  # removes it at the end
                done += is_ours
    return f"{counted(done, 'lock')} deleted"


# --- deleting


def _always(_path: Path) -> bool:
    return True


def _deletion(name: str, what: str, files: Sequence[Path], still: Callable[[Path], bool] = _always) -> Mend:
    noun = "it" if len(files) == 1 else "them"
    return Mend(CACHE, name, what, f"delete {noun}", lambda: _delete(files, still))


def _delete(files: Sequence[Path], still: Callable[[Path], bool]) -> str:
    """Delete what is still as it was found and what nobody holds; with a matrix the facts beside it."""
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
            else:  # a link; or facts without a matrix, which nobody can hold
                for each in there:
                    delete_file(each)
        remain = [each for each in there if os.path.lexists(each)]
        kept += bool(remain)
        freed += count - sum(map(bytes_of, remain))
    left = f"; {counted(kept, 'file')} left: in use, or not ours to delete" if kept else ""
    return f"{size(freed)} freed{left}"
