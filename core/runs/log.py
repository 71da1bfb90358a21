"""The log of jobs: one line of JSON per piece of work in ``cache/logs/jobs.jsonl``, and one for people on stderr.

A line names what was computed and what it took: no text of a dataset, no title or name that a person typed, no
address of a mirror, no token. Of an error it has the class and the place in the code, as messages may quote texts.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import perf_counter

from core.errors import BlindspotError, Cancelled
from core.files.writing import exclusive
from core.settings import ROOT, Settings
from core.types import CancelToken

MAX_BYTES = 5_000_000  # of a file; about 15,000 lines
FILES_KEPT = 4  # older ones, jobs.jsonl.1 the newest
COMPUTED, FOUND, CANCELLED, INTERRUPTED, FAILED = "computed", "found", "cancelled", "interrupted", "failed"

_PEOPLE = logging.getLogger("blindspot.jobs")
_PEOPLE.propagate = False


@dataclass
class JobLine:
    """What is said of one piece of work; who does it fills in what it learns on the way.

    Attributes:
        kind: ``run``, ``encode``, ``fetch``, ``map``, ``hubs``, ``items``, ``learn`` or ``evict``.
        run_id: of a run, once it is known.
        variant: encoder and transform; of several variants, all.
        seconds: wall time.
        peak_bytes: the most memory that the process had resident meanwhile, children left out; None where the
            system does not tell.
        outcome: ``computed``, ``found``, ``cancelled``, ``interrupted`` (Ctrl-C) or ``failed``.
        error: class and place of what went wrong.
        freed_bytes: of an eviction.
    """

    kind: str
    diagnostic: str = ""
    variant: str = ""
    dataset: str = ""
    run_id: str = ""
    seconds: float = 0.0
    peak_bytes: int | None = None
    outcome: str = COMPUTED
    error: str = ""
    freed_bytes: int | None = None

    def in_words(self) -> str:
        """The line for people."""
        what = " ".join(filter(None, (self.kind, self.diagnostic, self.variant)))
        what += f" on {self.dataset}" if self.dataset else ""
        took = f"{self.outcome} in {self.seconds:.1f} s" + (f" ({self.error})" if self.error else "")
        peak = f", peak {self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes is not None else ""
        freed = f", {self.freed_bytes / 1e6:,.1f} MB freed" if self.freed_bytes is not None else ""
        return f"{what}: {took}{peak}{freed}" + (f", run {self.run_id}" if self.run_id else "")


def path_of(settings: Settings) -> Path:
    return settings.logs / "jobs.jsonl"


def say_on_stderr() -> None:
    """From now on every line is also said on stderr: what a server's operator reads. A command line has its own."""
    if not _PEOPLE.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        _PEOPLE.addHandler(handler)
        _PEOPLE.setLevel(logging.INFO)


@contextmanager
def recorded(settings: Settings, line: JobLine) -> Iterator[JobLine]:
    """Time a piece of work, and write its line at the end, however it ends."""
    _forget_peak()
    began = perf_counter()
    try:
        yield line
    except BaseException as error:
        line.outcome = _outcome_of(error)
        line.error = "" if isinstance(error, Cancelled) else _place_of(error)
        raise
    finally:
        line.seconds = round(perf_counter() - began, 3)
        line.peak_bytes = _peak()
        write(settings, line)


def write(settings: Settings, line: JobLine) -> None:
    """Append a line. The work is done and matters more: a log that cannot be written is said, and no error."""
    facts = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "process": os.getpid()}
    facts |= {name: value for name, value in asdict(line).items() if value not in ("", None)}
    _PEOPLE.info(line.in_words())
    try:
        _append(path_of(settings), json.dumps(facts, ensure_ascii=True))
    except (BlindspotError, OSError) as error:
        if line.outcome in {COMPUTED, FOUND}:  # what failed has most likely said why
            logging.getLogger(__name__).warning("the log of jobs has no line of this: %s", error)


def _append(path: Path, text: str) -> None:
    """Add a line, and begin a new file where this one is full; processes take turns.

    The handler is opened for one line: another process may have begun a new file since.
    """
    with exclusive(path.with_suffix(".lock"), CancelToken()):
        handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
        try:
            record = logging.makeLogRecord({"msg": text})
            if handler.shouldRollover(record):
                handler.doRollover()
            if handler.stream is None:
                handler.stream = handler._open()
            handler.stream.write(f"{text}\n")
            handler.stream.flush()
        finally:
            handler.close()


def _outcome_of(error: BaseException) -> str:
    if isinstance(error, Cancelled):
        return CANCELLED
    return FAILED if isinstance(error, Exception) else INTERRUPTED


def _place_of(error: BaseException) -> str:
    """``DataCorrupt at core/datasets/fetch.py:104``: the innermost line of ours."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT / "core"):
            return f"{type(error).__name__} at {path.relative_to(ROOT)}:{frame.lineno}"
    return type(error).__name__


def _forget_peak() -> None:
    """Let the system count this process's peak anew (Linux); where it does not, the peak is that of its whole life."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def _peak() -> int | None:
    try:
        lines = Path("/proc/self/status").read_text("ascii", errors="replace").splitlines()
    except OSError:
        return _peak_of_life()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


def _peak_of_life() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
