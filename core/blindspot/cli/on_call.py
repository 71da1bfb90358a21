"""Commands that are imported when they are called, so that ``--version`` and ``--help`` do not import them all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from blindspot.names import Kind


class Place(NamedTuple):
    """Where a command is: a function, or a ``Typer`` of several commands."""

    module: str
    attribute: str
    help: str = ""  # name of the module's text, if that is not the docstring

    def load(self, name: str) -> Any:
        """The command, as Typer makes it; names of models and datasets reach it as references."""
        module = import_module(self.module)
        target = getattr(module, self.attribute)
        if not isinstance(target, typer.Typer):
            holder = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            holder.command(name, help=getattr(module, self.help) if self.help else None)(target)
            target = holder
        command = typer.main.get_command(target)
        command.name = name
        _with_references(command)
        return command

    def summary(self) -> str:
        """Its help, read from the source without importing it.

        Raises:
            LookupError: the module does not define it at its top.
        """
        spec = find_spec(self.module)
        if spec is None or spec.origin is None:
            raise LookupError(f"there is no module {self.module}")
        wanted = self.help or self.attribute
        for node in ast.parse(Path(spec.origin).read_text("utf-8")).body:
            match node:
                case ast.FunctionDef(name=name) if name == wanted:
                    return ast.get_docstring(node) or ""
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == wanted:
                    help_ = value if self.help else next(k.value for k in value.keywords if k.arg == "help")  # type: ignore[attr-defined]
                    return str(ast.literal_eval(help_))
        raise LookupError(f"{self.module} does not define {wanted}")


# Options and arguments that name something, whatever the command.
_MODELS = ("encoder", "variant", "also", "a", "b", "baseline", "reference")
_DATASETS = ("dataset", "data", "fit_on", "test_on")
_OF_A_DATASET = ("--dataset", "--data")  # every command takes both


def _with_references(command: Any) -> None:
    """Let a command, or those of a group, get references for other names that people typed, and take both names of the
    option for a dataset."""
    for inner in getattr(command, "commands", {}).values():
        _with_references(inner)
    if (called := command.callback) is None:
        return
    for parameter in command.params:
        if not set(parameter.opts).isdisjoint(_OF_A_DATASET):
            parameter.opts = list(dict.fromkeys([*parameter.opts, *_OF_A_DATASET]))

    @wraps(called)
    def with_references(**values: Any) -> Any:
        for kind, names in ((Kind.MODEL, _MODELS), (Kind.DATASET, _DATASETS)):
            for name in names:
                given = values.get(name)
                if isinstance(given, str) and given and not _is_record(name, given):
                    values[name] = _reference(kind, given)
                elif isinstance(given, list | tuple):
                    values[name] = [_reference(kind, text) for text in given]
        return called(**values)

    command.callback = with_references


def _reference(kind: Kind, given: str) -> str:
    """The reference of a path, of a name of the hub, or of a name that tables give a model or dataset of the store."""
    from blindspot.datasets.named import dataset_named
    from blindspot.encoders.named import encoder_named
    from blindspot.settings import Settings
    from blindspot.store.naming import reference_of

    named = (encoder_named if kind is Kind.MODEL else dataset_named)(given)
    return reference_of(kind, named, Settings.from_environment())


def _is_record(name: str, given: str) -> bool:
    """Whether a value names a file of scores, which the gate takes in place of a baseline."""
    return name == "baseline" and given.endswith(".json")


class _Loaded(Mapping[str, Any]):
    """Commands by name, each imported when it is asked for."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self.places = places
        self._load = cache(lambda name: places[name].load(name))

    def __getitem__(self, name: str) -> Any:
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def group(places: Mapping[str, Place]) -> type[TyperGroup]:
    """A group of these commands, for ``typer.Typer(cls=...)``."""

    class OnCall(TyperGroup):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands = _Loaded(places)  # type: ignore[assignment]

        def format_help(self, ctx: Any, formatter: Any) -> None:
            loaded = self.commands
            self.commands = {
                name: TyperCommand(name, help=command_place.summary()) for name, command_place in places.items()
            }
            try:
                super().format_help(ctx, formatter)
            finally:
                self.commands = loaded

    return OnCall
