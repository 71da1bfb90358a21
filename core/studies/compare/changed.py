"""Items that two variants judge differently, over every diagnostic and dataset that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.diagnostic import DiagnosticEntry, named_function
from core.runs.comparison import Change, Changes
from core.store.repository import Repository
from core.studies.compare.rows import Row
from core.texts import counted

MOST_ITEMS = 100  # of either side, per diagnostic and dataset


@dataclass(frozen=True)
class ChangedIn:
    """What changed in one row of a comparison."""

    row: Row
    changes: Changes

    @property
    def entry(self) -> DiagnosticEntry:
        return self.row.entry


@dataclass(frozen=True)
class Item:
    """An item with the row that it is of."""

    row: Row
    change: Change


@dataclass(frozen=True)
class Changed:
    """What changed between A and B, row by row."""

    of_rows: tuple[ChangedIn, ...]

    @property
    def won(self) -> int:
        """Items that A wins."""
        return sum(one.changes.won for one in self.of_rows)

    @property
    def lost(self) -> int:
        return sum(one.changes.lost for one in self.of_rows)

    def items(self, *, won: bool) -> list[Item]:
        """Those that A wins, or B: the largest change of every row, then every row's second largest, and so on.

        Items of different diagnostics differ in what a gain of 1 takes: a whole ordering turns at once, a rank hardly
        ever moves as far. In turns no diagnostic hides the others.
        """
        placed = []
        for one in self.of_rows:
            own = [change for change in one.changes.rows if (change.gain > 0) == won]
            placed += [(place, -abs(change.gain), Item(one.row, change)) for place, change in enumerate(own)]
        return [item for _, _, item in sorted(placed, key=lambda each: each[:2])]


def changed(rows: Sequence[Row], repository: Repository, most: int = MOST_ITEMS) -> Changed:
    """The changed items of a comparison's rows."""
    itemized = [row for row in rows if row.entry.changed]
    found = (named_function(row.entry.changed)(row.a, row.b, repository, most) for row in itemized)
    return Changed(tuple(ChangedIn(row, changes) for row, changes in zip(itemized, found, strict=True)))


def in_words(one: ChangedIn, a: str, b: str) -> str:
    """``minilm ranks the match higher in 434 pairs, lsa in 41``; ``a`` and ``b`` are the names of the two."""
    changes = one.changes
    return f"{a} {changes.won_by} in {counted(changes.won, changes.unit, changes.unit)}, {b} in {changes.lost:,}"
