"""Findings, also of checks that break."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.doctor.findings import Finding, State, guarded, ok, problem, size
from blindspot.errors import BlindspotError
from tests.support.tables import each


def breaking(error: BaseException) -> Iterator[Finding]:
    yield ok("here", "first", "all is well")
    raise error


def test_a_check_that_breaks_keeps_what_it_found_and_says_how() -> None:
    first, broken = guarded("here", "the check", lambda: breaking(ZeroDivisionError("one line\nand another")))
    assert first == Finding("here", "first", State.OK, "all is well")
    assert (broken.area, broken.name, broken.state) == ("here", "the check", State.PROBLEM)
    assert broken.what == "this check broke: ZeroDivisionError: one line and another"
    assert broken.remedy


def test_an_error_of_ours_keeps_its_remedy() -> None:
    error = BlindspotError("it is so", expected="otherwise", remedy="do this")
    (_, found) = guarded("here", "the check", lambda: breaking(error))
    assert found == Finding("here", "the check", State.PROBLEM, "it is so; expected otherwise", "do this")


def test_a_file_that_may_not_be_read_is_named() -> None:
    (_, found) = guarded("here", "the check", lambda: breaking(PermissionError(13, "Permission denied", "/a/file")))
    assert found.what == "this check could not be finished: Permission denied (/a/file)"
    assert "permissions" in found.remedy


def test_ctrl_c_is_no_finding() -> None:
    with pytest.raises(KeyboardInterrupt):
        guarded("here", "the check", lambda: breaking(KeyboardInterrupt()))


def test_a_finding_is_one_printable_line() -> None:
    found = problem("a", "b", "file\nof a name \udcff", "two\n lines")
    assert (found.what.encode(), found.remedy) == ("file of a name \ufffd".encode(), "two lines")


@each(
    ("count", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")],
)
def test_sizes(count: int, shown: str) -> None:
    assert size(count) == shown
