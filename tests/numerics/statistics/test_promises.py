"""The promises of intervals and tests: few repetitions here, many in ``make trust``, which prints the table."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from tests.numerics.statistics.promises import CELLS, REFUSED, REPETITIONS, Cell, line, measured

FEW = 120
TOGETHER = 4  # cells of a test: as many as take less than a second
PARTS = [CELLS[start : start + TOGETHER] for start in range(0, len(CELLS), TOGETHER)]
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "statistics.md"


def beyond(cell: Cell, found: float, repetitions: int) -> float:
    """By how many standard errors of the simulation it is outside."""
    nearest = min(max(found, cell.low), cell.high)
    return abs(found - nearest) / sqrt(max(nearest * (1 - nearest), 1e-9) / repetitions)


@pytest.mark.parametrize("cells", PARTS, ids=[f"{part[0].name} ..." for part in PARTS])
def test_a_promise_is_kept_or_nothing_is_promised(cells: tuple[Cell, ...]) -> None:
    found = [(cell, measured(cell, FEW)) for cell in cells]
    assert not [(cell.name, share) for cell, share in found if share is not None and beyond(cell, share, FEW) >= 3]


@pytest.mark.slow
@pytest.mark.parametrize("cells", PARTS, ids=[f"{part[0].name} ..." for part in PARTS])
def test_every_cell_of_the_table(cells: tuple[Cell, ...], capsys: pytest.CaptureFixture[str]) -> None:
    broken = []
    for cell in cells:
        found = measured(cell, REPETITIONS)
        with capsys.disabled():
            print(f"\n{line(cell, found)}", end="")
        broken += [(cell.name, found)] if found is not None and not cell.low <= found <= cell.high else []
    assert not broken


def test_the_document_shows_the_table() -> None:
    """Every cell, with what it was and what it is: refused, or within its bounds."""
    rows = {row.split("|")[1].strip(): row for row in DOCUMENT.read_text().splitlines() if row.startswith("| ")}
    for cell in CELLS:
        before, now = (part.strip() for part in rows[cell.name].split("|")[3:5])
        assert before == cell.before
        assert now == REFUSED or cell.low <= float(now) <= cell.high
