"""Requirements: the ranges of the package, the pins of ``make run``, and what the code imports say the same.

The lower bounds were installed and tried (docs/guides/install.md says when); here every pin is within its range.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import metadata

import pytest

from blindspot.doctor import software
from blindspot.errors import EXTRAS
from blindspot.settings import PACKAGE
from tests.support import sources
from tests.support.base_install import canonical, project
from tests.support.tables import each

RANGES = {canonical(one.name): (extra, one) for extra, some in project().items() for one in some if extra != "all"}
PINS = {
    canonical(name): version
    for file in (software.REQUIREMENTS, *software.OPTIONAL)
    for name, version in software.pins(file).items()
}
# Who uses these has them: the benchmark of the app in a browser, frames of polars, and pytest, which loads the plugin.
OF_USERS = {"playwright", "polars", "pytest", "_pytest"}
INDIRECT = {  # imported, and brought by something that is declared, in a version of its choice
    "safetensors": "transformers",
    "huggingface_hub": "transformers",
    "httpx2": "huggingface-hub",
    "starlette": "streamlit",
    "llvmlite": "numba",
    "google": "streamlit",
}


@cache
def distributions() -> dict[str, set[str]]:
    """By module, the projects that have it; reading what all have takes half a second."""
    return {module: {canonical(n) for n in names} for module, names in metadata.packages_distributions().items()}


def imported() -> set[str]:
    """Top-level modules of other projects that the package imports, anywhere."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(sources.tree(file)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"blindspot", "benchmarks", "__future__"}


def test_every_pin_is_within_the_range_of_an_extra_and_every_range_is_pinned() -> None:
    assert PINS.keys() == RANGES.keys()
    for name, version in PINS.items():
        _, wanted = RANGES[name]
        assert wanted.specifier.contains(version), name
        bounds = {">=", "<"} if name == "streamlit" else {">="}  # whose protocol the demo's gate knows
        assert {one.operator for one in wanted.specifier} == bounds, f"{name} has a lower bound, and no other"


def test_all_is_every_extra() -> None:
    (everything,) = project()["all"]
    assert everything.name == "encoder-blindspot"
    assert everything.extras == project().keys() - {"", "all"}


@pytest.mark.heavy
def test_what_is_imported_is_declared() -> None:
    of_module = distributions()
    for module in imported() - OF_USERS - INDIRECT.keys():
        assert of_module[module] & RANGES.keys(), module


@each("extra", EXTRAS)
def test_errors_name_the_extra_that_brings_a_library(extra: str) -> None:
    of_module = distributions()
    for module in EXTRAS[extra] - INDIRECT.keys():
        assert {RANGES[name][0] for name in of_module[module]} == {extra}, module
    declared = {canonical(one.name) for one in project()[extra]}
    assert declared == {name for module in EXTRAS[extra] - INDIRECT.keys() for name in of_module[module]}
