"""The GitHub Action for the gate: its scripts, run as the runner runs them, with the installation that is here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
import yaml

from blindspot.settings import ROOT, Settings

FOLDER = ROOT / ".github" / "actions" / "gate"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
STEPS = {step.get("id", step.get("name")): step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
QUESTIONS = [f"Where is the {a} {b}?" for a in "apple boat castle desk engine".split() for b in "here there".split()]


class Done(NamedTuple):
    code: int
    verdict: str
    summary: str
    said: str


class Runner:
    """A runner's folder, with Blindspot where the action installs it."""

    def __init__(self, folder: Path) -> None:
        self.temp, self.workspace = folder / "run ner", folder / "work space"
        self.workspace.mkdir()
        tools = self.temp / "blindspot-gate" / "bin"
        tools.mkdir(parents=True)
        self.tool(tools / "blindspot", f'PYTHONPATH={ROOT} exec {sys.executable} -m blindspot "$@"')

    def tool(self, path: Path, line: str) -> Path:
        path.write_text(f"#!/bin/bash\n{line}\n", "utf-8")
        path.chmod(0o755)
        return path

    def step(self, name: str, inputs: dict[str, str], **contexts: str) -> Done:
        """A step's script with its variables, as the runner fills them in; what is not given has its default."""
        known = {f"inputs.{key}": inputs.get(key, str(one.get("default", ""))) for key, one in ACTION["inputs"].items()}
        known |= {"runner.temp": str(self.temp), "github.action_path": str(FOLDER), **contexts}
        step = STEPS[name]
        variables = {key: EXPRESSION.sub(lambda found: known[found[1]], value) for key, value in step["env"].items()}
        output, summary = (self.temp / name for name in ("output", "summary"))
        output.write_text("", "utf-8")
        variables |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=self.workspace, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        verdict = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines()).get("verdict", "")
        text = summary.read_text("utf-8") if summary.exists() else ""
        return Done(done.returncode, verdict, text, done.stdout + done.stderr)


@pytest.fixture
def runner(tmp_path: Path, environment: Settings) -> Runner:
    found = Runner(tmp_path)
    rows = [(f"{question} {n}", f"You find it at {question[9:-1]} {n}.") for question in QUESTIONS for n in range(20)]
    lines = [json.dumps({"query": query, "positives": [answer]}) for query, answer in rows]
    (found.workspace / "golden set.jsonl").write_text("\n".join(lines), "utf-8")
    return found


SAME = {"data": "golden set.jsonl", "encoder": "lsa", "baseline": "lsa"}
OTHER = SAME | {"encoder": "lsa~center", "max-drop": "0.2"}  # keyword search solves the set: undecided


@pytest.mark.process
@pytest.mark.parametrize(
    ("inputs", "code", "verdict", "in_junit"),
    [
        (SAME, 0, "passed", "system-out"),
        (SAME | {"encoder": "random-projection", "score": "recall@10"}, 1, "failed", "failure"),
        (OTHER | {"junit": "a folder of/its own.xml"}, 3, "undecided", "failure"),
        (OTHER | {"undecided": "pass"}, 0, "undecided", "skipped"),
    ],
    ids=["passed", "failed", "undecided", "undecided passes"],
)
def test_a_verdict_is_in_code_output_summary_and_junit(
    runner: Runner, inputs: dict[str, str], code: int, verdict: str, in_junit: str
) -> None:
    found = runner.step("gate", inputs)
    assert (found.code, found.verdict) == (code, verdict), found.said
    assert found.summary.startswith(f"### Gate {verdict}: ")
    assert ("::warning" in found.said) is (inputs.get("undecided") == "pass")
    junit = ElementTree.parse(runner.workspace / inputs.get("junit", "blindspot-gate.xml")).getroot()
    assert [child.tag for child in junit[0][0]] == [in_junit]


