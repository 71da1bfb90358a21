"""Rewrites under names of one's own in a user's file: which columns hold them, and what their subsets are called."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.datasets.published.minimal_pairs import ORIGINAL
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import caseless, column_key

MARK = "rewrite:"  # a column whose name begins so is a rewrite, whatever its cells look like
MAX_NAME = 60  # letters of a subset's name
FEW = 0.5  # a column with at most so many distinct cells per distinct original says what kind, not what
SENTENCE = 3.0  # words that originals have on average, for a column of single words to be none of rewrites
# Names that other things have where a subset's stands: metrics, and columns of tables.
METRICS = frozenset({"cos_avg", "originals", "accuracy", "accuracy_chance"})
ENDINGS = ("_sd", "_low", "_high")
TABLES = frozenset({ORIGINAL, "no", "variant", "run_id", "item_no"})
# What people call columns about a row; compared by letters and digits only.
ABOUT = frozenset(
    "id idx index uid no nr num number row rownumber line lineno key note notes comment comments remark remarks "
    "source sources url link label labels category categories class type kind topic domain genre split fold set date "
    "time author annotator rater user name language lang file filename path status tag tags pos reason reasons "
    "explanation".split()
)


@dataclass(frozen=True)
class OtherColumns:
    """The columns of a file whose names nobody knows.

    Attributes:
        rewrites: per number of a column the subset that it holds.
        left_out: per number of a column why it is none.
    """

    rewrites: Mapping[int, str]
    left_out: Mapping[int, str]


def subset_name(column: str) -> str:
    """What the subset of a column is called: letters and digits in lower case, "_" for all that stands between.

    "" for a name without letters or digits.
    """
    plain = caseless(without_mark(column))
    return re.sub(r"[\W_]+", "_", plain).strip("_")[:MAX_NAME].rstrip("_")


def is_marked(column: str) -> bool:
    """Whether a column's name says that it is a rewrite."""
    return column.strip().casefold().startswith(MARK)


def without_mark(column: str) -> str:
    """A column's name as people know it."""
    return column.strip()[len(MARK) :] if is_marked(column) else column


def others(table: FileTable, original: int, known: Collection[int], pairs: Collection[int]) -> OtherColumns:
    """Which columns hold rewrites of the originals, beside those whose names are known.

    Args:
        original: number of the originals' column.
        known: numbers of the columns that are read as something already.
        pairs: numbers of the columns whose names are those of a query and its mate.
    """
    rewrites: dict[int, str] = {}
    left_out: dict[int, str] = {}
    for number, column in enumerate(table.names):
        if number == original or number in known:
            continue
        if reason := "" if is_marked(column) else _why_not(table, original, number, number in pairs):
            left_out[number] = reason
        else:
            rewrites[number] = subset_name(column)
    return OtherColumns(rewrites, left_out)


def check_names(path: Path, table: FileTable, roles: Sequence[tuple[str, int]]) -> None:
    """See that what columns are read as can stand beside all else that has a name.

    Args:
        roles: what is read, and the number of its column.

    Raises:
        InputError: a name that means something else, that nothing is left of, or that two columns share.
    """
    seen: dict[str, int] = {}
    for role, number in roles:
        column = table.names[number]
        remedy = f"rename column '{column[:40]}'"
        if not role:
            raise InputError(
                f"{path}, column '{column[:40]}': there is no letter or digit in its name",
                expected="a name for the rewrites in it",
                remedy=remedy,
            )
        if role in METRICS or role.endswith(ENDINGS) or (role in TABLES and role != ORIGINAL) or ">" in column:
            raise InputError(
                f"{path}, column '{column[:40]}', a rewrite: '{role}' is the name of something else in the results",
                expected=f"not {', '.join(sorted(METRICS | TABLES))}, no '>', no {', '.join(ENDINGS)} at its end",
                remedy=remedy,
            )
        if role in seen:
            raise InputError(
                f"{path}, columns '{table.names[seen[role]][:40]}' and '{column[:40]}' would both be '{role}'",
                expected="names that differ in letters or digits",
                remedy="rename one of them",
            )
        seen[role] = number


def _why_not(table: FileTable, original: int, number: int, is_pair: bool) -> str:
    """Why a column is none of rewrites; "" where nothing speaks against it."""
    name, kind = column_key(table.names[number]), table.kinds[number]
    if not name:
        return "no name"
    if kind is not ColumnKind.TEXT:
        return str(kind)
    if is_pair:
        return "the name of one of a pair"
    if name in ABOUT:
        return "about the row, by its name"
    return _why_not_by_cells(table.cells[original], table.cells[number])


def _why_not_by_cells(originals: Sequence[object], cells: Sequence[object]) -> str:
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    if lacking := len(cells) - len(texts):
        return f"{lacking:,} of {len(cells):,} cells have no text"
    sentences = [cell for cell in originals if isinstance(cell, str)]
    distinct = len(set(texts))
    if distinct <= FEW * len(set(sentences)):
        return f"{distinct:,} different {'text' if distinct == 1 else 'texts'} only"
    words = sum(len(sentence.split()) for sentence in sentences)
    if words >= SENTENCE * len(sentences) and all(len(text.split()) == 1 for text in texts):
        return "single words beside sentences"
    return ""
