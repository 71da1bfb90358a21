"""Cost of a variant: measured speed, size of the vectors, size of the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.names import version_of
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.types import Variant

BYTES_OF_A_NUMBER = 4  # float32


@dataclass(frozen=True)
class Cost:
    """Cost of a variant; None where unknown.

    Attributes:
        texts_per_second: of all texts encoded here on ``device``, over the seconds that this took.
        device: the one on which most texts were encoded.
        dimension: of the vectors after post-processing.
    """

    texts_per_second: float | None
    device: str
    dimension: int | None
    parameters: int | None

    @property
    def megabytes_per_million(self) -> float | None:
        """MB that a million vectors take as float32."""
        return None if self.dimension is None else float(self.dimension * BYTES_OF_A_NUMBER)


class CostKind(StrEnum):
    """A cost to plot against; the values are part of addresses."""

    SPEED = "texts per second"
    DIMENSION = "dimension"
    PARAMETERS = "parameters"
    MEMORY = "MB per million"

    @property
    def higher_is_better(self) -> bool:
        return self is CostKind.SPEED

    def of(self, cost: Cost) -> float | None:
        values = {
            CostKind.SPEED: cost.texts_per_second,
            CostKind.DIMENSION: cost.dimension,
            CostKind.PARAMETERS: cost.parameters,
            CostKind.MEMORY: cost.megabytes_per_million,
        }
        return values[self]


def cost_of(variant: Variant, repository: Repository) -> Cost:
    """The cost of a variant according to its runs and its encoder's embeddings."""
    runs = repository.runs(variants=[variant], state=RunState.DONE, metrics=[])
    model, version = version_of(variant.encoder)
    texts: defaultdict[str, int] = defaultdict(int)
    seconds: defaultdict[str, float] = defaultdict(float)
    for facts in repository.embeddings():
        if facts.encoder == model and facts.revision.startswith(version) and facts.seconds > 0:
            texts[facts.device] += facts.texts
            seconds[facts.device] += facts.seconds
    device = max(texts, key=lambda name: texts[name], default="")
    return Cost(
        texts[device] / seconds[device] if device else None,
        device,
        _dimension(runs),
        next((run.parameters for run in runs if run.parameters is not None), None),
    )


def _dimension(runs: Sequence[RunRecord]) -> int | None:
    for run in runs:
        found = run.manifest.get("encoder", {}).get("dimension") or run.dimension
        if found is not None:
            return int(found)
    return None
