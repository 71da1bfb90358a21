"""What a diagnostic declares and returns. It never imports plotly, streamlit or the store."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from core.datasets.kinds.base import DatasetKind
from core.encoders.base import Encoder
from core.errors import InputError, unknown
from core.numerics.similarity import Metric as Similarity
from core.transforms.chain import FittedChain, FlowSource, TransformChain
from core.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

# The parameter that any run may have beside its diagnostic's own: the dataset that its transform was fitted on, where
# that was not the run's own items.
FIT_ON = "fit_on"


@dataclass(frozen=True)
class Parameter:
    """A choice that changes a diagnostic's numbers.

    Attributes:
        option: what the command line says of its option; the description where it is "". Diagnostics share the option
            of a name: the first one's counts.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    description: str
    option: str = ""

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


# Ranges of scores, both ends included.
SHARE = (0.0, 1.0)
SIGNED = (-1.0, 1.0)  # correlations and cosines
NOT_NEGATIVE = (0.0, math.inf)
ANY = (-math.inf, math.inf)


@dataclass(frozen=True)
class Metric:
    """A named score.

    Attributes:
        higher_is_better: None where neither is: for counts (``is_count``), and for what only describes.
        range: the lowest and the highest value that it can have; of counts see ``bounds``.
    """

    name: str
    description: str
    higher_is_better: bool | None
    is_count: bool = False
    range: tuple[float, float] = SHARE

    @property
    def bounds(self) -> tuple[float, float]:
        return NOT_NEGATIVE if self.is_count else self.range


@dataclass(frozen=True)
class Page:
    """The page of a diagnostic; several diagnostics may share one.

    Attributes:
        stem: of its file in ``pages/``, which is its address.
        icon: a material symbol.
        section: of the sidebar, under which it stands.
        after: stem of the page of that section that it follows; "" where the diagnostics' pages come first.
    """

    stem: str
    title: str
    icon: str
    section: str = "Diagnostics"
    after: str = ""


@dataclass(frozen=True)
class Overview:
    """How the Overview shows a diagnostic.

    Attributes:
        axis: what its headline score is, for the figure.
        columns: the scores of its tables, with their headings.
        link: what the reader sees on the page that goes deeper.
        page: stem of that page; "" for the diagnostic's own.
        counted: name of the score that says how much was looked at, and what that is, for people.
    """

    axis: str
    columns: Mapping[str, str]
    link: str
    page: str = ""
    counted: tuple[str, str] = ("pairs", "pairs")


@dataclass(frozen=True)
class Reading:
    """A score as Evidence reads it: what it is called there, and whether more of it counts as better (1) or less (-1).

    That may be more than the diagnostic says: papers that remove anisotropy count less of it as better.
    """

    metric: str
    name: str
    sign: int = 1


class GridRole(StrEnum):
    """What a diagnostic is in the grids of the Lab."""

    NONE = "none"
    TASK = "task"  # encoders are ranked by its scores
    # Of the space itself. Its scores are shown also where neither more nor less is better, and none of them says alone
    # that an encoder is good: mates are nearest in a space that has collapsed to a point.
    DESCRIPTION = "description"


class PrepareVectors(Protocol):
    def __call__(
        self,
        embeddings: Float32,
        covered: Bool,
        items: Sequence[str],
        vocabulary: Float32 | None,
        chain: TransformChain,
        metric: Similarity,
        flows: FlowSource | None = None,
    ) -> tuple[Float32 | Float64, FittedChain]:
        """Vectors to compute on, ``[n, d]``, and the chain that they went through; see ``toolkit.prepare``."""
        ...


@dataclass(frozen=True)
class Preparation:
    """What a protocol does to vectors in the place of fitting and applying the transform.

    Everything is then computed on all items, those without a vector too, and nothing is fitted on another dataset.

    Attributes:
        look_up: the encoder as the protocol looks texts up.
        vectors: prepares them.
        fitted_on: what it is fitted on, for people, where that is not what is computed on.
    """

    look_up: Callable[[Encoder], Encoder]
    vectors: PrepareVectors
    fitted_on: str = "vectors of the file"


@dataclass(frozen=True)
class Work:
    """Counts that tell how much a diagnostic has to do.

    Attributes:
        pairs: of a pair set; rows of other kinds.
        texts: distinct items.
        is_split: labelled texts have a training part of their own.
    """

    pairs: int
    texts: int
    dimension: int
    is_split: bool = False


