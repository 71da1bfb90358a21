"""Contract of diagnostics: what one declares and returns, and the list of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.encoders.base import Encoder
from blindspot.encoders.rankings.base import Ranking
from blindspot.errors import InputError, unknown
from blindspot.numerics.ranking.rescoring import Twice
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.intervals import Interval
from blindspot.transforms.chain import FittedChain, FlowSource, TransformChain
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:  # arguments of a diagnostic's methods, from other layers
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.runs.training_data.examples import Triplet
    from blindspot.settings import Settings
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

# A parameter of any run: the dataset that its transform was fitted on, if not the run's own items.
FIT_ON = "fit_on"


@dataclass(frozen=True)
class Parameter:
    """A choice that changes a diagnostic's numbers.

    ``option`` is the command line's help ("": the description). Diagnostics share an option by name: the first counts.
    ``title`` is what people read ("": the name), ``when`` a sentence on which choice is for what, ``shown`` the choices
    that have another name for people than on the command line.
    ``is_of_use``: it is about how a model is used, not what is counted, so runs with different values can be compared.
    ``only_if_chosen``: runs and captions name it only if another value than the default was chosen.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    description: str
    option: str = ""
    only_if_chosen: bool = False
    is_of_use: bool = False
    title: str = ""
    when: str = ""
    shown: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return self.title or self.name.capitalize()

    @property
    def help(self) -> str:
        """What the parameter changes, and when to choose which value."""
        return f"{self.description[0].upper()}{self.description[1:]}. {self.when}".rstrip()

    def as_shown(self, value: str) -> str:
        return dict(self.shown).get(value, value)

    def value_in(self, params: Mapping[str, str]) -> str:
        """The parameter's value in a run."""
        return params.get(self.name, self.default)

    def check(self, value: str) -> str:
        """``value`` if it is one of the choices, otherwise ``InputError`` with the nearest one."""
        if value not in self.choices:
            raise unknown(self.name, value, self.choices)
        return value


@dataclass(frozen=True)
class Column:
    """A column of the per-item table; the Arrow type decides the SQL type."""

    name: str
    type: pa.DataType
    description: str


# Ranges of scores, both ends included.
SHARE = (0.0, 1.0)
ENDS = ("_low", "_high")  # of the names of stored ends of an interval
SIGNED = (-1.0, 1.0)  # correlations and cosines
NOT_NEGATIVE = (0.0, math.inf)
ANY = (-math.inf, math.inf)


@dataclass(frozen=True)
class Score:
    """A named score.

    Attributes:
        higher_is_better: None for counts (``is_count``) and scores that only describe.
        range: lowest and highest possible value; for counts see ``bounds``.
        is_end: whether it is an end of the 95% interval of the score that it is named after.
    """

    name: str
    description: str
    higher_is_better: bool | None
    is_count: bool = False
    range: tuple[float, float] = SHARE
    is_end: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        return NOT_NEGATIVE if self.is_count else self.range


class Picker(StrEnum):
    """A shared picker, by its name in the address."""

    DATASET = "data"
    MODELS = "model"
    POSTPROCESSED = "post"  # whether post-processed models are shown if no models are picked
    BASELINE = "base"
    SIMILARITY = "metric"


DIAGNOSE = "Diagnose"  # the menu of most pages of diagnostics


@dataclass(frozen=True)
class Page:
    """The page of a diagnostic; several diagnostics may share one.

    Attributes:
        stem: of its file in ``pages/``, which is its address; of a part its name in the address.
        icon: a material symbol.
        pickers: those that change the page; it shows no others.
        section: of the navigation.
        part_of: stem of the page that has it as a part; "" for a page of its own.
    """

    stem: str
    title: str
    icon: str
    pickers: tuple[Picker, ...] = tuple(Picker)
    section: str = DIAGNOSE
    part_of: str = ""


@dataclass(frozen=True)
class Overview:
    """How the Overview shows a diagnostic.

    Attributes:
        axis: of the figure, names the headline score.
        columns: scores of its tables, with their headings.
        link: label of the link to the page with more, if there is one.
        page: stem of that page; "" for the diagnostic's own.
        counted: the score with the number of evaluated things, and their name.
    """

    axis: str
    columns: Mapping[str, str]
    link: str = ""
    page: str = ""
    counted: tuple[str, str] = ("pairs", "pairs")


