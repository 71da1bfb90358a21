"""Command ``doctor``: problems of this installation and their remedies; repairs; readiness."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from blindspot import doctor
from blindspot.cli import output
from blindspot.cli.options import AsJson, settings_and_store
from blindspot.doctor import Finding, State
from blindspot.doctor.content import without_each_absent
from blindspot.errors import BlindspotError, InputError
from blindspot.store.repository import Repository
from blindspot.texts import counted


def diagnose(
    as_json: AsJson = False,
    mend: Annotated[bool, typer.Option("--mend", help="Repair what can be repaired, asking before each step.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --mend: do not ask.")] = False,
    gpu: Annotated[bool, typer.Option("--gpu", help="Compare a GPU with the CPU, anew.")] = False,
    ready: Annotated[bool, typer.Option("--ready", help="Only check, quickly, whether the server can start.")] = False,
) -> None:
    """Check this installation and say how to fix what is wrong; exit code 1 if there is a problem."""
    if sum((as_json or gpu, mend, ready)) > 1 or (yes and not mend):
        expected = "--json, --gpu, --gpu --json, --ready, --mend or --mend --yes"
        raise InputError("these options exclude each other", expected=expected)
    if ready:
        _ready()
    elif mend:
        _mend(yes=yes)
    else:
        settings = doctor.usable_settings(os.environ)
        _report(
            doctor.examine_gpu(settings) if gpu else doctor.examine(settings, Repository.at(settings.store)),
            as_json=as_json,
        )


def _report(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print the findings, then raise ``BlindspotError`` if there are problems."""
    problems = [finding for finding in findings if finding.state is State.PROBLEM]
    if as_json:
        output.print_json({"findings": [asdict(finding) for finding in findings], "problems": len(problems)})
    else:
        _print(without_each_absent(findings), problems)
    if problems:
        raise BlindspotError(
            f"the doctor found {counted(len(problems), 'problem')}: "
            f"{', '.join(dict.fromkeys(f'{finding.area} {finding.name}' for finding in problems))}",
            remedy="see its output for the remedies",
        )


def _ready() -> None:
    """Check quickly whether this installation can serve; raises ``BlindspotError`` with the reasons if not."""
    settings, repository = settings_and_store()
    if reasons := doctor.not_ready(settings, repository):
        raise BlindspotError(
            f"not ready: {'; '.join(f'{reason.name}: {reason.what}' for reason in reasons)}",
            remedy="; ".join(dict.fromkeys(reason.remedy for reason in reasons if reason.remedy)),
        )
    output.print_text("ready")


def _mend(*, yes: bool) -> None:
    """Repair what can be repaired, asking before each step unless ``yes``.

    Raises:
        InputError: there is no terminal to ask at.
        BlindspotError: a repair failed; the others were done.
    """
    if not yes and not sys.stdin.isatty():
        raise InputError("doctor --mend asks at a terminal, and there is none", remedy="add --yes to repair everything")
    settings, repository = settings_and_store()
    failed, offered = [], 0
    for each in doctor.mends(settings, repository):
        offered += 1
        output.print_text(f"{each.area}, {each.name}: {each.what}")
        if each.advice:
            output.print_text(f"    {each.advice}")
        if not yes and not output.is_agreed(each.action):
            output.print_text("    not repaired")
            continue
        try:
            output.print_text(f"    {each.do()}")
        except BlindspotError as error:
            output.print_text(f"    failed: {error}")
            failed.append(f"{each.area} {each.name}")
    if not offered:
        output.print_text("Nothing to repair. For all findings: blindspot doctor")
    if failed:
        raise BlindspotError(f"not repaired: {', '.join(failed)}", remedy="see the output for the reasons")


def _print(findings: Sequence[Finding], problems: Sequence[Finding]) -> None:
    for area in dict.fromkeys(finding.area for finding in findings):
        rows = [{"check": f.name, "state": f.state, "found": f.what} for f in findings if f.area == area]
        output.print_rows(area.capitalize(), rows)
    output.print_text(f"{counted(len(problems), 'problem')}:" if problems else "No problems.")
    for finding in problems:
        _print_remedy(finding)
    if notes := [finding for finding in findings if finding.state is State.NOTE and finding.remedy]:
        output.print_text(f"{counted(len(notes), 'note')}:")
        for finding in notes:
            _print_remedy(finding)


def _print_remedy(finding: Finding) -> None:
    """Print two unwrapped lines, so that a command can be copied."""
    output.print_text(f"  {finding.area}, {finding.name}: {finding.what}", f"    -> {finding.remedy}")
