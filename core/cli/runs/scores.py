"""``python -m core runs scores``: how sure are EvalRank's scores?"""

from __future__ import annotations

from typing import Annotated

import typer

from core import diagnostic as diagnostics
from core.cli import output
from core.cli.runs.finished import finished_run, named
from core.diagnostic import in_words
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import uncertainty as numbers
from core.diagnostics.evalrank.comparison import independent
from core.numerics.statistics.estimate import Estimate
from core.runs.comparison import ends, entry_of_both
from core.settings import Settings
from core.store.repository import Repository


def scores(
    run_ids: Annotated[list[str], typer.Argument(metavar="RUN...", help="runs of evalrank over one dataset")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """EvalRank's scores with 95% intervals that respect that pairs share texts."""
    repository = Repository.at(Settings.from_environment().store)
    runs = list({run.run_id: run for run in map(repository.run, run_ids)}.values())
    entry = diagnostics.find("evalrank")
    for run in runs:
        finished_run(run.run_id, repository, entry.id)
        if run is not runs[0]:
            entry_of_both(runs[0], run)
    table = explore.pair_table(entry, [run.run_id for run in runs], repository)
    found = numbers.samples(table, [run.run_id for run in runs], numbers.WITH_INTERVAL)
    estimates = {run_id: rows for sample in found for run_id, rows in sample.estimates().items()}
    methods = {run_id: sample for sample in found for run_id in sample.run_ids}
    if as_json:
        output.print_json(
            {
                "runs": [
                    named(run)
                    | {"dataset": run.plan.dataset, **independent(methods[run.run_id])}
                    | {"pairs": len(methods[run.run_id].queries)}
                    | {"scores": {m: _scored(e) for m, e in estimates[run.run_id].items()}}
                    for run in runs
                ]
            }
        )
        return
    output.print_table(
        f"EvalRank on {runs[0].plan.dataset}, with 95% intervals",
        ["score", *(f"{run.plan.variant.label}\n{in_words(run.plan.params)}" for run in runs)],
        [
            [metric, *(_estimate(metric, estimates[run.run_id][metric]) for run in runs)]
            for metric in _metrics_in_order()
        ],
    )
    for said in dict.fromkeys(numbers.method_in_words(sample) for sample in found):
        output.print_text(said)
    if len(found) > 1:
        output.print_text("These runs ranked different pairs: their scores are not comparable.")


def _metrics_in_order() -> list[str]:
    return [m.name for m in diagnostics.find("evalrank").metrics if m.name in numbers.WITH_INTERVAL]


def _scored(estimate: Estimate) -> dict[str, object]:
    return {"value": estimate.value, **ends(estimate.interval), "no_interval": estimate.refusal or None}


def _estimate(metric: str, estimate: Estimate) -> str:
    value = numbers.shown(metric, estimate.value)
    return value if estimate.interval is None else f"{value} {numbers.shown_interval(metric, estimate.interval)}"