@dataclass(frozen=True)
class Reading:
    """A score in Evidence: its name there, and whether more (1) or less (-1) counts as better.

    The diagnostic itself may leave that open: papers that remove anisotropy count less of it as better.
    """

    metric: str
    name: str
    sign: int = 1


class GridRole(StrEnum):
    """Role of a diagnostic in the grids of the Lab."""

    NONE = "none"
    TASK = "task"  # encoders are ranked by its scores
    # Describes the space. Its scores are shown even if neither more nor less is better, and none alone means that an
    # encoder is good: matches are nearest in a space that has collapsed to a point.
    DESCRIPTION = "description"


@dataclass(frozen=True)
class Roles:
    """Which texts of a diagnostic are queries and which are documents, for models with prompts for these roles.

    Attributes:
        query, document: the texts, for people, in the plural.
        declared_too: whether prompts that only the model declares are taken, too, as for retrieval; a text in both
            roles is then a query. Otherwise only prompts in the reference are taken, and a text in both roles is
            encoded twice: for texts of one kind, models have one prompt or none (E5: "query: " on both sides).
    """

    query: str
    document: str
    declared_too: bool = False

    @property
    def in_words(self) -> str:
        given = "its reference gives `query_prompt` or `document_prompt`"
        return f"{self.query} take a model's prompt of queries, {self.document} that of documents, if " + (
            f"the model declares one or {given}. A text in both roles is encoded as a query."
            if self.declared_too
            else f"{given}; a text in both roles is encoded twice, and transforms are fitted on all these vectors. "
            "Otherwise all texts are encoded alike."
        )


ONE_ROLE = (
    "all texts have one role and are encoded alike: a model's prompts of queries and documents are not applied, only "
    "the `prompt` of its reference or its prompt by default."
)


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
        """Vectors to compute on, ``[n, d]``, and their chain; see ``toolkit.prepare``."""
        ...


@dataclass(frozen=True)
class Preparation:
    """A protocol's replacement for fitting and applying the transform.

    Everything is then computed on all items, even those without a vector, and nothing is fitted on another dataset.

    Attributes:
        look_up: makes the encoder that looks texts up as the protocol does.
        fitted_on: what the preparation is fitted on, for people.
    """

    look_up: Callable[[Encoder], Encoder]
    vectors: PrepareVectors
    fitted_on: str = "vectors of the file"


@dataclass(frozen=True)
class Work:
    """Amount of work: ``pairs`` (rows, for other kinds) and distinct ``texts``; ``is_split`` into train and test.

    ``classes`` is 0 if their number is not known, or does not matter.
    """

    pairs: int
    texts: int
    dimension: int
    is_split: bool = False
    classes: int = 0


@dataclass(frozen=True)
class Done:
    """Amount of work of a stored run; ``work`` is None if its dataset is a file that is gone."""

    metrics: Mapping[str, float]
    coverage: Mapping[str, int]
    dimension: int
    work: Work | None


@dataclass(frozen=True)
class Cost:
    """How long a diagnostic computes, in units of its choice.

    Attributes:
        units: number of units of a future run.
        units_of_run: number of units of a stored run; 0 if not known.
        seconds_per_unit: on an ordinary laptop, until the store knows better; by the value of ``way``.
        way: name of the parameter that decides how long a unit takes, or "".
    """

    units: Callable[[Work], float]
    units_of_run: Callable[[Done], float]
    seconds_per_unit: Mapping[str, float]
    way: str = ""


@dataclass(frozen=True, eq=False)
class DiagnosticResult:
    """Result of a diagnostic; the manifest keeps ``seeds``, ``chosen`` and ``device``.

    Attributes:
        metrics: value per declared metric that applies; fractions, not percents.
        items: rows with the declared columns, in the order of the dataset's items.
        coverage: counts of what could be evaluated, and of all.
        item_numbers: ``[rows]``, the dataset's number of each row's item (a pair, an original); None: row i, item i.
        seeds: of random numbers, by purpose.
        chosen: values chosen by looking at the data, by name.
    """

    metrics: Mapping[str, float]
    items: pa.Table
    coverage: Mapping[str, int]
    item_numbers: Int32 | Int64 | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    chosen: Mapping[str, float] = field(default_factory=dict)
    device: str = "cpu"
    device_note: str = ""


Compute = Callable[[Float32 | Float64, Any, Mapping[str, str], Progress, CancelToken], DiagnosticResult]


