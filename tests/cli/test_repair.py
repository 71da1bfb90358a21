"""Command ``repair``: a report as a table and as JSON, kept; an export; one line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.studies.repair import fitting, task
from tests.support.commands import Command

SMALL = ("repair", "--encoder", "random-projection", "--data", "demo-minimal", "--test-on", "demo-scored")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "STEPS", 30)
    monkeypatch.setattr(task, "SHUFFLED", 1)


@pytest.mark.trains
def test_a_report_is_kept_and_told(blindspot: Command) -> None:
    found = blindspot.json(*SMALL)
    assert found["chain"].startswith("repair:")
    assert found["verdict"] in {"worth it", "not worth it", "undecided"}
    first, *others = found["measures"]
    assert first["part"] == "held out"
    assert {one["dataset"] for one in others} == {"demo-minimal", "demo-scored"}
    assert blindspot.json(*SMALL)["made"] == found["made"], "it is not trained again"
    said = " ".join(blindspot.out(*SMALL).split())
    assert found["answer"][0] in said
    assert found["chain"] in said
    ran = blindspot.json(
        "run", "similarity", "--encoder", "random-projection", "--transform", found["chain"], "--dataset", "demo-scored"
    )
    damage = next(one for one in others if one["dataset"] == "demo-scored")
    (run,) = ran["runs"] if isinstance(ran, dict) and "runs" in ran else [ran] if isinstance(ran, dict) else ran
    assert run["metrics"]["spearman"] == pytest.approx(damage["after"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--data", "demo-scored"), "has no triplets"),
        (("--encoder", "lsa"), "fits no other dataset"),
        (("--encoder", "bm25"), "without vectors"),
        (("--test-on", "demo-minimal"), "trained on"),
        (("--output", "/nowhere/at/all"), "there is no folder"),
    ],
)
def test_what_is_wrong_is_one_line(blindspot: Command, more: tuple[str, ...], said: str) -> None:
    found = blindspot(*SMALL, *more)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_only_models_of_sentence_transformers_are_exported(blindspot: Command, tmp_path: Path) -> None:
    found = blindspot(*SMALL, "--output", str(tmp_path / "new"))
    assert found.code == 2
    assert "dir: or hf:" in found.err
    assert not (tmp_path / "new").exists()
