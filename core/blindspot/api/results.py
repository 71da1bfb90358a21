"""Results as a program gets them: frozen, with values, tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from blindspot.datasets.catalog import limits_of
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.errors import InputError, naming_extras
from blindspot.numerics.statistics.compare import ItemScores
from blindspot.runs import manifests
from blindspot.store.changed_models import changes
from blindspot.store.records import RunRecord
from blindspot.studies.gate import sides

if TYPE_CHECKING:
    import pandas as pd
    import polars
    import pyarrow as pa

    from blindspot.api.figures import Figure
    from blindspot.api.place import Place

Frames = Literal["pandas", "polars", "arrow"]


@dataclass(frozen=True)
class Score:
    """A score with its 95% interval; without one ``low`` and ``high`` are None, and ``why_none`` says why."""

    value: float
    low: float | None = None
    high: float | None = None
    why_none: str = ""

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Run:
    """A diagnostic of a model on a dataset, computed or found in the store.

    Attributes:
        id: the same model, data and parameters have the same id.
        model: its name, with the transform if there is one.
        dataset: id of the dataset.
        params: of the diagnostic.
        metrics: every number of the run by name, as ``run --json`` prints them.
        manifest: what is needed to compute it again.
    """

    id: str
    diagnostic: str
    model: str
    dataset: str
    params: Mapping[str, str]
    metrics: Mapping[str, float] = field(repr=False)
    manifest: Mapping[str, Any] = field(repr=False)
    _record: RunRecord = field(repr=False, compare=False)
    _place: Place = field(repr=False, compare=False)
    _of_a_copy: tuple[str, ...] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, record: RunRecord, place: Place, of_a_copy: tuple[str, ...] | None = None) -> Run:
        """
        Args:
            of_a_copy: notes on the data that was asked for, if the stored run is that of a file of the same content.
        """
        plan = record.plan
        return cls(
            record.run_id,
            plan.diagnostic,
            plan.variant.label,
            plan.dataset,
            MappingProxyType(dict(plan.params)),
            MappingProxyType(dict(record.metrics)),
            record.manifest,
            record,
            place,
            of_a_copy,
        )

    @property
    def scores(self) -> Mapping[str, Score]:
        """The scores by name, the headline first; with intervals where the items allow one."""
        entry, items = self._entry, self._item_scores
        names = [entry.headline_of(self.metrics), *(score.name for score in entry.metrics_of(self.metrics))]
        return MappingProxyType({name: self._score(name, items) for name in dict.fromkeys(names) if name})

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what decided the scores and may surprise, as ``run`` prints: what was assumed about own data and
        about the model, declared prompts and similarities that were not applied, texts that were cut, changed
        files of the model, data that seem to run the other way, and what scores on the dataset do not say."""
        doubts = self._entry.doubts([self._record], self._place.repository)
        readings = manifests.reading_notes([self._record]) if self._of_a_copy is None else self._of_a_copy
        changed = changes([self._record.plan.variant.encoder], self._place.repository, self._place.settings)
        return (*readings, *manifests.notes([self._record]), *changed, *doubts, *limits_of([self.dataset]))

    def __float__(self) -> float:
        """The headline score."""
        return self.metrics[self._entry.headline_of(self.metrics)]

    @overload
    def pairs(self, as_: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def pairs(self, as_: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def pairs(self, as_: Literal["arrow"]) -> pa.Table: ...
    def pairs(self, as_: Frames = "pandas") -> Any:
        """A row per item of the diagnostic (pair, query, rewrite, example, ...), with its texts and what was measured.

        Args:
            as_: ``pandas``, ``polars`` (if it is installed) or ``arrow``.
        """
        frame = self._place.repository.items(self._entry, [self.id], texts=True).drop(columns="run_id")
        return as_frame(frame, as_)

    def figure(self, score: str = "") -> Figure:
        """Plotly figure of how a score's items are distributed; the headline if no score is named.

        Raises:
            InputError: the score is not made of items.
            LibraryMissing: plotly is not installed.
        """
        with naming_extras("a figure"):
            from blindspot.api.figures import distribution

        items = self._item_scores
        name = score or self._entry.headline_of(self.metrics)
        if name not in items:
            raise InputError(f"{name} has no value per item", expected=f"one of {', '.join(items) or 'none'}")
        return distribution(items[name], name, self.model)

    def _repr_html_(self) -> str:
        from blindspot.api.tables import as_html_table

        rows = [(name, score.value, score.low, score.high) for name, score in self.scores.items()]
        told = as_html_table("", [(line,) for line in self.notes]) if self.notes else ""
        return as_html_table(f"{self._entry.title}: {self.model} on {self.dataset}", rows) + told

    @property
    def _entry(self) -> Diagnostic:
        return find_diagnostic(self.diagnostic)

    @property
    def _item_scores(self) -> Mapping[str, ItemScores]:
        if not self._entry.is_gate:
            return {}
        return sides.scores_of(self._record, self._place.repository)

    def _score(self, name: str, items: Mapping[str, ItemScores]) -> Score:
        value, stored = self.metrics[name], self._entry.measured(self.metrics, name)
        if stored is not None and stored.interval is not None:  # as it is stored, it is printed everywhere
            return Score(value, stored.low, stored.high)
        if name in items:
            estimate = items[name].estimate
            if estimate.interval is None:
                return Score(value, why_none=estimate.refusal)
            return Score(value, estimate.interval.low, estimate.interval.high)
        refusals = {item.known.refusal for item in items.values() if item.known.refusal}
        is_mean = self._entry.declared(f"{name}_low") is not None or f"{name}_sd" in self.metrics
        return Score(value, why_none=min(refusals) if is_mean and refusals else "it is not a mean over items")


@dataclass(frozen=True)
class Comparison:
    """Whether two runs differ by more than chance, in every score.

    Attributes:
        said: the verdict in sentences.
        rows: a row per score as the command prints it, with ``columns`` as headings.
        scores: the same as plain values, as ``runs compare --json`` prints them.
    """

    title: str
    said: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    scores: tuple[Mapping[str, Any], ...] = field(repr=False)

    @overload
    def table(self, as_: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def table(self, as_: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def table(self, as_: Literal["arrow"]) -> pa.Table: ...
    def table(self, as_: Frames = "pandas") -> Any:
        """A row per score: both values, difference, 95% interval, p and p after Holm, as numbers."""
        import pandas as pd

        return as_frame(pd.DataFrame([dict(score) for score in self.scores]), as_)

    def __str__(self) -> str:
        return " ".join(self.said)

    def _repr_html_(self) -> str:
        from blindspot.api.tables import as_html_table

        return as_html_table(self.title, self.rows, self.columns) + as_html_table("", [(line,) for line in self.said])


@dataclass(frozen=True)
class Found:
    """A finding: ``level`` is blind spot, caution, strength or fact; ``p`` is corrected over all that was tested."""

    level: str
    text: str
    test: str
    n: int
    p: float | None


@dataclass(frozen=True)
class Findings:
    """Findings, the worst first. ``hypotheses`` counts all that were tested; ``failures`` tells what was not."""

    found: tuple[Found, ...]
    hypotheses: int
    failures: tuple[str, ...]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        return "\n".join(f"{finding.level}: {finding.text}" for finding in self.found) or "nothing was found"


def as_frame(frame: pd.DataFrame, as_: Frames) -> Any:
    """A pandas frame as it is, or as another kind; raises ``InputError`` for an unknown or missing one."""
    if as_ == "pandas":
        return frame
    if as_ not in {"polars", "arrow"}:
        raise InputError(f"as_ is '{as_}'", expected="pandas, polars or arrow")
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    if as_ == "arrow":
        return table
    try:
        polars = import_module("polars")
    except ImportError as error:
        raise InputError("polars is not installed", expected="pandas or arrow", remedy="pip install polars") from error
    return polars.from_arrow(table)
