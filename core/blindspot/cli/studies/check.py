"""Command ``check``: whether a model is set up as meant, with or without a reference."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot import policy
from blindspot.cli import output
from blindspot.cli.options import AsJson, settings_and_store
from blindspot.errors import BlindspotError
from blindspot.runs.at_work import at_work
from blindspot.studies.setup_check.results import Report, State
from blindspot.studies.setup_check.task import SetupCheck, make
from blindspot.texts import counted
from blindspot.types import CancelToken

WORST = 5  # texts printed


def check(
    encoder: Annotated[str, typer.Option(help="encoder reference of the model to check")],
    reference: Annotated[
        str, typer.Option(help="encoder reference of the same model, set up as meant, such as dir:PATH")
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="without the demo datasets: 900 texts, not 1,800")] = False,
    as_json: AsJson = False,
) -> None:
    """Check whether a model is set up as meant: pooling, prompts, limit, order, precision; exit code 1 if not."""
    settings, repository = settings_and_store()
    for name in filter(None, (encoder, reference)):
        policy.check_encoder(name, settings)
    asked = SetupCheck.of(encoder, reference, quick=quick)
    with at_work(settings, asked.line), output.progress(asked.label) as progress:
        report = make(asked, settings, progress, CancelToken())
    if as_json:
        output.print_json(report.to_json())
    else:
        output.use_names(settings, repository, asked.encoders)
        _print(asked.label, report)
    if wrong := report.of(State.WRONG):
        raise BlindspotError(
            f"the set-up check found {counted(len(wrong), 'fault')}: {', '.join(result.check for result in wrong)}",
            remedy="see its output for the evidence",
        )


def _print(title: str, report: Report) -> None:
    rows = [
        {"check": result.title, "verdict": result.verdict, "evidence": result.evidence} for result in report.results
    ]
    output.print_rows(title, rows)
    worst = [
        {"cosine": f"{cosine:.5f}", "kind": kind, "text": shortened(text)}
        for text, kind, cosine in report.worst[:WORST]
    ]
    output.print_rows("Texts least like the reference's", worst)
    output.print_text(report.headline)
    for result in (*report.of(State.WRONG), *report.of(State.LOOK)):
        if result.advice:
            output.print_text(f"  {result.title}: {result.advice}")
    output.print_text(f"{report.texts:,} texts in {report.requests:,} batches, {report.seconds:.0f} s.")


def shortened(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[: most - 20]} … {text[-17:]}"
