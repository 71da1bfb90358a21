"""Commands, run in this process or in one of their own, and their output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
import typer

from blindspot import cli
from blindspot.cli import output
from blindspot.settings import ROOT, Settings

RUN_KEYS = {"run_id", "diagnostic", "encoder", "dataset", "params", "metrics", "coverage", "timings", "manifest"}
MORE_RUN_KEYS = {"transform", "computed"}  # besides those that scripts rely on


class Said(NamedTuple):
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


class Command:
    """A way to run commands: called, it gives what a command said; its methods say what is expected of it."""

    def __init__(self, run: Callable[..., Said]) -> None:
        self._run = run

    def __call__(self, *arguments: str, **variables: str) -> Said:
        return self._run(*arguments, **variables)

    def out(self, *arguments: str) -> str:
        """The output of a command that succeeds."""
        said = self._run(*arguments)
        assert said.code == 0, said.err
        return said.out

    def json(self, *arguments: str) -> Any:
        """The JSON object of a command that succeeds."""
        said = self._run(*arguments, "--json")
        assert said.code == 0, said.err
        return said.json

    def error(self, *arguments: str, code: int = 2, **variables: str) -> str:
        """The one line of a command that fails."""
        said = self._run(*arguments, **variables)
        assert said.code == code, said
        return said.error


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings of the test, and nothing else of ours, in the environment."""
    for name in [name for name in os.environ if name.upper().startswith("BLINDSPOT")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    return settings


@pytest.fixture
def blindspot(environment: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in this process, without progress: on a busy machine there would be some."""
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", float("inf"))

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = cli.main(arguments)
        return Said(code, *capsys.readouterr())

    return Command(run)


def python(
    *arguments: str, env: Mapping[str, str] | None = None, given: str | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, in the repository's folder; ``given`` is its input."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, input=given, capture_output=True, text=True, timeout=timeout, check=False
    )


# Reads commands from its input, and prints what each said.
IN_TURN = """
import contextlib, io, json, sys
from blindspot.cli import main

said = []
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(arguments)
    said.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(said))
"""


def in_turn(*commands: Sequence[str], env: Mapping[str, str]) -> list[Said]:
    """What each of some commands said, one after the other in one process: starting one takes seconds."""
    done = python("-c", IN_TURN, env=env, given=json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return [Said(*one) for one in json.loads(done.stdout)]


@pytest.fixture
def child(environment: Settings) -> Command:
    """Run a command in a process of its own, as a script would."""

    def run(*arguments: str, **variables: str) -> Said:
        done = python("-m", "blindspot", *arguments, env={**os.environ, **variables})
        return Said(done.returncode, done.stdout, done.stderr)

    return Command(run)


COMMAND = "blindspot"


@cache
def _command() -> Any:
    return typer.main.get_command(cli.app)


def parse(arguments: list[str]) -> tuple[str, Mapping[str, Any]]:
    """The command that is named, and its parameters; raises what the command line itself would say."""
    command: Any = _command()
    context = command.make_context(COMMAND, arguments)
    path: list[str] = []
    while rest := [*context._protected_args, *context.args]:
        name, command, rest = context.command.resolve_command(context, rest)
        path.append(name)
        context = command.make_context(name, rest, parent=context)
        if not hasattr(command, "resolve_command"):
            break
    return " ".join(path), context.params
