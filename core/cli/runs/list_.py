"""``python -m core runs``: the runs in the store."""

from __future__ import annotations

from typing import Annotated

import typer

from core import diagnostic as diagnostics
from core.cli import output
from core.cli.options import AsJson
from core.datasets import catalog as datasets
from core.diagnostic import in_words
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository


def list_(
    context: typer.Context,
    diagnostic: Annotated[str | None, typer.Option(help="only runs of this diagnostic")] = None,
    dataset: Annotated[str | None, typer.Option(help="only runs on this dataset")] = None,
    as_json: AsJson = False,
) -> None:
    """List the runs in the store; ``runs show ID`` and ``runs delete ID`` take one, ``runs compare A B`` two, ``runs
    scores ID...`` several."""
    if context.invoked_subcommand:
        return
    settings = Settings.from_environment()
    if diagnostic is not None:
        diagnostics.find(diagnostic)
    if dataset is not None:
        dataset = datasets.canonical(dataset)
    found = Repository.at(settings.store).runs(diagnostic=diagnostic, dataset=dataset)
    if as_json:
        output.print_json({"runs": [output.run_json(r) | {"state": r.state} for r in found]})
        return
    if not found:
        example = "python -m core run evalrank --encoder minilm --dataset demo-pairs"
        print("No such runs." if diagnostic or dataset else f"No runs yet. Try: {example}")
        return
    output.print_table(
        "Runs",
        ["run", "diagnostic", "encoder", "transform", "dataset", "params", "state", "score", "started (UTC)"],
        [
            (
                r.run_id,
                r.plan.diagnostic,
                r.plan.variant.encoder,
                r.plan.variant.transform,
                r.plan.dataset,
                in_words(r.plan.params),
                r.state,
                _headline(r),
                f"{r.started_at:%Y-%m-%d %H:%M}",
            )
            for r in found
        ],
    )


def _headline(record: RunRecord) -> str:
    """The score that stands for a run; "" where it has none, or was made by a Blindspot with other diagnostics."""
    entry = diagnostics.every().get(record.plan.diagnostic)
    name = entry.headline_of(record.metrics) if entry else ""
    return f"{name} {record.metrics[name]:.4f}" if name else ""
