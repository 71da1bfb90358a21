"""Examples of the API, in its docstrings and in the documentation: they run as they are written."""

from __future__ import annotations

import doctest
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from blindspot import api
from blindspot.settings import PACKAGE, ROOT, Settings
from tests.support.tables import each

MODULES = sorted(f"{api.__name__}.{path.stem}".removesuffix(".__init__") for path in (PACKAGE / "api").glob("*.py"))
GUIDE = (ROOT / "docs" / "guides" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def golden_set(path: Path) -> None:
    """Two hundred queries with a document each."""
    things, places = "apple boat castle desk engine forest garden harbor island jacket".split(), range(1, 21)
    rows = [
        {"query": f"Where is the {a} of house {b}?", "positives": [f"House {b}: the {a} is there."]}
        for a in things
        for b in places
    ]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")


@each("module", MODULES)
def test_the_examples_of_docstrings_run(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_what_is_used_most_has_an_example() -> None:
    assert sum(len(test.examples) for test in doctest.DocTestFinder().find(api)) >= 3


@pytest.mark.heavy
def test_the_guide_runs(environment: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Block after block, as in one notebook, beside a golden set and with a model of one's own."""
    monkeypatch.chdir(tmp_path)
    golden_set(tmp_path / "golden.jsonl")
    names = {"model": lambda texts: [[text.count(c) + 1 for c in "abcdefgh0123456789"] for text in texts]}
    assert len(BLOCKS) >= 3
    for block in BLOCKS:
        exec(compile(block, "docs/guides/python.md", "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} >= {"cache", "gate.json", "report.html"}
