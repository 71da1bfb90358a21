"""What the views of the Lab show: a grid's scores, as far as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.figures.theme import Scheme, Style
from core.runs.pipeline import RunRequest
from core.store.records import RunRecord
from core.studies.lab.cells import Scores
from core.studies.lab.grid import Grid, Reading


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        requests: the runs of all cells; ``found`` has those that are stored.
        impossible: why some of the grid's cells cannot be, by their request; they are none of ``requests``.
        readings: the scores that the reader looks at, in order.
        scores: of these readings, and all the grid's settings.
        ranked: those that encoders are ranked by. What describes the space is among them only where it was asked for.
        decimals: to which scores are rounded before they are ranked.
        styles: by encoder.
    """

    grid: Grid
    requests: tuple[RunRequest, ...]
    impossible: Mapping[RunRequest, str]
    found: Mapping[RunRequest, RunRecord]
    readings: tuple[Reading, ...]
    scores: Scores
    ranked: Scores
    decimals: int
    styles: Mapping[str, Style]
    scheme: Scheme