class Diagnostic:
    """A diagnostic: the command line, the pages and the docs are derived from its class.

    Its description is data, its work is in methods. These import what builds on the store only when they are called,
    since definitions are imported before it. The only method that every diagnostic needs is ``compute``.

    Attributes:
        version: raised whenever its numbers can change; part of every run's identity.
        question: the question that it answers, as one sentence.
        how: how it is computed, as markdown with formulas.
        how_to_read: what its scores mean and what to do next, as markdown.
        limits: what its scores do not say, as markdown.
        headline: the metric shown where there is room for one.
        headline_instead: the metric shown for a run without ``headline``, or "".
        roles: None if all texts have one role.
        preparations: by value of the parameter ``protocol``, for protocols that prepare the vectors themselves.
        families: scores, as many as the data have; their names extend the declared one (``f1@``: ``f1@spam``).
        ignores_order: scores do not depend on the order of the items.
        readings: its scores on Evidence.
        won: unit of the items that are judged one by one, in the plural, and the condition for winning one, to follow
            "A"; empty where none are.
        item_in_address: query parameters that open such an item for two models on its page, with {number}, {a}, {b} and
            {dataset}.
        is_gate: whether a gate may be on its datasets, and sizes are judged by it.
        two_in_address: query parameters that open two models side by side on its page, with {a}, {b} and {dataset}.
    """

    id: str
    version: int
    title: str
    question: str
    how: str
    how_to_read: str
    limits: str
    citation: str
    dataset_kind: DatasetKind
    parameters: tuple[Parameter, ...] = ()
    columns: tuple[Column, ...]
    metrics: tuple[Score, ...]
    headline: str
    overview: Overview
    cost: Cost
    headline_instead: str = ""
    roles: Roles | None = None
    preparations: Mapping[str, Preparation] = MappingProxyType({})
    page: Page | None = None
    families: tuple[Score, ...] = ()
    ignores_order: bool = False
    readings: tuple[Reading, ...] = ()
    grid: GridRole = GridRole.NONE
    won: tuple[str, str] = ("", "")
    item_in_address: Mapping[str, str] = MappingProxyType({})
    is_gate: bool = False
    two_in_address: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"<diagnostic {self.id}, version {self.version}>"

    # --- what it computes

    def compute(
        self,
        embeddings: Float32 | Float64,
        dataset: Any,
        params: Mapping[str, str],
        progress: Progress,
        cancel: CancelToken,
    ) -> DiagnosticResult:
        """Compute on transformed embeddings ``[n, d]``, row i for ``dataset.items[i]``, of its ``dataset_kind``.

        By role ``[n + q, d]``: items as documents, then ``dataset.asking`` as queries (``Dataset.rows_as_queries``).
        float32, except for a protocol that continues in float64.
        """
        raise NotImplementedError

    def as_read(self, dataset: Any, encoder: Encoder) -> Any:  # noqa: ARG002 - of those that change texts
        """The dataset with the texts to encode: itself, or one with the same items and content but with more
        ``encoded`` texts: the items and further ones that the diagnostic makes of them.

        Raises:
            InputError: it cannot be used with this encoder.
        """
        return dataset

    def further_texts(self, work: Work) -> int:  # noqa: ARG002 - as above
        """Approximate number of texts that ``as_read`` adds, for estimates."""
        return 0

    def compute_on(
        self,
        device: str,
        embeddings: Float32 | Float64,
        dataset: Any,
        params: Mapping[str, str],
        progress: Progress,
        cancel: CancelToken,
    ) -> DiagnosticResult:
        """``compute`` on a torch device (``cuda:N``), with the same result, if that pays."""
        raise NotImplementedError

    def compute_twice(
        self, twice: Twice, dataset: Any, params: Mapping[str, str], progress: Progress, cancel: CancelToken
    ) -> DiagnosticResult:
        """Compute on rankings by coarse vectors, with the best compared again by finer vectors
        (``blindspot.numerics.ranking.rescoring``), if it ranks."""
        raise NotImplementedError

    def rank(
        self, ranking: Ranking, dataset: Any, params: Mapping[str, str], progress: Progress, cancel: CancelToken
    ) -> DiagnosticResult:
        """Compute on a ranking of the documents without vectors, if it can."""
        raise NotImplementedError

    @property
    def computes_on_gpu(self) -> bool:
        return type(self).compute_on is not Diagnostic.compute_on

    @property
    def makes_texts(self) -> bool:
        """Whether it has ``as_read``, so that more than the dataset's texts is encoded."""
        return type(self).as_read is not Diagnostic.as_read

    @property
    def takes_rescored(self) -> bool:
        """Whether it has ``compute_twice``."""
        return type(self).compute_twice is not Diagnostic.compute_twice

    @property
    def takes_rankings(self) -> bool:
        """Whether it has ``rank``."""
        return type(self).rank is not Diagnostic.rank

    def on(self, device: str) -> Compute:
        """Its computation on ``cpu`` or a torch device."""
        return self.compute if device == "cpu" or not self.computes_on_gpu else partial(self.compute_on, device)

    # --- what follows from its runs

    def item_scores(
        self,
        runs: Sequence[RunRecord],
        repository: Repository,  # noqa: ARG002 - its own have none
    ) -> Sequence[Mapping[str, ItemScores]]:
        """The scores by name that are made of items, for each of some finished runs over one content; empty by default.
        All tests follow from them.

        Rows are read once, and scores of the same items share one ``Dependence``.

        Raises:
            InputError: the runs evaluated different items, and the diagnostic cannot compare such runs.
            BlindspotError: rows are not in the store.
        """
        return [{} for _ in runs]

    def evidence(self, material: Material) -> Iterable[Evidence]:  # noqa: ARG002 - as above
        """Evidence in some runs: one per hypothesis that it tested, significant or not, and facts that it counted.

        False discoveries can be controlled only over everything that was tested.

        Raises:
            BlindspotError: their rows are gone.
        """
        return []

    def triplets(
        self, run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
    ) -> Iterable[Triplet]:
        """Triplets to train with that a run orders wrongly, or with a lead of at most ``margin``: at most ``most``
        negatives of a kind for each anchor and positive, the worst first."""
        raise NotImplementedError

    @property
    def has_triplets(self) -> bool:
        return type(self).triplets is not Diagnostic.triplets

    @property
    def judges_sizes(self) -> bool:
        """Whether its scores are made of items, so that a loss has an interval."""
        return self.is_gate and all(self.won)

    def warning(self, run: RunRecord, settings: Settings, repository: Repository) -> str:  # noqa: ARG002 - as above
        """A sentence on what distorts a finished run's score; "" if nothing does."""
        return ""

    def doubts(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[str]:  # noqa: ARG002 - as above
        """A question for each dataset of finished runs whose answers all of them contradict; from stored rows alone."""
        return ()

    @property
    def read_metrics(self) -> list[str] | None:
        """Names of the scores on Evidence; None if they depend on the data."""
        among = type(self).readings_among is not Diagnostic.readings_among
        return None if among else [reading.metric for reading in self.readings]

    def readings_among(self, metrics: Sequence[str]) -> Sequence[Reading]:  # noqa: ARG002 - as above
        """Its scores on Evidence, chosen from all scores of its runs; overridden where they depend on the data."""
        return self.readings

    def at_version(self, version: int) -> Self:
        """The diagnostic with another version of its numbers, to read rows of that version."""
        earlier = copy(self)
        earlier.version = version
        return earlier

    # --- what follows from its data

    @property
    def explained(self) -> str:
        """How it is computed, and with which prompts, as markdown."""
        return f"{self.how.rstrip()}\n\n**Prompts.** {self._prompts[0].upper()}{self._prompts[1:]}\n"

    @property
    def _prompts(self) -> str:
        return self.roles.in_words if self.roles else ONE_ROLE

    def preparation(self, params: Mapping[str, str]) -> Preparation | None:
        """The protocol's replacement for the transform, if it has one."""
        return self.preparations.get(params.get("protocol", ""))

    def address_of_two(self, a: str, b: str, dataset: str) -> dict[str, str]:
        """``two_in_address`` filled in for two variants."""
        return {key: value.format(a=a, b=b, dataset=dataset) for key, value in self.two_in_address.items()}

    def headline_of(self, metrics: Mapping[str, float]) -> str:
        """Name of the metric to show for a run with these metrics, or ""."""
        return next((name for name in (self.headline, self.headline_instead) if name in metrics), "")

    @property
    def deeper(self) -> str:
        """Stem of the page with more than the Overview."""
        return self.overview.page or (self.page.stem if self.page else "")

    @property
    def place(self) -> tuple[str, dict[str, str]]:
        """Stem of the page that shows its scores, and the parameters that open them there."""
        return (self.page.stem, {}) if self.page else ("overview", {"scores": self.id})

    @property
    def headline_is_lower_better(self) -> bool:
        return any(m.name == self.headline and m.higher_is_better is False for m in self.metrics)

    def declared(self, name: str) -> Score | None:
        """Declaration of a computed score or its family; None for scores of a user's own subsets."""
        exact = (metric for metric in self.metrics if metric.name == name)
        return next(exact, next((family for family in self.families if name.startswith(family.name)), None))

    def title_of(self, score: str) -> str:
        """A score for people; its name where *Overview* does not show it."""
        return self.overview.columns.get(score, score)

    @property
    def has_metric(self) -> bool:
        """Whether the similarity can be chosen."""
        return any(parameter.name == "metric" for parameter in self.parameters)

    def measured(self, metrics: Mapping[str, float], name: str) -> Measured | None:
        """A stored score with its interval, if the run has stored one; None if the score itself is not there."""
        if name not in metrics:
            return None
        low, high = (metrics.get(f"{name}{end}") for end in ENDS)
        declared = self.declared(f"{name}{ENDS[0]}")  # those of a user's own subsets are not
        is_interval = declared is None or declared.is_end
        ends = Interval(low, high) if is_interval and low is not None and high is not None else None
        return Measured(metrics[name], ends)

    def metrics_of(self, names: Iterable[str]) -> list[Score]:
        """The declared metrics among these, then the others (of a user's own subsets, say) in the given order."""
        stored = dict.fromkeys(names)
        declared = [metric for metric in self.metrics if metric.name in stored]
        declared_names = {metric.name for metric in declared}
        return declared + [Score(name, "", None) for name in stored if name not in declared_names]

    @property
    def table(self) -> str:
        """Name of its per-item table in the store."""
        return result_table(self.id, self.version)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])

    def check_params(self, given: Mapping[str, str]) -> dict[str, str]:
        """All parameters as a run names them: defaults filled in, except for ``only_if_chosen`` ones.

        Raises ``InputError`` for an unknown parameter or value.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if not by_name:
                raise InputError(f"{self.id} has no parameters, but '{name}' is given", remedy=f"leave {name} out")
            if name not in by_name:
                raise unknown(f"parameter of {self.id}", name, by_name)
        checked = {name: parameter.check(parameter.value_in(given)) for name, parameter in by_name.items()}
        return {
            name: value
            for name, value in checked.items()
            if not (by_name[name].only_if_chosen and value == by_name[name].default)
        }


def parameters() -> Mapping[str, Parameter]:
    """The parameters of all diagnostics by name; the first one if several have the same name."""
    declared: dict[str, Parameter] = {}
    for entry in all_diagnostics().values():
        for parameter in entry.parameters:
            declared.setdefault(parameter.name, parameter)
    return declared


def result_table(diagnostic: str, version: int) -> str:
    """Name of the table of a diagnostic's per-item rows."""
    return f"result_{diagnostic}_v{version}"