@dataclass(frozen=True)
class Done:
    """What a stored run tells of the work that it was.

    Attributes:
        work: as it would be told beforehand; None where its dataset is a file that is gone.
    """

    metrics: Mapping[str, float]
    coverage: Mapping[str, int]
    dimension: int
    work: Work | None


@dataclass(frozen=True)
class Cost:
    """How long a diagnostic computes: units of work, whatever they are, and seconds for each.

    Attributes:
        units: of a run to come.
        units_of_run: of a stored run; 0 where it does not tell.
        seconds_per_unit: on an ordinary laptop, while the store has not seen better; by the value of ``way``.
        way: name of the parameter that decides how long a unit takes, or "".
    """

    units: Callable[[Work], float]
    units_of_run: Callable[[Done], float]
    seconds_per_unit: Mapping[str, float]
    way: str = ""


@dataclass(frozen=True, eq=False)
class DiagnosticResult:
    """What a diagnostic computes.

    Attributes:
        metrics: value per declared metric name, those that apply; fractions, not percents.
        items: rows with the declared columns, in the order of the dataset's items.
        coverage: counts of what could be evaluated out of what there is.
        item_numbers: ``[rows]``, the number in the dataset of the item that each row speaks of (a pair, an original);
            None where row i speaks of item i.
        seeds: what its random numbers started from, by what they were for; the manifest keeps them.
        chosen: what was chosen on the way by looking at the data, by name; the manifest keeps it too.
        device: what it was computed on; the manifest keeps that too.
    """

    metrics: Mapping[str, float]
    items: pa.Table
    coverage: Mapping[str, int]
    item_numbers: Int32 | Int64 | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    chosen: Mapping[str, float] = field(default_factory=dict)
    device: str = "cpu"


class Compute(Protocol):
    def __call__(
        self,
        embeddings: Float32 | Float64,
        dataset: Any,
        params: Mapping[str, str],
        progress: Progress,
        cancel: CancelToken,
    ) -> DiagnosticResult:
        """Compute on transformed embeddings ``[n, d]``, row i for ``dataset.items[i]``.

        ``dataset`` is of the entry's ``dataset_kind``; ``pipeline.request`` sees to that.
        float32, but for a protocol that goes on in float64.
        """
        ...


class ComputeOn(Protocol):
    def __call__(
        self,
        device: str,
        embeddings: Float32 | Float64,
        dataset: Any,
        params: Mapping[str, str],
        progress: Progress,
        cancel: CancelToken,
    ) -> DiagnosticResult:
        """As ``Compute``, with the same result, on a torch device (``cuda:N``)."""
        ...


