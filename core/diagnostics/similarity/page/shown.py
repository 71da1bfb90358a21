"""What the views of the page Similarity show: one run per variant, and the pairs behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.diagnostic import DiagnosticEntry
from core.diagnostics.similarity.pairs import ScoredTable
from core.figures.theme import Scheme, Style
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks
from core.ui.resources import Keys


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        runs: one per variant, all of the picked dataset, the best first.
        table: the pairs that all of them scored.
    """

    entry: DiagnosticEntry
    picks: Picks
    runs: Sequence[RunRecord]
    table: ScoredTable
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(run.run_id for run in self.runs)


BY_RUNS: Keys = {ScoredTable: lambda table: table.run_ids}  # a finished run never changes
