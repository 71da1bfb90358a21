"""What a check says: a finding, with what to do where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.errors import BlindspotError

Check = Callable[[], Iterable["Finding"]]

GIB = 1 << 30


class State(StrEnum):
    """``note`` is worth knowing and stops nothing; ``problem`` stops something, or makes it wrong."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        area: what it belongs to: ``versions``, ``settings``, ``devices``, ``cache``, ...
        name: what was looked at.
        state: how it is.
        what: what was found, in one line.
        remedy: what to do about it, in one line; "" where there is nothing to do.
    """

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
    """An error of ours, which has its remedy with it."""
    expected = f"; expected {error.expected}" if error.expected else ""
    return problem(area, name, f"{error.what}{expected}", error.remedy)


def guarded(area: str, name: str, check: Check) -> tuple[Finding, ...]:
    """What a check finds; one that breaks becomes a problem itself, after what it had found by then."""
    found: list[Finding] = []
    try:
        for finding in check():
            found.append(finding)  # noqa: PERF402 - what came before an error counts
    except BlindspotError as error:
        found.append(problem_of(area, name, error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        what = f"this check could not be finished: {error.strerror or error}{where}"
        found.append(problem(area, name, what, "check the permissions there, then run the doctor again"))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with this machine, the other checks go on
        what = f"this check broke: {type(error).__name__}: {error}"
        found.append(problem(area, name, what, "please report this line; the other checks do not depend on it"))
    return tuple(found)


def size(count: int) -> str:
    """A number of bytes for people: ``1.5 MiB``."""
    if count < 1 << 10:
        return f"{count} bytes"
    for unit, bits in (("KiB", 10), ("MiB", 20)):
        if count < 1 << (bits + 10):
            return f"{count / (1 << bits):,.1f} {unit}"
    return f"{count / GIB:,.1f} GiB"


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def _line(text: str) -> str:
    """One line; names of files that are no text stay printable."""
    return " ".join(text.split()).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
