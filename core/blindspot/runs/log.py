"""Log of jobs: a line of JSON per job in ``cache/logs/jobs.jsonl``, and a readable one on stderr.

A line has no text of a dataset, no title or name that a person typed, no address of a mirror, no token; of an error
only the class and the place in the code, since messages may quote texts.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import perf_counter

from blindspot.errors import BlindspotError, Cancelled
from blindspot.files.writing import exclusive
from blindspot.settings import PACKAGE, Settings
from blindspot.types import CancelToken

MAX_BYTES = 5_000_000  # per file; about 15,000 lines
FILES_KEPT = 4  # older files; jobs.jsonl.1 is the newest of them
COMPUTED, FOUND, CANCELLED, INTERRUPTED, FAILED = "computed", "found", "cancelled", "interrupted", "failed"

_PEOPLE = logging.getLogger("blindspot.jobs")
_PEOPLE.propagate = False


@dataclass
class JobLine:
    """A line of the log, filled in while the job runs.

    Attributes:
        kind: ``run``, ``encode``, ``fetch``, ``map``, ``hubs``, ``items``, ``learn``, ``check``,
            ``cluster`` or ``evict``.
        variant: encoder and transform, or several of them.
        seconds: wall time.
        peak_bytes: peak resident memory of this process during the job; None if the system does not say.
        outcome: ``computed``, ``found``, ``cancelled``, ``interrupted`` (Ctrl-C) or ``failed``.
        error: class and place of the error.
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
        what = " ".join(filter(None, (self.kind, self.diagnostic, self.variant)))
        what += f" on {self.dataset}" if self.dataset else ""
        took = f"{self.outcome} in {self.seconds:.1f} s" + (f" ({self.error})" if self.error else "")
        peak = f", peak {self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes is not None else ""
        freed = f", {self.freed_bytes / 1e6:,.1f} MB freed" if self.freed_bytes is not None else ""
        return f"{what}: {took}{peak}{freed}" + (f", run {self.run_id}" if self.run_id else "")


def path_of(settings: Settings) -> Path:
    return settings.logs / "jobs.jsonl"


def echo_to_stderr() -> None:
    """Also log every line to stderr, for a server's operator."""
    if not _PEOPLE.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        _PEOPLE.addHandler(handler)
        _PEOPLE.setLevel(logging.INFO)


@contextmanager
def recorded(settings: Settings, line: JobLine) -> Iterator[JobLine]:
    """Time a job and log its line at the end, however it ends."""
    with suppress(OSError):  # Linux then counts the peak anew; elsewhere it is that of the process's whole life
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    began = perf_counter()
    try:
        yield line
    except BaseException as error:
        is_cancel = isinstance(error, Cancelled)
        line.outcome = CANCELLED if is_cancel else FAILED if isinstance(error, Exception) else INTERRUPTED
        line.error = "" if is_cancel else place_of(error)
        raise
    finally:
        line.seconds = round(perf_counter() - began, 3)
        line.peak_bytes = _peak()
        write(settings, line)


def write(settings: Settings, line: JobLine) -> None:
    """Append a line; a log that cannot be written is a warning, not an error."""
    if settings.session:  # of a visitor's own texts: no name of theirs, and not their folder, which is a secret
        line = replace(line, dataset="an upload" if line.dataset else "")
    facts = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "process": os.getpid()}
    facts |= {name: value for name, value in asdict(line).items() if value not in ("", None)}
    _PEOPLE.info(line.in_words())
    try:
        _append(path_of(settings), json.dumps(facts, ensure_ascii=True))
    except (BlindspotError, OSError) as error:
        if line.outcome in {COMPUTED, FOUND}:  # a failed job has probably said why
            logging.getLogger(__name__).warning("the log of jobs has no line of this: %s", error)


class _Rotating(RotatingFileHandler):
    """Raises errors of writing instead of printing them."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - the signature of logging
        raise  # noqa: PLE0704 - called within the except clause of emit


def _append(path: Path, text: str) -> None:
    """Add a line, and start a new file when this one is full.

    Processes take turns, and open the file for one line: another may have started a new one since.
    """
    file = _Rotating(path, maxBytes=MAX_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
    with closing(file), exclusive(path.with_suffix(".lock"), CancelToken()):
        file.emit(logging.makeLogRecord({"msg": text}))


def place_of(error: BaseException) -> str:
    """``DataCorrupt at blindspot/datasets/fetch.py:104``: the innermost line of our code."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.resolve().is_relative_to(PACKAGE):
            return f"{type(error).__name__} at blindspot/{path.resolve().relative_to(PACKAGE)}:{frame.lineno}"
    return type(error).__name__


def _peak() -> int | None:
    try:
        lines = Path("/proc/self/status").read_text("ascii", errors="replace").splitlines()
    except OSError:  # not Linux
        try:
            import resource
        except ImportError:  # Windows
            return None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
