"""The promises of intervals and tests: few repetitions here, many in ``make trust``, which prints the table."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from tests.numerics.statistics.promises import CELLS, REFUSED, REPETITIONS, Cell, line, measured

FEW = 150
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "statistics.md"


def beyond(cell: Cell, found: float, repetitions: int) -> float:
    """By how many standard errors of the simulation it is outside."""
    nearest = min(max(found, cell.low), cell.high)
    return abs(found - nearest) / sqrt(max(nearest * (1 - nearest), 1e-9) / repetitions)


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_a_promise_is_kept_or_nothing_is_promised(cell: Cell) -> None:
    found = measured(cell, FEW)
    assert found is None or beyond(cell, found, FEW) < 3


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_every_cell_of_the_table(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(cell, REPETITIONS)
    with capsys.disabled():
        print(f"\n{line(cell, found)}", end="")
    assert found is None or cell.low <= found <= cell.high


def test_the_document_shows_the_table() -> None:
    """Every cell, with what it was and what it is: refused, or within its bounds."""
    rows = {row.split("|")[1].strip(): row for row in DOCUMENT.read_text().splitlines() if row.startswith("| ")}
    for cell in CELLS:
        before, now = (part.strip() for part in rows[cell.name].split("|")[3:5])
        assert before == cell.before
        assert now == REFUSED or cell.low <= float(now) <= cell.high
