"""Errors for users: one line with what was wrong, what was expected and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA

LONGEST_PART = 2_000  # characters of what, expected or remedy
# Control characters, lone surrogates and changes of writing direction: they act in a terminal, break files, and
# disguise names.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """A text whose invisible control characters are written as escapes, such as ``\\x1b``."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class BlindspotError(Exception):
    """A failure despite correct input (exit code 1).

    Args:
        what: the problem, with the offending value.
        remedy: what the user can do about it.
    """

    exit_code = 1

    def __init__(self, what: str, *, expected: str = "", remedy: str = "") -> None:
        self.what = what
        self.expected = expected
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [self.what, f"expected {self.expected}" if self.expected else "", self.remedy]
        return "; ".join(_shown(part) for part in parts if part)


def _shown(part: str) -> str:
    """One line, its middle cut out where it is too long to read."""
    line = " ".join(part.split()) if len(part) <= LONGEST_PART else part
    if len(line) > LONGEST_PART:
        half = LONGEST_PART // 2
        line = " ".join(f"{line[:half]} [...] {line[-half:]}".split())
    return visible(line)


class InputError(BlindspotError):
    """The user's input was wrong (exit code 2)."""

    exit_code = 2


class DataMissing(BlindspotError):
    """A data file is neither cached nor downloadable."""


class DataCorrupt(BlindspotError):
    """A data file does not match its checksum."""


class StoreBusy(BlindspotError):
    """Another process holds the store."""


class Cancelled(BlindspotError):
    """The user cancelled the work."""

    def __init__(self) -> None:
        super().__init__("cancelled", remedy="what was encoded so far is kept: run it again to continue")


def unknown(kind: str, value: str, known: Iterable[str]) -> InputError:
    """The error for an unknown id, suggesting the nearest known one."""
    known = sorted(known)
    nearest = process.extractOne(value[:LONGEST_PART], known, scorer=OSA.normalized_similarity, score_cutoff=0.5)
    return InputError(
        f"unknown {kind} '{value}'",
        expected=f"one of {', '.join(known)}",
        remedy=f"did you mean '{nearest[0]}'?" if nearest else "",
    )
