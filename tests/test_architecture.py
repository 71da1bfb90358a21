"""The layers of the package, ``core/``: each imports only what is above it in ``LAYERS``, or its own layer.

All is read from the files, imports inside functions included; a new file in an existing folder needs no edit here.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from blindspot.settings import ROOT

# The first is the vocabulary of the whole project; what implements "diagnostic", a contract, is found by name.
LAYERS = (
    "errors collector settings policy names types texts / files numerics / datasets / encoders transforms / figures / "
    "diagnostic / store / runs / jobs / doctor / ui / server / diagnostics / space studies workspace / api / "
    "testing / benchmarks / cli / documentation"
).split(" / ")
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
# A diagnostic knows no other, but the view *bands* shows EvalRank's rows by the frequency of their words, and Probing
# is Transfer on other tasks.
BETWEEN_DIAGNOSTICS = {("frequency", "evalrank"), ("probing", "transfer")}
# Library: what a module's path below core contains, one of these, where it may be imported.
HOMES = {
    "streamlit": "ui page workspace server app",
    "plotly": "figures flow_figure",
    "duckdb": "store",
    "ray": "cluster",
    "submitit": "cluster",
    "typer": "cli documentation",
    "pytest": "testing",
}
# Libraries that take seconds to import, or memory that a page has no use for.
HEAVY = ("torch", "sentence_transformers", "transformers", "umap", "sklearn", "numba", "zuko")
Rule = Callable[[Path], list[str]]  # what breaks it


class Import(NamedTuple):
    importer: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer.replace('.', '/')}.py:{self.line} imports {self.target}"


def named(root: Path, paths: Iterable[Path]) -> dict[str, Path]:
    files = {path.relative_to(root).with_suffix("").as_posix().replace("/", "."): path for path in paths}
    files = {re.sub(r"^core\b", "blindspot", name): path for name, path in files.items()}
    return {name.removesuffix(".__init__"): path for name, path in files.items()}


def modules(root: Path) -> dict[str, Path]:
    """Every module of the app by its full name: ``app``, ``pages.*``, ``blindspot`` and what is below."""
    return named(root, [root / "app.py", *(root / "pages").rglob("*.py"), *(root / "core").rglob("*.py")])


def imports(root: Path) -> list[Import]:
    files = modules(root)
    return [Import(name, target, line) for name, path in files.items() for target, line in _targets(path, files)]


def _targets(path: Path, files: dict[str, Path]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            wholes = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((whole if whole in files else str(node.module), node.lineno) for whole in wholes)


def level(module: str) -> int:
    """The layer's place, 0 at the top; app.py, pages and ``python -m core`` stand below all."""
    parts = module.split(".")
    if module == "blindspot":
        return 0  # the version; what else it has it imports when asked for
    return len(LAYERS) if parts[0] != "blindspot" or parts[1] == "__main__" else LEVEL[parts[1]]


def pointing_up(root: Path) -> list[str]:
    ours = modules(root)
    found = [one for one in imports(root) if one.target in ours and one.importer != "blindspot"]
    return [str(one) for one in found if level(one.target) > level(one.importer)]


def between_diagnostics(root: Path) -> set[tuple[str, str]]:
    pairs = [(one.importer.split("."), one.target.split(".")) for one in imports(root)]
    inside = [(a, b) for a, b in pairs if a[:2] == b[:2] == ["blindspot", "diagnostics"] and min(len(a), len(b)) > 2]
    return {(a[2], b[2]) for a, b in inside if a[2] != b[2]}


def out_of_place(root: Path) -> list[str]:
    found = [(one, HOMES.get(one.target.partition(".")[0], "")) for one in imports(root)]
    homeless = [one for one, homes in found if homes and not set(homes.split()) & set(one.importer.split("."))]
    return [str(one) for one in homeless if one.importer.startswith("blindspot.")]


def of_test_modules(root: Path) -> list[str]:
    """What tests share is in tests/support or a conftest.py."""
    files = named(root, (root / "tests").rglob("*.py"))
    found = [Import(name, *target) for name, path in files.items() for target in _targets(path, files)]
    return [str(one) for one in found if one.target.startswith("tests.") and ".test_" in one.target]


@pytest.mark.parametrize("check", [pointing_up, out_of_place, of_test_modules], ids=lambda check: check.__name__)
def test_no_import_is(check: Rule) -> None:
    assert check(ROOT) == []


def test_diagnostics_do_not_know_each_other() -> None:
    assert between_diagnostics(ROOT) == BETWEEN_DIAGNOSTICS


def test_no_module_imports_itself_by_a_detour() -> None:
    ours, graph = modules(ROOT), TopologicalSorter[str]()
    for one in imports(ROOT):
        if one.target in ours and one.importer not in {one.target, "blindspot"}:  # its names are imported when used
            graph.add(one.importer, one.target)
    graph.prepare()  # raises CycleError


def test_no_folder_is_a_heap() -> None:
    files = [p for p in (ROOT / "core").rglob("*.*") if p.suffix in {".py", ".sql"} and p.name != "__init__.py"]
    heaps = {str(folder.relative_to(ROOT)): n for folder, n in Counter(p.parent for p in files).items() if n > 16}
    assert heaps == {}
    assert len(list((ROOT / "core").glob("*.py"))) <= 10


LOOK = """
import importlib, json, sys
for module in json.loads(sys.argv[1]):
    importlib.import_module(module)
print(json.dumps(sorted(set(json.loads(sys.argv[2])) & set(sys.modules))))
"""


def test_what_pages_import_is_light() -> None:
    """In a process of its own: after importing all pages, nothing heavy is loaded."""
    pages = [name for name in modules(ROOT) if name.startswith("blindspot.") and "page" in name.split(".")]
    command = [
        sys.executable,
        "-c",
        LOOK,
        json.dumps([*pages, "blindspot.ui", "blindspot.runs.pipeline"]),
        json.dumps(HEAVY),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("path", "source", "check"),
    [
        ("core/numerics/new.py", "from blindspot.store import db", pointing_up),
        ("core/diagnostics/heros/new.py", "def f():\n    from blindspot.cli import app", pointing_up),
        ("core/runs/new.py", "import blindspot.diagnostics.heros", pointing_up),
        ("core/runs/new.py", "import streamlit.runtime", out_of_place),
        ("core/diagnostics/heros/page/new.py", "from plotly import graph_objects", out_of_place),
        ("core/diagnostics/heros/new.py", "import duckdb", out_of_place),
        ("tests/runs/test_new.py", "from tests.runs.test_old import old", of_test_modules),
    ],
)
def test_the_rules_catch_what_they_are_for(tmp_path: Path, path: str, source: str, check: Rule) -> None:
    for file in ("app.py", "core/store/db.py", "core/cli/__init__.py", "core/diagnostics/heros/__init__.py", path):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source if file == path else "", "utf-8")
    assert check(tmp_path) != []
