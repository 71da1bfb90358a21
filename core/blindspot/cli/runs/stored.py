"""Commands on the runs in the store: list, show, delete and compare."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OfDiagnostics, OnDatasets, RunId, named, scope_named, settings_and_store
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import all_diagnostics, in_words
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.comparison import compare_runs
from blindspot.runs.default_models import first_run
from blindspot.store.records import RunRecord


def list_runs(
    context: typer.Context,
    dataset: OnDatasets = None,
    diagnostic: OfDiagnostics = None,
    as_json: AsJson = False,
) -> None:
    """List the runs in the store. Details of a run, with its references: ``runs show ID``."""
    if context.invoked_subcommand:
        return
    settings, repository = settings_and_store()
    scope = scope_named(dataset, diagnostic, repository)
    runs = [run for run in repository.runs() if scope.has(run.plan.diagnostic, run.plan.dataset)]
    output.warn_of_changes((run.plan.variant.encoder for run in runs), settings, repository)
    if as_json:
        output.print_json({"runs": [output.run_json(r) | {"state": r.state} for r in runs]})
        return
    if not runs:
        print("No such runs." if diagnostic or dataset else f"No runs yet. Try: {first_run()}")
        return
    output.use_names(settings, repository)
    titles = {entry.id: entry.title for entry in all_diagnostics().values()}
    rows = [
        {
            "run": r.run_id,
            "diagnostic": titles.get(r.plan.diagnostic, r.plan.diagnostic),
            "model": r.plan.variant.label,
            "dataset": title_of(r.plan.dataset),
            "parameters": in_words(r.plan.params),
            "state": r.state,
            "score": _headline(r),
            "started (UTC)": f"{r.started_at:%Y-%m-%d %H:%M}",
        }
        for r in runs
    ]
    output.print_rows("Runs", rows)


def _headline(record: RunRecord) -> str:
    """The headline score of a run; "" if it has none or its diagnostic is unknown to this version of Blindspot."""
    entry = all_diagnostics().get(record.plan.diagnostic)
    name = entry.headline_of(record.metrics) if entry else ""
    return f"{name} {number(record.metrics[name], SCORE)}" if name else ""


def show(run_id: RunId) -> None:
    """Print one run as JSON: scores, coverage, timings, manifest."""
    settings, repository = settings_and_store()
    record = repository.run(run_id)
    output.warn_of_changes([record.plan.variant.encoder], settings, repository)
    output.print_json(output.run_json(record) | {"state": record.state})


def delete(run_id: RunId) -> None:
    """Delete a run with its scores and per-item results; embeddings stay in the cache."""
    _, repository = settings_and_store()
    record = repository.run(run_id)
    repository.delete(record)
    print(f"run {record.run_id} deleted")


class Ranks(StrEnum):
    """Ranks of EvalRank: among all texts, or without other matches and near-duplicates."""

    RAW = "raw"
    FILTERED = "filtered"


def compare(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="run id, or its beginning")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="another run, on the same content")],
    ranks: Annotated[Ranks, typer.Option(help="evalrank only")] = Ranks.RAW,
    as_json: AsJson = False,
) -> None:
    """Test whether two runs differ by more than chance, item by item."""
    settings, repository = settings_and_store()
    comparison = compare_runs(
        repository.run(first), repository.run(second), repository, filtered=ranks is Ranks.FILTERED
    )
    output.warn_of_changes((run.plan.variant.encoder for run in (comparison.a, comparison.b)), settings, repository)
    if as_json:
        output.print_json(
            {"diagnostic": comparison.entry.id, "dataset": comparison.a.plan.dataset}
            | {"a": named(comparison.a), "b": named(comparison.b), "scores": comparison.fields, "said": comparison.said}
        )
        return
    output.use_names(settings, repository)
    output.print_rows(comparison.title, comparison.cells)
    print("\n".join(comparison.said))