@dataclass(frozen=True)
class DiagnosticEntry:
    """A diagnostic: its declaration, from which the command line, the pages and the docs are derived.

    Attributes:
        version: raised whenever its numbers can change; part of every run's identity.
        question: what a reader can learn, as one sentence.
        how: how it is computed, as markdown with formulas.
        headline: name of the metric that stands for a run where there is room for only one.
        overview: how the Overview shows it.
        page: its page; None where it has none.
        headline_instead: name of the metric that stands for a run that has no ``headline``; "" where none does.
        compute_on: the same on a GPU; None where that is of no use.
        preparations: by the value of the parameter ``protocol``, where it prepares the vectors itself.
        cost: how long it takes.
        families: scores of which the data decides how many there are: their names go on after the declared one's
            (``f1@`` is declared, ``f1@spam`` computed).
        ignores_order: its scores are the same in whatever order the items stand.
        readings: the scores that stand for it on Evidence.
        readings_among: these, of all the scores of its runs, where only the data tells which there are.
        grid: what it is in the Lab.
        compare: dotted path of the function that compares two runs (``core.runs.comparison.Compare``); "" for none. A
            path, since entries are read before what builds on the store; see ``function``.
        tested: dotted path of the function that tells the Overview which of some runs are not separable from the best:
            of the entry and the runs, per score the places among them, or None; "" where nothing is tested.
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
    headline: str
    overview: Overview = field(repr=False)
    compute: Compute = field(repr=False)
    cost: Cost = field(repr=False)
    headline_instead: str = ""
    compute_on: ComputeOn | None = field(default=None, repr=False)
    preparations: Mapping[str, Preparation] = field(default_factory=dict, repr=False)
    page: Page | None = None
    families: tuple[Metric, ...] = ()
    ignores_order: bool = False
    readings: tuple[Reading, ...] = ()
    readings_among: Callable[[Sequence[str]], Sequence[Reading]] | None = field(default=None, repr=False)
    grid: GridRole = GridRole.NONE
    compare: str = ""
    tested: str = ""

    def preparation(self, params: Mapping[str, str]) -> Preparation | None:
        """What the protocol among these parameters does in the place of the transform; None for one that does not."""
        return self.preparations.get(params.get("protocol", ""))

    def headline_of(self, metrics: Mapping[str, float]) -> str:
        """Name of the metric that stands for a run with these; "" where it has none of them."""
        return next((name for name in (self.headline, self.headline_instead) if name in metrics), "")

    @property
    def deeper(self) -> str:
        """Stem of the page that shows more of its runs than the Overview."""
        return self.overview.page or (self.page.stem if self.page else "")

    @property
    def headline_is_lower_better(self) -> bool:
        return any(m.name == self.headline and m.higher_is_better is False for m in self.metrics)

    def on(self, device: str) -> Compute:
        """Its computation on a device: ``cpu``, or one of torch's where it has one for that."""
        return self.compute if device == "cpu" or self.compute_on is None else partial(self.compute_on, device)

    def declared(self, name: str) -> Metric | None:
        """The declaration of a computed score, its own or its family's; None of one that a user's own items brought."""
        exact = (metric for metric in self.metrics if metric.name == name)
        return next(exact, next((family for family in self.families if name.startswith(family.name)), None))

    def metrics_of(self, names: Iterable[str]) -> list[Metric]:
        """The declared metrics among these, in their order, then the others: of kinds of items that no diagnostic
        knows beforehand, as the subsets of a user's minimal pairs are, in the order given."""
        found = dict.fromkeys(names)
        declared = [metric for metric in self.metrics if metric.name in found]
        known = {metric.name for metric in declared}
        return declared + [Metric(name, "", None) for name in found if name not in known]

    @property
    def table(self) -> str:
        """Name of its per-item table in the store."""
        return result_table(self.id, self.version)

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
            if not known:
                raise InputError(f"{self.id} has no parameters, but '{name}' is given", remedy=f"leave {name} out")
            if name not in known:
                raise unknown(f"parameter of {self.id}", name, known)
        return {name: parameter.check(given.get(name, parameter.default)) for name, parameter in known.items()}


def function(path: str) -> Any:
    """What an entry names by a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def parameters() -> Mapping[str, Parameter]:
    """The parameters of all diagnostics by name; of those that share a name the first one's."""
    found: dict[str, Parameter] = {}
    for entry in every().values():
        for parameter in entry.parameters:
            found.setdefault(parameter.name, parameter)
    return found


def result_table(diagnostic: str, version: int) -> str:
    """Name of the table of a diagnostic's per-item rows (DESIGN section 5)."""
    return f"result_{diagnostic}_v{version}"


def in_words(params: Mapping[str, str]) -> str:
    """The values of a run's parameters, for people: ``cos, definition, fitted on stsb-dev``."""
    own = [value for name, value in params.items() if name != FIT_ON]
    return ", ".join([*own, *([f"fitted on {params[FIT_ON]}"] if FIT_ON in params else [])])


def metric_names(metrics: Sequence[Metric]) -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics)


# The module in ``core.diagnostics`` that holds each ENTRY, in the order in which pages and commands list them.
MODULES = (
    "evalrank.definition",
    "heros.definition",
    "similarity.definition",
    "words.analogy",
    "words.categorization",
    "geometry.definition",
    "frequency.definition",
    "transfer.definition",
)


@cache
def every() -> Mapping[str, DiagnosticEntry]:
    """All diagnostics by their ids. Found by name, so that this module knows none of them."""
    entries = [import_module(f"core.diagnostics.{module}").ENTRY for module in MODULES]
    return MappingProxyType({entry.id: entry for entry in entries})


def find(diagnostic_id: str) -> DiagnosticEntry:
    """The entry of a diagnostic id.

    Raises:
        InputError: no such diagnostic; the nearest id is suggested.
    """
    entries = every()
    if diagnostic_id not in entries:
        raise unknown("diagnostic", diagnostic_id, entries)
    return entries[diagnostic_id]
