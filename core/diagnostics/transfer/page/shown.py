"""What the views of the page Transfer show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.diagnostic import DiagnosticEntry
from core.diagnostics.transfer.outcomes import Measure
from core.figures.theme import Scheme
from core.store.records import RunRecord
from core.types import Variant
from core.ui.pickers import Picks
from core.ui.resources import Keys

KEYS = ("transfer_a", "transfer_b")  # of the two variants that are compared
Runs = Mapping[str, Mapping[Variant, RunRecord]]  # by task and variant


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        variants: those picked, else those that have a run of some task.
        every: per classifier one run per task and variant that can be compared with the task's others.
        hidden: variants that were tested on other examples than the others in some task, and are not shown there.
        measure: what stands for a run.
        overlap: whether examples count that stand in the training part too, or repeat.
        own: whether each encoder is on the examples that it covers itself.
        is_task: whether the sidebar's dataset is one of labelled texts.
    """

    entry: DiagnosticEntry
    picks: Picks
    variants: Sequence[Variant]
    every: Mapping[str, Runs]
    hidden: Sequence[Variant]
    classifier: str
    seed: str
    measure: Measure
    overlap: bool
    own: bool
    is_task: bool
    scheme: Scheme

    @property
    def runs(self) -> Runs:
        """Those of the chosen classifier."""
        return self.every.get(self.classifier, {})

    @property
    def params(self) -> Mapping[str, str]:
        return {"classifier": self.classifier, "seed": self.seed}

    @property
    def axis(self) -> str:
        """What is shown, in words."""
        return self.measure.in_words + ("" if self.overlap else ", without overlap")


AS_READ: Keys = {Shown: lambda shown: (shown.measure, shown.overlap)}  # how the runs that are looked at are read
