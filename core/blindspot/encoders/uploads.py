"""Uploaded files of word vectors, embeddings or rankings.

They are kept under ``<cache>/uploads/encoders/<sha256 prefix>/<safe name>``.

There is a folder per upload: the same file uploaded twice is one encoder, and removing it means removing the folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from blindspot.errors import BlindspotError, InputError
from blindspot.files.writing import write_atomically
from blindspot.settings import Settings

VECTORS = (".txt", ".vec", ".bin", ".gz")
TABLES = (".parquet", ".csv", ".tsv", ".jsonl")
RUNS = (".run", ".trec", ".json")
ARRAY, TEXTS = ".npy", ".txt"  # together they are a table
LONGEST_NAME = 80


@dataclass(frozen=True)
class Upload:
    """A stored upload: its encoder's reference and its folder; ``is_new`` unless the same content was stored before."""

    reference: str
    folder: Path
    is_new: bool


def endings() -> list[str]:
    """Endings of files that make an encoder, without their dots."""
    return [ending.removeprefix(".") for ending in dict.fromkeys((*VECTORS, *TABLES, ARRAY, TEXTS, *RUNS))]


def store_upload(files: Sequence[tuple[str, bytes | memoryview]], settings: Settings) -> Upload:
    """Store the files, as (name, content), of one encoder.

    Raises:
        InputError: they make no encoder.
        BlindspotError: the disk is full.
    """
    scheme, files = _scheme_of(files)
    stem = _safe(PurePath(files[0][0]))
    sha = hashlib.sha256()
    for name, content in files:
        sha.update(PurePath(name).suffix.lower().encode() + len(content).to_bytes(8, "little"))
        sha.update(content)
    folder = _root(settings) / sha.hexdigest()[:16]
    names = [stem, *(PurePath(stem).with_suffix(PurePath(name).suffix.lower()).name for name, _ in files[1:])]
    if before := next(folder.glob(f"[!.]*{PurePath(stem).suffix}"), None):
        return Upload(f"{scheme}:{before}", folder, is_new=False)
    for target, (_, content) in reversed([*zip(names, files, strict=True)]):  # the named file last
        write_atomically(folder / target, lambda f, c=content: f.write(c))  # type: ignore[misc]
    return Upload(f"{scheme}:{folder / names[0]}", folder, is_new=True)


def scheme_of_file(name: PurePath) -> str:
    """The scheme of a file by its ending; "" if the ending is not known."""
    ending = name.suffix.lower()
    return (
        "run" if ending in RUNS else "vectors" if ending in VECTORS else "table" if ending in (*TABLES, ARRAY) else ""
    )


def upload_of(reference: str, settings: Settings) -> Path | None:
    """The folder of the upload that a reference names, or None."""
    scheme, _, target = reference.partition(":")
    if scheme not in {"vectors", "table", "run"}:
        return None
    root, path = _root(settings).resolve(), Path(target.partition("?")[0]).resolve()
    folder = path.parent
    return folder if folder.parent == root and folder.is_dir() else None


def delete_upload(folder: Path, settings: Settings) -> None:
    """Raises ``BlindspotError`` if the folder is not an upload's or cannot be deleted."""
    if folder.is_symlink() or folder.resolve().parent != _root(settings).resolve():
        raise BlindspotError(f"{folder} is no folder of an upload: it is not deleted")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise BlindspotError(f"cannot delete {folder}: {error.strerror or error}") from error


def _root(settings: Settings) -> Path:
    return settings.cache / "uploads" / "encoders"


def _scheme_of(files: Sequence[tuple[str, bytes | memoryview]]) -> tuple[str, Sequence[tuple[str, bytes | memoryview]]]:
    """The scheme of some files, and the files, with the one that the reference names first."""
    kinds = [PurePath(name).suffix.lower() for name, _ in files]
    if sorted(kinds) == [ARRAY, TEXTS]:
        return "table", files if kinds[0] == ARRAY else files[::-1]
    if len(files) == 1 and kinds[0] != ARRAY and (scheme := scheme_of_file(PurePath(files[0][0]))):
        return scheme, files
    raise InputError(
        f"these files make no encoder: {', '.join(name for name, _ in files) or 'none'}",
        expected=f"one file that ends in {', '.join((*VECTORS, *TABLES, *RUNS))}; or one {ARRAY} and its {TEXTS}",
    )


def _safe(name: PurePath) -> str:
    """A file name without characters that mean something to a shell, a reference or a path; its ending stays."""
    suffixes = "".join(name.suffixes[-2:] if name.suffix.lower() == ".gz" else name.suffixes[-1:]).lower()
    ending = re.sub(r"[^a-z0-9.]", "", suffixes)
    stem = name.name[: len(name.name) - len(suffixes)]
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:LONGEST_NAME]
    return f"{stem or 'upload'}{ending}"
