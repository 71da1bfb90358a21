"""Commands of the command line, run in this process, and what they gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from core import cli

RUN_KEYS = {"run_id", "diagnostic", "encoder", "dataset", "params", "metrics", "coverage", "timings", "manifest"}
MORE_RUN_KEYS = {"transform", "computed"}  # beside those of DESIGN 6


@dataclass(frozen=True)
class Said:
    """What a command gave: its exit code and its streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stdout holds, which is one JSON object and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def error(self) -> str:
        """The one line on stderr that says what was wrong; there is nothing on stdout."""
        assert self.out == ""
        assert self.err.endswith("\n")
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")


Command = Callable[..., Said]
COMMAND = "python -m core"


def parse(arguments: list[str]) -> tuple[str, Mapping[str, Any]]:
    """The command that is named, and its parameters; raises what the command line itself would say."""
    command: Any = typer.main.get_command(cli.app)
    context = command.make_context(COMMAND, arguments)
    path: list[str] = []
    while rest := [*context._protected_args, *context.args]:
        name, command, rest = context.command.resolve_command(context, rest)
        path.append(name)
        context = command.make_context(name, rest, parent=context)
        if not hasattr(command, "resolve_command"):
            break
    return " ".join(path), context.params
