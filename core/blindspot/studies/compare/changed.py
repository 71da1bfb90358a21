"""Items with different outcomes for two variants, over all diagnostics and datasets that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blindspot.diagnostic import Diagnostic
from blindspot.runs.comparison import Change, Changes, changes
from blindspot.store.repository import Repository
from blindspot.studies.compare.rows import Row
from blindspot.texts import counted

MOST_ITEMS = 100  # of either side, per diagnostic and dataset


@dataclass(frozen=True)
class ChangedIn:
    """The changed items of one row of a comparison."""

    row: Row
    changes: Changes

    @property
    def entry(self) -> Diagnostic:
        return self.row.entry


@dataclass(frozen=True)
class Item:
    """A changed item and its row."""

    row: Row
    change: Change


@dataclass(frozen=True)
class Changed:
    """The changed items between A and B, row by row."""

    of_rows: tuple[ChangedIn, ...]

    @property
    def won(self) -> int:
        """Number of items that A wins."""
        return sum(of_row.changes.won for of_row in self.of_rows)

    @property
    def lost(self) -> int:
        return sum(of_row.changes.lost for of_row in self.of_rows)

    def items(self, *, won: bool) -> list[Item]:
        """The items that A wins, or B: the largest change of every row, then every row's second largest, and so on.

        A gain of 1 is common in some diagnostics and rare in others; taking turns keeps all of them in view.
        """
        placed = []
        for of_row in self.of_rows:
            changes_here = [change for change in of_row.changes.rows if (change.gain > 0) == won]
            placed += [(rank, -abs(change.gain), Item(of_row.row, change)) for rank, change in enumerate(changes_here)]
        return [item for _, _, item in sorted(placed, key=lambda each: each[:2])]


def changed(rows: Sequence[Row], repository: Repository, most: int = MOST_ITEMS) -> Changed:
    """The changed items of a comparison's rows but those in question."""
    itemized = [row for row in rows if all(row.entry.won) and not row.doubt]
    return Changed(tuple(ChangedIn(row, changes(row.entry, row.a, row.b, repository, most)) for row in itemized))


def in_words(changed_in: ChangedIn, a: str, b: str) -> str:
    """``minilm ranks the match higher in 434 pairs, lsa in 41``; ``a`` and ``b`` are the names of the two."""
    turned = changed_in.changes
    return f"{a} {turned.won_by} in {counted(turned.won, turned.unit, turned.unit)}, {b} in {turned.lost:,}"
