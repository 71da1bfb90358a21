"""Commands ``gate`` and ``audit`` on golden sets of one's own, good and bad."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.commands import Command
from tests.support.tables import each

THINGS = ("apple", "boat", "castle", "desk", "engine", "forest", "garden", "harbor", "island", "jacket")
WHERE = ("by the river", "in the old town", "under a red roof", "behind the station", "near our school")


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Fifty questions with a passage each."""
    path = tmp_path / "golden.jsonl"
    lines = [
        {"query": f"Where is the {thing} {where}?", "positives": [f"You find one {thing} {where}, next to the bakery."]}
        for thing in THINGS
        for where in WHERE
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


@pytest.mark.heavy
def test_a_baseline_is_recorded_and_gated_on(blindspot: Command, golden: Path, tmp_path: Path) -> None:
    recorded, junit, summary = (str(tmp_path / name) for name in ("gate.json", "gate.xml", "summary"))
    blindspot.out("gate", "--encoder", "lsa", "--data", str(golden), "--record", recorded)
    asked = ["gate", "--data", str(golden), "--baseline", recorded, "--junit", junit, "--markdown", summary]
    said = blindspot(*asked, "--encoder", "random-projection", "--json")
    assert said.code == {"passed": 0, "failed": 1, "undecided": 3}[said.json["outcome"]]
    assert said.json["drop"]["value"] == pytest.approx(said.json["old"]["value"] - said.json["new"]["value"])
    # The same of a run as of the file.
    again = blindspot(*asked[:3], "--baseline", "lsa", "--encoder", "random-projection", "--json")
    assert again.json == said.json
    # Both files tell one story: the summary has a part for each verdict.
    blindspot(*asked, "--encoder", "random-projection", "--score", "recall@100")
    assert Path(summary).read_text("utf-8").count("### ") == 2
    assert len(ElementTree.parse(junit).getroot()[0]) == 1


@pytest.mark.heavy
def test_the_same_model_is_undecided_on_few_items_and_passes_with_more_tolerance(
    blindspot: Command, golden: Path
) -> None:
    asked = ("gate", "--encoder", "lsa", "--baseline", "lsa", "--data", str(golden))
    said = blindspot(*asked)
    assert said.code == 3
    assert "149" in said.out  # 0.98 ** 149 < 0.05
    assert blindspot(*asked, "--max-drop", "0.06").code == 0  # 0.94 ** 50 < 0.05


def test_an_audit_says_what_needs_no_model(blindspot: Command, golden: Path, tmp_path: Path) -> None:
    seen = tmp_path / "train.txt"
    seen.write_text(f"Where is the {THINGS[0]} {WHERE[0]}?\n", "utf-8")
    found = blindspot.json("audit", str(golden), "--train", str(seen))
    assert (found["rows"], found["repeated"], found["contradicting"]) == (50, 0, 0)
    assert found["seen"] == [["train.txt", 1]]
    assert {one["name"] for one in found["reached"]} >= {"lsa", "random-projection"}
    assert len(found["reached"]) == 3  # and keyword search
    assert len(found["warnings"]) >= 1
    assert "train.txt" in blindspot("audit", str(golden), "--train", str(seen)).err


def rows(path: Path, *lines: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)


BAD: dict[str, list[list[str]]] = {
    "empty": [],
    "header only": [["query", "mate"]],
    "one row": [["query", "mate"], ["a cat", "a dog"]],
    "all equal": [["query", "mate"], *[["a cat", "a dog"]] * 20],
    "wrong columns": [["when", "where"], *[[f"{n}", f"{n * n}"] for n in range(20)]],
    "a mate missing": [["query", "mate"], *[[f"question {n}", "" if n == 7 else f"answer {n}"] for n in range(20)]],
}


@pytest.mark.parametrize("which", list(BAD))
def test_a_bad_golden_set_is_one_line(blindspot: Command, tmp_path: Path, which: str) -> None:
    path = tmp_path / "bad.csv"
    rows(path, *BAD[which])
    asked = ["gate", "--encoder", "random-projection", "--baseline", "lsa", "--data", str(path)]
    said = blindspot(*asked)
    assert said.code == 2
    *warnings, line = said.err.splitlines()
    assert line.startswith("error: ")
    assert all(warning.startswith("warning: ") for warning in warnings)
    assert said.out == ""


def test_another_golden_set_than_the_baselines_is_refused(blindspot: Command, golden: Path, tmp_path: Path) -> None:
    recorded = str(tmp_path / "gate.json")
    blindspot.out("gate", "--encoder", "lsa", "--data", str(golden), "--record", recorded)
    golden.write_text(golden.read_text("utf-8").replace("bakery", "baker"), "utf-8")
    line = blindspot.error("gate", "--encoder", "lsa", "--data", str(golden), "--baseline", recorded)
    assert "golden set" in line


@pytest.mark.heavy
@each(
    "asked",
    [
        ["--data", "nothing.jsonl", "--baseline", "lsa"],
        ["--data", "demo-analogies", "--baseline", "lsa"],
        ["--data", "demo-retrieval"],
        ["--data", "demo-retrieval", "--baseline", "lsa", "--score", "ndcg@11"],
        ["--data", "demo-retrieval", "--baseline", "lsa", "--max-drop", "2"],
        ["--data", "demo-retrieval", "--baseline", "lsa", "--alpha", "0"],
        ["--data", "demo-retrieval", "--baseline", "none.json"],
        ["--data", "demo-retrieval", "--baseline", "nothing"],
        ["--data", "demo-retrieval", "--record", "nowhere/gate.json"],
        ["--data", "demo-retrieval", "--baseline", "lsa", "--junit", "gate.txt"],
    ],
)
def test_what_cannot_be_done_is_one_line(blindspot: Command, asked: list[str]) -> None:
    blindspot.error("gate", "--encoder", "random-projection", *asked)
