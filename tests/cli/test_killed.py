"""``kill -9`` at random moments of a sweep, in a process of its own: nothing is lost, half-written or wrong afterwards.

A kill point is drawn within each phase of an undisturbed sweep: a line of its progress, and a share of the time until
the next one. Killed while migrating: ``store/test_earlier_versions.py``. ``make trust`` runs many points.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import pytest

from blindspot import cli
from blindspot.cli import output
from blindspot.diagnostics.evalrank.definition import ENTRY as EVALRANK
from blindspot.doctor import results
from blindspot.store.db import CONFINED
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from tests.conftest import make_settings

SEED = 12
PATIENCE_SECONDS = 120
SAMPLE = "--encoder random-projection-64 --dataset demo-pairs --diagnostic evalrank --transform none --transform center"
LONG = (
    "--encoder random-projection-1024 --encoder lsa --dataset demo-pairs --dataset demo-minimal "
    "--diagnostic evalrank --diagnostic heros --transform none --transform whiten:32"
)
PHASES = {  # how the stages of progress begin
    "loading": ("loading", "fitting"),
    "encoding": ("encoding",),
    "computing": ("ranking", "comparing", "resampling", "bootstrap", "cosines"),
    "storing": ("storing",),
}


@dataclass(frozen=True)
class Line:
    """A line of progress: when it came, in seconds since the first one, which run, what stage and how far."""

    at: float
    run: int
    stage: str
    done: int
    total: int

    @property
    def phase(self) -> str:
        return next((name for name, stages in PHASES.items() if self.stage.startswith(stages)), "computing")


class Sweep:
    """The command line in a process of its own, with every line of progress.

    Args:
        how: ``spawn`` is a new interpreter; ``forkserver`` one that has imported everything, which saves two seconds.
    """

    def __init__(self, cache: Path, what: str, how: str) -> None:
        context = multiprocessing.get_context(how)
        if how == "forkserver":
            context.set_forkserver_preload(["blindspot.cli"])
        self._read, write = context.Pipe(duplex=False)
        self.process = context.Process(target=sweep, args=(cache, what, write))
        self.process.start()
        write.close()
        self.error = ""

    def lines(self) -> Iterator[Line]:
        """Its progress as it comes, to its end."""
        began = None
        with os.fdopen(os.dup(self._read.fileno()), encoding="utf-8") as stderr:
            for text in stderr:
                if text.startswith("error: "):
                    self.error = text.removeprefix("error: ").rstrip()
                    continue
                found = re.match(r"(\d+) of \d+.*?: .*: ([^:]+?), ([\d,]+) of ([\d,]+) \(", text)
                assert found, text
                began = time.monotonic() if began is None else began
                done, total = (int(found[i].replace(",", "")) for i in (3, 4))
                yield Line(time.monotonic() - began, int(found[1]), found[2], done, total)

    def ended(self) -> int:
        """Its exit code, when it has ended."""
        self.process.join(PATIENCE_SECONDS)
        self._read.close()
        assert self.process.exitcode is not None
        return self.process.exitcode


def sweep(cache: Path, what: str, write: Connection) -> None:
    """What the process does: ``blindspot sweep``, its stderr into the pipe."""
    os.environ |= environment(cache)
    os.dup2(write.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    output.SECONDS_BETWEEN_LINES = 0.0
    sys.exit(cli.main(["sweep", *what.split(), "--json"]))


def environment(cache: Path) -> dict[str, str]:
    return {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu", "BLINDSPOT_MODE": "local"}


@dataclass(frozen=True)
class Point:
    """Kill when so many lines have come, and so many seconds later."""

    lines: int
    seconds: float
    phase: str


def points(seen: list[Line], per_phase: int, chance: random.Random) -> list[Point]:
    """Random moments, as many in each phase."""
    places = defaultdict(list)
    for number, line in enumerate(seen[:-1]):
        places[line.phase].append(number)
    assert set(places) == set(PHASES)
    return [
        Point(number + 1, chance.random() * (seen[number + 1].at - seen[number].at), phase)
        for phase in PHASES
        for number in (chance.choice(places[phase]) for _ in range(per_phase))
    ]


def rows(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Per finished run the number of its rows and a digest of their values, over all tables of results."""
    with duckdb.connect(str(store), config=CONFINED) as connection:
        columns = defaultdict(list)
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_name LIKE 'result_%' "
            "ORDER BY table_name, ordinal_position"
        ).fetchall():
            columns[table].append(column)
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table, names in columns.items():
            values = ", ".join(name for name in names if name != "run_seq")
            for run_id, *facts in connection.execute(
                f"SELECT run_id, count(*), bit_xor(hash({values})) "
                f"FROM {table} JOIN run USING (run_seq) GROUP BY run_id"
            ).fetchall():
                found.setdefault(run_id, []).append((table, *facts))
        return found


def scores(store: Path) -> dict[str, tuple[RunState, dict[str, float]]]:
    repository = Repository.at(store)
    found = {run.run_id: (run.state, dict(run.metrics)) for run in repository.runs()}
    repository.database.close()
    return found


