"""Options of a ``dir:`` reference: which judgments to use, what to leave out, and the names of files and columns.

``?split=dev&missing=skip``; ``?documents=articles.csv&queries=asked.csv&judgments=rated.csv`` with paths below the
folder; ``&queries.id=No&queries.text=Question`` if the names of columns say nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Self
from urllib.parse import quote, unquote

from blindspot.datasets.user_data.retrieval_folder import headers
from blindspot.datasets.user_data.retrieval_folder.headers import Form
from blindspot.errors import InputError, unknown

_SPLIT, _MISSING, SKIP = "split", "missing", "skip"
DOCUMENTS, QUERIES, JUDGMENTS = "documents", "queries", "judgments"
FORMS: Mapping[str, Form] = MappingProxyType(
    {DOCUMENTS: headers.DOCUMENTS, QUERIES: headers.QUERIES, JUDGMENTS: headers.JUDGMENTS}
)
COLUMN_OPTIONS = {f"{part}.{role}": (part, role) for part, form in FORMS.items() for role in form.roles}
FOLDER_OPTIONS = (_SPLIT, _MISSING, *FORMS, *COLUMN_OPTIONS)


@dataclass(frozen=True)
class FolderOptions:
    """How a folder is read.

    Attributes:
        split: name of a file of judgments, without its ending; "" for the only one, or ``test``.
        skips: whether to leave out queries without judgments and judgments of missing documents; otherwise they are
            errors.
        files: (part, path below the folder) of the files that were named; the others are found by their names.
        columns: (part, role, name of the column) of the columns that were named.
    """

    split: str = ""
    skips: bool = False
    files: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def parse(cls, query: str, reference: str) -> Self:
        given: dict[str, str] = {}
        for part in filter(None, query.split("&")):
            name, _, value = part.partition("=")
            if name not in FOLDER_OPTIONS:
                raise unknown("option of a folder", name, FOLDER_OPTIONS)
            if name in given or not value or (name == _MISSING and value != SKIP):
                raise InputError(
                    f"'{part}' in '{reference}'",
                    expected=f"{name}={SKIP if name == _MISSING else 'NAME'}, at most once",
                )
            given[name] = unquote(value)
        if _SPLIT in given and JUDGMENTS in given:
            raise InputError(f"'{reference}' names the judgments twice", expected=f"{_SPLIT}= or {JUDGMENTS}=")
        return cls.of(given)

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Options by their names, in canonical order."""
        return cls(
            given.get(_SPLIT, ""),
            _MISSING in given,
            tuple((part, _below(given[part])) for part in FORMS if part in given),
            tuple((*COLUMN_OPTIONS[name], given[name]) for name in COLUMN_OPTIONS if name in given),
        )

    def named(self, part: str) -> dict[str, str]:
        """Name of the column by role."""
        return {role: column for of, role, column in self.columns if of == part}

    def __str__(self) -> str:
        parts = [f"{_SPLIT}={quote(self.split, safe='')}"] if self.split else []
        parts += [f"{_MISSING}={SKIP}"] * self.skips
        parts += [f"{part}={quote(path)}" for part, path in self.files]
        return "&".join(parts + [f"{part}.{role}={quote(column, safe='')}" for part, role, column in self.columns])


def of_files(given: Mapping[str, str]) -> tuple[Path, FolderOptions]:
    """The folder and the options that read three files, each ``PATH`` or ``PATH?ROLE=COLUMN&...``, by part.

    Raises:
        InputError: one of the three is missing or not a file, or an option is wrong.
    """
    if lacking := [part for part in FORMS if not given.get(part)]:
        raise InputError(
            f"no file of {' and '.join(lacking)} is named", expected="documents, queries and judgments, a file each"
        )
    paths: dict[str, Path] = {}
    options: dict[str, str] = {}
    for part in FORMS:
        name, query = _file_and_columns(given[part])
        try:
            paths[part] = Path(name).expanduser().resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"'{name}' is no path: {error}", expected=f"the path of the file of {part}") from error
        if not paths[part].is_file():
            what = "is no file" if paths[part].exists() else "does not exist"
            raise InputError(f"{paths[part]} {what}", expected=f"the file of {part}")
        roles = FORMS[part].roles
        for setting in filter(None, query.split("&")):
            role, _, column = setting.partition("=")
            if role not in roles:
                raise unknown(f"role of a column of the {part}", role, roles)
            if not column or f"{part}.{role}" in options:
                raise InputError(f"'{setting}' in '{given[part]}'", expected=f"{role}=NAME of a column, once")
            options[f"{part}.{role}"] = unquote(column)
    folder = Path(os.path.commonpath([path.parent for path in paths.values()]))
    below = {part: path.relative_to(folder).as_posix() for part, path in paths.items()}
    return folder, FolderOptions.of(below | options)


def _file_and_columns(given: str) -> tuple[str, str]:
    """The path and the columns of ``PATH?COLUMNS``; a question mark may be part of the path."""
    name, mark, query = given.partition("?")
    while mark and not Path(name).expanduser().is_file() and "?" in query:
        more, _, query = query.partition("?")
        name = f"{name}?{more}"
    return (name, query) if mark and Path(name).expanduser().is_file() else (given, "")


def _below(path: str) -> str:
    """A path below the folder, in canonical form."""
    parts: Sequence[str] = PurePosixPath(path).parts
    if not parts or path.startswith(("/", "~")) or ".." in parts or "\0" in path:
        raise InputError(f"'{path}' is no path below the folder", expected="the path of a file in it")
    return PurePosixPath(path).as_posix()
