"""One of a folder's three files: documents, queries or judgments."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from blindspot.datasets.user_data.columns import shortened
from blindspot.datasets.user_data.retrieval_folder.headers import DOCUMENT, Form
from blindspot.datasets.user_data.retrieval_folder.options import FORMS, JUDGMENTS
from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.files.tables import FileFormat, FileTable, Nested, Texts

JSON_NAMES = {JUDGMENTS: ("query-id", "corpus-id", "score")}
_JSON_ID = "_id"  # key of documents' and queries' ids


@dataclass(frozen=True, eq=False)
class Source:
    """A file with its bytes.

    Attributes:
        part: ``DOCUMENTS``, ``QUERIES`` or ``JUDGMENTS``.
        named: name of the column by role, if somebody named it.
    """

    part: str
    path: Path
    data: bytes
    named: Mapping[str, str]

    @property
    def form(self) -> Form:
        return FORMS[self.part]

    @cached_property
    def text(self) -> str:
        return tables.whole_text(self.path, self.data)

    @cached_property
    def is_typed(self) -> bool:
        """Whether it is a table with types: Parquet, or JSON with other names than BEIR's."""
        ending = self.path.suffix.lower()
        if ending in (f".{FileFormat.PARQUET}", f".{FileFormat.JSON}"):
            return True
        if ending != f".{FileFormat.JSONL}":
            return False
        return bool(self.named) or not self._is_beir

    @cached_property
    def _is_beir(self) -> bool:
        """Whether the first object has one of BEIR's names; True for a broken object, which the reader refuses."""
        first = next((line for line in self.text.split("\n") if line.strip()), "")
        try:
            content = json.loads(first[: tables.MAX_LINE])
        except (ValueError, RecursionError):
            return True
        return not isinstance(content, dict) or any(name in content for name in JSON_NAMES.get(self.part, (_JSON_ID,)))

    @property
    def is_marked_up(self) -> bool:
        """Whether it consists of TREC's elements."""
        return self.text.lstrip().startswith("<")

    @cached_property
    def table(self) -> FileTable:
        """The table of a file that ``is_typed``."""
        return tables.tabulate(self.path, self.data)

    @property
    def has_lists(self) -> bool:
        """Whether each row of judgments has the ids of all relevant documents of a query, and so no grades."""
        if self.part != JUDGMENTS:
            return False
        named = self.named.get(DOCUMENT)
        places = self.form.by_name(self.table.names)[DOCUMENT] if named is None else [self.table.number(named)]
        return any(isinstance(cell, Texts | Nested) for column in places for cell in self.table.cells[column][:1])

    def typed_rows(self) -> Iterator[tuple[str, Mapping[str, object], tuple[str, ...]]]:
        """Place of each row, for messages, its cells by role, and the names of its further texts.

        Raises:
            UnknownHeader: the names of the columns do not tell the roles.
        """
        form = replace(self.form, optional=()) if self.has_lists else self.form
        columns = form.columns(self.path, self.table.names, 1, self.named, is_header=True) or {}
        for row in range(len(self.table.places)):
            cells = [column[row] for column in self.table.cells]
            further = unread(self.table.names, cells, columns.values())
            yield self.table.where(row), {role: cells[number] for role, number in columns.items()}, further

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of a table of texts.

        A .csv has commas, semicolons or tabs between cells, other files have tabs. Judgments without a tab have white
        space; comments before their first row are left out.

        Raises:
            InputError: the first line has one cell, with commas or semicolons where tabs should be.
        """
        lines = self._lines()
        for number, cells in lines:
            if self.path.suffix != ".csv" and len(cells) == 1 and (mark := re.match(r"[^\s,;]+([,;])", cells[0])):
                raise InputError(
                    f"{self.path}, line {number}: '{mark[1]}' between the cells",
                    expected="tabs",
                    remedy="rename the file so that its name ends in .csv, or put tabs between the cells",
                )
            yield number, cells
            break
        yield from lines

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        if self.part != JUDGMENTS or self.path.suffix == ".csv":
            path = self.path.with_suffix(self.path.suffix if self.path.suffix == ".csv" else ".tsv")
            rows = tables.separated(path, self.text, is_even=False)
            is_ids = self.part == JUDGMENTS
            for number, row in zip(rows.places, rows.cells, strict=True):
                yield number, [cell.strip() for cell in row] if is_ids else row
            return
        begun = False
        for number, line in numbered(self.text):
            if not begun and line.startswith("# "):
                continue
            begun = True
            cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
            yield number, [cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell for cell in cells]

    def grid(self) -> tuple[Sequence[str], Sequence[Sequence[str]]] | None:
        """Names and cells of the columns, even if they are not understood; None if there are none."""
        ending = self.path.suffix.lower()
        if self.is_typed or ending == f".{FileFormat.JSONL}":
            return self.table.names, [["" if c is None else str(c) for c in cells] for cells in self.table.cells]
        if self.is_marked_up:
            return None
        (_, names), *rows = self.lines()
        even = [cells for _, cells in rows if len(cells) == len(names)]
        return names, list(zip(*even, strict=True)) or [()] * len(names)


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    return ((n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def unread(names: Iterable[str], cells: Iterable[object], read: Container[int]) -> tuple[str, ...]:
    """Names of the cells of several words whose columns are not read."""
    return tuple(
        name
        for number, (name, cell) in enumerate(zip(names, cells, strict=True))
        if number not in read and isinstance(cell, str) and " " in cell.strip()
    )


def id_of(cell: object, where: str, what: str) -> str:
    """An id in a typed table: a text, or a whole number."""
    if isinstance(cell, str) and cell.strip():
        return cell.strip()
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    if cell is None or cell == "":
        raise InputError(f"{where}: no id of the {what}", expected="one in every row")
    raise InputError(
        f"{where}: the id {shortened(str(cell))} is no text and no whole number",
        expected="a text, written alike in all files",
        remedy='make them texts first: "1" and "1.0" are different ids',
    )


def ids_of(cell: object, where: str, what: str) -> Sequence[str]:
    """The id in a cell, or all ids of its list."""
    if isinstance(cell, Texts | Nested):
        values = cell.texts if isinstance(cell, Nested) else tuple(cell)
        if not values:
            raise InputError(f"{where}: {str(cell)[:40]} is no list of ids", expected="ids of documents, one at least")
        return [id_of(value, where, what) for value in values]
    return [id_of(cell, where, what)]
