"""What the page Words shows: a row per variant, a column per task, the run behind every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.diagnostics.words.schnabel_table import Task
from core.figures.theme import Scheme, Style
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks


@dataclass(frozen=True, eq=False)
class Shown:
    """What the parts of the page are given.

    Attributes:
        variants: the rows: those picked, else those that have a run of some task.
        runs: per diagnostic and dataset one run per variant that can be compared.
        hidden: variants that have a run of some task on other words than the others, which is not shown.
        own: whether each encoder is on its own words.
        rule: how analogies are answered.
    """

    picks: Picks
    variants: Sequence[Variant]
    runs: Mapping[tuple[str, str], Mapping[Variant, RunRecord]]
    hidden: Sequence[Variant]
    own: bool
    rule: str
    styles: Mapping[Variant, Style]
    scheme: Scheme

    def of(self, task: Task) -> Mapping[Variant, RunRecord]:
        """The runs behind a column."""
        return self.runs.get((task.diagnostic, task.dataset), {})

    def on(self, diagnostic: str, dataset: str) -> Mapping[Variant, RunRecord]:
        """The runs of a diagnostic on a dataset."""
        return self.runs.get((diagnostic, dataset), {})
