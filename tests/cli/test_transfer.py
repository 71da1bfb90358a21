"""The command line on transfer runs: its own parameters, and two runs compared."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from core import cli
from core import diagnostic as diagnostics
from core.diagnostics.transfer.outcomes import outcomes
from core.numerics.statistics.intervals import mcnemar
from core.settings import Settings
from core.store.repository import Repository
from tests.support import transfer_world as toy


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Repository]]:
    with toy.world(tmp_path_factory.mktemp("transfer-cli")) as world:
        yield world


@pytest.fixture(autouse=True)
def here(stored: tuple[Settings, Repository], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(stored[0].cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")


def test_run_takes_the_classifier(stored: tuple[Settings, Repository], capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "transfer", "--encoder", "trigrams", "--dataset", toy.SPLIT]
    assert cli.main([*asked, "--classifier", "mlp", "--seed", "1", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    run = toy.run("trigrams", toy.SPLIT, "mlp", *stored)
    assert (found["run_id"], found["computed"]) == (run.run_id, False)
    assert found["params"] == {"classifier": "mlp", "seed": "1"}
    assert cli.main([*asked, "--classifier", "forest"]) == 2
    assert "forest" in capsys.readouterr().err


def test_what_is_covered_is_counted_in_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "transfer", "--encoder", "lacks", "--dataset", toy.SPLIT]) == 0
    said = capsys.readouterr().out
    assert "of 158 examples" in said
    assert "tested" in said


def test_two_runs_are_compared_by_mcnemar(
    stored: tuple[Settings, Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [toy.run(name, toy.SPLIT, "logreg", *stored) for name in ("trigrams", "bigrams")]
    ids = [run.run_id for run in runs]
    assert cli.main(["runs", "compare", *ids, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    every, clean = found["compared"]
    rows = outcomes(diagnostics.find("transfer"), ids, stored[1])
    test = mcnemar(*(rows.right(run_id).astype(np.float64) for run_id in ids))
    assert (every["tested"], clean["tested"]) == (43, 42)
    assert every["p_value"] == test.p_value
    assert [every["first_better"], every["second_better"]] == [test.first_better, test.second_better]
    assert every["first_accuracy"] == runs[0].metrics["accuracy"]
    assert every["low"] <= every["difference"] <= every["high"]
    assert cli.main(["runs", "compare", *ids]) == 0
    said = capsys.readouterr().out
    assert found["verdict"][0] in said
    assert "without overlap" in said
    assert cli.main(["runs", "compare", *ids, "--ranks", "filtered"]) == 2


def test_two_classifiers_on_one_encoder_are_told_apart(
    stored: tuple[Settings, Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [toy.run("trigrams", toy.SPLIT, kind, *stored).run_id for kind in ("logreg", "mlp")]
    assert cli.main(["runs", "compare", *ids]) == 0
    assert "trigrams (logreg) is right on" in capsys.readouterr().out
