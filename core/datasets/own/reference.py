"""The reference of a user's file: ``file:PATH``, or with its columns named ``file:PATH?query=NAME&mate=NAME``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from core.datasets.kinds.base import DatasetKind
from core.errors import InputError, unknown
from core.files.writing import require_name

PREFIX = "file:"
QUERY, MATE = "query", "mate"
TEXT1, TEXT2, SCORE = "text1", "text2", "score"
TEXT, LABEL, SPLIT = "text", "label", "split"
WORD, COUNT = "word", "count"
ORIGINAL, REWRITE = "original", "rewrite"
# What a column may be named as, and what that means for people; in the order of a reference in its canonical form.
ROLES = {
    QUERY: "positive pairs: the query",
    MATE: "positive pairs: the text that should be found for it",
    TEXT: "labelled texts: the text, where an example has one",
    TEXT1: "scored pairs or labelled texts: the first of two texts",
    TEXT2: "the second of them",
    SCORE: "scored pairs: the score that people gave",
    LABEL: "labelled texts: the class",
    SPLIT: "labelled texts: train, dev or test, where the file says it",
    WORD: "words with counts: the word",
    COUNT: "how often it occurs",
    ORIGINAL: "minimal pairs: the original",
    REWRITE: "a rewrite of it, called as its column is; several times for several",
}
# Per kind what has to be named, and what may be.
_FORMS: tuple[tuple[DatasetKind, tuple[str, ...], tuple[str, ...]], ...] = (
    (DatasetKind.PAIR_SET, (QUERY, MATE), ()),
    (DatasetKind.SCORED_PAIRS, (TEXT1, TEXT2, SCORE), ()),
    (DatasetKind.LABELLED_TEXTS, (TEXT, LABEL), (SPLIT,)),
    (DatasetKind.LABELLED_TEXTS, (TEXT1, TEXT2, LABEL), (SPLIT,)),
    (DatasetKind.VOCABULARY, (WORD, COUNT), ()),
    (DatasetKind.MINIMAL_PAIR_SET, (ORIGINAL, REWRITE), ()),
)


@dataclass(frozen=True)
class NamedColumns:
    """Columns of a file that somebody named.

    Attributes:
        kind: what these columns make of the file.
        named: (role, name of the column), in the order of ``ROLES``.
    """

    kind: DatasetKind
    named: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, named: Sequence[tuple[str, str]]) -> NamedColumns:
        """Columns in any order.

        Raises:
            InputError: roles that no kind of file has together, or one of them twice.
        """
        roles = [role for role, _ in named]
        if twice := next((role for role in roles if role != REWRITE and roles.count(role) > 1), ""):
            raise InputError(f"two columns are named as {twice}", expected="one")
        for kind, needed, optional in _FORMS:
            if {*needed} <= {*roles} <= {*needed, *optional}:
                return cls(kind, tuple(sorted(named, key=lambda one: [*ROLES].index(one[0]))))
        forms = (f"{', '.join(needed)}{f' (and {optional[0]})' if optional else ''}" for _, needed, optional in _FORMS)
        raise InputError(
            f"columns are named as {', '.join(dict.fromkeys(roles))} only" if roles else "no columns are named",
            expected=f"those of one kind of file: {'; '.join(forms)}",
        )

    @classmethod
    def parse(cls, query: str, reference: str) -> NamedColumns:
        """Read ``query=customer%20question&mate=answer``; values are percent-decoded, a ``+`` is a plus.

        Raises:
            InputError: a role that there is not, or as ``of``.
        """
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

    def of_role(self, role: str) -> str | None:
        """The column of a role; None where none is named."""
        return dict(self.named).get(role)


@dataclass(frozen=True)
class OwnReference:
    """A user's file, its path absolute; it need not exist. ``columns`` is None where nobody named them."""

    path: Path
    columns: NamedColumns | None = None

    @classmethod
    def parse(cls, reference: str) -> OwnReference:
        """Read a ``file:`` reference.

        Raises:
            InputError: there is no path, or none that a system could have, or the columns are named wrongly.
        """
        target = reference.removeprefix(PREFIX)
        if not target.strip():
            raise InputError(f"'{reference}' names no file", expected=f"{PREFIX}PATH, for example {PREFIX}pairs.csv")
        require_name(target, f"{PREFIX}PATH of a file")
        try:
            name, query = _split(target)
            path = Path(name).expanduser().resolve()
        except (OSError, ValueError, RuntimeError) as error:  # a zero character, a circle of links, no such user
            raise InputError(f"'{reference}' is no path: {error}", expected=f"{PREFIX}PATH of a file") from error
        return cls(path, NamedColumns.parse(query, reference) if query else None)

    def __str__(self) -> str:
        return f"{PREFIX}{self.path}" + (f"?{self.columns}" if self.columns else "")


def is_own(reference: str) -> bool:
    """Whether a dataset reference names a user's file."""
    return reference.startswith(PREFIX)


def path_of(reference: str) -> Path:
    """The absolute path of a ``file:`` reference; the file need not exist.

    Raises:
        InputError: as ``OwnReference.parse``.
    """
    return OwnReference.parse(reference).path


def with_columns(reference: str, columns: NamedColumns) -> str:
    """A reference whose columns are named.

    Raises:
        InputError: they are named in the reference too, or as ``OwnReference.parse``.
    """
    found = OwnReference.parse(reference)
    if found.columns is not None and found.columns != columns:
        raise InputError(f"columns are named twice, in '{reference}' and beside it", expected="once")
    return str(OwnReference(found.path, columns))


def _split(target: str) -> tuple[str, str]:
    """The path and the columns of ``PATH?COLUMNS``; a mark may be part of the path."""
    if "?" not in target or Path(target).expanduser().is_file():
        return target, ""
    marks = [match.start() for match in re.finditer(r"\?", target)]
    for mark in marks:
        if Path(target[:mark]).expanduser().is_file():
            return target[:mark], target[mark + 1 :]
    for mark in marks:  # the file is gone: the first after which a column is named
        if target[mark + 1 :].partition("=")[0] in ROLES:
            return target[:mark], target[mark + 1 :]
    return target, ""
