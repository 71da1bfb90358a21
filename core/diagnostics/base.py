"""What a diagnostic declares and returns. It never imports plotly, streamlit or the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from core.errors import unknown
from core.types import CancelToken, DatasetKind, Float32, Float64, PairSet, Progress


@dataclass(frozen=True)
class Parameter:
    """A choice that changes a diagnostic's numbers."""

    name: str
    choices: tuple[str, ...]
    default: str
    description: str

    def check(self, value: str) -> str:
        """``value`` if it is one of the choices.

        Raises:
            InputError: otherwise, with the nearest choice.
        """
        if value not in self.choices:
            raise unknown(self.name, value, self.choices)
        return value


@dataclass(frozen=True)
class Column:
    """A column of the per-item table: its name, Arrow type (which decides the SQL type) and meaning."""

    name: str
    type: pa.DataType
    description: str


@dataclass(frozen=True)
class Metric:
    """A named score. ``higher_is_better`` is None for counts."""

    name: str
    description: str
    higher_is_better: bool | None


@dataclass(frozen=True, eq=False)
class DiagnosticResult:
    """What a diagnostic computes.

    Attributes:
        metrics: value per declared metric name, those that apply; fractions, not percents.
        items: one row per item, in item order, with the declared columns.
        coverage: counts of what could be evaluated out of what there is.
    """

    metrics: Mapping[str, float]
    items: pa.Table
    coverage: Mapping[str, int]


class Compute(Protocol):
    def __call__(
        self,
        embeddings: Float32 | Float64,
        dataset: PairSet,
        params: Mapping[str, str],
        progress: Progress,
        cancel: CancelToken,
    ) -> DiagnosticResult:
        """Compute on transformed embeddings ``[n, d]``, row i for ``dataset.items[i]``.

        float32, but for a protocol that goes on in float64.
        """
        ...


@dataclass(frozen=True)
class DiagnosticEntry:
    """A diagnostic: its declaration, from which the command line, the pages and the docs are derived.

    Attributes:
        version: raised whenever its numbers can change; part of every run's identity.
        question: what a reader can learn, as one sentence.
        how: how it is computed, as markdown with formulas.
        figures: dotted path of the module that draws it.
    """

    id: str
    version: int
    title: str
    question: str
    how: str
    citation: str
    dataset_kind: DatasetKind
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    metrics: tuple[Metric, ...]
    figures: str
    compute: Compute = field(repr=False)

    @property
    def table(self) -> str:
        """Name of its per-item table in the store."""
        return f"result_{self.id}_v{self.version}"

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])

    def check_params(self, given: Mapping[str, str]) -> dict[str, str]:
        """All parameters, defaults filled in.

        Raises:
            InputError: an unknown parameter or value.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise unknown(f"parameter of {self.id}", name, known)
        return {name: parameter.check(given.get(name, parameter.default)) for name, parameter in known.items()}


def metric_names(metrics: Sequence[Metric]) -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics)