def in_words(params: Mapping[str, str]) -> str:
    """The values of a run's parameters, for people: ``cos, definition, fitted on stsb-dev``."""
    chosen = {name: parameter for name, parameter in parameters().items() if parameter.only_if_chosen}
    parts = [
        f"{name} {chosen[name].as_shown(value)}" if name in chosen else value
        for name, value in params.items()
        if name != FIT_ON
    ]
    return ", ".join([*parts, *([f"fitted on {params[FIT_ON]}"] if FIT_ON in params else [])])


# The module in ``blindspot.diagnostics`` of each ENTRY, in the order in which pages and commands list them.
MODULES = (
    "evalrank.definition",
    "heros.definition",
    "similarity.definition",
    "words.analogy",
    "words.categorization",
    "words.outliers",
    "words.thematic_fit",
    "words.chunking.definition",
    "geometry.definition",
    "frequency.definition",
    "transfer.definition",
    "transfer.learning_curve",
    "probing.definition",
    "retrieval.definition",
    "retrieval.long_texts.definition",
)


@cache
def all_diagnostics() -> Mapping[str, Diagnostic]:
    """All diagnostics by id; imported by name, so that this module does not depend on them."""
    entries = [import_module(f"blindspot.diagnostics.{module}").ENTRY for module in MODULES]
    return MappingProxyType({entry.id: entry for entry in entries})


def find_diagnostic(diagnostic_id: str) -> Diagnostic:
    """The entry of a diagnostic id; raises ``InputError`` for an unknown one and suggests the nearest."""
    entries = all_diagnostics()
    if diagnostic_id not in entries:
        raise unknown("diagnostic", diagnostic_id, entries)
    return entries[diagnostic_id]
