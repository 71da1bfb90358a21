"""Uploaded texts, kept in the cache with their original files.

``<cache>/uploads/<digest>/`` has ``<name>.jsonl`` (the texts as they were confirmed, under names of columns that
``file:PATH`` recognizes: see ``OwnFile.written_rows``), ``original/<name>``, and ``upload.json``. For a folder it has
``<name>/``, with the files that are read, and ``upload.json``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from uuid import uuid4

from blindspot import policy
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import retrieval_folder
from blindspot.datasets.user_data.columns import OwnFile
from blindspot.datasets.user_data.retrieval_folder import FolderFiles, OwnRetrievalFolder, guesses_of
from blindspot.datasets.user_data.retrieval_folder.guess import Grid, Guess
from blindspot.datasets.user_data.retrieval_folder.options import FolderOptions
from blindspot.errors import BlindspotError, InputError
from blindspot.files.tables import Texts
from blindspot.files.writing import cannot_write, make_folder, sha256_of
from blindspot.settings import Settings
from blindspot.types import digest_of_strings

log = logging.getLogger(__name__)
MAX_NAME_BYTES = 100
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # categories of characters that cannot be seen


@dataclass(frozen=True, eq=False)
class SentFolder:
    """A folder as a browser sent it.

    Attributes:
        folder: its name.
        contents: bytes by path, which begins with ``folder``.
        data: as in ``FolderFiles``.
    """

    folder: Path
    contents: Mapping[Path, bytes]
    data: Callable[[Path], bytes] | None = None

    @cached_property
    def digest(self) -> str:
        """Digest that changes whenever a file does."""
        return digest_of_strings([f"{path} {hashlib.sha256(data).hexdigest()}" for path, data in self.contents.items()])

    @property
    def files(self) -> FolderFiles:
        read = self.data or self.contents.__getitem__

        def data(path: Path) -> bytes:
            if any(safe_name(part) != part for part in path.relative_to(self.folder).parts):
                raise InputError(
                    f"'{shown_name(path.name)}' is no name for a file of an uploaded folder",
                    expected="letters, digits, '.', '_' and '-'",
                    remedy="rename it",
                )
            return read(path)

        return FolderFiles(self.folder, tuple(sorted(self.contents)), data, is_sent=True)


@dataclass(frozen=True)
class Upload:
    """A stored upload.

    Attributes:
        path: of the file with the confirmed columns.
        name: of the file that was uploaded.
        original_sha256: of its bytes.
        kind: what it was read as.
        columns: uses, as in ``OwnFile.used``, each with its column in the uploaded file.
        rows, texts: how many pairs, originals, words or examples there are, and how many distinct texts.
        uploaded_at: ISO 8601, UTC.
        options: of a folder, as in its reference, with ``path`` the folder and ``columns`` its files; None for a file.
        checksums: for a folder, the path of each file below the folder and its sha256.
    """

    path: Path
    name: str
    original_sha256: str
    kind: DatasetKind
    columns: tuple[tuple[str, str], ...]
    rows: int
    texts: int
    uploaded_at: str
    options: str | None = None
    checksums: tuple[tuple[str, str], ...] = ()

    @property
    def reference(self) -> str:
        """The reference of its dataset."""
        if self.options is not None:
            return f"{own.FOLDER_PREFIX}{self.path}{'?' * bool(self.options)}{self.options}"
        return f"{own.PREFIX}{self.path}"

    @property
    def size(self) -> str:
        """Counts for people."""
        return KINDS[self.kind].size(self.rows, len(self.columns) - 1, self.texts)

    @property
    def original(self) -> Path:
        return self.path.parent / "original" / self.name


def add(contents: OwnFile, data: bytes, settings: Settings) -> Upload:
    """Store an upload that was read and confirmed; nothing is overwritten, and the same upload again is found.

    Args:
        contents: as ``own.OwnTable`` read them; its path's name is the file's name.
        data: the bytes that it read.

    Raises:
        InputError: this server takes no uploads, or the texts are too large once written out.
        BlindspotError: the disk is full or read-only; nothing is left behind.
    """
    _check_place(settings)
    limits = policy.of(settings).uploads
    limits.check_file(contents.path.name, len(data))
    name = safe_name(contents.path.name)
    path = Path(f"{Path(name).stem}.jsonl")
    written = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in contents.written_rows()).encode()
    as_read_back = own.parse(path, written, is_confirmed=True)  # the limits apply to it too
    folder = settings.uploads / _folder_name(name, contents.sha256, as_read_back.sha256)
    upload = Upload(
        path=folder / path,
        name=name,
        original_sha256=contents.sha256,
        kind=contents.kind,
        columns=tuple((use, column.name) for use, column in contents.used.items()),
        rows=contents.rows,
        texts=contents.distinct_texts,
        uploaded_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )
    record = json.dumps(asdict(upload) | {"path": path.name}, ensure_ascii=False, indent=1).encode()
    files = {path: written, Path("original") / name: data, Path(own.RECORD): record}
    if not folder.exists():
        limits.check_number(len(found(settings)))
        _write_folder(folder, files)
    return _read(folder)


def folder_of(sent: Sequence[tuple[str, bytes]], settings: Settings) -> SentFolder:
    """The files of a folder that somebody wants to upload, by their paths as a browser sends them.

    Raises:
        InputError: they are from several folders, or larger than uploads may be here.
    """
    limits = policy.of(settings).uploads
    limits.check_folder(sum(len(data) for _, data in sent), 0, 0)
    paths = [(PurePosixPath(name.replace("\\", "/")).parts, data) for name, data in sent]
    names = sorted({parts[0] for parts, _ in paths if len(parts) > 1})
    if len(names) != 1 or any(len(parts) < 2 for parts, _ in paths):
        several = ", ".join(map(shown_name, names))
        raise InputError(
            f"files of several folders: {several}" if len(names) > 1 else "files without a folder",
            expected="one folder with corpus.jsonl, queries.jsonl and qrels/*.tsv",
        )
    folder = Path(safe_name(f"{names[0]}.")) if names[0] not in (".", "..") else Path("folder")
    inside = {parts[1:]: data for parts, data in paths if len(parts) == 2 or (len(parts) == 3 and parts[1] == "qrels")}
    here = {folder.joinpath(*parts): data for parts, data in inside.items() if not parts[-1].startswith(".")}
    return SentFolder(folder, here)


def folder_of_files(sent: Sequence[tuple[str, bytes]], settings: Settings) -> SentFolder:
    """Single files that somebody wants to upload as one dataset, as a folder named after them.

    Raises:
        InputError: two have the same name, or they are larger than uploads may be here.
    """
    limits = policy.of(settings).uploads
    for name, data in sent:
        limits.check_file(shown_name(name), len(data))
    limits.check_folder(sum(len(data) for _, data in sent), 0, 0)
    names = [safe_name(name) for name, _ in sent]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InputError(f"two files are called {twice}", expected="files of different names")
    folder = Path(safe_name(f"{'-'.join(Path(name).stem for name in names)}."))
    return SentFolder(folder, {folder / name: data for name, (_, data) in zip(names, sent, strict=True)})


def read_folder(sent: SentFolder, options: FolderOptions, settings: Settings) -> OwnRetrievalFolder:
    """The content of a folder that somebody wants to upload.

    Raises:
        InputError: what is wrong with it, or it is larger than uploads may be here.
    """
    contents = retrieval_folder.read_files(sent.files, options)
    texts = [*(query.text for query in contents.queries), *(document.whole for document in contents.documents)]
    rows = max(len(contents.queries), len(contents.documents))
    policy.of(settings).uploads.check_folder(0, rows, max(map(len, texts)))
    return contents


def guessed_folder(
    sent: SentFolder, options: FolderOptions, examples: int
) -> tuple[dict[str, Grid], dict[str, dict[str, Guess]]]:
    """The columns of files that somebody wants to upload, and what they probably are: ``guesses_of``."""
    return guesses_of(sent.files, options, examples)


def add_folder(sent: SentFolder, options: FolderOptions, settings: Settings) -> Upload:
    """Store a folder that was read and confirmed: the files that were read, as they are.

    Raises:
        InputError, BlindspotError: as ``add`` and ``read_folder``.
    """
    _check_place(settings)
    used: dict[Path, bytes] = {}

    def data(path: Path) -> bytes:
        used[path] = sent.contents[path]
        return used[path]

    contents = read_folder(replace(sent, data=data), options, settings)
    checksums = tuple(
        (path.relative_to(sent.folder).as_posix(), hashlib.sha256(content).hexdigest())
        for path, content in sorted(used.items())
    )
    folder = settings.uploads / _folder_name(sent.folder.name, str(options), str(checksums))
    upload = Upload(
        path=folder / sent.folder,
        name=sent.folder.name,
        original_sha256=contents.sha256,
        kind=contents.kind,
        columns=tuple(contents.places.items()),
        rows=contents.rows,
        texts=contents.distinct_texts,
        uploaded_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        options=str(options),
        checksums=checksums,
    )
    record = json.dumps(asdict(upload) | {"path": sent.folder.name}, ensure_ascii=False, indent=1).encode()
    if not folder.exists():
        policy.of(settings).uploads.check_number(len(found(settings)))
        _write_folder(folder, {**used, Path(own.RECORD): record})
    return _read(folder)


def _write_folder(folder: Path, files: dict[Path, bytes]) -> None:
    """Write all files or none: first under a hidden name, which readers ignore."""
    temporary = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.tmp")
    try:
        for path, content in files.items():
            make_folder((temporary / path).parent)
            (temporary / path).write_bytes(content)
        temporary.rename(folder)
    except OSError as error:
        if not folder.exists():  # otherwise another session has stored the same
            raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # there only if something failed


def found(settings: Settings) -> tuple[Upload, ...]:
    """All uploads, oldest first. Folders that are not valid uploads are skipped and logged."""
    out = []
    for record in settings.uploads.glob(f"*/{own.RECORD}"):
        if record.parent.name.startswith("."):
            continue
        try:
            out.append(_read(record.parent))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("%s is not a record of an upload: %s", record, error)
    return tuple(sorted(out, key=lambda upload: (upload.uploaded_at, upload.reference)))


def remove(upload: Upload, settings: Settings) -> None:
    """Delete an upload with its original, if it still exists. Stored runs on it stay.

    Raises:
        InputError: visitors of this server may not remove anything.
        BlindspotError: the file system refused.
    """
    _check_place(settings)
    folder = upload.path.parent
    if folder.parent != settings.uploads:
        raise InputError(f"there is no upload {folder.name} here")
    hidden = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.removed")  # removes it at once, not file by file
    try:
        folder.rename(hidden)
        shutil.rmtree(hidden)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BlindspotError(
            f"cannot remove {folder}: {error.strerror or error}", remedy="check the cache's permissions"
        ) from error


def safe_name(name: str) -> str:
    """A file name of letters, digits and ``._-`` from whatever a browser sends; never a path, never hidden."""
    last = Path(re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1])
    stem = re.sub(r"[^\w.-]+", "_", last.stem).strip("._-")
    ending = re.sub(r"[^\w.]+", "", last.suffix)[:10]
    return f"{stem.encode()[:MAX_NAME_BYTES].decode(errors='ignore') or 'pairs'}{ending}"


def shown_name(name: str) -> str:
    """A file's name for people from whatever a browser sends: no path, no invisible characters or changes of writing
    direction, and of limited length."""
    last = "".join(c for c in re.split(r"[/\\]", name)[-1] if unicodedata.category(c) not in _UNSEEN)
    return last if len(last) <= MAX_NAME_BYTES else f"{last[: MAX_NAME_BYTES // 2]}…{last[-20:]}"


def damage(folder: Path) -> str:
    """What is wrong with the files of a stored upload, or ""; the folder's name is a digest of what it had."""
    try:
        upload = _read(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return f"{folder / own.RECORD} is no record of an upload: {error}"
    held = {upload.path / name: checksum for name, checksum in upload.checksums}
    if upload.options is None:
        held = {upload.path: "", upload.original: upload.original_sha256}
    for path, checksum in held.items():
        if not path.is_file():
            return f"{path} is gone"
        if checksum and sha256_of(path) != checksum:
            return f"{path} was changed"
    if upload.options is not None:
        return ""
    if _folder_name(upload.name, upload.original_sha256, sha256_of(upload.path)) != folder.name:
        return f"{upload.path} was changed"
    return ""


def _folder_name(name: str, original_sha256: str, written_sha256: str) -> str:
    return digest_of_strings([name, original_sha256, written_sha256])[:12]


def _read(folder: Path) -> Upload:
    values = json.loads((folder / own.RECORD).read_bytes())
    if "query" in values:  # a record from when all uploads were pairs
        values["kind"], values["rows"] = DatasetKind.PAIR_SET, values.pop("pairs")
        values["columns"] = [(use, values.pop(use)) for use in ("query", "match")]
    values["path"] = folder / Path(values["path"]).name
    values["kind"] = DatasetKind(values["kind"])
    values["columns"] = tuple((str(use), str(column)) for use, column in values["columns"])
    values["checksums"] = tuple((str(name), str(checksum)) for name, checksum in values.get("checksums", ()))
    upload = Upload(**values)
    if not all(isinstance(n, int) for n in (upload.rows, upload.texts)):
        raise TypeError("its counts are no numbers")
    return upload


def tabulate(name: str, data: bytes, header: bool, settings: Settings) -> own.OwnTable:
    """The columns of a file that somebody wants to upload.

    Raises:
        InputError: it is larger than uploads may be here, or what is wrong with it.
    """
    limits = policy.of(settings).uploads
    name = shown_name(name)
    limits.check_file(name, len(data))
    read = own.tabulate(Path(name), data, header)
    columns = read.table.cells
    cells = [cell for column in columns for cell in column]
    texts = [text for cell in cells for text in (cell if isinstance(cell, Texts) else (cell,)) if isinstance(text, str)]
    rows = max(len(read.table.places), sum(len(cell) for cell in cells if isinstance(cell, Texts)))
    limits.check_table(rows, len(columns), max(map(len, texts), default=0))
    return read


def _check_place(settings: Settings) -> None:
    """Refuse uploads on a demo outside of a session: a visitor's uploads are private, and none is for all visitors."""
    if not policy.of(settings).changes and not settings.session:
        raise policy.refused("uploads that all visitors see are not taken")
