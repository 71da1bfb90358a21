"""What goes wrong on nodes, on the command line: a line each, others go on, exit code 1 where runs are missing."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from blindspot.errors import BlindspotError
from blindspot.files import writing
from blindspot.runs.cluster import node, sweeps
from blindspot.runs.packs.folders import folder_at
from tests.support.cluster_calls import Calls
from tests.support.commands import Command
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

SWEEP = "sweep --encoder trigrams --encoder bigrams --dataset small-pairs --diagnostic evalrank --on ray --json".split()
RUNS = 2


class Bad:
    """A cluster of nodes a and b, some of which are bad in one way."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
        self.world, self.patch, self.bad = world, monkeypatch, bad
        self.at: list[str] = []
        self.engine = Calls(before=self.at.append)
        monkeypatch.setattr(sweeps, "engine_of", lambda *_: self.engine)

    @property
    def is_here(self) -> bool:
        return bool(self.at) and self.at[-1] in self.bad

    def versions(self) -> str:
        self.engine.software = {at: {**node.software(), "torch": "0.1"} for at in self.bad}
        return "torch"

    def folder(self) -> str:
        elsewhere = str(self.world.cache / "elsewhere")
        self.patch.setattr(node, "folder_at", lambda at: folder_at(elsewhere if self.is_here else at))
        return "not shared"

    def disk(self) -> str:
        def fsync(number: int) -> None:
            if self.is_here and "/runs/" in str(Path(f"/proc/self/fd/{number}").readlink()):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        self.patch.setattr(writing.os, "fsync", fsync)
        return os.strerror(errno.ENOSPC)

    def model(self) -> str:
        def fail(_: object) -> None:
            if self.is_here:
                raise BlindspotError("its weights are damaged")

        self.world.add(GramEncoder("trigrams", 3, before=fail))
        return "its weights are damaged"


WAYS: dict[str, Callable[[Bad], str]] = {
    "another version": Bad.versions,
    "a folder that is not shared": Bad.folder,
    "a full disk": Bad.disk,
    "a model that fails": Bad.model,
}


@pytest.mark.parametrize("bad", ["a", "ab"])
@pytest.mark.parametrize("way", WAYS)
def test_it_is_named_and_the_others_go_on(
    way: str, bad: str, world: World, environment: object, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS)
    expected = WAYS[way](Bad(world, monkeypatch, bad))
    said = blindspot(*SWEEP)
    lines = [line for line in said.err.splitlines() if expected in line]
    assert "Traceback" not in said.err
    stored = len(world.repository.runs())
    if bad == "a":
        assert said.code == 0, said.err
        assert stored == RUNS
        assert len(lines) <= 1, "one line, unless no work came to that node"
        if way != "a model that fails":
            assert lines
    else:
        assert said.code == 1
        assert len(lines) >= 1
        assert stored == (1 if way == "a model that fails" else 0)
        if way == "a model that fails":
            (failed,) = said.json["failed"]
            assert failed["encoder"] == "trigrams"
            assert expected in failed["error"]
