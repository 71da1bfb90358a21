"""Headers of a folder's tables: which column of documents, queries, judgments or ranked lists is what, by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blindspot.errors import InputError
from blindspot.texts import column_key

ID, TITLE, TEXT = "id", "title", "text"
QUERY, DOCUMENT, GRADE = "query", "document", "grade"
SCORE, RANK, NAME = "score", "rank", "name"

_QUERY_IDS = ("queryid", "qid", "query", "topic", "topicid", "questionid", "queryno")
_DOCUMENT_IDS = (*("corpusid", "docid", "docno", "pid", "passageid", "documentid", "document", "doc", "did", "corpus"),)


@dataclass(frozen=True)
class Form:
    """A kind of table.

    Attributes:
        what: its rows are, in the plural.
        roles: per role the names of its column, by letters and digits only.
        needed: the roles without which nothing can be read.
        ignored: further names that are known and not read.
    """

    what: str
    roles: Mapping[str, Sequence[str]]
    needed: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    def knows(self, cell: str) -> bool:
        """Whether a cell is a known name."""
        return any(column_key(cell) in names for names in self.roles.values())

    def columns(self, path: Path, cells: Sequence[str], line: int) -> Mapping[str, int] | None:
        """Per role the number of its column, if these cells are a header; None if they are a row like the others.

        Raises:
            InputError: they are a header that leaves a needed column out, or names two for a role.
        """
        keys = [column_key(cell) for cell in cells]
        found: dict[str, list[int]] = {
            role: [number for number, key in enumerate(keys) if key in names] for role, names in self.roles.items()
        }
        named = sum(map(len, found.values())) + sum(key in self.ignored for key in keys)
        if not named or (named < 2 and len(cells) > 1 and not self._is_name(keys, cells)):
            return None
        understood = ", ".join(f"{role} is '{cells[numbers[0]]}'" for role, numbers in found.items() if numbers)
        expected = ", ".join(f"{role} ({', '.join(list(self.roles[role])[:4])})" for role in self.roles)
        twice = next((role for role, numbers in found.items() if len(numbers) > 1), "")
        lacking = [role for role in self.needed if not found[role]]
        if twice or lacking:
            what = f"two columns of the {twice}" if twice else f"no column of the {' and the '.join(lacking)}"
            raise InputError(
                f"{path}, line {line}: the header of the {self.what} has {what}; understood: {understood or 'nothing'}",
                expected=f"columns called {expected}",
            )
        return {role: numbers[0] for role, numbers in found.items() if numbers}

    def _is_name(self, keys: Sequence[str], cells: Sequence[str]) -> bool:
        """Whether a single known name is that of the first column, where a row would have an id."""
        known = {name for names in self.roles.values() for name in names}
        return keys[0] in known and all(len(cell.split()) <= 2 for cell in cells)


DOCUMENTS = Form(
    "documents",
    {
        ID: ("id", *_DOCUMENT_IDS[:7], "did"),
        TITLE: ("title", "doctitle", "documenttitle", "headline"),
        TEXT: ("text", "contents", "content", "body", "passage", "abstract", "doctext", "documenttext", "document"),
    },
    (ID, TEXT),
    ("url", "metadata"),
)
QUERIES = Form(
    "queries",
    {ID: ("id", "queryid", "qid", "topicid", "questionid", "topic"), TEXT: ("text", "query", "question", "querytext")},
    (ID, TEXT),
    ("metadata",),
)
JUDGEMENTS = Form(
    "judgments",
    {
        QUERY: _QUERY_IDS,
        DOCUMENT: _DOCUMENT_IDS,
        GRADE: ("score", "relevance", "rel", "label", "grade", "judgment", "judgement", "relevancegrade"),
    },
    (QUERY, DOCUMENT, GRADE),
    ("iteration", "iter", "q0", "unused"),
)
RUNS = Form(
    "ranked documents",
    {
        QUERY: _QUERY_IDS,
        DOCUMENT: _DOCUMENT_IDS,
        SCORE: ("score", "similarity", "sim", "distance", "relevance"),
        RANK: ("rank", "position"),
        NAME: ("name", "tag", "run", "runid", "system", "runname"),
    },
    (QUERY, DOCUMENT, SCORE),
    ("iteration", "iter", "q0", "unused"),
)
