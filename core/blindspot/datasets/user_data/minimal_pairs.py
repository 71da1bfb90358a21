"""Minimal pairs in a user's file: an original and its rewrites, those of HEROS or any others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.published import minimal_pairs
from blindspot.datasets.published.minimal_pairs import NEGATION, NEGATIONS, ORIGINAL, SUBSETS
from blindspot.datasets.user_data import attributes
from blindspot.datasets.user_data.columns import (
    GROUPS,
    UNUSED,
    ColumnReading,
    OwnFile,
    Role,
    as_asked,
    read_as,
    texts_of,
)
from blindspot.datasets.user_data.guess import ABOUT
from blindspot.datasets.user_data.pairs import known_columns
from blindspot.errors import InputError
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.texts import caseless, column_key, counted, one_form

VOTERS = 2_000  # first rows, whose sentences tell two negations apart: that takes a second
MARK = "rewrite:"  # a column with such a beginning is a rewrite, whatever its cells look like
MAX_NAME = 60  # letters of a subset's name
FEW = 0.5  # a column with at most so many distinct cells per distinct original has kinds, not rewrites
SENTENCE = 3.0  # if originals have so many words on average, a column of single words has no rewrites
EXPECTED = f"a column original and one or more columns of rewrites: {', '.join(SUBSETS)}, or others"
# Names of metrics and of columns of tables: no subset may have such a name.
METRICS = frozenset({"cos_avg", "originals", "accuracy", "accuracy_chance"})
ENDINGS = ("_sd", "_low", "_high")
TABLES = frozenset({ORIGINAL, "no", "variant", "run_id", "item_no"})


@dataclass(frozen=True)
class OwnMinimalPairs(OwnFile):
    """A file of minimal pairs.

    Attributes:
        originals: in the file's order, unchanged; repeated ones too.
        rewrites: a rewrite per original for each subset: HEROS's subsets in the order in which they are shown, then
            others in the file's order.
        could_be_pairs: names of the columns that would be query and match in positive pairs, if their names mean
            that; else empty.
    """

    originals: tuple[str, ...]
    rewrites: Mapping[str, tuple[str, ...]]
    could_be_pairs: tuple[str, ...]

    kind = DatasetKind.MINIMAL_PAIR_SET
    title = "minimal pairs"
    form = f"minimal pairs (a column original and any of {', '.join(SUBSETS)}, or rewrites under other names)"
    about = (
        "an original and one or more rewrites of it (a synonym, a negation, a typo, or whatever you want to know "
        "about). Each rewrite will be compared with its original."
    )
    matched_by = "where a column is called `original` and others may be its rewrites"
    counted = "originals"
    roles = (
        Role("original", ORIGINAL, "the original"),
        Role("rewrite", "", "a rewrite of it, called as its column is; several times for several", repeats=True),
    )
    forms = (("original", "rewrite"),)

    # --- which columns

    @classmethod
    def matches_header(cls, table: FileTable) -> bool:
        """Whether there is an original and a known rewrite; or an original and columns of text that may be rewrites,
        and no two columns named as a query and its match. Columns of numbers do not count: ``typos`` may be counts."""
        roles = _roles_of_text(table)
        if ORIGINAL not in roles:
            return False
        if len(roles) > 1 or any(map(is_marked, table.names)):
            return True
        named = [number for numbers in minimal_pairs.places(table.names).values() for number in numbers]
        rewrites, _ = _others(table, roles[ORIGINAL][0], named, ())
        return bool(rewrites) and known_columns(table) is None

    @classmethod
    def by_header(cls, table: FileTable) -> dict[int, tuple[str, str]]:
        by_role, of_text = minimal_pairs.places(table.names), _roles_of_text(table)
        if of_text.keys() <= {ORIGINAL}:  # no column of text says that there are rewrites: ``typos`` may count them
            by_role = of_text
        unnamed = by_role.pop(NEGATION, [])
        for role, places in by_role.items():
            if len(places) > 1:
                raise _several(table, role, places)
        chosen = {role: (places[0], "by its name") for role, places in by_role.items()}
        chosen |= _negations(table, {role: number for role, (number, _) in chosen.items()}, unnamed)
        if ORIGINAL in chosen:
            taken = [number for number, _ in chosen.values()]
            rewrites, _ = _others(table, chosen[ORIGINAL][0], taken, known_columns(table) or ())
            _check_names(table, [*((role, n) for role, (n, _) in chosen.items()), *((s, n) for n, s in rewrites)])
            for number, subset in rewrites:
                chosen[subset] = (number, "by its name" if is_marked(table.names[number]) else "a column of text")
        return {number: (role, why) for role, (number, why) in chosen.items()}

    @classmethod
    def readings(cls, table: FileTable, asked: Mapping[str, int] | None = None) -> tuple[ColumnReading, ...]:
        uses = as_asked(table, asked) if asked else cls.by_header(table)
        numbers = {role: number for number, (role, _) in uses.items()}
        if ORIGINAL not in numbers or len(numbers) == 1:
            lacking = "original" if ORIGINAL not in numbers else "of rewrites"
            raise InputError(f"{table.path} has no column {lacking}: {table.shown_names}", expected=EXPECTED)
        _check_names(table, list(numbers.items()))
        for role, number in numbers.items():
            if table.kinds[number] is ColumnKind.NUMBER:
                raise InputError(
                    f"{table.path}, column '{table.names[number]}', read as {role}: it has numbers",
                    expected="texts",
                    remedy="give it another name if it is something else",
                )
        _, left_out = _others(table, numbers[ORIGINAL], numbers.values(), known_columns(table) or ())
        return read_as(table, {number: (UNUSED, why) for number, why in left_out.items()} | uses)

    @classmethod
    def _read(
        cls, table: FileTable, asked: Mapping[str, int] | None = None
    ) -> tuple[tuple[ColumnReading, ...], tuple[OwnColumn, ...]]:
        """Groups are only the columns named so, since others may be rewrites with some empty cells."""
        columns = list(cls.readings(table, asked))
        others = {n for n, name in enumerate(table.names) if not name.startswith(attributes.PREFIX)}
        kept, whys = attributes.kept(table, others | {n for n, column in enumerate(columns) if column.use != UNUSED})
        for number, column in kept.items():
            columns[number] = replace(columns[number], use=GROUPS, why=f"{len(column.values)} different values")
        for number, why in whys.items():
            columns[number] = replace(columns[number], why=why)
        return tuple(columns), tuple(kept.values())

    @classmethod
    def preselected(cls, table: FileTable) -> dict[str, int]:
        """If not all columns can be read, those that are clear from their names alone."""
        if choice := super().preselected(table):
            return choice
        places = minimal_pairs.places(table.names)
        alone = {role: places[role][0] for role in (ORIGINAL, *SUBSETS) if len(places.get(role, ())) == 1}
        return {role: number for role, number in alone.items() if table.kinds[number] is not ColumnKind.NUMBER}

    @classmethod
    def uses_of(cls, table: FileTable, named: Sequence[tuple[str, str]]) -> dict[str, int]:
        """The number of the column per use; a rewrite's use is the subset that its column's name says."""
        column_of: dict[str, int] = {}
        for role, name in named:
            number = table.number(name)
            use = ORIGINAL if role == "original" else _subset_of(name)
            if use in column_of:
                raise _several(table, use, [column_of[use], number])
            column_of[use] = number
        return column_of

    # --- what is in them

    @classmethod
    def cells(cls, table: FileTable, numbers: Mapping[str, int]) -> tuple[Any, ...]:
        roles = [role for role in dict.fromkeys([ORIGINAL, *SUBSETS, *numbers]) if role in numbers]
        texts = {role: tuple(texts_of(table, numbers[role])) for role in roles}
        originals = texts.pop(ORIGINAL)
        if len(originals) < 2:
            raise InputError(
                f"{table.path} has {len(originals)} original",
                expected="at least 2, since similarities are compared with those of unrelated sentences",
            )
        return originals, texts, tuple(table.names[number] for number in known_columns(table) or ())

    @property
    def rows(self) -> int:
        return len(self.originals)

    @cached_property
    def distinct_texts(self) -> int:
        return len({*self.originals, *(text for texts in self.rewrites.values() for text in texts)})

    @cached_property
    def repeated_originals(self) -> int:
        """Number of originals that an earlier row has too; they count again in every mean."""
        return len(self.originals) - len(set(self.originals))

    @cached_property
    def unchanged(self) -> int:
        """Number of rewrites that are the same text as their original; such a pair says nothing."""
        return sum(
            one_form(original) == one_form(rewrite)
            for texts in self.rewrites.values()
            for original, rewrite in zip(self.originals, texts, strict=True)
        )

    @property
    def description(self) -> str:
        *others, last = self.rewrites
        subsets = f"{', '.join(others)} and {last}" if others else last
        return f"Minimal pairs of your own: every original with its {subsets}."

    @property
    def _not_used(self) -> list[ColumnReading]:
        return [column for column in self.columns if column.use == UNUSED]

    @property
    def summary(self) -> str:
        by_reason: dict[str, list[str]] = {}
        for role, column in self.used.items():
            by_reason.setdefault(column.why, []).append(f"{role} is column '{column.name}'")
        used = ", ".join(
            f"{', '.join(columns)} ({'each ' if len(columns) > 1 else ''}{why})" for why, columns in by_reason.items()
        )
        unused = ", ".join(f"'{c.name}'{f' ({c.why})' if c.why else ''}" for c in self._not_used)
        pairs = " and ".join(f"'{name}'" for name in self.could_be_pairs)
        other = f"; {pairs} would be positive pairs if no column were called original" if pairs else ""
        return (
            f"{self.path.name}: minimal pairs: {used}{f'; not used: {unused}' if unused else ''}; {self.rows:,} "
            f"originals, {self.distinct_texts:,} texts, repeated originals: {self.repeated_originals:,}, "
            f"rewrites that change nothing: {self.unchanged:,}{other}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        counts = [f"{self.rows:,} originals", f"{self.distinct_texts:,} distinct texts"]
        if self.repeated_originals:
            counts.append(f"{self.repeated_originals:,} repeated originals, which count again in every mean")
        if self.unchanged:
            counts.append(f"{self.unchanged:,} rewrites that are the same as their original")
        return tuple(counts)

    def as_manifest(self) -> dict[str, Any]:
        return super().as_manifest() | {
            "not_used": [column.name for column in self._not_used],
            "why_not": [column.why for column in self._not_used],
            "repeated_originals": self.repeated_originals,
            "unchanged_rewrites": self.unchanged,
        }

    def first_rows(self, n: int) -> Rows:
        columns = {ORIGINAL: self.originals, **self.rewrites}
        return Rows(tuple(columns), tuple(islice(zip(*columns.values(), strict=True), n)))

    def kept_rows(self) -> Iterator[Mapping[str, str | float]]:
        names = [ORIGINAL, *(s if s in SUBSETS else f"{MARK}{s}" for s in self.rewrites)]
        for texts in zip(self.originals, *self.rewrites.values(), strict=True):
            yield dict(zip(names, texts, strict=True))

    def dataset(self, dataset_id: str) -> MinimalPairSet:
        return minimal_pairs.minimal_pair_set(dataset_id, self.originals, self.rewrites)


# --- the columns of HEROS


def _roles_of_text(table: FileTable) -> dict[str, list[int]]:
    """As ``minimal_pairs.places``, without the columns of numbers."""
    columns = {
        role: [number for number in numbers if table.kinds[number] is not ColumnKind.NUMBER]
        for role, numbers in minimal_pairs.places(table.names).items()
    }
    return {role: numbers for role, numbers in columns.items() if numbers}


def _negations(table: FileTable, named: Mapping[str, int], unnamed: list[int]) -> dict[str, tuple[int, str]]:
    """Number and reason per role, for columns with names that only say that they are negations.

    Args:
        named: number of the column per role, if its name says the role.
    """
    left = [role for role in NEGATIONS if role not in named]
    if not unnamed:
        return {}
    if len(unnamed) > len(left):
        raise _several(table, "the two negations", [*(named[r] for r in NEGATIONS if r in named), *unnamed])
    if len(left) == 1:
        return {left[0]: (unnamed[0], "the negation that is left")}
    if len(unnamed) == 1:  # whichever it is, it is the only one
        return {NEGATION: (unnamed[0], "by its name")}
    if not {ORIGINAL, "synonym"} <= named.keys():
        names = " and ".join(f"'{table.names[number]}'" for number in unnamed)
        raise InputError(
            f"{table.path}: the name of column {names} does not say which negation it has",
            expected="'Negation main' where the main clause is negated, 'Negation antonym' where it is the word that "
            "synonym and antonym replace",
            remedy="rename it",
        )
    columns = (table.cells[n] for n in (named[ORIGINAL], named["synonym"], *unnamed))
    # a cell that is not text is refused when the columns are read
    rows = (cells for cells in zip(*columns, strict=True) if all(isinstance(cell, str) for cell in cells))
    order = minimal_pairs.main_first(table.path, list(islice(rows, VOTERS)))
    return {role: (unnamed[i], "by its sentences") for role, i in zip(NEGATIONS, order, strict=True)}


def _several(table: FileTable, role: str, numbers: list[int]) -> InputError:
    names = ", ".join(f"'{table.names[number]}'" for number in sorted(numbers))
    return InputError(
        f"{table.path} has {len(numbers)} columns for {role}: {names}",
        expected="one column each",
        remedy="rename those that are something else",
    )


# --- rewrites under other names


def subset_name(column: str) -> str:
    """The name of a column's subset: letters and digits in lower case, "_" for everything between them.

    "" for a name without letters or digits.
    """
    plain = caseless(_without_mark(column))
    return re.sub(r"[\W_]+", "_", plain).strip("_")[:MAX_NAME].rstrip("_")


def is_marked(column: str) -> bool:
    """Whether a column's name says that it is a rewrite."""
    return column.strip().casefold().startswith(MARK)


