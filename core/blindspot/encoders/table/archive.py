"""Archives of arrays (``.npz``): the one matrix in it, and its texts, an array of strings in it or a file beside it."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.encoders.source_files import (
    ALWAYS_UNPACKED,
    DAMAGED,
    MOST_RATIO,
    array_header,
    kind_of_other,
    require_file,
)
from blindspot.errors import InputError

ENDING = ".npz"
NAMES = ("id", "ids", "text", "texts")  # names of integer arrays that are read as texts, which are ids
_REMEDY = "numpy.savez(NAME, texts=numpy.array(texts), vectors=vectors)"


@dataclass(frozen=True)
class _Member:
    """The header of an array in an archive."""

    name: str
    shape: tuple[int, ...]
    dtype: Any

    def __str__(self) -> str:
        kind = "objects, which are pickles" if self.dtype.hasobject else str(self.dtype)
        return f"{self.name.removesuffix('.npy')} ({kind} of shape {self.shape})"


@dataclass(frozen=True)
class ArchiveHead:
    """Which arrays of an archive are read.

    Attributes:
        matrix: name of the vectors in the archive.
        texts: name of the texts; "" where they are a file beside the archive.
        shape: of the matrix.
    """

    matrix: str
    texts: str
    shape: tuple[int, int]


def peek_archive(path: Path, beside: Path) -> ArchiveHead:
    """Find the matrix and its texts by the headers of the arrays.

    Args:
        beside: file of the texts, a line each, where the archive has none.

    Raises:
        InputError: not an archive, a damaged one, or one that does not say which texts its rows belong to.
    """
    with _opened(path) as archive:
        members = [_member(path, archive, info) for info in archive.infolist()]
    matrices = [
        member
        for member in members
        if len(member.shape) == 2 and member.dtype.kind in "fiu" and member.dtype.itemsize <= 8
    ]
    described = ", ".join(map(str, members))[:300] or "nothing"
    if len(matrices) != 1 or min(matrices[0].shape) < 1:
        raise InputError(
            f"{path} has {len(matrices)} matrices of numbers: it has {described}",
            expected="one, [texts, numbers], and its texts, an array of strings",
            remedy=_REMEDY,
        )
    (matrix,) = matrices
    rows = matrix.shape[0]
    lists = [member for member in members if member.shape == (rows,)]
    texts = [member for member in lists if member.dtype.kind in "US"]
    texts = texts or [
        member for member in lists if member.dtype.kind in "iu" and member.name.removesuffix(".npy") in NAMES
    ]
    if len(texts) > 1 or (not texts and not beside.is_file()):
        raise InputError(
            f"{path} does not say which texts its {rows:,} rows are of: it has {described}",
            expected=f"one array of {rows:,} strings in it, or {beside.name} beside it, a text per line",
            remedy=_REMEDY,
        )
    return ArchiveHead(matrix.name, texts[0].name if texts else "", (rows, matrix.shape[1]))


def read_archive(path: Path, head: ArchiveHead) -> tuple[Any, list[str] | None]:
    """The matrix ``[n, d]`` and its texts, None where these are beside the archive; raises ``InputError``."""
    with _opened(path) as archive:
        arrays = {name: _array(archive, name) for name in filter(None, (head.matrix, head.texts))}
    if not head.texts:
        return arrays[head.matrix], None
    texts = arrays[head.texts].tolist()
    try:
        return arrays[head.matrix], [text.decode() if isinstance(text, bytes) else str(text) for text in texts]
    except UnicodeDecodeError as error:
        raise InputError(f"{path} has texts that are not UTF-8", expected="an array of strings") from error


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    require_file(path)
    try:
        with path.open("rb") as raw:
            head = raw.read(8)
            if not head.startswith(b"PK"):
                kind = kind_of_other(head) or "not what its name says"
                raise InputError(f"{path} is {kind}", expected="an archive as numpy.savez writes it")
            raw.seek(0)
            with zipfile.ZipFile(raw) as archive:
                _check_size(path, {member.filename: member.file_size for member in archive.infolist()})
                yield archive
    except (*DAMAGED, ValueError, SyntaxError, TypeError, OverflowError, RecursionError, RuntimeError) as error:
        raise InputError(
            f"{path} is damaged, cut short or encrypted: {str(error)[:100]}", remedy="write it again"
        ) from error


def _check_size(path: Path, sizes: Mapping[str, int]) -> None:
    most = max(ALWAYS_UNPACKED, MOST_RATIO * path.stat().st_size)
    if sum(sizes.values()) > most:
        raise InputError(
            f"{path} unpacks to more than {most:,} bytes",
            expected=f"at most {MOST_RATIO} times its size",
            remedy="unpack it yourself where you trust it",
        )


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    with archive.open(info) as file:
        shape, dtype = array_header(file)
        size = file.tell() + math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and size != info.file_size:
        raise InputError(
            f"{path}: {info.filename} has {info.file_size:,} bytes, but its header claims an array of shape {shape}",
            expected=f"{size:,} bytes",
            remedy="it is damaged: write it again",
        )
    return _Member(info.filename, shape, dtype)


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
