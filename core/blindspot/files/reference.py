"""Published figures in ``assets/reference``: facts with their source, always marked as published."""

from __future__ import annotations

import csv
from functools import lru_cache

from blindspot.settings import ASSETS


@lru_cache(maxsize=16)
def reference_rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file of published figures, as printed."""
    with (ASSETS / "reference" / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def printed(source: str, table: str) -> dict[str, dict[str, float]]:
    """A published table of ``tables.csv``: its numbers as printed, by row and column in the table's order."""
    out: dict[str, dict[str, float]] = {}
    for row in reference_rows("tables.csv"):
        if (row["source"], row["table"]) == (source, table):
            out.setdefault(row["row"], {})[row["column"]] = float(row["value"])
    return out
