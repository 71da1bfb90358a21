"""References to a user's file, ``file:PATH``, or with named columns ``file:PATH?query=NAME&match=NAME``; and to a
folder, ``dir:PATH``."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.columns import Role
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.retrieval_folder.options import FOLDER_OPTIONS, FolderOptions, of_files
from blindspot.errors import InputError, unknown
from blindspot.files.writing import require_name

PREFIX = "file:"
FOLDER_PREFIX = "dir:"


def _roles() -> dict[str, Role]:
    """Roles of columns by name, in the order of a canonical reference."""
    every = {role.name: role for kind in OWN_KINDS.values() for role in kind.roles}
    titles = {
        name: " or ".join(kind.title for kind in OWN_KINDS.values() if any(role.name == name for role in kind.roles))
        for name in every
    }
    return {name: replace(role, meaning=f"{titles[name]}: {role.meaning}") for name, role in every.items()}


ROLES = _roles()


@dataclass(frozen=True)
class NamedColumns:
    """Columns of a file that somebody named.

    Attributes:
        kind: the kind of dataset that these columns make of the file.
        named: (role, name of the column), in the order of ``ROLES``.
    """

    kind: DatasetKind
    named: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, named: Sequence[tuple[str, str]]) -> NamedColumns:
        """Columns in any order."""
        roles = [role for role, _ in named]
        if twice := next((r for r in roles if not ROLES[r].repeats and roles.count(r) > 1), ""):
            raise InputError(f"two columns are named as {twice}", expected="one")
        forms = []
        for kind in OWN_KINDS.values():
            for needed in kind.forms:
                if {*needed} <= {*roles} <= {*needed, *kind.optional}:
                    return cls(kind.kind, tuple(sorted(named, key=lambda pair: [*ROLES].index(pair[0]))))
                forms.append(", ".join(needed) + (f" (and {', '.join(kind.optional)})" if kind.optional else ""))
        raise InputError(
            f"columns are named as {', '.join(dict.fromkeys(roles))} only" if roles else "no columns are named",
            expected=f"those of one kind of file: {'; '.join(forms)}",
        )

    @classmethod
    def parse(cls, query: str, reference: str) -> NamedColumns:
        """Read ``query=customer%20question&match=answer``; values are percent-decoded, a ``+`` is a plus."""
        named = []
        for part in query.split("&"):
            role, equals, column = part.partition("=")
            if role not in ROLES:
                raise unknown("role of a column", role, ROLES)
            if not equals:
                raise InputError(f"'{role}' is given without a column in '{reference}'", expected=f"{role}=NAME")
            named.append((role, unquote(column)))
        return cls.of(named)

    def __str__(self) -> str:
        return "&".join(f"{role}={quote(column, safe='')}" for role, column in self.named)


@dataclass(frozen=True)
class OwnReference:
    """A user's file or folder, its path absolute; it need not exist.

    Attributes:
        columns: of a file; None if nobody named them.
        options: of a folder; None for a file.
    """

    path: Path
    columns: NamedColumns | None = None
    options: FolderOptions | None = None

    @classmethod
    def parse(cls, reference: str) -> OwnReference:
        """Read a ``file:`` or ``dir:`` reference."""
        is_folder = reference.startswith(FOLDER_PREFIX)
        prefix, what = (FOLDER_PREFIX, "folder") if is_folder else (PREFIX, "file")
        target = reference.removeprefix(prefix)
        if not target.strip():
            example = "dir:my-beir-folder" if is_folder else f"{PREFIX}pairs.csv"
            raise InputError(f"'{reference}' names no {what}", expected=f"{prefix}PATH, for example {example}")
        require_name(target, f"{prefix}PATH of a {what}")
        try:
            name, query = _split(target, is_folder)
            path = Path(name).expanduser().resolve()
        except (OSError, ValueError, RuntimeError) as error:  # a zero character, a circle of links, no such user
            raise InputError(f"'{reference}' is no path: {error}", expected=f"{prefix}PATH of a {what}") from error
        if is_folder:
            return cls(path, options=FolderOptions.parse(query, reference))
        return cls(path, NamedColumns.parse(query, reference) if query else None)

    def __str__(self) -> str:
        if self.options is not None:
            return f"{FOLDER_PREFIX}{self.path}" + (f"?{self.options}" if str(self.options) else "")
        return f"{PREFIX}{self.path}" + (f"?{self.columns}" if self.columns else "")


def reference_of_files(given: Mapping[str, str]) -> str:
    """The reference of three files, by part: see ``of_files``."""
    path, options = of_files(given)
    return str(OwnReference(path, options=options))


def is_own(reference: str) -> bool:
    """Whether a dataset reference names a user's file or folder."""
    return reference.startswith((PREFIX, FOLDER_PREFIX))


def path_of(reference: str) -> Path:
    """The absolute path of a ``file:`` or ``dir:`` reference; it need not exist."""
    return OwnReference.parse(reference).path


def with_columns(reference: str, columns: NamedColumns) -> str:
    """A reference with its columns named."""
    user_file = OwnReference.parse(reference)
    if user_file.options is not None:
        raise InputError(f"columns are named for the folder '{reference}'", expected=f"{PREFIX}PATH of a file")
    if user_file.columns is not None and user_file.columns != columns:
        raise InputError(f"columns are named twice, in '{reference}' and by options", expected="once")
    return str(OwnReference(user_file.path, columns))


def _split(target: str, is_folder: bool) -> tuple[str, str]:
    """The path and the columns (or options) of ``PATH?COLUMNS``; a mark may be part of the path."""

    def exists(path: str) -> bool:
        try:
            return Path(path).expanduser().is_dir() if is_folder else Path(path).expanduser().is_file()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # with columns it is longer than a name may be
                return False
            raise

    if "?" not in target or exists(target):
        return target, ""
    marks = [match.start() for match in re.finditer(r"\?", target)]
    for mark in marks:
        if exists(target[:mark]):
            return target[:mark], target[mark + 1 :]
    for mark in marks:  # the path is gone: take the first mark before a named column
        if target[mark + 1 :].partition("=")[0] in (FOLDER_OPTIONS if is_folder else ROLES):
            return target[:mark], target[mark + 1 :]
    return target, ""
