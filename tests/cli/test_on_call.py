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
from blindspot.runs import sweeps
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


def test_every_option_of_a_dataset_has_both_names() -> None:
    commands = list(typer.main.get_command(cli.app).commands.values())  # type: ignore[attr-defined]
    options = []
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        options += [set(option.opts) for option in command.params if {"--dataset", "--data"} & set(option.opts)]
    assert len(options) > 10
    assert all(names == {"--dataset", "--data"} for names in options)


def test_without_arguments_those_of_the_process_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["blindspot", "--version"])
    assert main() == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_paths_of_models_and_data_are_understood_by_every_command(
    blindspot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the page Models: what is there, what is not, and whose name says what it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "pairs.csv").write_text("query,match\na cat,the cat\na dog,the dog\n")
    for data in ("pairs.csv", "./pairs.csv", str(tmp_path / "pairs.csv"), "pairs.csv?query=match&match=query"):
        assert "a cat" in blindspot("data", "show", data).out, data
    for command in (
        ("run", "evalrank", "--encoder", "mine", "--dataset", "pairs.csv"),
        ("neighbors", "a cat", "--encoder", "./mine", "--dataset", "pairs.csv"),
        ("hubs", "--encoder", str(tmp_path / "mine"), "--dataset", "pairs.csv"),
        ("gate", "--encoder", "mine~center", "--data", "pairs.csv", "--baseline", "minilm"),
        ("sweep", "--encoder", "mine", "--dataset", "pairs.csv", "--diagnostic", "evalrank"),
    ):
        said = blindspot(*command)
        assert said.code, command
        assert "mine" in said.err, (command, said.err)
        assert "unknown" not in said.err, "an empty folder is a folder without a model"
    for command in (
        ("run", "evalrank", "--encoder", "minilm", "--dataset", "no-such.csv"),
        ("threshold", "--encoder", "minilm", "--data", "out/none.csv"),
    ):
        assert "there is no file" in blindspot(*command).err, command


def test_a_sweep_names_paths_as_commands_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "pairs.csv").write_text("query,match\na cat,the cat\n")
    (tmp_path / "sweep.toml").write_text(
        'encoders = ["mine", "minilm"]\ndatasets = "pairs.csv"\ndiagnostics = "evalrank"\n'
    )
    sweep = sweeps.read_toml("sweep.toml")
    assert (sweep.encoders, sweep.datasets) == (("dir:mine", "minilm"), ("file:pairs.csv",))


def test_what_tables_call_a_model_or_a_dataset_names_it(blindspot: Command, tmp_path: Path) -> None:
    words = ["cat", "dog", "car", "bus", "tree", "leaf"]
    lines = [f"{word} {number % 3 + 1} {number % 4} {number}" for number, word in enumerate(words)]
    (tmp_path / "Our Vectors.txt").write_text("\n".join(lines), "utf-8")
    pairs = [f"{a},{b},{abs(words.index(a) - words.index(b))}" for a in words for b in words if a < b]
    (tmp_path / "alike.csv").write_text("\n".join(["word1,word2,score", *pairs]), "utf-8")
    model, data = f"vectors:{tmp_path}/Our Vectors.txt", f"file:{tmp_path}/alike.csv"
    (first,) = blindspot.json("run", "similarity", "--encoder", model, "--dataset", data)["runs"]
    (again,) = blindspot.json("run", "similarity", "--encoder", "our vectors", "--data", "alike")["runs"]
    assert (again["run_id"], again["computed"]) == (first["run_id"], False)
    blindspot.out("run", "similarity", "--encoder", "Our Vectors", "--transform", "center", "--data", "alike")
    compared = blindspot.json("compare", "Our Vectors", "Our Vectors~center")
    assert [side["encoder"] for side in (compared["a"], compared["b"])] == [model, model]
    for wrong, said in (
        (("Our Vector", "alike"), "unknown encoder 'Our Vector'; expected one of Our Vectors, bag-of-words,"),
        (("Our Vector", "alike"), "did you mean 'Our Vectors'?"),
        (("our vectors", "alik"), "unknown dataset 'alik'; "),
        (("our vectors", "alik"), "did you mean 'alike'?"),
    ):
        assert said in blindspot("run", "similarity", "--encoder", wrong[0], "--data", wrong[1]).error


def test_a_model_named_with_a_transform_where_the_two_are_apart(blindspot: Command, tmp_path: Path) -> None:
    for model in ("minilm", f"{tmp_path}/tuned", "dir:tuned"):
        error = blindspot("run", "evalrank", "--encoder", f"{model}~center", "--dataset", "demo-pairs").error
        assert "--transform center" in error
    assert "--transform" not in blindspot("run", "evalrank", "--encoder", "a~b", "--dataset", "demo-pairs").error
