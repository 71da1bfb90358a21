"""A user's own file (``file:PATH``), read as the kind that its header or its reference says, or folder
(``dir:PATH``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.own import probing, retrieval_folder
from blindspot.datasets.own.columns import OwnFile, OwnSource
from blindspot.datasets.own.kinds import OWN_KINDS
from blindspot.datasets.own.reference import FOLDER_PREFIX, PREFIX, NamedColumns, OwnReference, is_own, path_of
from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.files.tables import FileFormat, FileTable

__all__ = ["FOLDER_PREFIX", "PREFIX", "OwnTable", "find", "is_own", "parse", "path_of", "read", "tabulate"]

_PERMISSIONS = "check the path and its permissions"


@dataclass(frozen=True)
class OwnTable:
    """A file whose columns are known and whose texts are not yet."""

    table: FileTable

    @cached_property
    def kind(self) -> DatasetKind:
        """The kind that the header tells, else positive pairs. Computed once: it may have to read the cells."""
        return next((kind for kind, each in OWN_KINDS.items() if each.matches_header(self.table)), DatasetKind.PAIR_SET)

    def contents(self, kind: DatasetKind | None = None, asked: Mapping[str, int] | None = None) -> OwnFile:
        """The file's content, as its own kind or another; ``asked`` as in ``OwnFile.of``."""
        return OWN_KINDS[kind or self.kind].of(self.table, asked)


def read(path: Path, columns: NamedColumns | None = None) -> OwnFile:
    """A file's content, and how its columns were read.

    Args:
        path: absolute; see ``tabulate``.
        columns: as the user named them; by the header if left out.
    """
    found = tabulate(path, tables.read_bytes(path))
    if columns is None:
        return found.contents()
    return found.contents(columns.kind, OWN_KINDS[columns.kind].uses_of(found.table, columns.named))


def parse(path: Path, data: bytes) -> OwnFile:
    """Content of a file's bytes: ``tabulate``, then ``OwnTable.contents``."""
    return tabulate(path, data).contents()


def tabulate(path: Path, data: bytes, header: bool = True) -> OwnTable:
    """The columns in a file's bytes: see ``tables.tabulate``. SentEval's files of probing tasks have no header."""
    if tables.format_of(path) is FileFormat.TSV and probing.is_senteval(data):
        return OwnTable(probing.of_senteval(tables.tabulate(path, data, header=False)))
    return OwnTable(tables.tabulate(path, data, header))


def find(reference: str) -> OwnSource:
    """The file or folder of a reference; read once as long as it does not change."""
    found = OwnReference.parse(reference)
    if found.options is not None:
        try:
            return _read_folder_once(found, retrieval_folder.state_of(found.path))
        except OSError as error:
            raise InputError(f"cannot read {found.path}: {error.strerror or error}", remedy=_PERMISSIONS) from error
    try:
        stat = found.path.stat()
    except (OSError, ValueError):
        return read(found.path)  # says what is wrong
    return _read_once(found, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _read_once(reference: OwnReference, _state: tuple[int, int, int]) -> OwnFile:
    return read(reference.path, reference.columns)


@lru_cache(maxsize=2)
def _read_folder_once(reference: OwnReference, _state: tuple[tuple[str, int, int, int], ...]) -> OwnSource:
    return retrieval_folder.read(reference.path, reference.options)
