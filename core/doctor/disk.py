"""The cache: whether it can be written, what takes how much of it, what is damaged or was left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4
from zipfile import is_zipfile

from filelock import FileLock, Timeout

from core.doctor.findings import GIB, Finding, counted, note, ok, problem, problem_of, size
from core.encoders.cache import EmbeddingCache
from core.errors import DataCorrupt
from core.files.writing import bytes_of
from core.runs.cache_limit import computed_folders, evictable
from core.settings import Settings

CACHE = "cache"
LEAST_FREE = GIB
PROBE_BYTES = 4096
LEFT_BY_A_CRASH = (".*.tmp", ".*.removed", "*.incomplete")  # of write_atomically, of uploads, of the hub's downloads
ANOTHER_FOLDER = "or set BLINDSPOT_CACHE to a folder that can be written"


def kinds(settings: Settings) -> dict[str, Path]:
    """The folders of the cache by what they hold."""
    return {
        "embeddings": settings.embeddings,
        "data": settings.data,
        "uploads": settings.uploads,
        "maps": settings.maps,
        "hub lists": settings.hubs,
        "flows": settings.flows,
        "learned similarities": settings.learned,
        "hub models": settings.cache / "hub",
        "compiled kernels": settings.cache / "numba",
        "logs": settings.logs,
    }


def writable(settings: Settings) -> Iterator[Finding]:
    """Whether files can be written to the cache and to each of its folders: one is written and removed."""
    if wrong := cannot_write_to(settings.cache):
        yield problem(CACHE, "folder", f"{settings.cache} cannot be used: {wrong}", f"correct that, {ANOTHER_FOLDER}")
        return
    yield ok(CACHE, "folder", f"{settings.cache}{'' if settings.cache.exists() else ' (made when it is first needed)'}")
    for kind, folder in kinds(settings).items():
        if os.path.lexists(folder) and (wrong := cannot_write_to(folder)):
            remedy = f"check who owns it (was Blindspot run as another user?), {ANOTHER_FOLDER}"
            yield problem(CACHE, kind, f"{folder} cannot be used: {wrong}", remedy)


def kernels(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether numba can keep what it compiles; where it cannot, every start compiles anew, or fails."""
    name = "NUMBA_CACHE_DIR"
    if not environment.get(name):
        yield ok(CACHE, name, f"not set: {settings.cache / 'numba'}")  # and is looked at with the cache
        return
    folder = Path(environment[name])
    if wrong := cannot_write_to(folder):
        remedy = f"unset {name}, or set it to a folder that can be written"
        yield problem(CACHE, name, f"{folder} cannot be used: {wrong}", remedy)
    else:
        yield ok(CACHE, name, f"{folder}")


def free_space(settings: Settings) -> Iterator[Finding]:
    """Free bytes of the cache's disk."""
    free = shutil.disk_usage(_nearest(settings.cache)).free
    if free < LEAST_FREE:
        yield problem(
            CACHE,
            "free space",
            f"{size(free)} are free on the disk of {settings.cache}; expected at least {size(LEAST_FREE)}",
            "free some, or set BLINDSPOT_CACHE to a folder on another disk; what lies in embeddings/, maps/, hubs/, "
            "flows/ and learned/ can be deleted and is computed again when it is needed",
        )
    else:
        yield ok(CACHE, "free space", f"{size(free)}")


def usage(settings: Settings) -> Iterator[Finding]:
    """Bytes by kind."""
    if not settings.cache.is_dir():
        return
    parts = {kind: bytes_of(folder) for kind, folder in kinds(settings).items()}
    parts["results"] = sum(file.stat().st_size for file in settings.cache.glob(f"{settings.store.name}*"))
    whole = bytes_of(settings.cache)
    parts["other"] = whole - sum(parts.values())
    shown = ", ".join(f"{kind} {size(count)}" for kind, count in parts.items() if count > 0)
    what = f"{size(whole)}{f': {shown}' if shown else ''}"
    limit = settings.cache_limit
    if limit is not None and whole > limit:
        what += f"; more than BLINDSPOT_CACHE_LIMIT, {size(limit)}"
        may_go = sum(each.size for each in evictable(settings))
        remedy = f"the next job makes room: {size(may_go)} may go; of the rest, delete what is not needed, or raise it"
        yield note(CACHE, "size", what, remedy)
    else:
        yield ok(CACHE, "size", what + ("" if limit is None else f"; at most {size(limit)} by BLINDSPOT_CACHE_LIMIT"))


