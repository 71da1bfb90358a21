"""An installed package without extras: child processes that cannot import what only an extra brings."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tests.support.commands import IN_TURN, Said

ROOT = Path(__file__).parents[2]
# Run before everything else, also in child processes of the child.
_BLOCKER = """
import importlib.metadata, re, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def from_name(name, find=importlib.metadata.Distribution.from_name):
    if re.sub(r"[-_.]+", "-", name).lower() not in INSTALLED:
        raise importlib.metadata.PackageNotFoundError(name)
    return find(name)

sys.meta_path.insert(0, Blocker())
importlib.metadata.Distribution.from_name = staticmethod(from_name)
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, list[Requirement]]:
    """The ranges of pyproject.toml by extra; "" is the base."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {"": table["dependencies"], **table["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in declared.items()}


@cache
def of_the_base() -> frozenset[str]:
    """Names of the distributions that ``pip install blindspot`` brings, indirect ones included."""
    found: set[str] = set()
    waiting = list(project()[""])
    while waiting:
        requirement = waiting.pop()
        is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if canonical(requirement.name) in found or not is_needed:
            continue
        found.add(canonical(requirement.name))
        waiting += [Requirement(line) for line in metadata.requires(requirement.name) or ()]
    return frozenset(found)


@cache
def blocked() -> frozenset[str]:
    """Modules that only other distributions have."""
    of_others = {
        module
        for module, names in metadata.packages_distributions().items()
        if not {canonical(name) for name in names} & of_the_base()
    }
    return frozenset(name for name in of_others if name.isidentifier()) - {"blindspot"}


class BaseInstall:
    """A copy of the package as it is installed, with its metadata, and a cache.

    Args:
        folder: for all of it.
    """

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self._path = folder / "site-packages"
        package = self._path / "blindspot"
        shutil.copytree(ROOT / "core" / "blindspot", package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / "_app").mkdir()
        (package / "_app" / "assets").symlink_to(ROOT / "assets", target_is_directory=True)
        known = f"BLOCKED = {set(blocked())}\nINSTALLED = {set(of_the_base()) | {'encoder-blindspot'}}\n{_BLOCKER}"
        (self._path / "sitecustomize.py").write_text(known, "utf-8")
        described = self._path / "encoder_blindspot-0.0.dist-info"
        described.mkdir()
        lines = ["Metadata-Version: 2.4", "Name: encoder-blindspot", "Version: 0.0"]
        for extra, requirements in project().items():
            lines += [f"Provides-Extra: {extra}"] if extra else []
            for one in requirements:
                lines.append(f"Requires-Dist: {one}" + (f"; extra == '{extra}'" if extra else ""))
        (described / "METADATA").write_text("\n".join([*lines, ""]), "utf-8")

    def python(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(self._path), "BLINDSPOT_CACHE": str(self.cache), "COLUMNS": "500"}
        return subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | variables,
            cwd=self._path.parent,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def commands(self, *commands: Sequence[str]) -> list[Said]:
        """What each of some commands said, one after the other in one process."""
        done = self.python("-c", IN_TURN, given=json.dumps(commands))
        assert done.returncode == 0, done.stderr
        return [Said(*one) for one in json.loads(done.stdout)]

    def evaluated(self, program: str) -> Any:
        """What a program prints, as JSON."""
        done = self.python("-c", program)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