@pytest.mark.process
@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        (SAME | {"data": ""}, 2),
        (SAME | {"data": "nothing.jsonl"}, 2),
        (SAME | {"undecided": "skip"}, 2),
        (SAME | {"allow-easy": "maybe"}, 2),
        (SAME | {"data": "evalrank-sent"}, 4),  # cannot be downloaded
    ],
    ids=["no data", "no file", "undecided", "easy", "download"],
)
def test_an_error_is_no_verdict(
    runner: Runner, inputs: dict[str, str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the file of an earlier gate of the job is not taken for one."""
    (runner.workspace / "blindspot-gate.xml").write_text("<testsuites/>", "utf-8")
    monkeypatch.setenv("BLINDSPOT_MIRROR", str(runner.workspace))
    found = runner.step("gate", inputs)
    assert (found.code, found.verdict, found.summary) == (code, "error", ""), found.said
    assert "Traceback" not in found.said


@pytest.mark.process
@pytest.mark.parametrize(
    "value",
    ['x"; touch hacked; "', "$(touch hacked)", "`touch hacked`", "'; touch hacked #", "--record=hacked.json", "-"],
)
def test_inputs_are_words_and_no_code(runner: Runner, value: str) -> None:
    runner.tool(runner.temp / "blindspot-gate" / "bin" / "blindspot", 'printf "%s\\0" "$@" > words; exit 3')
    options = ["data", "encoder", "baseline", "score", "max-drop", "alpha", "junit"]
    found = runner.step("gate", dict.fromkeys(options, value))
    assert found.verdict == "error"
    assert runner.step("gate", SAME | {"undecided": value}).code == 2
    words = (runner.workspace / "words").read_text("utf-8").split("\0")
    given = [*(f"--{name}={value}" for name in options[:-1]), "--undecided=fail", f"--junit={value}"]
    expected = ["gate", *given, f"--markdown={runner.temp / 'summary'}", ""]
    assert words == expected
    assert {path.name for path in runner.workspace.iterdir()} == {"golden set.jsonl", "words"}


@pytest.mark.process
def test_an_easy_set_is_allowed_by_the_command(runner: Runner) -> None:
    """Which ``tests/cli/test_gate.py`` tries."""
    runner.tool(runner.temp / "blindspot-gate" / "bin" / "blindspot", 'printf "%s\\n" "$@" > words; exit 3')
    for asked, options in (("true", ["--allow-easy"]), ("false", [])):
        runner.step("gate", SAME | {"allow-easy": asked})
        words = (runner.workspace / "words").read_text("utf-8").splitlines()
        assert [word for word in words if word.startswith("--allow")] == options


def test_no_script_has_an_expression() -> None:
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")


@pytest.mark.process
@pytest.mark.parametrize(("extras", "expected"), [("encoders", "[encoders]"), ("", ""), ("a; touch x", "[a; touch x]")])
def test_what_is_installed_is_the_checkout_of_the_action(runner: Runner, extras: str, expected: str) -> None:
    place = runner.temp / "blindspot-gate" / "bin"
    python = runner.tool(runner.temp / "python", 'printf "%s\\n" "$@" >> made')
    runner.tool(place / "python", 'printf "%s\\n" "$@" >> installed')
    runner.tool(place / "uv", 'printf "%s\\n" "$@" >> installed')
    found = runner.step("Install Blindspot", {"extras": extras}, **{"steps.python.outputs.python-path": str(python)})
    assert found.code == 0, found.said
    assert (runner.workspace / "made").read_text().splitlines() == ["-m", "venv", str(place.parent)]
    words = (runner.workspace / "installed").read_text().splitlines()
    assert words[-1] == f"{ROOT}{expected}"
    pins = [Path(words[number + 1]) for number, word in enumerate(words) if word == "--constraint"]
    assert [path for path in pins if not path.is_file()] == []
    assert "--torch-backend=cpu" in words
    assert {path.name for path in runner.workspace.iterdir()} == {"golden set.jsonl", "made", "installed"}


def test_the_guide_gives_inputs_and_outputs_that_there_are() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/guides/ci.md").read_text("utf-8"), re.M | re.S)
    (gate,) = [step for step in yaml.safe_load(block)["jobs"]["gate"]["steps"] if step.get("id") == "gate"]
    assert gate["uses"].partition("@")[0].endswith(f"blindspot/{FOLDER.relative_to(ROOT)}")
    assert {*gate["with"]} <= {*ACTION["inputs"]}
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= {*gate["with"]}
    assert {*re.findall(r"steps\.gate\.outputs\.(\w+)", block)} == {*ACTION["outputs"]}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert ACTION["inputs"]["extras"]["default"] in extras
