"""Results narrowed down to datasets and diagnostics, by every command that shows stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.errors import InputError
from blindspot.runs.scope import EVERYTHING, Scope
from blindspot.studies.compare.rows import compare
from tests.studies.compare.conftest import A, B, C
from tests.support.commands import Command
from tests.support.world import World

COMMANDS = (("compare", A.encoder, B.encoder), ("findings",), ("report", "--out", "{out}"), ("runs",))


def test_nothing_named_is_everything() -> None:
    assert EVERYTHING.has("evalrank", "demo-pairs")
    scope = Scope(("demo-pairs",), ("evalrank", "heros"))
    assert [scope.has(*at) for at in (("evalrank", "demo-pairs"), ("geometry", "demo-pairs"), ("heros", "x"))] == [
        True,
        False,
        False,
    ]


def test_a_comparison_is_corrected_over_what_is_left(filled: World) -> None:
    whole = compare(A, B, filled.repository, {"metric": "cos"})
    assert whole.only(EVERYTHING).rows == whole.rows
    (row,) = whole.only(Scope(diagnostics=("evalrank",))).rows
    (same,) = (other for other in whole.rows if other.entry.id == "evalrank")
    assert row.difference == same.difference, "the verdict is the same everywhere"
    assert row.p_of_all == row.difference.p_corrected, "one row alone"
    with pytest.raises(InputError, match="HEROS"):
        whole.only(Scope(("demo-pairs",), ("heros",)))


def test_a_dataset_is_found_by_its_content_and_one_without_runs_does_not_become_everything(filled: World) -> None:
    assert Scope(("demo-words",)).as_stored(filled.repository) == Scope(("demo-words",))
    digest = filled.repository.runs(dataset="demo-pairs", metrics=[])[0].plan.dataset_digest
    filled.repository.remember_alias("file:/texts/moved.csv", digest)
    assert Scope(("file:/texts/moved.csv",)).as_stored(filled.repository).datasets == ("demo-pairs",)


def test_a_gap_outside_is_left_out(filled: World) -> None:
    whole = compare(A, C, filled.repository, {"metric": "cos"})
    assert {gap.diagnostic for gap in whole.missing} == {"heros", "geometry"}
    assert [gap.diagnostic for gap in whole.only(Scope(("demo-minimal",))).missing] == ["heros"]


def test_every_command_takes_the_same_options(blindspot: Command, filled: World, tmp_path: Path) -> None:
    two = blindspot.json("compare", A.encoder, B.encoder, "--dataset", "demo-pairs", "--diagnostic", "evalrank")
    assert [(row["diagnostic"], row["dataset"]) for row in two["rows"]] == [("evalrank", "demo-pairs")]
    both = ("--data", "demo-pairs", "--diagnostic", "evalrank", "--diagnostic", "heros")
    assert {f["diagnostic"] for f in blindspot.json("findings", "--all", *both)["findings"]} == {"evalrank"}
    runs = blindspot.json("runs", *both)["runs"]
    assert {(run["diagnostic"], run["dataset"]) for run in runs} == {("evalrank", "demo-pairs")}
    named = blindspot.json("report", "--out", str(tmp_path / "report.md"), *both)
    assert {run["diagnostic"] for run in named["runs"]} == {"evalrank"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_what_is_unknown_is_one_line_with_the_nearest(
    blindspot: Command, filled: World, tmp_path: Path, command: tuple[str, ...]
) -> None:
    words = [word.format(out=tmp_path / "report.md") for word in command]
    for options, nearest in (
        (("--dataset", "demo-pair"), "'demo-pairs'"),
        (("--diagnostic", "evalrnk"), "'evalrank'"),
    ):
        assert nearest in blindspot.error(*words, *options)


def test_what_was_not_run_is_said(blindspot: Command, filled: World, tmp_path: Path) -> None:
    for words in (("compare", A.encoder, B.encoder), ("findings",), ("report", "--out", str(tmp_path / "report.md"))):
        for options, named in (
            (("--dataset", "demo-words"), "demo-words"),
            (("--diagnostic", "outliers"), "outliers"),
            (("--dataset", "demo-pairs", "--diagnostic", "heros"), "HEROS"),
        ):
            assert named in blindspot.error(*words, *options)


def test_runs_and_a_scope_are_one_too_many(blindspot: Command, filled: World) -> None:
    assert "--dataset" in blindspot.error("findings", "0", "--dataset", "demo-pairs")
