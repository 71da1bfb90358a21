"""Findings of checks, with a remedy where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from blindspot.errors import BlindspotError, LibraryMissing, is_pinned, naming_extras

Check = Callable[[], Iterable["Finding"]]

GIB = 1 << 30


class State(StrEnum):
    """A ``note`` is harmless; a ``problem`` prevents something or makes results wrong."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """Result of a check: the area (``versions``, ``cache``, ...) and name of what was checked, its state, and what was
    found and what to do about it, in one line each."""

    area: str
    name: str
    state: State
    what: str
    remedy: str = ""


def ok(area: str, name: str, what: str) -> Finding:
    return Finding(area, name, State.OK, _line(what))


def note(area: str, name: str, what: str, remedy: str = "") -> Finding:
    return Finding(area, name, State.NOTE, _line(what), _line(remedy))


def problem(area: str, name: str, what: str, remedy: str) -> Finding:
    return Finding(area, name, State.PROBLEM, _line(what), _line(remedy))


def problem_of(area: str, name: str, error: BlindspotError) -> Finding:
    """An error as a problem; but an extra of the installed package is optional."""
    if isinstance(error, LibraryMissing) and not is_pinned():
        return ok(area, name, f"{error.what}; optional: {error.remedy}")
    expected = f"; expected {error.expected}" if error.expected else ""
    return problem(area, name, f"{error.what}{expected}", error.remedy)


def guarded(area: str, name: str, check: Check) -> tuple[Finding, ...]:
    """The findings of a check; if it raises, the error is a problem after what it found so far."""
    findings: list[Finding] = []
    try:
        with naming_extras():
            for finding in check():
                findings.append(finding)  # noqa: PERF402 - keeps the findings before an error
    except BlindspotError as error:
        findings.append(problem_of(area, name, error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        what = f"this check could not be finished: {error.strerror or error}{where}"
        findings.append(problem(area, name, what, "check the permissions there, then run the doctor again"))
    except Exception as error:  # noqa: BLE001 - the other checks go on
        what = f"this check broke: {type(error).__name__}: {error}"
        findings.append(problem(area, name, what, "please report this line; the other checks do not depend on it"))
    return tuple(findings)


def size(count: int) -> str:
    """``1.5 MiB``."""
    if count < 1 << 10:
        return f"{count} bytes"
    for unit, bits in (("KiB", 10), ("MiB", 20)):
        if count < 1 << (bits + 10):
            return f"{count / (1 << bits):,.1f} {unit}"
    return f"{count / GIB:,.1f} GiB"


def _line(text: str) -> str:
    """One line, printable also with undecodable file names."""
    return " ".join(text.split()).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
