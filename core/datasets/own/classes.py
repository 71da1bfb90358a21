"""Classes and splits in a user's file: what the cells of their columns mean, and what is said where it is nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from core.datasets.kinds.labelled_texts import DEV, TEST, TRAIN
from core.datasets.own.columns import LONGEST_SHOWN, is_unicode
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import one_form

LONGEST_CLASS = 200  # characters of a name

# Names by letters and digits only. The last three mean other things too: taken only where all their cells are splits.
SPLIT_NAMES = ("split", "partition", "fold", "set", "subset", "part")
_WEAK_NAMES = {"set", "subset", "part"}
_SPLITS = {
    TRAIN: ("train", "training"),
    DEV: ("dev", "development", "validation", "valid", "val"),
    TEST: ("test", "testing"),
}
_NUMBER_OF = {word: split for split, words in _SPLITS.items() for word in words}


def class_names(path: Path, table: FileTable, column: int) -> list[str]:
    """The cells of a column as names of classes: texts without white space around them, whole numbers without a
    decimal point, truth values as true and false.

    Raises:
        InputError: a cell that is none; its row and column are named.
    """
    is_number = table.kinds[column] is ColumnKind.NUMBER
    out = []
    for row, cell in enumerate(table.cells[column]):
        name = _class_name(cell, is_number)
        if name is None:
            raise InputError(
                _in_words(path, table, row, column, "class"),
                expected="a class: a text or a number",
                remedy="fill it in or remove the row",
            )
        if len(name) > LONGEST_CLASS:
            raise InputError(
                f"{path}, {table.where(row)}, column '{table.names[column]}': a class of {len(name):,} characters",
                expected=f"at most {LONGEST_CLASS}",
            )
        out.append(name)
    return out


def _class_name(cell: object, is_number: bool) -> str | None:
    """A class's name; None where the cell has none."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if is_number:
        return _number_name(str(cell).strip())
    if isinstance(cell, str):
        name = one_form(cell.strip())
        return name if name and name.casefold() != "nan" and is_unicode(name) else None
    return _number_name(str(cell)) if isinstance(cell, int | float) else None


def _number_name(text: str) -> str | None:
    """``2`` for ``2.0``, as programs write the numbers of classes; a number that is not whole as it is written."""
    if text.removeprefix("-").isdecimal():
        return text
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return str(int(value)) if value.is_integer() else text


def is_split_column(table: FileTable, name: str, keys: Sequence[str]) -> bool:
    """Whether a column of that name may hold splits, ``keys`` being the names of all."""
    if name not in _WEAK_NAMES:
        return True
    return all(_split(cell) is not None for cell in table.cells[keys.index(name)])


def split_numbers(path: Path, table: FileTable, column: int) -> list[int]:
    """The cells of a column as ``TRAIN``, ``DEV`` or ``TEST``.

    Raises:
        InputError: a cell that is none of them; its row and column are named.
    """
    out = []
    for row, cell in enumerate(table.cells[column]):
        split = _split(cell)
        if split is None:
            raise InputError(
                _in_words(path, table, row, column, "split"),
                expected="train, dev (or validation) or test",
                remedy="correct it, or leave the column out: then folds are made",
            )
        out.append(split)
    return out


def _split(cell: object) -> int | None:
    return _NUMBER_OF.get(cell.strip().casefold()) if isinstance(cell, str) else None


def _in_words(path: Path, table: FileTable, row: int, column: int, wanted: str) -> str:
    """Where a cell stands that is not what is wanted, and what it holds instead."""
    cell = table.cells[column][row]
    place = f"{path}, {table.where(row)}, column '{table.names[column]}'"
    is_missing = cell is None or str(cell).strip().casefold() in {"", "nan"}
    return f"{place}: nothing there" if is_missing else f"{place}: {_shown(cell)} is no {wanted}"


def _shown(cell: object) -> str:
    shown = str(cell)
    return f"'{shown}'" if len(shown) <= LONGEST_SHOWN else f"'{shown[:LONGEST_SHOWN]}...'"
