"""Downloads of datasets from the mirror or their public source: verified, resumable, all or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from blindspot import policy
from blindspot.datasets.catalog import DatasetEntry, DatasetRef, SourceFile
from blindspot.datasets.kinds.base import Dataset
from blindspot.errors import BlindspotError, DataCorrupt, DataMissing, naming_extras
from blindspot.files.in_use import holding, use
from blindspot.files.writing import cannot_write, exclusive, sha256_of, write_atomically
from blindspot.settings import Settings
from blindspot.types import CancelToken, Progress, no_progress

ATTEMPTS = 3
TIMEOUT_SECONDS = 20.0
BLOCK_BYTES = 1 << 16
MAX_UNKNOWN_BYTES = 64 << 20  # of a file without a declared size
STAGE = "fetching"  # the name of a download's stage begins so; its units are bytes


class DataState(StrEnum):
    """State of a dataset on this machine."""

    BUILT_IN = "built in"
    YOUR_FILE = "your file"
    DOWNLOADED = "downloaded"
    MISSING = "missing"
    CORRUPT = "corrupt"


@dataclass(frozen=True)
class FetchRequest:
    """Request to download a dataset's missing or corrupt files. Equal requests are the same work."""

    dataset: DatasetRef


@dataclass(frozen=True)
class FileState:
    """State of one file of a dataset; ``detail`` says what is wrong with a corrupt file."""

    path: Path
    state: DataState
    detail: str = ""


def local_path(file: SourceFile, settings: Settings) -> Path:
    """Where a source file is kept in the cache."""
    return settings.data / file.source / file.path


def recorded_checksum(file: SourceFile, settings: Settings) -> str:
    """The expected checksum of a file: the declared one, else the one from its first use here; "" before that."""
    record = _record_path(file, settings)
    if file.is_pinned or not record.is_file():
        return file.sha256
    return record.read_text("ascii", errors="replace").strip()


def checksums(entry: DatasetEntry, settings: Settings) -> dict[str, str]:
    """``recorded_checksum`` of each file of a dataset, by its path."""
    return {file.path: recorded_checksum(file, settings) for file in entry.files}


def _record_path(file: SourceFile, settings: Settings) -> Path:
    path = local_path(file, settings)
    return path.with_name(f"{path.name}.sha256")


def file_state(file: SourceFile, settings: Settings) -> FileState:
    """Check a file on disk: first its size, then its checksum, if they are known."""
    path = local_path(file, settings)
    if not path.is_file():
        return FileState(path, DataState.MISSING)
    detail = _mismatch(file, path, recorded_checksum(file, settings))
    return FileState(path, DataState.CORRUPT if detail else DataState.DOWNLOADED, detail)


def dataset_state(
    entry: DatasetEntry, settings: Settings, state_of: Callable[[SourceFile, Settings], FileState] = file_state
) -> DataState:
    """The worst state among a dataset's files, of each of which ``state_of`` says it."""
    if not entry.files:
        return DataState.YOUR_FILE if entry.own else DataState.BUILT_IN
    states = {state_of(file, settings).state for file in entry.files}
    return next((state for state in (DataState.CORRUPT, DataState.MISSING) if state in states), DataState.DOWNLOADED)


