"""The wheel in empty environments, with the libraries that pip finds: what the CI guide says works there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from blindspot import __version__
from blindspot.settings import ROOT

GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out], cwd=ROOT, check=True)
    (path,) = out.glob("*.whl")
    return path


def commands_of_the_guide() -> list[list[str]]:
    """``blindspot audit``, ``gate --record`` and ``gate --baseline``."""
    (block,) = [block for block in re.findall(r"^```sh\n(.*?)^```", GUIDE, re.M | re.S) if "blindspot audit" in block]
    return [shlex.split(line)[1:] for line in block.replace("\\\n", " ").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(("extra", "model"), [("", "lsa"), ("app", "lsa"), ("all", "minilm")])
def test_the_guide_s_commands_run(wheel: Path, extra: str, model: str, tmp_path: Path) -> None:
    place, work = tmp_path / "environment", tmp_path / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    pip = [place / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    wanted = f"encoder-blindspot{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
    subprocess.run([*pip, wanted], check=True)
    (work / "summary.md").touch()
    rows = [{"query": f"Where is the {n}th {thing}?", "match": f"The {thing} with the number {n} is here."}
            for thing in ("apple", "boat", "castle", "engine") for n in range(30)]  # fmt: skip
    (work / "golden.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    environment = os.environ | {"BLINDSPOT_CACHE": str(work / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [place / "bin" / "blindspot", *arguments]
        return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)

    commands = commands_of_the_guide()
    assert [command[0] for command in commands] == ["audit", "gate", "gate"]
    for command in commands:
        known = {"minilm": model, "dir:new-model": model, "$GITHUB_STEP_SUMMARY": "summary.md"}
        done = run(*(known.get(word, word) for word in command))
        assert done.returncode == 0, (command, done.stderr)
    assert (work / "gate.xml").is_file()
    assert run("--version").stdout.strip() == __version__
    if not extra:
        needs = run("app")
        assert needs.returncode != 0
        assert needs.stderr.splitlines()[-1].endswith(f'pip install "encoder-blindspot[app] @ {wheel.as_uri()}"')
