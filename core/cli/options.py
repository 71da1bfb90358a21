"""Options that several commands share, with their help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from core.datasets.own.reference import REWRITE, ROLES, NamedColumns, is_own, with_columns
from core.diagnostic import parameters
from core.errors import InputError
from core.transforms.chain import STEPS

TRANSFORM_HELP = (
    f"transform chain, for example abtt:2 or center+whiten:128, of {', '.join(s.usage for s in STEPS.values())}; "
    "several times for several variants"
)
SUPPORT_HELP = (
    "which items are ranked where word vectors leave some out: those that all the encoders cover, so that their scores "
    "can be compared (common), or those that each one covers (own)"
)
FIT_ON_HELP = (
    "dataset id: fit the transform on that dataset's items, encoded by the same encoder, instead of on the very items "
    "that are evaluated (held out); the run remembers it"
)


COLUMNS_PANEL = "Columns of your own file"


class Support(StrEnum):
    """The items that an encoder of several is ranked on."""

    COMMON = "common"
    OWN = "own"


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
AnyRun = Annotated[str, typer.Argument(help="a run id, or how it begins")]
SetId = Annotated[str, typer.Argument(metavar="SET", help="id of a set of items, or how it begins; see: judge list")]


Command = Callable[..., None]


def names_columns(command: Command) -> Command:
    """Give a command an option for every role that a column of a user's file can have, ``--query-column`` and the like.

    The command gets what was named as ``columns``: a ``NamedColumns``, or None where nothing was.
    """
    options = {}
    for role, meaning in ROLES.items():
        option = typer.Option(help=meaning, metavar="NAME", rich_help_panel=COLUMNS_PANEL)
        options[f"{role}_column"] = Annotated[(list[str] if role == REWRITE else str) | None, option]

    def columns(values: Mapping[str, Any]) -> NamedColumns | None:
        named = [
            (option.removesuffix("_column"), column)
            for option, value in values.items()
            if value
            for column in (value if isinstance(value, list) else [value])
        ]
        return NamedColumns.of(named) if named else None

    return _expanded(command, "columns", options, columns)


def takes_parameters(*, several: bool) -> Callable[[Command], Command]:
    """Give a command an option for every parameter that a diagnostic has, ``--metric`` and the like.

    The command gets what was given as ``params``: a value by the parameter's name or, with ``several``, a list of them.
    """
    options = {}
    for name, parameter in parameters().items():
        more = f"; several times for {'both' if len(parameter.choices) == 2 else 'several'}" if several else ""
        option = typer.Option(help=f"{parameter.option or parameter.description}{more}")
        options[name] = Annotated[(list[str] if several else str) | None, option]

    def given(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value is not None and value != []}

    return lambda command: _expanded(command, "params", options, given)


def _expanded(
    command: Command, name: str, options: Mapping[str, Any], made: Callable[[Mapping[str, Any]], object]
) -> Command:
    """A command with options in the place of its parameter ``name``, which gets what is made of their values.

    Args:
        options: their annotations by name; each is None where it is not given.
    """
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


def of_columns(datasets: Sequence[str], columns: NamedColumns | None) -> list[str]:
    """References of datasets, those of users' files with the columns that were named beside them.

    Raises:
        InputError: columns are named and none of the datasets is a file; or as ``with_columns``.
    """
    if columns is None:
        return list(datasets)
    if not any(map(is_own, datasets)):
        raise InputError("columns are named, and no dataset is a file of yours", expected="--dataset file:PATH")
    return [with_columns(dataset, columns) if is_own(dataset) else dataset for dataset in datasets]
