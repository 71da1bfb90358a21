"""The layers of ``core``: each imports only what is above it in ``LAYERS``, or its own layer.

Everything is read from the files with ``ast``, imports inside functions included. A new file in an existing folder
needs no edit here.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from core.settings import ROOT

LAYERS = (
    "errors settings policy types texts",  # the vocabulary of the whole project
    "files numerics",
    "datasets",
    "encoders",
    "transforms",
    "figures",
    "diagnostic",  # the contract; what implements it stands far below and is found by name
    "store",
    "runs",
    "jobs",
    "doctor",
    "ui",
    "server",
    "diagnostics",
    "space studies workspace",
    "benchmarks",
    "cli",
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}

# A diagnostic does not know another one, but for these.
BETWEEN_DIAGNOSTICS = {
    ("frequency", "evalrank"),  # the view *bands* shows EvalRank's rows by the frequency of their words
}

# Library: what a module's path below core contains, one of these, where it may be imported.
HOMES = {
    "streamlit": ("ui", "page", "workspace", "server"),
    "plotly": ("figures", "flow_figure"),
    "duckdb": ("store",),
    "typer": ("cli",),
}

# Libraries that take seconds to import, or memory that a page has no use for.
HEAVY = ("torch", "sentence_transformers", "transformers", "umap", "sklearn", "numba", "zuko")


@dataclass(frozen=True)
class Import:
    importer: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer.replace('.', '/')}.py:{self.line} imports {self.target}"


def modules(root: Path) -> dict[str, Path]:
    """Every module of the app by its full name: ``app``, ``pages.*``, ``core`` and what is below."""
    paths = [root / "app.py", *(root / "pages").rglob("*.py"), *(root / "core").rglob("*.py")]
    named = {path.relative_to(root).with_suffix("").as_posix().replace("/", "."): path for path in paths}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def imports(root: Path) -> list[Import]:
    files = modules(root)
    return [Import(name, target, line) for name, path in files.items() for target, line in _targets(path, files)]


def _targets(path: Path, files: dict[str, Path]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole if whole in files else str(node.module)), node.lineno


def level(module: str) -> int:
    """The layer's place, 0 at the top; app.py, pages and ``python -m core`` stand below all."""
    parts = module.split(".")
    if module == "core":
        return 0  # the version
    return len(LAYERS) if parts[0] != "core" or parts[1] == "__main__" else LEVEL[parts[1]]


def pointing_up(root: Path) -> list[str]:
    ours = modules(root)
    return [
        str(found) for found in imports(root) if found.target in ours and level(found.target) > level(found.importer)
    ]


def between_diagnostics(root: Path) -> set[tuple[str, str]]:
    found = set()
    for one in imports(root):
        a, b = one.importer.split("."), one.target.split(".")
        if a[:2] == b[:2] == ["core", "diagnostics"] and len(a) > 2 and len(b) > 2 and a[2] != b[2]:
            found.add((a[2], b[2]))
    return found


def out_of_place(root: Path) -> list[str]:
    return [
        str(found)
        for found in imports(root)
        if (homes := HOMES.get(found.target.partition(".")[0]))
        and found.importer.startswith("core.")
        and not set(homes) & set(found.importer.split("."))
    ]


def test_no_import_points_up() -> None:
    assert pointing_up(ROOT) == []


def test_diagnostics_do_not_know_each_other() -> None:
    assert between_diagnostics(ROOT) == BETWEEN_DIAGNOSTICS


def test_no_module_imports_itself_by_a_detour() -> None:
    graph: dict[str, set[str]] = {name: set() for name in modules(ROOT)}
    for found in imports(ROOT):
        if found.target in graph and found.target != found.importer:
            graph[found.importer].add(found.target)
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_libraries_stay_at_home() -> None:
    assert out_of_place(ROOT) == []


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
    pages = [name for name in modules(ROOT) if name.startswith("core.") and "page" in name.split(".")]
    found = [*pages, "core.ui", "core.runs.pipeline"]
    command = [sys.executable, "-c", LOOK, json.dumps(found), json.dumps(HEAVY)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("path", "source", "check"),
    [
        ("core/numerics/new.py", "from core.store import db", pointing_up),
        ("core/diagnostics/heros/new.py", "def f():\n    from core.cli import app", pointing_up),
        ("core/runs/new.py", "import core.diagnostics.heros", pointing_up),
        ("core/runs/new.py", "import streamlit.runtime", out_of_place),
        ("core/diagnostics/heros/page/new.py", "from plotly import graph_objects", out_of_place),
        ("core/diagnostics/heros/new.py", "import duckdb", out_of_place),
    ],
)
def test_the_rules_catch_what_they_are_for(tmp_path: Path, path: str, source: str, check: object) -> None:
    for file in ("app.py", "core/store/db.py", "core/cli/__init__.py", "core/diagnostics/heros/__init__.py", path):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / path).write_text(source, "utf-8")
    assert callable(check)
    assert check(tmp_path) != []
