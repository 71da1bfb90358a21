"""What a bad input is: a name, how to make it, which edge it is given to, and what has to be said about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

# Makes the input in an empty folder; gives what the command line is told: a path or a reference.
Maker = Callable[[Path], str | Path]


class Edge(StrEnum):
    """Where an input comes in."""

    TEXTS = "file:PATH, and the page Data"
    FOLDER = "dir:PATH"
    ENCODER = "an encoder reference, and the page Models"
    BUNDLE = "judge import, and the pages of judgments"
    QUERIES = "judge make --queries, and the form of the pages of judgments"
    SWEEP = "a sweep's TOML"
    WORDS = "words on the command line, and in addresses"
    MIRROR = "what a mirror serves"


@dataclass(frozen=True)
class BadInput:
    """A hostile or broken input.

    Attributes:
        make: see ``Maker``; for ``Edge.WORDS`` what it gives is not used.
        says: what the message has to contain, all of them, whatever the capitals.
        code: the command line's exit code: 2 for bad input, 1 where the world is to blame.
        words: for ``Edge.WORDS`` the command; ``{}`` stands for the folder of the test.
        is_large: needs so much time or memory where it is read carelessly that all of its like are read in one
            process whose memory is measured.
    """

    name: str
    edge: Edge
    make: Maker
    says: tuple[str, ...]
    code: int = 2
    words: tuple[str, ...] = ()
    is_large: bool = False


def content(name: str, data: str | bytes) -> Maker:
    """A file of that name."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return make


def made_by(name: str, write: Callable[[Path], object]) -> Maker:
    """A file of that name, written by a function."""

    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def folder_named(name: str) -> Maker:
    """A folder where a file is expected."""
    return made_by(name, Path.mkdir)


def pipe(name: str) -> Maker:
    """A named pipe into which nobody writes: whoever opens it waits for ever."""
    return made_by(name, os.mkfifo)


def link_to(name: str, target: str) -> Maker:
    """A link that leads elsewhere."""
    return made_by(name, lambda path: path.symlink_to(target))


def referred(scheme: str, make: Maker) -> Maker:
    """The same, as a reference of a scheme."""
    return lambda folder: f"{scheme}:{make(folder)}"
