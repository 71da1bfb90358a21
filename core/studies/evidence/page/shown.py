"""What the views of the page Evidence show: the scores of all variants, and of those that the reader keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.figures.theme import Scheme, Style
from core.studies.evidence.scores import Downstream, Level, ScoreTable
from core.types import Variant
from core.ui.pickers import Picks


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        level: of the evaluators: words or sentences.
        downstream: which classifier and which score stand for a task.
        every: scores of all variants of the store that have both one of the level's evaluators and one of the tasks
            that are looked at (``ScoreTable.evaluators``, ``.tasks``).
        table: the same of the variants that the reader keeps.
        styles: of all variants.
    """

    picks: Picks
    level: Level
    downstream: Downstream
    every: ScoreTable
    table: ScoreTable
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def is_part(self) -> bool:
        """Whether the reader left variants out."""
        return len(self.table.variants) < len(self.every.variants)
