"""Headers of a folder's tables: roles of the columns of documents, queries, judgments or ranked lists, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets.user_data.names import (
    DOCUMENT_ID_NAMES,
    DOCUMENT_NAMES,
    GRADE_NAMES,
    QUERY_ID_NAMES,
    QUERY_NAMES,
    TITLE_NAMES,
    WEAK_GRADE_NAMES,
)
from blindspot.errors import InputError
from blindspot.texts import column_key

ID, TITLE, TEXT = "id", "title", "text"
QUERY, DOCUMENT, GRADE = "query", "document", "grade"
SCORE, RANK, NAME = "score", "rank", "name"


@dataclass(frozen=True)
class Form:
    """A kind of table.

    Attributes:
        what: name of its rows, in the plural.
        roles: the names of each role's column, by letters and digits only.
        needed: the roles that a table must have.
        ignored: further names that are known and not read.
        optional: roles that a header may lack if all its other columns are known.
        weak: names that count only if no other column has the role: a judgment may have the texts beside the ids.
    """

    what: str
    roles: Mapping[str, Sequence[str]]
    needed: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    optional: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()

    def knows(self, cell: str) -> bool:
        """Whether a cell is a known name."""
        return any(column_key(cell) in names for names in self.roles.values())

    def by_name(self, cells: Sequence[str]) -> dict[str, list[int]]:
        """The numbers of the columns with one of each role's names.

        If a name fits two roles, as ``document`` does, the column has the role that no other column has.
        """
        keys = [column_key(cell) for cell in cells]
        numbers_of = {
            role: [number for number, key in enumerate(keys) if key in names] for role, names in self.roles.items()
        }
        for number in range(len(keys)):
            roles = [role for role, numbers in numbers_of.items() if number in numbers]
            only = next((role for role in roles if numbers_of[role] == [number]), next(iter(roles), ""))
            for role in roles:
                if role != only:
                    numbers_of[role].remove(number)
        for role, numbers in numbers_of.items():
            strong = [number for number in numbers if keys[number] not in self.weak]
            numbers_of[role] = strong or numbers
        return numbers_of

    def columns(
        self,
        path: Path,
        cells: Sequence[str],
        line: int,
        named: Mapping[str, str] | None = None,
        *,
        is_header: bool = False,
    ) -> Mapping[str, int] | None:
        """The number of each role's column if these cells are a header; None if they are a row like the others.

        Args:
            named: name of the column by role, if somebody named it: then these cells are a header.
            is_header: whether they are a header in any case.

        Raises:
            UnknownHeader: the header lacks a needed column, or has two for a role.
            InputError: a named column is missing.
        """
        asked = self._asked(path, cells, line, named or {})
        keys = ["" if number in asked.values() else column_key(cell) for number, cell in enumerate(cells)]
        by_role = self.by_name(keys) | {role: [number] for role, number in asked.items()}
        recognized = sum(map(len, by_role.values())) + sum(key in self.ignored for key in keys)
        if not (named or is_header) and (
            not recognized or (recognized < 2 and len(cells) > 1 and not self._is_name(keys, cells))
        ):
            return None
        twice = next((role for role, numbers in by_role.items() if len(numbers) > 1), "")
        lacking = [role for role in self.needed if not by_role[role]]
        used = {number for numbers in by_role.values() for number in numbers}
        if any(key not in self.ignored for number, key in enumerate(keys) if number not in used):
            lacking += [role for role in self.optional if not by_role[role]]  # an unknown name may mean it
        if twice or lacking:
            what = f"two columns of the {twice}" if twice else f"no column of the {' and the '.join(lacking)}"
            raise UnknownHeader(self, path, cells, line, by_role, what)
        return {role: numbers[0] for role, numbers in by_role.items() if numbers}

    def _asked(self, path: Path, cells: Sequence[str], line: int, named: Mapping[str, str]) -> dict[str, int]:
        asked: dict[str, int] = {}
        for role, name in named.items():
            if cells.count(name) != 1:
                how = "two columns" if name in cells else "no column"
                raise InputError(
                    f"{path}, line {line}: {how} called '{name}', named as {role} of the {self.what}",
                    expected=f"one of {', '.join(map(repr, cells))}",
                )
            number = cells.index(name)
            if other := next((role for role, taken in asked.items() if taken == number), ""):
                raise InputError(f"{path}: column '{name}' cannot be both {other} and {role}", expected="two columns")
            asked[role] = number
        return asked

    def _is_name(self, keys: Sequence[str], cells: Sequence[str]) -> bool:
        """Whether the first column, where a row has an id, has a known name."""
        names = {name for names in self.roles.values() for name in names}
        return keys[0] in names and all(len(cell.split()) <= 2 for cell in cells)


class UnknownHeader(InputError):
    """A header that does not say which column has which role: the user has to say it."""

    def __init__(
        self, form: Form, path: Path, cells: Sequence[str], line: int, by_role: Mapping[str, Sequence[int]], what: str
    ) -> None:
        understood = ", ".join(f"{role} is '{cells[numbers[0]]}'" for role, numbers in by_role.items() if numbers)
        expected = ", ".join(f"{role} ({', '.join(list(form.roles[role])[:4])})" for role in form.roles)
        super().__init__(
            f"{path}, line {line}: the header of the {form.what} has {what}; understood: {understood or 'nothing'}",
            expected=f"columns called {expected}",
        )


_TEXTS_BESIDE_IDS = ("query", "topic", "document", "doc", "corpus")
DOCUMENTS = Form(
    "documents",
    {
        ID: ("id", *DOCUMENT_ID_NAMES[:7], "did"),
        TITLE: (*TITLE_NAMES, "headline"),
        TEXT: ("text", "contents", "content", "body", "passage", "abstract", *DOCUMENT_NAMES),
    },
    (ID, TEXT),
    ("url", "metadata"),
)
QUERIES = Form(
    "queries",
    {ID: ("id", "queryid", "qid", "topicid", "questionid", "topic"), TEXT: ("text", *QUERY_NAMES, "question")},
    (ID, TEXT),
    ("metadata",),
)
JUDGMENTS = Form(
    "judgments",
    {
        QUERY: QUERY_ID_NAMES,
        DOCUMENT: DOCUMENT_ID_NAMES,
        GRADE: (*GRADE_NAMES, *WEAK_GRADE_NAMES),
    },
    (QUERY, DOCUMENT),
    ("iteration", "iter", "q0", "unused"),
    (GRADE,),
    _TEXTS_BESIDE_IDS,
)
RUNS = Form(
    "ranked documents",
    {
        QUERY: QUERY_ID_NAMES,
        DOCUMENT: DOCUMENT_ID_NAMES,
        SCORE: ("score", "similarity", "sim", "distance", "relevance"),
        RANK: ("rank", "position"),
        NAME: ("name", "tag", "run", "runid", "system", "runname"),
    },
    (QUERY, DOCUMENT, SCORE),
    ("iteration", "iter", "q0", "unused"),
)