def load(
    entry: DatasetEntry, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> Dataset:
    """A dataset; its missing files are fetched first.

    Raises:
        DataMissing: a file cannot be downloaded now.
        DataCorrupt: a file has the wrong checksum, and is left in place; or the loader rejects a downloaded file
            without a declared checksum.
        LibraryMissing: the dataset is in a package of an extra, or needs one.
    """
    policy.check_dataset(entry.id, settings)
    paths, fetched = [], []
    with holding():  # from the check of a file until it is read
        for file in entry.files:
            use(local_path(file, settings))
            state = file_state(file, settings)
            if state.state is DataState.CORRUPT:
                raise DataCorrupt(
                    f"{state.path} is corrupt: {state.detail}",
                    remedy=f"download it again with: blindspot data fetch {entry.id}",
                )
            if state.state is DataState.MISSING:
                fetch_file(file, settings, progress, cancel)
                use(state.path)
                fetched.append(file)
            paths.append(state.path)
        with naming_extras(entry.id):
            return _load_and_record(entry, tuple(paths), fetched, settings)


def _load_and_record(
    entry: DatasetEntry, paths: tuple[Path, ...], fetched: Sequence[SourceFile], settings: Settings
) -> Dataset:
    """Load a dataset; for files without a declared checksum, record theirs the first time.

    A file that was just downloaded without a checksum and is rejected (a server's error page, say) is deleted.
    """
    try:
        dataset = entry.load(entry.id, paths)
    except BlindspotError as error:
        refused = [file for file in fetched if not recorded_checksum(file, settings)]
        if not refused:
            raise
        for file in refused:
            local_path(file, settings).unlink(missing_ok=True)
        origins = ", ".join(str(_origin(file, settings.mirror)) for file in refused)
        raise DataCorrupt(
            f"the download from {origins} is unusable and was deleted: {error}",
            remedy="try again later, or set BLINDSPOT_MIRROR to a folder or URL that has the right file",
        ) from error
    for file in entry.files:
        if not recorded_checksum(file, settings):
            _record(file, settings)
    return dataset


def _record(file: SourceFile, settings: Settings) -> None:
    checksum = sha256_of(local_path(file, settings)).encode("ascii")
    write_atomically(_record_path(file, settings), lambda f: f.write(checksum))


def fetch_dataset(
    entry: DatasetEntry, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> tuple[Path, ...]:
    """Download a dataset's missing or corrupt files, and return all paths. Progress counts the bytes of all files.

    Raises:
        DataMissing: as ``fetch_file``.
        DataCorrupt: as ``fetch_file`` and, for files without a declared checksum, as ``load``.
    """
    wanted = [file for file in entry.files if file_state(file, settings).state is not DataState.DOWNLOADED]
    bytes_of_all, before = sum(file.size for file in wanted), 0

    def of_all(stage: str, done: int, total: int, fraction: float | None = None) -> None:  # noqa: ARG001 - Progress
        progress(stage, before + done, bytes_of_all)

    for file in wanted:
        fetch_file(file, settings, of_all, cancel)
        before += file.size
    paths = tuple(local_path(file, settings) for file in entry.files)
    if not all(recorded_checksum(file, settings) for file in entry.files):
        _load_and_record(entry, paths, wanted, settings)
    return paths


def fetch_file(
    file: SourceFile, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> Path:
    """Download one file to the cache: resumed after an interruption, verified, then renamed into place.

    Raises:
        DataMissing: no network, or no such file at the source or in the mirror.
        DataCorrupt: the download has another size or checksum; it is deleted.
        Cancelled: the part downloaded so far is kept.
        BlindspotError: the cache's disk is full or read-only.
    """
    if not settings.mirror and not policy.of(settings).downloads:
        raise DataMissing(
            f"{Path(file.path).name} is not available on this demo, which downloads nothing from outside",
            remedy="choose another dataset; its host can add this one with: blindspot data fetch",
        )
    cancel = cancel or CancelToken()
    target = local_path(file, settings)
    with exclusive(target.with_name(f"{target.name}.lock"), cancel):
        if file_state(file, settings).state is DataState.DOWNLOADED:  # another process was faster
            return target
        partial = target.with_name(f"{target.name}.part")
        origin = _origin(file, settings.mirror)
        checksum = recorded_checksum(file, settings)
        if not file.is_pinned:  # the rest could belong to another version, and no checksum would show it
            partial.unlink(missing_ok=True)
        resumed = partial.is_file() and not isinstance(origin, Path)
        _bring(origin, partial, file, progress, cancel)
        if resumed and _mismatch(file, partial, checksum):  # the kept part may be wrong: try again without it
            partial.unlink()
            _bring(origin, partial, file, progress, cancel)
        if detail := _mismatch(file, partial, checksum):
            partial.unlink()
            raise DataCorrupt(
                f"{origin} is not the file that Blindspot knows: {detail}",
                remedy="try again later, or set BLINDSPOT_MIRROR to a folder or URL that has the right one"
                if file.is_pinned
                else f"if it is a newer version that you want, delete {_record_path(file, settings)} and {target}",
            )
        partial.replace(target)
    return target


def _origin(file: SourceFile, mirror: str) -> Path | str:
    if not mirror:
        return file.url
    if mirror.startswith(("http://", "https://")):
        return f"{mirror.rstrip('/')}/{file.source}/{file.path}"
    return Path(mirror).expanduser() / file.source / file.path


def _mismatch(file: SourceFile, path: Path, checksum: str) -> str:
    """What is wrong with a file on disk, or ""; always "" without a known size or checksum."""
    size = path.stat().st_size
    if file.is_pinned and size != file.size:
        return f"{size:,} bytes instead of {file.size:,}"
    digest = sha256_of(path) if checksum else ""
    return "" if digest == checksum else f"sha256 {digest[:12]}... instead of {checksum[:12]}..."


def _bring(origin: Path | str, partial: Path, file: SourceFile, progress: Progress, cancel: CancelToken) -> None:
    try:
        if isinstance(origin, Path):
            _copy(origin, partial, file, progress, cancel)
        else:
            _download(origin, partial, file, progress, cancel)
    except DataCorrupt:
        partial.unlink(missing_ok=True)
        raise
    except OSError as error:
        raise cannot_write(partial, error) from error


def _copy(origin: Path, partial: Path, file: SourceFile, progress: Progress, cancel: CancelToken) -> None:
    if not origin.is_file():
        raise DataMissing(
            f"the mirror has no {origin}",
            expected="BLINDSPOT_MIRROR to serve files as <source>/<path in source>",
            remedy="correct BLINDSPOT_MIRROR, or unset it to download from the source",
        )
    with partial.open("wb") as out:
        _pump(_blocks(origin), out.write, 0, file, progress, cancel)


def _blocks(origin: Path) -> Iterator[bytes]:
    """The bytes of a file, block by block."""
    try:
        with origin.open("rb") as source:
            while block := source.read(BLOCK_BYTES):
                yield block
    except OSError as error:
        raise DataMissing(
            f"cannot read {origin}: {error.strerror or error}", remedy="check the permissions of the mirror's files"
        ) from error


def _download(url: str, partial: Path, file: SourceFile, progress: Progress, cancel: CancelToken) -> None:
    import httpx  # a twentieth of a cold start's imports, which few starts need

    for attempt in range(1, ATTEMPTS + 1):
        try:
            _download_once(url, partial, file, progress, cancel)
            return
        except httpx.HTTPStatusError as error:
            raise DataMissing(
                f"{url} answered {error.response.status_code} {error.response.reason_phrase}",
                remedy="try again later, or set BLINDSPOT_MIRROR to a folder or URL that has the file",
            ) from error
        except (httpx.RequestError, httpx.InvalidURL) as error:
            lasting = not isinstance(error, httpx.TransportError) or isinstance(error, httpx.UnsupportedProtocol)
            if lasting or attempt == ATTEMPTS:
                kept = f" ({partial.stat().st_size:,} bytes are kept)" if partial.is_file() else ""
                raise DataMissing(
                    f"cannot reach {url}: {str(error) or type(error).__name__}{kept}",
                    remedy="check the network, or set BLINDSPOT_MIRROR to a folder or URL that has the file",
                ) from error
            time.sleep(0.5 * attempt)


def _download_once(url: str, partial: Path, file: SourceFile, progress: Progress, cancel: CancelToken) -> None:
    import httpx

    have = partial.stat().st_size if partial.is_file() else 0
    if file.is_pinned and have >= file.size:  # a leftover: the checksum decides, or the download starts over
        if have == file.size:
            return
        partial.unlink()
        have = 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=TIMEOUT_SECONDS) as response:
        if have and response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # the source's file is shorter than what is here: the checksum will differ
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        with partial.open("ab" if resumed else "wb") as out:
            blocks = response.iter_bytes()  # as they come: blocks of a size would lose one when the connection breaks
            _pump(blocks, out.write, have if resumed else 0, file, progress, cancel)


def _pump(
    blocks: Iterator[bytes],
    write: Callable[[bytes], object],
    done: int,
    file: SourceFile,
    progress: Progress,
    cancel: CancelToken,
) -> None:
    stage = f"{STAGE} {Path(file.path).name}"
    progress(stage, done, file.size)
    for block in blocks:
        cancel.check()
        done += len(block)
        if done > (file.size or MAX_UNKNOWN_BYTES):
            raise DataCorrupt(
                f"{file.path}: more bytes come than the {file.size or MAX_UNKNOWN_BYTES:,} expected",
                remedy="the source or mirror serves another file: set BLINDSPOT_MIRROR to one that has the right one",
            )
        write(block)
        progress(stage, done, file.size)
