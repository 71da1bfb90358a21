"""Files of word vectors or embeddings that users upload: kept in the cache, named by what they hold.

``<cache>/uploads/encoders/<sha256 prefix>/<safe name>`` is a folder per upload, so that the same file uploaded twice
is one encoder, and removing it is removing the folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from core.encoders import catalog as encoders
from core.errors import BlindspotError, InputError
from core.files.writing import write_atomically
from core.settings import Settings

VECTORS = (".txt", ".vec", ".bin", ".gz")
TABLES = (".parquet", ".csv", ".tsv", ".jsonl")
ARRAY, TEXTS = ".npy", ".txt"  # these two together are a table
LONGEST_NAME = 80


@dataclass(frozen=True)
class Upload:
    """A stored upload: the reference of its encoder, its folder, and whether it was not here before."""

    reference: str
    folder: Path
    is_new: bool


def endings() -> list[str]:
    """Endings of files that make an encoder in this version, without their dots; none where it knows no such kind."""
    found = [*(VECTORS if "vectors" in encoders.SCHEMES else ())]
    if "table" in encoders.SCHEMES:
        found += [*TABLES, ARRAY, TEXTS]
    return [ending.removeprefix(".") for ending in dict.fromkeys(found)]


def store_upload(files: Sequence[tuple[str, bytes | memoryview]], settings: Settings) -> Upload:
    """Keep some files, given as (name, content), that together make one encoder.

    Raises:
        InputError: they make none.
        BlindspotError: the disk is full.
    """
    scheme, files = _sorted_out(files)
    stem = _safe(PurePath(files[0][0]))
    sha = hashlib.sha256()
    for name, content in files:
        sha.update(PurePath(name).suffix.lower().encode() + len(content).to_bytes(8, "little"))
        sha.update(content)
    folder = _root(settings) / sha.hexdigest()[:16]
    names = [stem, *(PurePath(stem).with_suffix(PurePath(name).suffix.lower()).name for name, _ in files[1:])]
    if before := next(folder.glob(f"[!.]*{PurePath(stem).suffix}"), None):  # the same content under another name
        return Upload(f"{scheme}:{before}", folder, is_new=False)
    for target, (_, content) in reversed([*zip(names, files, strict=True)]):  # the one that is named comes last
        write_atomically(folder / target, lambda f, c=content: f.write(c))  # type: ignore[misc]
    return Upload(f"{scheme}:{folder / names[0]}", folder, is_new=True)


def upload_of(reference: str, settings: Settings) -> Path | None:
    """The folder of the upload that a reference names; None where it names anything else."""
    scheme, _, target = reference.partition(":")
    if scheme not in {"vectors", "table"}:
        return None
    root, path = _root(settings).resolve(), Path(target.partition("?")[0]).resolve()
    folder = path.parent
    return folder if folder.parent == root and folder.is_dir() else None


def delete_upload(folder: Path, settings: Settings) -> None:
    """Remove an upload.

    Raises:
        BlindspotError: it is no folder of an upload, or the disk does not let us.
    """
    if folder.is_symlink() or folder.resolve().parent != _root(settings).resolve():
        raise BlindspotError(f"{folder} is no folder of an upload: it is not deleted")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise BlindspotError(f"cannot delete {folder}: {error.strerror or error}") from error


def _root(settings: Settings) -> Path:
    return settings.cache / "uploads" / "encoders"


def _sorted_out(
    files: Sequence[tuple[str, bytes | memoryview]],
) -> tuple[str, list[tuple[str, bytes | memoryview]]]:
    """The scheme that reads some files, and the files, the one that the reference names first."""
    kinds = [PurePath(name).suffix.lower() for name, _ in files]
    scheme = ""
    if sorted(kinds) == [ARRAY, TEXTS]:
        scheme, files = "table", sorted(files, key=lambda file: PurePath(file[0]).suffix.lower() != ARRAY)
    elif len(files) == 1 and kinds[0] in (*VECTORS, *TABLES):
        scheme = "vectors" if kinds[0] in VECTORS else "table"
    if scheme not in encoders.SCHEMES:
        raise InputError(
            f"these files make no encoder: {', '.join(name for name, _ in files) or 'none'}",
            expected=f"one file that ends in {', '.join((*VECTORS, *TABLES))}; or one {ARRAY} and its {TEXTS}",
        )
    return scheme, list(files)


def _safe(name: PurePath) -> str:
    """A file's name without what a shell, a reference or a path would read into it; its endings stay."""
    suffixes = "".join(name.suffixes[-2:] if name.suffix.lower() == ".gz" else name.suffixes[-1:]).lower()
    ending = re.sub(r"[^a-z0-9.]", "", suffixes)
    stem = name.name[: len(name.name) - len(suffixes)]
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:LONGEST_NAME]
    return f"{stem or 'upload'}{ending}"
