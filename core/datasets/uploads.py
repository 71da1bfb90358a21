"""Pairs that users uploaded: kept under the cache as two-column files, each with its original beside it.

``<cache>/uploads/<digest>/`` holds ``<name>.jsonl`` (the pairs as they were confirmed, in the columns ``query`` and
``mate``, so that ``file:PATH`` reads them back whatever the original's columns were called), ``original/<name>``,
and ``upload.json``.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import unicodedata
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from core.datasets import own
from core.datasets.own import OwnPairs
from core.errors import BlindspotError, InputError
from core.files import cannot_write, make_folder, sha256_of
from core.settings import Mode, Settings
from core.types import digest_of_strings

log = logging.getLogger(__name__)
RECORD = "upload.json"
MAX_NAME_BYTES = 100


@dataclass(frozen=True)
class Upload:
    """A stored upload.

    Attributes:
        path: of the two-column file.
        name: of the file that was uploaded.
        original_sha256: of its bytes.
        query, mate: the columns of the original that were confirmed.
        pairs, texts: how many there are, and how many distinct texts.
        uploaded_at: ISO 8601, UTC.
    """

    path: Path
    name: str
    original_sha256: str
    query: str
    mate: str
    pairs: int
    texts: int
    uploaded_at: str

    @property
    def reference(self) -> str:
        """The dataset that it is."""
        return f"{own.PREFIX}{self.path}"

    @property
    def original(self) -> Path:
        return self.path.parent / "original" / self.name


def add(pairs: OwnPairs, data: bytes, settings: Settings) -> Upload:
    """Store an upload that was read and confirmed; nothing is overwritten, the same one again is found.

    Args:
        pairs: as ``own.parse`` read them; its path's name is the file's name.
        data: the bytes that it read.

    Raises:
        InputError: this server takes no uploads, or the pairs are too large once written out.
        BlindspotError: the disk does not let us; nothing is left behind.
    """
    _check_mode(settings)
    name = safe_name(pairs.path.name)
    path = Path(f"{Path(name).stem}.jsonl")
    lines = (json.dumps({"query": query, "mate": mate}, ensure_ascii=False) for query, mate in pairs.pairs)
    written = "".join(f"{line}\n" for line in lines).encode()
    as_read_back = own.parse(path, written)  # the limits hold for it too
    folder = settings.uploads / _folder_name(name, pairs.sha256, as_read_back.sha256)
    upload = Upload(
        path=folder / path,
        name=name,
        original_sha256=pairs.sha256,
        query=pairs.query.name,
        mate=pairs.mate.name,
        pairs=len(pairs.pairs),
        texts=pairs.distinct_texts,
        uploaded_at=datetime.now(UTC).isoformat(timespec="microseconds"),
    )
    record = json.dumps(asdict(upload) | {"path": path.name}, ensure_ascii=False, indent=1).encode()
    files = {path: written, Path("original") / name: data, Path(RECORD): record}
    if not folder.exists():
        _write_folder(folder, files)
    return _read(folder)


def _write_folder(folder: Path, files: dict[Path, bytes]) -> None:
    """All or nothing: under a hidden name first, which no reader looks at."""
    temporary = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.tmp")
    try:
        for path, content in files.items():
            make_folder((temporary / path).parent)
            (temporary / path).write_bytes(content)
        temporary.rename(folder)
    except OSError as error:
        if not folder.exists():  # else another session stored the same meanwhile
            raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # there only if something failed


def found(settings: Settings) -> tuple[Upload, ...]:
    """What was uploaded, oldest first. A folder that is no upload (any more) is left out and logged."""
    out = []
    for record in settings.uploads.glob(f"*/{RECORD}"):
        if record.parent.name.startswith("."):
            continue
        try:
            out.append(_read(record.parent))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("%s is no record of an upload: %s", record, error)
    return tuple(sorted(out, key=lambda upload: (upload.uploaded_at, upload.reference)))


def remove(upload: Upload, settings: Settings) -> None:
    """Delete an upload, its original included; gone already is fine. Stored runs on it stay.

    Raises:
        InputError: this server does not let visitors remove anything.
        BlindspotError: the disk does not let us.
    """
    _check_mode(settings)
    folder = upload.path.parent
    hidden = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.removed")  # at once, not file by file
    try:
        folder.rename(hidden)
        shutil.rmtree(hidden)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BlindspotError(
            f"cannot remove {folder}: {error.strerror or error}", remedy="check the cache's permissions"
        ) from error


def short_name(reference: str, settings: Settings) -> str:
    """A dataset reference for narrow places and addresses: ``<stem>~<digest>`` for an upload, also for one that was
    removed since; any other reference as it is."""
    if not own.is_own(reference):
        return reference
    path = Path(reference.removeprefix(own.PREFIX))
    inside = path.parent.parent == settings.uploads
    return f"{path.stem}~{path.parent.name[:6]}" if inside else reference


def safe_name(name: str) -> str:
    """A file name of letters, digits and ``._-``, whatever a browser sends; never a path, never hidden."""
    last = Path(re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1])
    stem = re.sub(r"[^\w.-]+", "_", last.stem).strip("._-")
    ending = re.sub(r"[^\w.]+", "", last.suffix)[:10]
    return f"{stem.encode()[:MAX_NAME_BYTES].decode(errors='ignore') or 'pairs'}{ending}"


def damage(folder: Path) -> str:
    """What is wrong with the files of a stored upload, or "": its folder is named by what it held."""
    try:
        upload = _read(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return f"{folder / RECORD} is no record of an upload: {error}"
    for path in (upload.path, upload.original):
        if not path.is_file():
            return f"{path} is gone"
    if sha256_of(upload.original) != upload.original_sha256:
        return f"{upload.original} was changed"
    if _folder_name(upload.name, upload.original_sha256, sha256_of(upload.path)) != folder.name:
        return f"{upload.path} was changed"
    return ""


def _folder_name(name: str, original_sha256: str, written_sha256: str) -> str:
    return digest_of_strings([name, original_sha256, written_sha256])[:12]


def _read(folder: Path) -> Upload:
    values = json.loads((folder / RECORD).read_bytes())
    upload = Upload(**(values | {"path": folder / Path(values["path"]).name}))
    if not all(isinstance(n, int) for n in (upload.pairs, upload.texts)):
        raise TypeError("its counts are no numbers")
    return upload


def _check_mode(settings: Settings) -> None:
    if settings.mode is Mode.DEMO:
        raise InputError(
            "this is a demo server: it takes no uploads and removes nothing",
            remedy="run Blindspot on a machine of your own",
        )
