"""Checks of the cache: writable, sizes, damaged files, leftovers of crashes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4
from zipfile import is_zipfile

from filelock import FileLock, Timeout

from blindspot.doctor.findings import GIB, Finding, note, ok, problem, problem_of, size
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.known_texts import FOLDER
from blindspot.encoders.transformer.backends import EXPORTS
from blindspot.errors import DataCorrupt
from blindspot.files.writing import bytes_of
from blindspot.runs.cache_limit import computed_folders, evictable
from blindspot.settings import Settings
from blindspot.texts import counted

CACHE = "cache"
LEAST_FREE = GIB
PROBE_BYTES = 4096
LEFT_BY_A_CRASH = (".*.tmp", ".*.removed", "*.incomplete")  # by write_atomically, uploads, the hub's downloads
ANOTHER_FOLDER = "or set BLINDSPOT_CACHE to a folder that can be written"


def kinds(settings: Settings) -> dict[str, Path]:
    return {
        "embeddings": settings.embeddings,
        "lists of texts": settings.embeddings.parent / FOLDER,
        "data": settings.data,
        "uploads": settings.uploads,
        "maps": settings.maps,
        "hub lists": settings.hubs,
        "flows": settings.flows,
        "repairs": settings.repairs,
        "learned similarities": settings.learned,
        "set-up checks": settings.checks,
        "hub models": settings.cache / "hub",
        "exported models": settings.cache / EXPORTS,
        "compiled kernels": settings.cache / "numba",
        "result packs": settings.packs,
        "slurm": settings.slurm,
        "logs": settings.logs,
    }


def writable(settings: Settings) -> Iterator[Finding]:
    """Whether the cache and its folders can be written: a small file is written and removed."""
    if wrong := cannot_write_to(settings.cache):
        yield problem(CACHE, "folder", f"{settings.cache} cannot be used: {wrong}", f"correct that, {ANOTHER_FOLDER}")
        return
    yield ok(CACHE, "folder", f"{settings.cache}{'' if settings.cache.exists() else ' (made when it is first needed)'}")
    for kind, folder in kinds(settings).items():
        if os.path.lexists(folder) and (wrong := cannot_write_to(folder)):
            remedy = f"check who owns it (was Blindspot run as another user?), {ANOTHER_FOLDER}"
            yield problem(CACHE, kind, f"{folder} cannot be used: {wrong}", remedy)


def kernels(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether numba can cache compiled code; if not, every start compiles again, or fails."""
    name = "NUMBA_CACHE_DIR"
    if not environment.get(name):
        yield ok(CACHE, name, f"not set: {settings.cache / 'numba'}")  # the cache's own check covers it
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
        what = f"{size(free)} are free on the disk of {settings.cache}; expected at least {size(LEAST_FREE)}"
        remedy = (
            "free some, or set BLINDSPOT_CACHE to a folder on another disk; what lies in embeddings/, maps/, hubs/, "
            "flows/ and learned/ can be deleted and is computed again when it is needed"
        )
        yield problem(CACHE, "free space", what, remedy)
    else:
        yield ok(CACHE, "free space", f"{size(free)}")


def usage(settings: Settings) -> Iterator[Finding]:
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
    """Number and size of results computed from embeddings, and damaged ones."""
    plurals = {"neighbors": "hub lists", "learned similarity": "learned similarities"}
    for kind, folder in computed_folders(settings).items():
        if files := [*folder.glob("*.npz")]:
            what = f"{counted(len(files), 'file')}, {size(sum(map(bytes_of, files)))}"
            yield ok(CACHE, plurals.get(kind, f"{kind}s"), what)
    for kind, path in damaged_results(settings):
        remedy = "delete this file: it is computed anew when it is needed (blindspot doctor --mend)"
        yield problem(CACHE, plurals.get(kind, f"{kind}s"), f"{path} is damaged", remedy)


def damaged_results(settings: Settings) -> list[tuple[str, Path]]:
    """Kind and path of damaged files of results computed from embeddings."""
    folders = computed_folders(settings).items()
    return [(kind, path) for kind, folder in folders for path in sorted(folder.glob("*.npz")) if not is_zipfile(path)]


