"""Commands that are imported when they are called."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest
import typer

from blindspot import cli
from blindspot.cli import main
from tests.support.commands import Command, python
from tests.support.tables import each

HEAVY = ("numpy", "pandas", "duckdb", "torch", "streamlit", "rapidfuzz", "pyarrow", "scipy")


@each("name", list(cli.COMMANDS))
def test_the_help_of_all_says_what_the_help_of_each_says(name: str) -> None:
    command = typer.main.get_command(cli.app).commands[name]  # type: ignore[attr-defined]
    assert inspect.cleandoc(cli.COMMANDS[name].summary()).split() == inspect.cleandoc(command.help).split()


@pytest.mark.process
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["no-such-command"]])
def test_no_command_is_imported_for_what_needs_none(arguments: list[str], tmp_path: Path) -> None:
    program = f"import sys; from blindspot.cli import main; main({arguments}); print({{*sys.modules}} & {set(HEAVY)})"
    done = python("-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_mistyped_command_is_told_of_the_right_one(blindspot: Command) -> None:
    said = blindspot("threshhold")
    assert said.code == 2
    assert "threshold" in said.err


def test_every_command_is_found(blindspot: Command) -> None:
    for name in cli.COMMANDS:
        assert blindspot(name, "--help").code == 0, name


def test_without_arguments_those_of_the_process_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["blindspot", "--version"])
    assert main() == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", capsys.readouterr().out)
