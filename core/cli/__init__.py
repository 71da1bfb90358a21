"""``python -m core list|run|sweep|neighbours|map|hubs|judge|evidence|data|runs|export|doctor|bench`` (DESIGN 6).

Results go to stdout, progress and errors to stderr. Exit code 0: done, 2: bad input, 1: failure.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from core import diagnostic as diagnostics
from core.cli import bench, data, doctor, evidence, export, hubs, judge, list_, neighbours, output, runs, sweep
from core.cli import map as map_
from core.cli.options import (
    FIT_ON_HELP,
    SUPPORT_HELP,
    TRANSFORM_HELP,
    AsJson,
    Support,
    names_columns,
    of_columns,
    takes_parameters,
)
from core.datasets import catalog as datasets
from core.datasets.own.reference import NamedColumns
from core.diagnostic import FIT_ON
from core.diagnostics.evalrank import training_overlap
from core.errors import BlindspotError, visible
from core.files.writing import disk_error
from core.runs import manifests, pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository

INTERRUPTED = 130  # what Typer returns after Ctrl-C; it swallows the exception

app = typer.Typer(
    name="python -m core",
    help="Blindspot: what an encoder gets wrong, pair by pair.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.add_typer(runs.app, name="runs")
app.add_typer(judge.app, name="judge")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. Every error becomes one line on stderr."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    try:
        code = app(args, standalone_mode=False)
    except BlindspotError as error:
        return _fail(str(error), error.exit_code, debug)
    except typer.TyperException as error:
        message = error.format_message()
        if not message:  # the help was shown instead
            return error.exit_code
        return _fail(f"{message} See: python -m core --help", error.exit_code, debug)
    except Exception as error:  # noqa: BLE001 - the last line of defence; --debug shows the traceback
        what = f"unexpected {type(error).__name__}: {error}; run it with --debug to see where"
        return _fail(str(disk_error(error) or what), 1, debug)
    if code == INTERRUPTED:
        return _fail("interrupted; what was encoded so far is kept: run it again to continue", 1, debug)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int, debug: bool) -> int:
    if debug and sys.exception():
        traceback.print_exc()
    print("error:", visible(" ".join(message.split())), file=sys.stderr)
    return code


@names_columns
@takes_parameters(several=False)
def run(
    *,
    diagnostic: Annotated[str, typer.Argument(help="for example evalrank or heros; see: list diagnostics")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; several times for several")],
    dataset: Annotated[list[str], typer.Option(help=f"dataset id or {datasets.OWN_FILE}; several times for several")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    params: dict[str, str],
    support: Annotated[Support, typer.Option(help=SUPPORT_HELP)] = Support.COMMON,
    fit_on: Annotated[str, typer.Option(help=FIT_ON_HELP)] = "",
    as_json: AsJson = False,
    columns: NamedColumns | None,
) -> None:
    """Compute diagnostics, or find them in the store, and print their scores."""
    settings = Settings.from_environment()
    dataset = of_columns(dataset, columns)
    compared = encoder if support is Support.COMMON else []
    requests = [
        pipeline.request(diagnostic, e, t, d, params, settings, compared, fit_on)
        for d in dataset
        for e in encoder
        for t in transform or ["none"]
    ]
    repository = Repository.at(settings.store)
    outcomes = []
    for request in dict.fromkeys(requests):
        with output.progress(request.label) as progress:
            outcomes.append(pipeline.run(request, settings, repository, progress))
    output.warn(manifests.prompt_warnings(o.record for o in outcomes))
    for digest in dict.fromkeys(o.record.plan.dataset_digest for o in outcomes):
        output.warn(kept.warning for kept in training_overlap.remembered(settings.training, digest) if kept.warning)
    if as_json:
        output.print_json({"runs": [output.run_json(o.record) | {"computed": o.computed} for o in outcomes]})
        return
    headline = [
        m
        for m in diagnostics.find(diagnostic).metrics_of(outcomes[0].record.metrics)
        if not m.name.endswith(("_optimistic", "_pessimistic", "_ceiling"))
        and all(m.name in o.record.metrics for o in outcomes)
    ]
    output.print_table(
        ", ".join([diagnostics.find(diagnostic).title, *(f"{k} {v}" for k, v in requests[0].params if k != FIT_ON)]),
        ["score", *(_column(o.record) for o in outcomes)],
        [(m.name, *(output.number(m, o.record.metrics[m.name]) for o in outcomes)) for m in headline],
    )
    for outcome, asked in zip(outcomes, dict.fromkeys(requests), strict=True):
        how = "computed" if outcome.computed else "found in the store"
        stored_as = outcome.record.plan.dataset  # a copy of a file has the same content, and so the same run
        same = "" if stored_as == asked.dataset else f", where {stored_as} has the same pairs"
        print(f"run {outcome.record.run_id}: {how}{same}{output.covered(outcome.record)}")
    for asked_id in dict.fromkeys(r.dataset for r in requests):
        if pairs := datasets.find(asked_id).own:
            print(f"read {pairs.summary}")


def _column(record: RunRecord) -> str:
    """What a column of scores is of."""
    fitted = record.plan.params.get(FIT_ON)
    return f"{record.plan.variant.label}\n{record.plan.dataset}" + (f"\nfitted on {fitted}" if fitted else "")


app.command("map")(map_.map_)
app.command("evidence")(evidence.evidence)
app.command("hubs")(hubs.hubs)
app.command("sweep", help=sweep.HELP)(sweep.sweep)
app.command("neighbours")(neighbours.neighbours_of)
app.command("list")(list_.list_)
app.command("run")(run)
app.command("export")(export.export)
app.command("doctor")(doctor.diagnose)
app.command("bench")(bench.bench)
