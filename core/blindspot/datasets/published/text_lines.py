"""Text files of published datasets, read line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from blindspot.errors import DataCorrupt

T = TypeVar("T")


def text_of(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file, with line feeds as line ends; raises ``DataCorrupt`` if it is in another encoding."""
    try:
        return path.read_bytes().decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        raise DataCorrupt(f"{path} is not {name} (byte {error.start})", expected=f"a {name} text file") from error


def lines(path: Path, encoding: str = "utf-8") -> list[tuple[int, str]]:
    """Non-empty lines and their numbers, from 1.

    Lines end at line feeds only: texts may contain other characters that Unicode calls line ends.

    Raises:
        DataCorrupt: as ``text_of``.
    """
    return [(number, line) for number, line in enumerate(text_of(path, encoding).split("\n"), 1) if line]


def parsed(
    path: Path, numbered: Iterable[tuple[int, str]], parse: Callable[[str], T], expected: str, lacking: str = ""
) -> list[T]:
    """The parsed lines.

    Args:
        parse: raises ValueError, IndexError, KeyError or TypeError for a line of another kind.
        lacking: what such a line lacks; without it, the error shows the line's beginning.

    Raises:
        DataCorrupt: a line of another kind, with its number.
    """
    out = []
    for number, line in numbered:
        try:
            out.append(parse(line))
        except (ValueError, IndexError, KeyError, TypeError) as error:
            what = lacking or f"'{line[:60]}'"
            raise DataCorrupt(f"{path}, line {number}: {what}", expected=expected) from error
    return out


def filled(text: str) -> str:
    """A text without white space around it; raises ``ValueError`` if nothing is left."""
    if not (stripped := text.strip()):
        raise ValueError("an empty text")
    return stripped
