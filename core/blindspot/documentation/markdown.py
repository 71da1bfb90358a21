"""Markdown that the documentation is made of."""

from __future__ import annotations

from collections.abc import Iterable


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; line breaks in a cell become spaces."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    header = list(header)
    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)])