def _without_mark(column: str) -> str:
    return column.strip()[len(MARK) :] if is_marked(column) else column


def _subset_of(column: str) -> str:
    return next(iter(minimal_pairs.places([_without_mark(column)])), subset_name(column))


def _others(
    table: FileTable, original: int, named: Collection[int], pairs: Collection[int]
) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """Columns of rewrites of the originals, besides those that already have a role.

    Args:
        pairs: numbers of the columns with names of a query and its match.

    Returns:
        (number, subset) of the columns of rewrites; and for each other column, by number, why it is not one.
    """
    rewrites: list[tuple[int, str]] = []
    left_out: dict[int, str] = {}
    for number, column in enumerate(table.names):
        if number == original or number in named:
            continue
        if reason := "" if is_marked(column) else _why_not(table, original, number, number in pairs):
            left_out[number] = reason
        else:
            rewrites.append((number, subset_name(column)))
    return rewrites, left_out


def _why_not(table: FileTable, original: int, number: int, is_pair: bool) -> str:
    """The reason why a column has no rewrites; "" if it may have some."""
    name, kind = column_key(table.names[number]), table.kinds[number]
    if not name:
        return "no name"
    if table.names[number].startswith(attributes.PREFIX):
        return "a group"
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
        return f"{counted(distinct, 'different text')} only"
    words = sum(len(sentence.split()) for sentence in sentences)
    if words >= SENTENCE * len(sentences) and all(len(text.split()) == 1 for text in texts):
        return "single words next to sentences"
    return ""


def _check_names(table: FileTable, roles: Iterable[tuple[str, int]]) -> None:
    """Refuse subsets with names of other results."""
    seen: dict[str, int] = {}
    for role, number in roles:
        column = table.names[number]
        remedy = f"rename column '{column[:40]}'"
        if not role:
            raise InputError(
                f"{table.path}, column '{column[:40]}': there is no letter or digit in its name",
                expected="a name for the rewrites in it",
                remedy=remedy,
            )
        if role in METRICS or role.endswith(ENDINGS) or (role in TABLES and role != ORIGINAL) or ">" in column:
            raise InputError(
                f"{table.path}, column '{column[:40]}', a rewrite: '{role}' is the name of something else in the "
                "results",
                expected=f"not {', '.join(sorted(METRICS | TABLES))}, no '>', no {', '.join(ENDINGS)} at its end",
                remedy=remedy,
            )
        if role in seen:
            raise InputError(
                f"{table.path}, columns '{table.names[seen[role]][:40]}' and '{column[:40]}' would both be '{role}'",
                expected="names that differ in letters or digits",
                remedy="rename one of them",
            )
        seen[role] = number
