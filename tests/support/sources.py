"""The product's own source files, read and parsed once for all tests that look at them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from blindspot.settings import ROOT


@cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The file's syntax tree, which no test changes."""
    return ast.parse(text(path), str(path))


@cache
def package() -> tuple[Path, ...]:
    """Every Python file of the package."""
    return tuple(sorted((ROOT / "core").rglob("*.py")))


@cache
def product() -> tuple[Path, ...]:
    """Those of the package, the pages and app.py."""
    return (*package(), *sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py")
