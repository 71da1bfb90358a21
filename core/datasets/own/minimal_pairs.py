"""Minimal pairs in a user's file: which columns are the original and its rewrites, and the texts in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from core.datasets.kinds.base import DatasetKind
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.own import pairs as own_pairs
from core.datasets.own import rewrites as own_rewrites
from core.datasets.own.columns import UNUSED, ColumnReading, OwnFile, readings, texts_of
from core.datasets.published import minimal_pairs
from core.datasets.published.minimal_pairs import NEGATION, NEGATIONS, ORIGINAL, SUBSETS
from core.errors import InputError
from core.files.tables import ColumnKind, FileTable
from core.texts import one_form

MIN_ROWS = 2
VOTERS = 2_000  # first rows whose sentences tell two negations apart: a second's work
EXPECTED = f"a column original and one or more columns of rewrites: {', '.join(SUBSETS)}, or others"


@dataclass(frozen=True)
class OwnMinimalPairs(OwnFile):
    """A file of minimal pairs.

    Attributes:
        originals: in the file's order, to the letter; those that repeat too.
        rewrites: per subset that the file has a rewrite per original: HEROS's subsets in the order in which they are
            shown, then others as they stand in the file.
        could_be_pairs: names of the columns that would be query and mate if it were read as positive pairs, where
            their names mean that; else none.
    """

    originals: tuple[str, ...]
    rewrites: Mapping[str, tuple[str, ...]]
    could_be_pairs: tuple[str, ...] = ()

    kind = DatasetKind.MINIMAL_PAIR_SET

    @property
    def rows(self) -> int:
        return len(self.originals)

    @cached_property
    def distinct_texts(self) -> int:
        return len({*self.originals, *(text for texts in self.rewrites.values() for text in texts)})

    @cached_property
    def repeated_originals(self) -> int:
        """Originals that stand in the file before; they count again in every mean."""
        return len(self.originals) - len(set(self.originals))

    @cached_property
    def unchanged(self) -> int:
        """Rewrites that are the same text as their original; such a pair tells nothing."""
        return sum(
            one_form(original) == one_form(rewrite)
            for texts in self.rewrites.values()
            for original, rewrite in zip(self.originals, texts, strict=True)
        )

    @property
    def description(self) -> str:
        return f"Minimal pairs of your own: every original with its {_listed(list(self.rewrites))}."

    @property
    def _not_used(self) -> list[ColumnReading]:
        return [column for column in self.columns if column.use == UNUSED]

    def as_manifest(self) -> dict[str, Any]:
        return {
            "columns": {role: column.name for role, column in self.used.items()},
            "why": {role: column.why for role, column in self.used.items()},
            "not_used": [column.name for column in self._not_used],
            "why_not": [column.why for column in self._not_used],
            "format": self.format.value,
            "separator": self.separator,
            "rows": self.rows,
            "repeated_originals": self.repeated_originals,
            "unchanged_rewrites": self.unchanged,
        }

    @property
    def summary(self) -> str:
        unused = ", ".join(f"'{c.name}'{f' ({c.why})' if c.why else ''}" for c in self._not_used)
        unused = f"; not used: {unused}" if unused else ""
        pairs = " and ".join(f"'{name}'" for name in self.could_be_pairs)
        other = f"; {pairs} would be positive pairs if no column were called original" if pairs else ""
        return (
            f"{self.path.name}: minimal pairs: {self._columns_in_words}{unused}; {self.rows:,} originals, "
            f"{self.distinct_texts:,} texts, repeated originals: {self.repeated_originals:,}, "
            f"rewrites that change nothing: {self.unchanged:,}{other}"
        )

    @property
    def _columns_in_words(self) -> str:
        by_reason: dict[str, list[str]] = {}
        for role, column in self.used.items():
            by_reason.setdefault(column.why, []).append(f"{role} is column '{column.name}'")
        return ", ".join(
            f"{', '.join(columns)} ({'each ' if len(columns) > 1 else ''}{why})" for why, columns in by_reason.items()
        )

    def dataset(self, dataset_id: str) -> MinimalPairSet:
        return minimal_pairs.minimal_pair_set(dataset_id, self.originals, self.rewrites)


def is_told(table: FileTable) -> bool:
    """Whether a file's header says that it holds minimal pairs: an original and a known rewrite; or an original and
    columns of text that may be rewrites, where no two columns are called as a query and its mate are.

    A column of numbers is neither: ``typos`` may count them.
    """
    roles = _roles_of_text(table)
    if ORIGINAL not in roles:
        return False
    if len(roles) > 1 or any(own_rewrites.is_marked(name) for name in table.names):
        return True
    known = [number for numbers in minimal_pairs.places(table.names).values() for number in numbers]
    found = own_rewrites.others(table, roles[ORIGINAL][0], known, ())
    return bool(found.rewrites) and own_pairs.known_columns(table) is None


def _roles_of_text(table: FileTable) -> dict[str, list[int]]:
    """As ``minimal_pairs.places``, without the columns of numbers."""
    found = {
        role: [number for number in numbers if table.kinds[number] is not ColumnKind.NUMBER]
        for role, numbers in minimal_pairs.places(table.names).items()
    }
    return {role: numbers for role, numbers in found.items() if numbers}


def named_columns(table: FileTable) -> dict[str, int]:
    """Numbers of the columns whose names alone say which of the original and the rewrites they are; for where no
    guess of all of them can be made."""
    found = minimal_pairs.places(table.names)
    alone = {role: found[role][0] for role in (ORIGINAL, *SUBSETS) if len(found.get(role, ())) == 1}
    return {role: number for role, number in alone.items() if table.kinds[number] is not ColumnKind.NUMBER}


def roles(path: Path, table: FileTable, original: str, rewrites: Sequence[str]) -> dict[str, int]:
    """Per role the number of the column that somebody named; a rewrite is the subset that its column's name says.

    Raises:
        InputError: two rewrites whose names say the same.
    """
    found = {ORIGINAL: table.names.index(original)}
    for name in rewrites:
        role = next(iter(minimal_pairs.places([own_rewrites.without_mark(name)])), own_rewrites.subset_name(name))
        if role in found:
            raise _several(path, table, role, [found[role], table.names.index(name)])
        found[role] = table.names.index(name)
    return found


def read_columns(path: Path, table: FileTable, asked: Mapping[str, int] | None) -> tuple[ColumnReading, ...]:
    """How every column is read.

    Args:
        asked: per role (``original`` and subsets) the number of its column, where they are known; guessed if left out.

    Raises:
        InputError: no original or no rewrites, two columns for one role, negations that cannot be told apart, or a
            column of numbers.
    """
    chosen = {role: (number, "as asked") for role, number in asked.items()} if asked else _guess(path, table)
    if ORIGINAL not in chosen:
        raise InputError(f"{path} has no column original: {_names(table)}", expected=EXPECTED)
    if len(chosen) == 1:
        raise InputError(f"{path} has no column of rewrites: {_names(table)}", expected=EXPECTED)
    own_rewrites.check_names(path, table, [(role, number) for role, (number, _) in chosen.items()])
    uses: dict[int, tuple[str, str]] = {}
    for role, (number, why) in chosen.items():
        name = table.names[number]
        if number in uses:
            raise InputError(f"column '{name}' cannot be both {uses[number][0]} and {role}", expected="two columns")
        if table.kinds[number] is ColumnKind.NUMBER:
            raise InputError(
                f"{path}, column '{name}', read as {role}: it holds numbers",
                expected="texts",
                remedy="give it another name if it is something else",
            )
        uses[number] = (role, why)
    rest = _others(table, chosen)
    return readings(table, {number: (UNUSED, why) for number, why in rest.left_out.items()} | uses)


def read_texts(path: Path, table: FileTable, columns: tuple[ColumnReading, ...]) -> dict[str, tuple[str, ...]]:
    """The texts per role, the original's first, then those of the subsets in the order in which they are shown.

    Raises:
        InputError: a cell that is no text, which is named; or too few rows.
    """
    number = {reading.use: i for i, reading in enumerate(columns) if reading.use != UNUSED}
    roles = [role for role in dict.fromkeys([ORIGINAL, *SUBSETS, *number]) if role in number]
    texts = {role: tuple(texts_of(path, table, number[role])) for role in roles}
    if len(texts[ORIGINAL]) < MIN_ROWS:
        raise InputError(
            f"{path} has {len(texts[ORIGINAL])} original",
            expected=f"at least {MIN_ROWS}, since similarities are laid beside those of unrelated sentences",
        )
    return texts


def _guess(path: Path, table: FileTable) -> dict[str, tuple[int, str]]:
    """Number and reason of the column of every role that the header names, then of those that hold other rewrites."""
    found, of_text = minimal_pairs.places(table.names), _roles_of_text(table)
    if of_text.keys() <= {ORIGINAL}:  # nothing else says that they are rewrites: ``typos`` may count them
        found = of_text
    unnamed = found.pop(NEGATION, [])
    for role, places in found.items():
        if len(places) > 1:
            raise _several(path, table, role, places)
    chosen = {role: (places[0], "by its name") for role, places in found.items()}
    chosen |= _negations(path, table, chosen, unnamed)
    if ORIGINAL not in chosen:
        return chosen
    own_names = [(subset, number) for number, subset in _others(table, chosen).rewrites.items()]
    own_rewrites.check_names(path, table, [*((role, number) for role, (number, _) in chosen.items()), *own_names])
    marked = [own_rewrites.is_marked(name) for name in table.names]
    return chosen | {s: (n, "by its name" if marked[n] else "a column of text") for s, n in own_names}


def _others(table: FileTable, chosen: Mapping[str, tuple[int, str]]) -> own_rewrites.OtherColumns:
    """What the columns that are read as nothing yet hold."""
    taken = [number for number, _ in chosen.values()]
    return own_rewrites.others(table, chosen[ORIGINAL][0], taken, own_pairs.known_columns(table) or ())


def _negations(
    path: Path, table: FileTable, named: Mapping[str, tuple[int, str]], unnamed: list[int]
) -> dict[str, tuple[int, str]]:
    """The same of the columns whose names say no more than that they are negations."""
    left = [role for role in NEGATIONS if role not in named]
    if not unnamed:
        return {}
    if len(unnamed) > len(left):
        raise _several(path, table, "the two negations", [*(named[r][0] for r in NEGATIONS if r in named), *unnamed])
    if len(left) == 1:
        return {left[0]: (unnamed[0], "the negation that is left")}
    if len(unnamed) == 1:  # whichever it is, it is the only one
        return {NEGATION: (unnamed[0], "by its name")}
    if not {ORIGINAL, "synonym"} <= named.keys():
        names = " and ".join(f"'{table.names[number]}'" for number in unnamed)
        raise InputError(
            f"{path}: the name of column {names} does not say which negation it holds",
            expected="'Negation main' where the main clause is negated, 'Negation antonym' where it is the word that "
            "synonym and antonym replace",
            remedy="rename it",
        )
    originals, synonyms, one, other = (table.cells[n] for n in (named[ORIGINAL][0], named["synonym"][0], *unnamed))
    rows = (
        cells
        for cells in zip(originals, synonyms, one, other, strict=True)
        if all(isinstance(cell, str) for cell in cells)  # any other cell is said later
    )
    first, second = minimal_pairs.main_first(path, list(islice(rows, VOTERS)))
    return {role: (unnamed[i], "by its sentences") for role, i in zip(NEGATIONS, (first, second), strict=True)}


def _several(path: Path, table: FileTable, role: str, numbers: list[int]) -> InputError:
    names = ", ".join(f"'{table.names[number]}'" for number in sorted(numbers))
    return InputError(
        f"{path} has {len(numbers)} columns for {role}: {names}",
        expected="one column each",
        remedy="rename those that are something else",
    )


def _names(table: FileTable) -> str:
    return ", ".join(f"'{name[:40]}'" if name else "(no name)" for name in table.names)


def _listed(subsets: list[str]) -> str:
    return f"{', '.join(subsets[:-1])} and {subsets[-1]}" if len(subsets) > 1 else subsets[0]
