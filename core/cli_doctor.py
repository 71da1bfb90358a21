"""``python -m core doctor``: every finding in a table per area, then what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict

from core import cli_output as output
from core import doctor
from core.doctor import Finding, State
from core.errors import BlindspotError
from core.store.repository import Repository


def report(*, as_json: bool) -> None:
    """Examine this installation and print what was found.

    Raises:
        BlindspotError: there are problems; all of it is printed by then.
    """
    settings = doctor.usable_settings(os.environ)
    findings = doctor.examine(settings, Repository.at(settings.store))
    problems = [finding for finding in findings if finding.state is State.PROBLEM]
    if as_json:
        output.print_json({"findings": [asdict(finding) for finding in findings], "problems": len(problems)})
    else:
        _print(findings, problems)
    if problems:
        raise BlindspotError(
            f"the doctor found {_counted(len(problems), 'problem')}: "
            f"{', '.join(dict.fromkeys(f'{finding.area} {finding.name}' for finding in problems))}",
            remedy="its output says what to do about each",
        )


def _print(findings: Sequence[Finding], problems: Sequence[Finding]) -> None:
    for area in dict.fromkeys(finding.area for finding in findings):
        rows = [(f.name, f.state.value, f.what) for f in findings if f.area == area]
        output.print_table(area.capitalize(), ["what", "state", "found"], rows)
    output.print_text(f"{_counted(len(problems), 'problem')}:" if problems else "No problems.")
    for finding in problems:
        _print_remedy(finding)
    if notes := [finding for finding in findings if finding.state is State.NOTE and finding.remedy]:
        output.print_text(f"{_counted(len(notes), 'note')}:")
        for finding in notes:
            _print_remedy(finding)


def _print_remedy(finding: Finding) -> None:
    """Two lines that no terminal's width breaks, so that a command can be copied."""
    output.print_text(f"  {finding.area}, {finding.name}: {finding.what}")
    output.print_text(f"    -> {finding.remedy}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
