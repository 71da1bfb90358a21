"""Own columns of a user's file or a published set: a value per row, for grouping, filtering and coloring."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blindspot.types import Bool, Int64, UInt8, digest_of_strings

MOST_VALUES = 200  # of a column: intents are often 50 to 150
EMPTY = "(empty)"  # the value of an empty cell


@dataclass(frozen=True, eq=False)
class OwnColumn:
    """A categorical column that no diagnostic reads.

    It is not part of a dataset's content: no result depends on it, so runs are the same with and without it, and the
    store keeps it by a dataset's name, not by its content.

    Attributes:
        values: the distinct ones, in order of appearance; at most 256.
        codes: ``[m] uint8`` into ``values``, one per row of the dataset.
    """

    name: str
    values: tuple[str, ...]
    codes: UInt8

    @cached_property
    def digest(self) -> str:
        """Digest that changes with the name, the values and each row's value."""
        return digest_of_strings([self.name, *self.values, self.codes.tobytes().hex()])

    def part(self, rows: Int64) -> OwnColumn:
        """The column for some rows."""
        return replace(self, codes=self.codes[rows])

    def inside(self, value: str) -> Bool:
        """Which rows have a value, ``[m] bool``."""
        return np.asarray(self.codes == self.values.index(value))

    def groups(self, rows: Int64) -> list[tuple[str, Bool]]:
        """The values of some rows, and which rows have each, ``[k] bool``; the largest first, the empty value last."""
        codes = self.codes[rows]
        counts = np.bincount(codes, minlength=len(self.values))
        order = sorted(np.flatnonzero(counts).tolist(), key=lambda code: (self.values[code] == EMPTY, -counts[code]))
        return [(self.values[code], np.asarray(codes == code)) for code in order]

    @property
    def cells(self) -> list[str]:
        """The value of each row."""
        return [self.values[code] for code in self.codes.tolist()]


def choices_of(columns: Sequence[OwnColumn], taken: Collection[str] = ()) -> dict[str, OwnColumn]:
    """Columns by the name under which people choose them: their own unless it is among the ``taken`` names."""
    out: dict[str, OwnColumn] = {}
    for column in columns:
        name = column.name
        while name in taken or name in out:
            name = f"{name} (column)"
        out[name] = column
    return out
