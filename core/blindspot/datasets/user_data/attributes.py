"""Own columns kept from a user's file: categorical columns without a role."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from decimal import Decimal

import numpy as np

from blindspot.datasets.kinds.own_columns import EMPTY, MOST_VALUES, OwnColumn
from blindspot.files.tables import FileTable, is_unicode
from blindspot.types import UInt8

MOST_COLUMNS = 10
LONGEST = 60  # characters of a value, and of a column's name
PREFIX = "own: "  # of its name in an upload: no kind of file reads a column with such a name


def kept(table: FileTable, used: Collection[int]) -> tuple[dict[int, OwnColumn], dict[int, str]]:
    """Columns of a file that are kept besides the used ones, by number, and the reason why each other is not."""
    columns: dict[int, OwnColumn] = {}
    whys: dict[int, str] = {}
    for number, name in enumerate(table.names):
        if number in used:
            continue
        column = own_column(name.removeprefix(PREFIX).strip(), table.cells[number])
        if isinstance(column, str):
            whys[number] = column
        elif len(columns) == MOST_COLUMNS:
            whys[number] = f"only the first {MOST_COLUMNS} columns without a role are kept"
        else:
            columns[number] = column
    return columns, whys


def own_column(name: str, cells: Sequence[object]) -> OwnColumn | str:
    """A column as values to group by, or the reason why it is not one. Empty cells have the value ``EMPTY``.

    Values that differ only in white space, or in how a whole number is written, are equal.
    """
    if not 0 < len(name) <= LONGEST or not is_unicode(name):
        return f"to group by, a column needs a name of at most {LONGEST} characters"
    try:
        values, codes = _coded(cells)
    except _NoGroups as why:
        return str(why)
    if len(values) < 2:
        return "the same value in every row"
    if 2 * len(values) > len(cells):
        return "hardly any value is there twice"
    return OwnColumn(name, values, codes)


class _NoGroups(Exception):
    """Reason why the cells of a column are not groups."""


def _coded(cells: Sequence[object]) -> tuple[tuple[str, ...], UInt8]:
    """The distinct values, and the place of each cell's value among them, ``[m] uint8``."""
    code_of: dict[object, int] = {}
    values: dict[str, int] = {}
    codes = np.empty(len(cells), dtype=np.uint8)
    for row, cell in enumerate(cells):
        key = None if _is_nan(cell) else str(cell).casefold() if isinstance(cell, bool) else cell
        if not isinstance(key, Hashable):
            raise _NoGroups("neither text nor numbers")
        if key not in code_of:
            code_of[key] = values.setdefault(_value(key), len(values))
            if len(values) > MOST_VALUES:
                raise _NoGroups(f"more than {MOST_VALUES} different values, too many to group by")
        codes[row] = code_of[key]
    return tuple(values), codes


def as_cells(columns: Sequence[OwnColumn]) -> list[dict[str, str]]:
    """The columns as an upload keeps them, per row; empty if there are no columns."""
    names = [f"{PREFIX}{column.name}" for column in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*(column.cells for column in columns), strict=True)]


def _value(cell: object) -> str:
    """A cell as a value."""
    if isinstance(cell, float | Decimal) and math.isfinite(cell) and cell == int(cell):
        cell = int(cell)
    text = "" if cell is None else " ".join(str(cell).split())
    if len(text) > LONGEST or not is_unicode(text):
        raise _NoGroups(f"a value of more than {LONGEST} characters, or that is no text")
    return text or EMPTY


def _is_nan(cell: object) -> bool:
    return isinstance(cell, float | Decimal) and math.isnan(cell)