def embeddings(settings: Settings) -> Iterator[Finding]:
    """Damaged embeddings, and files without the other half; of a matrix only header and size are checked."""
    if not settings.embeddings.is_dir():
        return
    damaged = damaged_embeddings(settings)
    yield from damaged.values()
    stored = EmbeddingCache(settings.embeddings).inventory().embeddings
    whole = sum(settings.embeddings / f"{each.facts.digest}.npy" not in damaged for each in stored)
    yield ok(CACHE, "embeddings", f"{counted(whole, 'set')} whole")
    if widowed := halves(settings):
        what = f"{counted(len(widowed), 'file')} without the other half, such as {widowed[0]}"
        remedy = "delete them while no Blindspot works: the texts are encoded anew when they are needed"
        yield note(CACHE, "embeddings", what, remedy)


def damaged_embeddings(settings: Settings) -> dict[Path, Finding]:
    """A problem per damaged file of embeddings."""

    def problem_with(path: Path, what: str) -> Finding:
        remedy = "delete this file: the texts are encoded anew when they are needed"
        return problem(CACHE, "embeddings", f"{path} is damaged: {what}", remedy)

    cache = EmbeddingCache(settings.embeddings)
    inventory = cache.inventory()
    damaged = {path: problem_with(path, "no facts of embeddings can be read from it") for path in inventory.damaged}
    for facts in (stored.facts for stored in inventory.embeddings):
        matrix = settings.embeddings / f"{facts.digest}.npy"
        try:
            read_back = cache.read(facts.digest, is_use=False)
        except DataCorrupt as error:
            damaged[matrix] = problem_of(CACHE, "embeddings", error)
            continue
        if read_back is not None and read_back.matrix.shape != (facts.texts, facts.dimension):
            expected = f"expected {facts.texts} x {facts.dimension}"
            damaged[matrix] = problem_with(matrix, f"it is {' x '.join(map(str, read_back.matrix.shape))}; {expected}")
    return damaged


def halves(settings: Settings) -> list[Path]:
    """Matrices without facts, and facts without a matrix."""
    pairs = ((".npy", ".json"), (".json", ".npy"))
    files = [(path, path.with_suffix(other)) for end, other in pairs for path in settings.embeddings.glob(f"*{end}")]
    return sorted(path for path, other in files if not other.exists())


def unfinished(settings: Settings) -> Iterator[Finding]:
    """Chunks of interrupted or ongoing encodings, and leftovers of crashes."""
    for parts in sorted(settings.embeddings.glob("*.parts")):
        chunks = len(list(parts.glob("*.npz")))
        what = f"{counted(chunks, 'chunk')}, {size(bytes_of(parts))}, in {parts}"
        if is_held(parts.with_suffix(".lock")):
            yield ok(CACHE, "encoding", f"under way now: {what}")
        else:
            remedy = "run the same again: it goes on from there; or delete the folder to start anew"
            yield note(CACHE, "encoding", f"broke off: {what}", remedy)
    if not settings.cache.is_dir():
        return
    if left := left_over(settings, LEFT_BY_A_CRASH):
        yield note(
            CACHE, "leftovers", unfinished_files(left), "delete them while no Blindspot works: nothing reads them"
        )


def left_over(settings: Settings, patterns: Iterable[str]) -> list[Path]:
    """Files and folders of the cache with such names, without the contents of such folders."""
    paths = sorted({path for pattern in patterns for path in settings.cache.rglob(pattern)})
    return [path for path in paths if not any(parent in paths for parent in path.parents)]


def unfinished_files(paths: Sequence[Path]) -> str:
    shown = ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
    return f"{counted(len(paths), 'unfinished file')}, {size(sum(map(bytes_of, paths)))}: {shown}"


def cannot_write_to(folder: Path) -> str:
    """Why no file can be written to a folder, or to the nearest existing one above it; "" if it can.

    A file is written, flushed and removed: permissions show neither a full disk nor a read-only file system.
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
    """The path, or the nearest one above it that exists."""
    return next(p for p in (path, *path.parents) if os.path.lexists(p))


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock file; never creates one."""
    if not lock.exists():
        return False
    try:
        with FileLock(lock, blocking=False):
            return False
    except (Timeout, OSError):
        return True
