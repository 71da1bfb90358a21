"""Helpers for tests of the doctor's findings."""

from __future__ import annotations

from collections.abc import Iterable

from blindspot.doctor.findings import Finding, State


def by_name(findings: Iterable[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def of_state(state: State, findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state is state]


def problems(findings: Iterable[Finding]) -> list[Finding]:
    return of_state(State.PROBLEM, findings)


def check(found: Finding | None, state: State, *what: str, remedy: str = "") -> None:
    """The finding is there and has that state, and its texts contain these."""
    assert found is not None
    assert found.state is state, found
    assert all(text in found.what for text in what), found
    assert remedy in found.remedy, found
