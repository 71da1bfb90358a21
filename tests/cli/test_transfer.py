"""The command line on transfer runs: its own parameters, and two runs compared."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer.outcomes import outcomes
from blindspot.numerics.statistics.intervals import mcnemar
from blindspot.settings import Settings
from tests.support import transfer_world
from tests.support.commands import Command
from tests.support.world import World


@pytest.fixture
def settings(toys: World) -> Settings:
    return toys.settings


def test_run_takes_the_classifier(toys: World, blindspot: Command) -> None:
    asked = ["run", "transfer", "--encoder", "trigrams", "--dataset", transfer_world.SPLIT]
    (found,) = blindspot.json(*asked, "--classifier", "mlp", "--seed", "1")["runs"]
    run = toys.run("transfer", "trigrams", transfer_world.SPLIT, classifier="mlp")
    assert (found["run_id"], found["computed"]) == (run.run_id, False)
    assert found["params"] == {"classifier": "mlp", "seed": "1"}
    assert "forest" in blindspot.error(*asked, "--classifier", "forest")


def test_what_is_covered_is_counted_in_examples(blindspot: Command) -> None:
    said = blindspot.out("run", "transfer", "--encoder", "lacks", "--dataset", transfer_world.SPLIT)
    assert "of 158 examples" in said
    assert "tested" in said


def test_two_runs_are_compared_by_mcnemar(toys: World, blindspot: Command) -> None:
    runs = [toys.run("transfer", name, transfer_world.SPLIT) for name in ("trigrams", "bigrams")]
    ids = [run.run_id for run in runs]
    found = blindspot.json("runs", "compare", *ids)
    (row,) = found["scores"]
    rows = outcomes(find_diagnostic("transfer"), ids, toys.repository)
    a, b = (rows.right(run_id).astype(np.float64) for run_id in ids)
    assert (row["n"], row["p"]) == (43, mcnemar(a, b))
    assert [row["wins"], row["losses"], row["alike"]] == [(a > b).sum(), (a < b).sum(), (a == b).sum()]
    assert row["a"] == runs[0].metrics["accuracy"]
    assert row["low"] <= row["difference"] <= row["high"]
    assert found["said"][0] in blindspot.out("runs", "compare", *ids)
    assert "no filtered ranks" in blindspot.error("runs", "compare", *ids, "--ranks", "filtered")


def test_two_classifiers_on_one_encoder_are_told_apart(toys: World, blindspot: Command) -> None:
    ids = [toys.run("transfer", "trigrams", transfer_world.SPLIT, classifier=kind).run_id for kind in ("logreg", "mlp")]
    assert "trigrams (logreg) vs trigrams (mlp)" in blindspot.out("runs", "compare", *ids)
