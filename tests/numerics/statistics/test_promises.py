"""The promises of intervals and tests: few repetitions here, many in ``make trust``, which prints the table."""

from __future__ import annotations

from itertools import groupby
from math import sqrt
from pathlib import Path

import pytest

from tests.numerics.statistics.promises import CELLS, REFUSED, REPETITIONS, Cell, line, measured

FEW = 120
TOGETHER = 4  # cells of a test: as many as take less than a second
# The first and the last of each kind of promise, for the first tier.
KINDS = [tuple(kind) for _, kind in groupby(CELLS, lambda cell: cell.measure.__qualname__)]
ENDS = tuple(dict.fromkeys(cell for kind in KINDS for cell in (kind[0], kind[-1])))
OTHERS = tuple(cell for cell in CELLS if cell not in ENDS)
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "statistics.md"


def parts(cells: tuple[Cell, ...], together: int) -> pytest.MarkDecorator:
    of = [cells[start : start + together] for start in range(0, len(cells), together)]
    return pytest.mark.parametrize("cells", of, ids=[f"{part[0].name} ..." for part in of])


def beyond(cell: Cell, found: float, repetitions: int) -> float:
    """By how many standard errors of the simulation it is outside."""
    nearest = min(max(found, cell.low), cell.high)
    return abs(found - nearest) / sqrt(max(nearest * (1 - nearest), 1e-9) / repetitions)


def broken(cells: tuple[Cell, ...]) -> list[tuple[str, float]]:
    shares = [(cell, measured(cell, FEW)) for cell in cells]
    return [(cell.name, share) for cell, share in shares if share is not None and beyond(cell, share, FEW) >= 3]


@parts(ENDS, TOGETHER)
def test_a_promise_is_kept_or_nothing_is_promised(cells: tuple[Cell, ...]) -> None:
    assert broken(cells) == []


@pytest.mark.heavy
@parts(OTHERS, 4 * TOGETHER)
def test_those_between_are_kept_too(cells: tuple[Cell, ...]) -> None:
    assert broken(cells) == []


@pytest.mark.slow
@parts(CELLS, TOGETHER)
def test_every_cell_of_the_table(cells: tuple[Cell, ...], capsys: pytest.CaptureFixture[str]) -> None:
    outside = []
    for cell in cells:
        found = measured(cell, REPETITIONS)
        with capsys.disabled():
            print(f"\n{line(cell, found)}", end="")
        outside += [(cell.name, found)] if found is not None and not cell.low <= found <= cell.high else []
    assert outside == []


def test_the_document_shows_the_table() -> None:
    """Every cell, with what it was and what it is: refused, or within its bounds."""
    rows = {row.split("|")[1].strip(): row for row in DOCUMENT.read_text().splitlines() if row.startswith("| ")}
    for cell in CELLS:
        before, now = (part.strip() for part in rows[cell.name].split("|")[3:5])
        assert before == cell.before
        assert now == REFUSED or cell.low <= float(now) <= cell.high