def computed(settings: Settings) -> Iterator[Finding]:
    """How much follows from embeddings and is kept, and what of it is damaged."""
    for kind, folder in computed_folders(settings).items():
        files = sorted(folder.glob("*.npz"))
        damaged = [path for path in files if not is_zipfile(path)]
        if files:
            yield ok(CACHE, _plural(kind), f"{counted(len(files), 'file')}, {size(sum(map(bytes_of, files)))}")
        for path in damaged:
            remedy = "delete this file: it is computed anew when it is needed (python -m core doctor --mend)"
            yield problem(CACHE, _plural(kind), f"{path} is damaged", remedy)


def embeddings(settings: Settings) -> Iterator[Finding]:
    """Stored embeddings that are damaged, and halves of them; of a matrix only its header and size are looked at."""
    if not settings.embeddings.is_dir():
        return
    cache = EmbeddingCache(settings.embeddings)
    inventory = cache.inventory()
    for path in inventory.damaged:
        yield _damaged(path, "no facts of embeddings can be read from it")
    whole = 0
    for stored in inventory.embeddings:
        facts = stored.facts
        matrix = settings.embeddings / f"{facts.digest}.npy"
        try:
            found = cache.read(facts.digest, is_use=False)
        except DataCorrupt as error:
            yield problem_of(CACHE, "embeddings", error)
            continue
        if found is not None and found.matrix.shape != (facts.texts, facts.dimension):
            expected = f"expected {facts.texts} x {facts.dimension}"
            yield _damaged(matrix, f"it is {' x '.join(map(str, found.matrix.shape))}; {expected}")
            continue
        whole += 1
    yield ok(CACHE, "embeddings", f"{counted(whole, 'set')} whole")
    names = {path.name for path in settings.embeddings.iterdir() if path.suffix in {".npy", ".json"}}
    ends = {".npy": ".json", ".json": ".npy"}
    halves = sorted(name for name in names if f"{Path(name).stem}{ends[Path(name).suffix]}" not in names)
    if halves:
        yield note(
            CACHE,
            "embeddings",
            f"{counted(len(halves), 'file')} without the other half, such as {settings.embeddings / halves[0]}",
            "delete them while no Blindspot works: the texts are encoded anew when they are needed",
        )


def _plural(kind: str) -> str:
    return {"neighbours": "hub lists", "learned similarity": "learned similarities"}.get(kind, f"{kind}s")


def _damaged(path: Path, what: str) -> Finding:
    remedy = "delete this file: the texts are encoded anew when they are needed"
    return problem(CACHE, "embeddings", f"{path} is damaged: {what}", remedy)


def unfinished(settings: Settings) -> Iterator[Finding]:
    """Chunks of encodings that broke off or go on now, and what a crash left behind."""
    for parts in sorted(settings.embeddings.glob("*.parts")):
        chunks = len(list(parts.glob("*.npz")))
        what = f"{counted(chunks, 'chunk')}, {size(bytes_of(parts))}, in {parts}"
        if _is_held(parts.with_suffix(".lock")):
            yield ok(CACHE, "encoding", f"under way now: {what}")
        else:
            remedy = "run the same again: it goes on from there; or delete the folder to start anew"
            yield note(CACHE, "encoding", f"broke off: {what}", remedy)
    if not settings.cache.is_dir():
        return
    left = sorted({path for pattern in LEFT_BY_A_CRASH for path in settings.cache.rglob(pattern)})
    left = [path for path in left if not any(parent in left for parent in path.parents)]
    if left:
        count = sum(bytes_of(path) for path in left)
        shown = ", ".join(str(path) for path in left[:3]) + (", ..." if len(left) > 3 else "")
        remedy = "delete them while no Blindspot works: nothing reads them"
        yield note(CACHE, "leftovers", f"{counted(len(left), 'unfinished file')}, {size(count)}: {shown}", remedy)


def cannot_write_to(folder: Path) -> str:
    """Why no file can be written to a folder, or ""; one that is not there yet is made in the nearest that is.

    A file is really written, flushed and removed again: permissions tell neither of a full disk nor of a
    file system that is mounted read-only.
    """
    try:
        nearest = _nearest(folder)
        it = "it" if nearest == folder else str(nearest)
        if nearest.is_symlink() and not nearest.exists():
            return f"{it} is a link that leads nowhere"
        if not nearest.is_dir():
            return f"{it} is no folder"
        probe = nearest / f".blindspot-{uuid4().hex}.tmp"
        try:
            with probe.open("xb") as file:
                file.write(bytes(PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return f"cannot write there: {error.strerror or error}"
    return ""


def _nearest(path: Path) -> Path:
    """A path, or the nearest above it that exists."""
    return next(p for p in (path, *path.parents) if os.path.lexists(p))


def _is_held(lock: Path) -> bool:
    """Whether a process holds a lock file. One that is not there is not made for it."""
    if not lock.exists():
        return False
    try:
        with FileLock(lock, blocking=False):
            return False
    except Timeout:
        return True
