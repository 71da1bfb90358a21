"""Options that several commands share, with their help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from core.datasets.own.reference import REWRITE, ROLES, NamedColumns, is_own, with_columns
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


def names_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every role that a column of a user's file can have, ``--query-column`` and the like.

    The command gets what was named as ``columns``: a ``NamedColumns``, or None where nothing was.
    """
    hints = {name: hint for name, hint in get_type_hints(command, include_extras=True).items() if name != "columns"}
    parameters = [p for p in inspect.signature(command).parameters.values() if p.name != "columns"]
    names = {role: f"{role}_column" for role in ROLES}
    for role, meaning in ROLES.items():
        option = typer.Option(help=meaning, metavar="NAME", rich_help_panel=COLUMNS_PANEL)
        several = role == REWRITE
        hints[names[role]] = Annotated[list[str] | None, option] if several else Annotated[str | None, option]
        parameters.append(inspect.Parameter(names[role], inspect.Parameter.KEYWORD_ONLY, default=None))

    @wraps(command)
    def with_options(**given: Any) -> None:
        values = {role: given.pop(name) for role, name in names.items()}
        several = [(role, value if isinstance(value, list) else [value]) for role, value in values.items() if value]
        named = [(role, column) for role, columns in several for column in columns]
        command(**given, columns=NamedColumns.of(named) if named else None)

    with_options.__annotations__ = hints
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what typer reads
        [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters]
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