def check(point: Point, cache: Path, what: str, how: str, whole: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Kill a sweep at a point, look at what is left, go on; in words what was found."""
    settings = make_settings(cache)
    child, seen = Sweep(cache, what, how), []
    for line in child.lines():
        seen.append(line)
        if len(seen) == point.lines:
            time.sleep(point.seconds)
            child.process.kill()
    ended = child.ended()
    assert ended in {-signal.SIGKILL, 0}  # 0: it had come to its end before the signal

    wanted, wanted_rows = scores(whole), rows(whole)
    left = scores(settings.store)
    done = {run_id for run_id, (state, _) in left.items() if state is RunState.DONE}
    told = sum(line.stage == "storing" and line.done == 1 for line in seen)
    assert told <= len(done) <= told + 1, "a run that was told of as stored is lost"
    assert {run_id: left[run_id] for run_id in done} == {run_id: wanted[run_id] for run_id in done}
    assert rows(settings.store) == {run_id: wanted_rows[run_id] for run_id in done}, "rows of half a run"
    unfinished = [run_id for run_id in left if run_id not in done]
    assert len(unfinished) <= 1
    assert all(left[run_id] == (RunState.INTERRUPTED, {}) for run_id in unfinished)
    notes = [f for f in results.store(settings, Repository.at(settings.store)) if f.name.startswith("run ")]
    assert [f.name for f in notes] == [f"run {run_id[:8]}" for run_id in unfinished]
    assert all("go on with: blindspot run " in f.remedy for f in notes)
    assert cli.main(["runs", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert {run["run_id"]: run["state"] for run in listed} == {i: str(state) for i, (state, _) in left.items()}

    assert cli.main(["sweep", *what.split(), "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)["runs"]
    assert {run["run_id"] for run in resumed if not run["computed"]} == done
    assert scores(settings.store) == wanted, "numbers of an undisturbed sweep"
    assert rows(settings.store) == wanted_rows
    # What was killed while its chunk k was encoded had k - 1 chunks on disk, which are not encoded again.
    last = seen[-1]
    if ended and last.stage == "encoding":
        (run,) = [run for run in resumed if run["run_id"] in unfinished]
        assert run["manifest"]["embeddings"]["encoded_now"] <= last.total - last.done
    assert not list(settings.embeddings.glob("*.parts"))
    return f"{point.phase}: line {point.lines} + {point.seconds:.3f} s: {last.stage}, {len(done)} done"


def kill_and_go_on(
    what: str,
    how: str,
    per_phase: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    whole = tmp_path / "whole"
    child = Sweep(whole, what, how)
    seen = list(child.lines())
    assert child.ended() == 0
    found = []
    for number, point in enumerate(points(seen, per_phase, random.Random(SEED + per_phase))):
        cache = tmp_path / str(number)
        for name, value in environment(cache).items():
            monkeypatch.setenv(name, value)
        found.append(check(point, cache, what, how, whole / "results.duckdb", capsys))
    return found


@pytest.mark.heavy
def test_a_sweep_killed_in_every_phase_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(kill_and_go_on(SAMPLE, "forkserver", 1, tmp_path, monkeypatch, capsys)) == 4


@pytest.mark.slow
def test_a_sweep_killed_at_24_moments_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = kill_and_go_on(LONG, "spawn", 6, tmp_path, monkeypatch, capsys)
    assert len(found) == 24
    print("\n".join(found))


@pytest.mark.process
@pytest.mark.parametrize(
    ("which", "code", "error"),
    [
        (signal.SIGINT, 1, "interrupted; 0 of 2 runs are done; "),
        (signal.SIGTERM, -signal.SIGTERM, ""),
    ],
)
def test_a_signal_ends_the_command_line_at_once(tmp_path: Path, which: signal.Signals, code: int, error: str) -> None:
    """SIGTERM is left to the system: there is nothing to put in order that a kill would not leave in order too."""
    child, began = Sweep(tmp_path, SAMPLE, "forkserver"), 0.0
    for line in child.lines():
        if line.phase == "encoding" and line.done and not began:
            assert child.process.pid is not None
            began = time.monotonic()
            os.kill(child.process.pid, which)
    assert child.ended() == code
    assert child.error.startswith(error)
    assert bool(child.error) == bool(error)
    assert time.monotonic() - began < 15  # the sweep itself would take minutes
    repository = Repository.at(make_settings(tmp_path).store)
    (run,) = repository.runs()
    assert run.state is RunState.INTERRUPTED
    repository.database.close()


@pytest.mark.process
def test_two_processes_that_are_asked_the_same_at_once_store_it_once(tmp_path: Path) -> None:
    both = [Sweep(tmp_path, SAMPLE, "forkserver") for _ in range(2)]
    for child in both:
        for _ in child.lines():
            pass
    assert [(child.ended(), child.error) for child in both] == [(0, ""), (0, "")]
    store = make_settings(tmp_path).store
    assert [state for state, _ in scores(store).values()] == [RunState.DONE] * 2
    assert [found[0][:2] for found in rows(store).values()] == [(EVALRANK.table, 400)] * 2
    with duckdb.connect(str(store), config=CONFINED) as connection:
        assert connection.execute("SELECT count(*) FROM (SELECT DISTINCT text FROM dataset_text)").fetchall() == (
            connection.execute("SELECT count(*) FROM dataset_text").fetchall()
        ), "texts stand once"
