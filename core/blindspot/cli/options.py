"""Parts that several commands share: options with their help; settings, store, models and runs that they begin with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from blindspot.cli import output
from blindspot.datasets import fetch
from blindspot.datasets.catalog import OWN_FILE, OWN_FOLDER, DatasetEntry, DatasetRef
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.user_data.reference import ROLES, NamedColumns, is_own, reference_of_files, with_columns
from blindspot.datasets.user_data.retrieval_folder.options import FORMS
from blindspot.diagnostic import Diagnostic, find_diagnostic, parameters
from blindspot.encoders.catalog import variant_named
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.scope import Scope
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.transforms.chain import STEPS
from blindspot.variants import Variant

if TYPE_CHECKING:
    from blindspot.runs.spaces import Space

TRANSFORM_HELP = (
    f"transform chain, for example abtt:2 or center+whiten:128, of {', '.join(s.usage for s in STEPS.values())}; "
    "repeat for several"
)
COVERED_HELP = (
    "texts to rank when word vectors lack some: those that all encoders cover, so that scores are comparable (common), "
    "or those that each encoder covers (own)"
)
FIT_ON_HELP = (
    "dataset id: fit the transform on the texts of that dataset (held out) instead of the evaluated texts; recorded "
    "with the run"
)


COLUMNS_PANEL = "Columns of your own file"
FILES_PANEL = "Your own queries, documents and judgments, a file each"


class Covered(StrEnum):
    """Items to rank where several encoders are compared."""

    COMMON = "common"
    OWN = "own"


Variants = Annotated[
    list[str] | None, typer.Option("--variant", help="model, as ENCODER~TRANSFORM; repeat for several")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
SetId = Annotated[str, typer.Argument(metavar="SET", help="id of a set of items, or its beginning; see: judge list")]


Encoder = Annotated[str, typer.Option(help="encoder reference")]
Encoders = Annotated[list[str], typer.Option(help="encoder reference; repeat for several")]
Transforms = Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)]
Metric = Annotated[Similarity, typer.Option(help="similarity")]
OneDataset = Annotated[str, typer.Option(help=f"dataset id or {OWN_FILE}")]
Datasets = Annotated[list[str] | None, typer.Option(help=f"dataset id, {OWN_FILE} or {OWN_FOLDER}; repeat for several")]
OnDatasets = Annotated[
    list[str] | None, typer.Option(help="only results on this dataset; repeat for several; default: all")
]
OfDiagnostics = Annotated[
    list[str] | None,
    typer.Option(help="only results of this diagnostic, for example evalrank; repeat for several; default: all"),
]
RunId = Annotated[str, typer.Argument(help="run id, or its beginning")]

Command = Callable[..., None]


def settings_and_store() -> tuple[Settings, Repository]:
    """What nearly every command begins with; ``InputError`` if a setting is wrong."""
    settings = Settings.from_environment()
    return settings, Repository.at(settings.store)


# --- models, and their spaces


def variants_of(encoders: Sequence[str], transforms: Sequence[str] | None) -> list[Variant]:
    """Every encoder with every transform (``none`` by default), without repetitions.

    Raises:
        InputError: an unknown encoder or transform.
    """
    return list(dict.fromkeys(variant_named(e, chain) for e in encoders for chain in transforms or ["none"]))


def opened(variants: Sequence[Variant], entry: DatasetEntry, settings: Settings) -> tuple[Dataset, tuple[Space, ...]]:
    """The dataset and its space under each variant; missing embeddings are computed."""
    from blindspot.runs import pipeline
    from blindspot.runs.spaces import open_spaces

    repository, named = Repository.at(settings.store), DatasetRef(entry.id)
    requests = [EncodeRequest(reference, named) for reference in dict.fromkeys(v.encoder for v in variants)]
    output.announce(requests, settings)
    for request in requests:
        with output.progress(request.label) as progress:
            pipeline.encode(request, settings, repository, progress)
    dataset = fetch.load(entry, settings)
    return dataset, open_spaces(variants, dataset, settings)


def named_variants(named: Sequence[str] | None) -> tuple[Variant, ...]:
    """The models of ``--variant``, each once; raises ``InputError``."""
    parsed = map(Variant.parse, named or ())
    return tuple(dict.fromkeys(variant_named(model.encoder, model.transform) for model in parsed))


def finished_run(run_id: str, repository: Repository, *diagnostics: str) -> tuple[Diagnostic, RunRecord]:
    """A finished run of one of some diagnostics, by its id or the beginning of it.

    Raises:
        InputError: there is no such run, or it is of another diagnostic or another version.
    """
    record = repository.run(run_id)
    if record.plan.diagnostic not in diagnostics or record.state is not RunState.DONE:
        raise InputError(
            f"run {record.run_id} is a {record.state} run of {record.plan.diagnostic}",
            expected=f"a finished run of {' or '.join(diagnostics)}",
        )
    entry = find_diagnostic(record.plan.diagnostic)
    if record.plan.diagnostic_version != entry.version:
        raise InputError(
            f"run {record.run_id} was computed by version {record.plan.diagnostic_version} of {entry.id}",
            expected=f"version {entry.version}",
            remedy="run it again",
        )
    return entry, record


def named(run: RunRecord) -> dict[str, Any]:
    return {"run_id": run.run_id, "encoder": run.plan.variant.encoder, "transform": run.plan.variant.transform}


def check_file(
    path: Path, endings: Sequence[str] = (".csv", ".parquet"), wrong: str = "cannot tell the format of"
) -> None:
    """Check the name of an output file before doing any work for it.

    Raises:
        InputError: the name has none of these endings, or the folder is missing.
    """
    if path.suffix not in endings:
        raise InputError(f"{wrong} '{path}'", expected=f"a name that ends in {' or '.join(endings)}")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", expected="an existing folder for the file")


@dataclass(frozen=True)
class OwnNames:
    """What options say about a user's own data.

    Attributes:
        columns: of a file; None if none are named.
        files: reference of three files of queries, documents and judgments; "" if none are named.
    """

    columns: NamedColumns | None
    files: str


def names_own_data(command: Command) -> Command:
    """Add options to a command that name a user's columns, one per role, such as ``--query-column``, and three files:
    ``--queries``, ``--documents`` and ``--judgments``.

    The command receives them as ``own``: ``OwnNames``.
    """
    options = {}
    for role in ROLES.values():
        option = typer.Option(help=role.meaning, metavar="NAME", rich_help_panel=COLUMNS_PANEL)
        options[f"{role.name}_column"] = Annotated[(list[str] if role.repeats else str) | None, option]
    for part, form in FORMS.items():
        named = "&".join(f"{role}=NAME" for role in form.needed)
        option = typer.Option(help=f"file of {part}", metavar=f"PATH[?{named}]", rich_help_panel=FILES_PANEL)
        options[part] = Annotated[str | None, option]

    def own(values: Mapping[str, Any]) -> OwnNames:
        files = {part: values[part] for part in FORMS if values[part]}
        named = [
            (option.removesuffix("_column"), column)
            for option, value in values.items()
            if value and option not in FORMS
            for column in (value if isinstance(value, list) else [value])
        ]
        return OwnNames(NamedColumns.of(named) if named else None, reference_of_files(files) if files else "")

    return _expanded(command, "own", options, own)


def takes_parameters(*, several: bool) -> Callable[[Command], Command]:
    """Add an option to a command for every parameter of any diagnostic, such as ``--metric``.

    The command receives them as ``params``: a value by parameter or, with ``several``, a list.
    """
    options = {}
    for name, parameter in parameters().items():
        more = f"; repeat for {'both' if len(parameter.choices) == 2 else 'several'}" if several else ""
        option = typer.Option(help=f"{parameter.option or parameter.description}{more}")
        options[name] = Annotated[(list[str] if several else str) | None, option]

    def given(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value is not None and value != []}

    return lambda command: _expanded(command, "params", options, given)


def _expanded(
    command: Command, name: str, options: Mapping[str, Any], made: Callable[[Mapping[str, Any]], object]
) -> Command:
    """A command with ``options`` (annotations by name) in place of its parameter ``name``; ``made`` combines them."""
    hints = get_type_hints(command, include_extras=True) | dict(options)
    expanded = list[inspect.Parameter]()
    for own in inspect.signature(command).parameters.values():
        replaced = [inspect.Parameter(option, own.kind, default=None) for option in options]
        expanded += replaced if own.name == name else [own]

    @wraps(command)
    def with_options(**values: Any) -> None:
        given = made({option: values.pop(option) for option in options})
        command(**values, **{name: given})

    with_options.__annotations__ = {parameter.name: hints[parameter.name] for parameter in expanded}
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what typer reads
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in expanded]
    )
    return with_options


def datasets_named(names: Sequence[str] | None) -> tuple[DatasetRef, ...]:
    """The datasets of an option, each once; raises ``InputError``."""
    return tuple(dict.fromkeys(map(DatasetRef.parse, names or ())))


def dataset_named(name: str) -> DatasetRef:
    """The dataset of an option; raises ``InputError``."""
    return datasets_named([name])[0]


def scope_named(datasets: Sequence[str] | None, diagnostics: Sequence[str] | None, repository: Repository) -> Scope:
    """The results of ``--dataset`` and ``--diagnostic``; raises ``InputError``, which names the nearest."""
    named = dict.fromkeys(find_diagnostic(name).id for name in diagnostics or ())
    return Scope(datasets_named(datasets), tuple(named)).as_stored(repository)


def datasets_of(given: Sequence[str], own: OwnNames) -> list[DatasetRef]:
    """References of datasets, users' files with the named columns; the reference of the three files comes last.

    Raises:
        InputError: columns are named but no dataset is a file; or for the reasons of ``with_columns``.
    """
    references = list(given)
    if own.columns is not None:
        if not any(map(is_own, given)):
            raise InputError("columns are named, but no dataset is a file of your own", expected="--dataset PATH")
        references = [with_columns(dataset, own.columns) if is_own(dataset) else dataset for dataset in given]
    return [*map(DatasetRef, [*references, own.files] if own.files else references)]


def dataset_of(given: str, own: OwnNames, option: str = "--data") -> DatasetRef:
    """The reference of the one dataset of a command: an id, a reference, a path, or three files.

    Args:
        option: the command's name for it.

    Raises:
        InputError: there is none, or more than one; or for the reasons of ``datasets_of``.
    """
    if bool(given) == bool(own.files):
        what = f"'{given}' and three files are two datasets" if given else "there is no dataset"
        raise InputError(what, expected=f"{option}, or --queries, --documents and --judgments")
    return dataset_named(datasets_of([given] if given else [], own)[0])
