"""Types of the API, as a project sees them that has Blindspot installed: it passes ``mypy --strict``, and runs."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import blindspot as bs
from blindspot.diagnostic import all_diagnostics
from blindspot.settings import PACKAGE, ROOT, Settings
from tests.support.commands import python

PROJECT = Path(__file__).parent / "example_project"
CACHE = ROOT / ".mypy_cache" / "example_project"  # half a minute when it is empty


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Python of an environment that has Blindspot as a package among others, found by ``py.typed``."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "blindspot").symlink_to(PACKAGE, target_is_directory=True)
    (site / "others.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return tmp_path / "venv" / "bin" / "python"


@pytest.mark.process
def test_a_project_passes_mypy_strict(installed: Path, tmp_path: Path) -> None:
    project = Path(shutil.copytree(PROJECT, tmp_path / "project"))
    options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={CACHE}"]
    command = [sys.executable, "-m", "mypy", *options, f"--python-executable={installed}", "."]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.process
def test_the_project_runs(environment: Settings, tmp_path: Path) -> None:
    done = python(str(PROJECT / "study.py"), str(tmp_path), env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    runs = sum(re.fullmatch(r"[\w ]+: -?\d\.\d{3}", line) is not None for line in lines)
    assert runs == 17
    assert lines[runs : runs + 2] == ["20 pairs", "report.html"]
    assert len(lines[runs + 2].split(", ")) == 5
    assert lines[runs + 3] == "step-0 step-1"
    assert lines[-1].split() in (["failed", "2"], ["undecided", "2"])
    assert (tmp_path / "store" / "results.duckdb").is_file()


def test_it_uses_every_public_name() -> None:
    tree = ast.parse((PROJECT / "study.py").read_text("utf-8"))
    of_bs = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert {node.attr for node in of_bs if node.value.id == "bs"} == {*bs.__all__}
    assert {*all_diagnostics()} <= {*bs.__all__}


@pytest.mark.heavy
def test_results_are_frozen() -> None:
    run = bs.evalrank("random-projection-64", "demo-pairs")
    other = bs.evalrank("random-projection", "demo-pairs")
    for result, name in [
        (run, "id"),
        (run.scores["mrr"], "value"),
        (bs.compare(run, other), "rows"),
        (bs.findings(run), "found"),
        (bs.gate("random-projection", "demo-retrieval", "random-projection"), "new"),
    ]:
        with pytest.raises(FrozenInstanceError):
            setattr(result, name, None)
    for mapping in (run.scores, run.metrics, run.params, run.manifest, bs.compare(run, other).scores[0]):
        with pytest.raises(TypeError):
            mapping["mrr"] = 1.0  # type: ignore[index]
