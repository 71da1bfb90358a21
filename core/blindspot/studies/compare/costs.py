"""Cost of a variant: size of the vectors, size of the model.

Speed is left out: the stored speeds were measured at different times under different load, so they do not compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.variants import Variant

FLOAT_BYTES = 4  # of a number, float32


@dataclass(frozen=True)
class Cost:
    """Cost of a variant; None where unknown.

    Attributes:
        dimension: of the vectors after post-processing.
        parameters: those needed for its vectors.
        bytes_per_text: size of a vector that is not float32.
    """

    dimension: int | None
    parameters: int | None
    bytes_per_text: int | None = None

    @property
    def megabytes_per_million(self) -> float | None:
        """MB that a million vectors take: as float32, or as codes (``int8``, ``binary``)."""
        if self.bytes_per_text is not None:
            return float(self.bytes_per_text)
        return None if self.dimension is None else float(self.dimension * FLOAT_BYTES)


class CostKind(StrEnum):
    """A cost to plot against; the values are part of addresses."""

    DIMENSION = "dimension"
    PARAMETERS = "parameters"
    MEMORY = "MB per million"

    @property
    def heading(self) -> str:
        return "MB per million texts" if self is CostKind.MEMORY else self.value

    def of(self, cost: Cost) -> float | None:
        values = {
            CostKind.DIMENSION: cost.dimension,
            CostKind.PARAMETERS: cost.parameters,
            CostKind.MEMORY: cost.megabytes_per_million,
        }
        return values[self]


def kinds_that_differ(costs: Iterable[Cost]) -> list[CostKind]:
    """The kinds of cost that tell some of these apart; an unknown cost tells nothing."""
    known = list(costs)
    return [kind for kind in CostKind if len({kind.of(cost) for cost in known} - {None}) > 1]


def cost_of(variant: Variant, repository: Repository) -> Cost:
    """Cost of a variant according to its runs."""
    runs = repository.runs(variants=[variant], state=RunState.DONE, metrics=[])
    dimension = _dimension(runs)
    return Cost(
        dimension,
        next((run.parameters for run in runs if run.parameters is not None), None),
        None if dimension is None else variant.chain.bytes_of(dimension),
    )


def _dimension(runs: Sequence[RunRecord]) -> int | None:
    for run in runs:
        dimension = run.manifest.get("encoder", {}).get("dimension") or run.dimension
        if dimension is not None:
            return int(dimension)
    return None


def written(kind: CostKind, cost: Cost) -> str:
    """A cost in a table; a dash if it is not known."""
    value = kind.of(cost)
    return "–" if value is None else f"{value:,.0f}"
