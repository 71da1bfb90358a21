"""``python -m core doctor``: findings in a table per area, then remedies; mending; readiness."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from core import doctor
from core.cli import output
from core.cli.options import AsJson
from core.doctor import Finding, State
from core.doctor.content import without_each_absent
from core.errors import BlindspotError, InputError
from core.settings import Settings
from core.store.repository import Repository
from core.texts import counted


def diagnose(
    as_json: AsJson = False,
    mend: Annotated[bool, typer.Option("--mend", help="Put right what can be, asking before each thing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --mend: do not ask.")] = False,
    ready: Annotated[bool, typer.Option("--ready", help="Only say, quickly, whether it can serve now.")] = False,
) -> None:
    """Look for what is wrong here, and say what to do; exit code 1 where there is a problem."""
    if sum((as_json, mend, ready)) > 1 or (yes and not mend):
        raise InputError("these options do not go together", expected="--json, --ready, --mend or --mend --yes")
    if ready:
        _ready()
    elif mend:
        _mend(yes=yes)
    else:
        _report(as_json=as_json)


def _report(*, as_json: bool) -> None:
    """Print the findings; then ``BlindspotError`` if there are problems."""
    settings = doctor.usable_settings(os.environ)
    findings = doctor.examine(settings, Repository.at(settings.store))
    problems = [finding for finding in findings if finding.state is State.PROBLEM]
    if as_json:
        output.print_json({"findings": [asdict(finding) for finding in findings], "problems": len(problems)})
    else:
        _print(without_each_absent(findings), problems)
    if problems:
        raise BlindspotError(
            f"the doctor found {counted(len(problems), 'problem')}: "
            f"{', '.join(dict.fromkeys(f'{finding.area} {finding.name}' for finding in problems))}",
            remedy="its output says what to do about each",
        )


def _ready() -> None:
    """Quick check whether this installation can serve now; ``BlindspotError`` says why not."""
    settings = Settings.from_environment()
    if reasons := doctor.not_ready(settings, Repository.at(settings.store)):
        raise BlindspotError(
            f"not ready: {'; '.join(f'{reason.name}: {reason.what}' for reason in reasons)}",
            remedy="; ".join(dict.fromkeys(reason.remedy for reason in reasons if reason.remedy)),
        )
    output.print_text("ready")


def _mend(*, yes: bool) -> None:
    """Mend what can be mended, asking before each thing unless ``yes``.

    Raises:
        InputError: nobody is at the terminal.
        BlindspotError: something could not be mended; the rest was done.
    """
    if not yes and not sys.stdin.isatty():
        raise InputError("doctor --mend asks, and there is no terminal", remedy="add --yes to mend everything it finds")
    settings = Settings.from_environment()
    failed, offered = [], 0
    for each in doctor.mends(settings, Repository.at(settings.store)):
        offered += 1
        output.print_text(f"{each.area}, {each.name}: {each.what}")
        if each.advice:
            output.print_text(f"    {each.advice}")
        if not yes and not output.is_agreed(each.action):
            output.print_text("    left as it is")
            continue
        try:
            output.print_text(f"    {each.do()}")
        except BlindspotError as error:
            output.print_text(f"    failed: {error}")
            failed.append(f"{each.area} {each.name}")
    if not offered:
        output.print_text("Nothing to mend. What the doctor finds besides: python -m core doctor")
    if failed:
        raise BlindspotError(f"not mended: {', '.join(failed)}", remedy="the output says why")


def _print(findings: Sequence[Finding], problems: Sequence[Finding]) -> None:
    for area in dict.fromkeys(finding.area for finding in findings):
        rows = [(f.name, f.state.value, f.what) for f in findings if f.area == area]
        output.print_table(area.capitalize(), ["what", "state", "found"], rows)
    output.print_text(f"{counted(len(problems), 'problem')}:" if problems else "No problems.")
    for finding in problems:
        _print_remedy(finding)
    if notes := [finding for finding in findings if finding.state is State.NOTE and finding.remedy]:
        output.print_text(f"{counted(len(notes), 'note')}:")
        for finding in notes:
            _print_remedy(finding)


def _print_remedy(finding: Finding) -> None:
    """Two lines that are not wrapped, so that a command can be copied."""
    output.print_text(f"  {finding.area}, {finding.name}: {finding.what}")
    output.print_text(f"    -> {finding.remedy}")
