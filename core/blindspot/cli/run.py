"""Command ``run``: scores of a diagnostic, computed or found in the store."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    COVERED_HELP,
    FIT_ON_HELP,
    AsJson,
    Covered,
    Datasets,
    Encoders,
    OwnNames,
    Transforms,
    datasets_of,
    names_own_data,
    settings_and_store,
    takes_parameters,
)
from blindspot.datasets import training_overlap
from blindspot.datasets.catalog import title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.errors import InputError
from blindspot.runs import estimates, manifests, pipeline, requesting
from blindspot.store.records import RunRecord


@names_own_data
@takes_parameters(several=False)
def run(
    *,
    diagnostic: Annotated[str, typer.Argument(help="for example evalrank or heros; see: list diagnostics")],
    encoder: Encoders,
    dataset: Datasets = None,
    transform: Transforms = None,
    params: dict[str, str],
    covered: Annotated[Covered, typer.Option("--support", help=COVERED_HELP)] = Covered.COMMON,
    fit_on: Annotated[str, typer.Option(help=FIT_ON_HELP)] = "",
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Run a diagnostic and print its scores; results already in the store are reused."""
    settings, repository = settings_and_store()
    datasets = datasets_of(dataset or [], own)
    if not datasets:
        raise InputError("there is no dataset", expected="--dataset, or --queries, --documents and --judgments")
    compared = encoder if covered is Covered.COMMON else []
    requests = [
        requesting.request(diagnostic, e, t, d, params, settings, compared, fit_on)
        for d in datasets
        for e in encoder
        for t in transform or ["none"]
    ]
    files = [user_file for asked in dict.fromkeys(r.dataset for r in requests) if (user_file := asked.entry().own)]
    output.warn(file.assumptions for file in files if file.assumptions)
    output.warn(f"{file.path.name}: {file.doubt} {file.instead(DatasetKind.RETRIEVAL)}" for file in files if file.doubt)
    outcomes = []
    stored = estimates.stored_requests(requests, repository)
    output.announce([request for request in requests if request not in stored], settings)
    for request in dict.fromkeys(requests):
        with output.progress(request.label) as progress:
            outcomes.append(pipeline.run(request, settings, repository, progress))
    output.warn(manifests.notes(o.record for o in outcomes))
    warnings = (find_diagnostic(diagnostic).warning(o.record, settings, repository) for o in outcomes)
    output.warn(warning for warning in warnings if warning)
    doubts = find_diagnostic(diagnostic).doubts([o.record for o in outcomes], repository)
    output.warn(doubts)
    output.warn_of_changes((request.variant.encoder for request in requests), settings, repository)
    for digest in dict.fromkeys(o.record.plan.dataset_digest for o in outcomes):
        output.warn(kept.warning for kept in training_overlap.remembered(settings.training, digest) if kept.warning)
    if as_json:
        runs = [output.run_json(o.record) | {"computed": o.computed} for o in outcomes]
        output.print_json({"runs": runs, "doubts": list(doubts)})
        return
    output.use_names(settings, repository)
    headline = [
        m
        for m in find_diagnostic(diagnostic).metrics_of(outcomes[0].record.metrics)
        if not m.name.endswith(("_optimistic", "_pessimistic", "_ceiling"))
        and all(m.name in o.record.metrics for o in outcomes)
    ]
    output.print_table(
        ", ".join([find_diagnostic(diagnostic).title, *(f"{k} {v}" for k, v in requests[0].params if k != FIT_ON)]),
        ["score", *(_column(o.record) for o in outcomes)],
        [(m.name, *(output.score_cell(m, o.record.metrics[m.name]) for o in outcomes)) for m in headline],
    )
    for outcome, asked in zip(outcomes, dict.fromkeys(requests), strict=True):
        how = "computed" if outcome.computed else "found in the store"
        stored_as = outcome.record.plan.dataset  # a copy of a file has the same content, and so the same run
        same = "" if stored_as == asked.dataset else f" as a run on {stored_as}, which has the same pairs"
        print(f"run {outcome.record.run_id}: {how}{same}{output.covered(outcome.record)}")
    for file in files:
        print(f"read {file.summary}")
    output.print_limits(outcome.record.plan.dataset for outcome in outcomes)


def _column(record: RunRecord) -> str:
    """Heading of a column of scores: the model and the dataset."""
    plan = record.plan
    fitted = f"\nfitted on {title_of(plan.params[FIT_ON])}" if FIT_ON in plan.params else ""
    return f"{plan.variant.label}\n{title_of(plan.dataset)}{fitted}"
