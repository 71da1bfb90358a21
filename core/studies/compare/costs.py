"""Cost of a variant: measured speed, size of the vectors, size of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.transforms.chain import TransformChain
from blindspot.types import Variant

FLOAT_BYTES = 4  # of a number, float32


@dataclass(frozen=True)
class Cost:
    """Cost of a variant; None where unknown.

    Attributes:
        texts_per_second: of its model on ``device`` (``Speed``).
        dimension: of the vectors after post-processing.
        parameters: that its vectors need.
        is_part_of_pass: whether the speed is that of a whole forward pass, of which its vectors need a part.
        bytes_per_text: that a vector takes where it is not float32.
    """

    texts_per_second: float | None
    device: str
    dimension: int | None
    parameters: int | None
    is_part_of_pass: bool = False
    bytes_per_text: int | None = None

    @property
    def megabytes_per_million(self) -> float | None:
        """MB that a million vectors take: as float32, or as codes (``int8``, ``binary``)."""
        if self.bytes_per_text is not None:
            return float(self.bytes_per_text)
        return None if self.dimension is None else float(self.dimension * FLOAT_BYTES)


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
    """Cost of a variant according to its runs."""
    runs = repository.runs(variants=[variant], state=RunState.DONE, metrics=[])
    timed = next((run for run in runs if run.texts_per_second is not None), None)
    dimension = _dimension(runs)
    chain = TransformChain.parse(variant.transform)
    return Cost(
        timed.texts_per_second if timed else None,
        (timed.device or "") if timed else "",
        dimension,
        next((run.parameters for run in runs if run.parameters is not None), None),
        any(run.is_part_of_pass for run in runs),
        None if dimension is None else chain.bytes_of(dimension),
    )


def _dimension(runs: Sequence[RunRecord]) -> int | None:
    for run in runs:
        found = run.manifest.get("encoder", {}).get("dimension") or run.dimension
        if found is not None:
            return int(found)
    return None


def written(kind: CostKind, cost: Cost) -> str:
    """A cost in a table; a dash for what is not known."""
    value = kind.of(cost)
    if value is None:
        return "–"
    return f"{value:,.0f}{' (whole pass)' if kind is CostKind.SPEED and cost.is_part_of_pass else ''}"


def about_speed(devices: Iterable[str], parts: Sequence[str]) -> str:
    """What texts per second are; ``parts`` are the names of models that need a part of the pass that was timed."""
    where = ", ".join(sorted({device for device in devices if device}))
    said = f"texts/s: all texts that a model encoded on this machine{f' ({where})' if where else ''}, without loading."
    if not parts:
        return said
    have = "has" if len(parts) == 1 else "have"
    return (
        f"{said} {' and '.join(parts)} {have} the speed of the whole network, which gave all poolings in one pass, but "
        "the parameters of the word-piece embeddings, which are enough for these vectors: alone it would be faster."
    )
