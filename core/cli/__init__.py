"""``python -m core list|run|sweep|neighbours|map|hubs|judge|evidence|data|runs|export|doctor|bench`` (DESIGN 6).

Results go to stdout, progress and errors to stderr. Exit code 0: done, 2: bad input, 1: failure.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from core import diagnostic as diagnostics
from core.cli import data as cli_data
from core.cli import doctor as cli_doctor
from core.cli import evidence as cli_evidence
from core.cli import hubs as cli_hubs
from core.cli import judge as cli_judge
from core.cli import map as cli_map
from core.cli import neighbours as cli_neighbours
from core.cli import output
from core.cli.options import (
    FIT_ON_HELP,
    SUPPORT_HELP,
    TRANSFORM_HELP,
    AsJson,
    Support,
    names_columns,
    of_columns,
)
from core.cli.runs import compare as cli_compare
from core.cli.runs import kinds as cli_kinds
from core.cli.runs import orderings as cli_orderings
from core.cli.runs import resembles as cli_resembles
from core.cli.runs import sentences as cli_sentences
from core.cli.runs import trust as cli_trust
from core.cli.sweep import HELP as SWEEP_HELP
from core.cli.sweep import sweep
from core.datasets import catalog as datasets
from core.datasets import fetch, uploads
from core.datasets.own.reference import NamedColumns
from core.diagnostic import FIT_ON, in_words
from core.diagnostics.evalrank import training_overlap
from core.encoders import catalog as encoders
from core.errors import BlindspotError, InputError, unknown, visible
from core.files.export import write_csv
from core.files.writing import disk_error, write_atomically
from core.runs import manifests, pipeline
from core.runs.at_work import at_work
from core.runs.log import JobLine
from core.settings import Settings
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.transforms.chain import STEPS
from core.workspace import own_datasets as dataset_library

INTERRUPTED = 130  # what Typer returns after Ctrl-C; it swallows the exception

app = typer.Typer(
    name="python -m core",
    help="Blindspot: what an encoder gets wrong, pair by pair.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Datasets: what there is, download, verify.", no_args_is_help=True)
runs_app = typer.Typer(help="Runs in the store.", invoke_without_command=True)
app.add_typer(data_app, name="data")
app.add_typer(runs_app, name="runs")
app.add_typer(cli_judge.app, name="judge")
runs_app.command("compare")(cli_compare.compare)
runs_app.command("scores")(cli_compare.scores)
runs_app.command("kinds")(cli_kinds.kinds)
runs_app.command("frequency")(cli_kinds.frequency_bands)
runs_app.command("resembles")(cli_resembles.resembles)
runs_app.command("sentences")(cli_sentences.sentences)
runs_app.command("trust")(cli_trust.trust)
runs_app.command("overlap")(cli_trust.overlap)
runs_app.command("orderings")(cli_orderings.orderings)
data_app.command("overlap")(cli_data.overlap)
data_app.command("show")(cli_data.show)
app.command("map")(cli_map.map_)
app.command("evidence")(cli_evidence.evidence)
app.command("hubs")(cli_hubs.hubs)
app.command(help=SWEEP_HELP)(sweep)
app.command("neighbours")(cli_neighbours.neighbours_of)


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


# --- commands


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(help="encoders, transforms, datasets or diagnostics; all if left out")] = "",
    as_json: AsJson = False,
) -> None:
    """List what the catalogs have."""
    catalogs: dict[str, list[tuple[str, str]]] = {
        "encoders": [(e.id, e.description) for e in encoders.ENCODERS.values()],
        "transforms": [(s.name, s.help) for s in STEPS.values()],
        "datasets": [(d.id, d.description) for d in datasets.DATASETS.values()],
        "diagnostics": [(d.id, d.question) for d in diagnostics.every().values()],
    }
    if kind and kind not in catalogs:
        raise unknown("catalog", kind, catalogs)
    wanted = {name: rows for name, rows in catalogs.items() if kind in {"", name}}
    forms = encoders.SCHEMES.values()
    if as_json:
        output.print_json({name: [{"id": i, "description": d} for i, d in rows] for name, rows in wanted.items()})
        return
    for name, rows in wanted.items():
        output.print_table(name.capitalize(), ["id", "what it is"], rows)
        if name == "encoders":
            references = [(s.form, s.description) for s in forms]
            output.print_table("Encoders by reference", ["form", "what it is"], references)
    if "datasets" in wanted:
        print(f"Your own texts: {datasets.OWN_FILE}; {datasets.OWN_FORMS}.")


@app.command()
@names_columns
def run(
    diagnostic: Annotated[str, typer.Argument(help="for example evalrank or heros; see: list diagnostics")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; several times for several")],
    dataset: Annotated[list[str], typer.Option(help=f"dataset id or {datasets.OWN_FILE}; several times for several")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    metric: Annotated[str | None, typer.Option(help="similarity: cos or l2")] = None,
    protocol: Annotated[str | None, typer.Option(help="how ranks are counted: definition or toolkit")] = None,
    rule: Annotated[str | None, typer.Option(help="how analogies are answered: 3cosadd or 3cosmul")] = None,
    classifier: Annotated[str | None, typer.Option(help="of transfer: logreg, mlp, or either with -znorm")] = None,
    seed: Annotated[str | None, typer.Option(help="of transfer: what folds and weights start from, 1 to 5")] = None,
    support: Annotated[Support, typer.Option(help=SUPPORT_HELP)] = Support.COMMON,
    fit_on: Annotated[str, typer.Option(help=FIT_ON_HELP)] = "",
    as_json: AsJson = False,
    *,
    columns: NamedColumns | None,
) -> None:
    """Compute diagnostics, or find them in the store, and print their scores."""
    settings = Settings.from_environment()
    dataset = of_columns(dataset, columns)
    given = {"metric": metric, "protocol": protocol, "rule": rule, "classifier": classifier, "seed": seed}
    params = {name: value for name, value in given.items() if value is not None}
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


@data_app.command("list")
def data_list(as_json: AsJson = False) -> None:
    """Datasets with their counts, licence and state on this machine."""
    settings = Settings.from_environment()
    states = {entry.id: fetch.dataset_state(entry, settings) for entry in datasets.DATASETS.values()}
    if as_json:
        fields = ("id", "title", "kind", "size", "licence", "citation", "url", "revision")
        rows = [{f: getattr(e, f) for f in fields} | {"state": states[e.id]} for e in datasets.DATASETS.values()]
        output.print_json({"datasets": rows})
        return
    output.print_table(
        "Datasets",
        ["id", "state", "size", "licence"],
        [(e.id, states[e.id], e.size, e.licence) for e in datasets.DATASETS.values()],
    )


@data_app.command("fetch")
def data_fetch(ids: Annotated[list[str], typer.Argument(help="dataset ids")]) -> None:
    """Download datasets, from BLINDSPOT_MIRROR where it is set; corrupt files are downloaded again."""
    settings = Settings.from_environment()
    for entry in [datasets.find(i) for i in ids]:
        if not entry.files:
            print(f"{entry.id}: {fetch.dataset_state(entry, settings)}, nothing to download")
            continue
        with at_work(settings, JobLine("fetch", dataset=entry.id)), output.progress(entry.id) as progress:
            paths = fetch.fetch_dataset(entry, settings, progress)
        print(f"{entry.id}: {len(paths)} file(s) verified in {paths[0].parent}")


@data_app.command("verify")
def data_verify(
    ids: Annotated[list[str] | None, typer.Argument(help="dataset ids; all that are downloaded if left out")] = None,
) -> None:
    """Compare downloaded files with their checksums."""
    settings = Settings.from_environment()
    corrupt, missing = [], []
    for entry in [datasets.find(i) for i in ids] if ids else list(datasets.DATASETS.values()):
        for file in entry.files:
            state = fetch.file_state(file, settings)
            if state.state is fetch.DataState.CORRUPT:
                corrupt.append(entry.id)
            if state.state is fetch.DataState.MISSING and ids:
                missing.append(entry.id)
            detail = f" ({state.detail})" if state.detail else ""
            print(f"{entry.id}: {file.path}: {state.state}{detail}")
        if not entry.files:
            print(f"{entry.id}: {fetch.dataset_state(entry, settings)}")
    if bad := sorted({*corrupt, *missing}):
        raise BlindspotError(
            f"{len(bad)} dataset(s) with corrupt or missing files: {', '.join(bad)}",
            remedy=f"download again with: python -m core data fetch {' '.join(bad)}",
        )


@data_app.command("remove")
def data_remove(
    dataset: Annotated[str, typer.Argument(help=f"{datasets.OWN_FILE}, an upload or a file that was run")],
    purge: Annotated[bool, typer.Option("--purge", help="also delete its runs, texts and embeddings")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
) -> None:
    """Delete an upload; with --purge all that Blindspot keeps of a file of yours. The file itself stays."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    found = dataset_library.kept(dataset, settings, repository)
    if found.is_nothing:
        raise InputError(f"nothing is kept of '{found.reference}'", remedy="see: python -m core runs")
    if not purge and found.upload is None:
        raise InputError(
            f"'{found.reference}' is no upload: the file is yours to delete",
            expected="--purge, to delete what was computed on it",
        )
    what = found.in_words if purge else "the upload; runs on it and their texts stay (--purge deletes them, too)"
    print(f"{found.reference}: {what}")
    if not yes and not output.is_confirmed("delete this", remedy="add --yes to delete without being asked"):
        print("left as it is")
        return
    if purge:
        dataset_library.purge(found.reference, settings, repository)
    elif found.upload is not None:
        uploads.remove(found.upload, settings)
    print("deleted")


@runs_app.callback()
def runs(
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


@runs_app.command("show")
def runs_show(run_id: Annotated[str, typer.Argument(help="a run id, or how it begins")]) -> None:
    """Print everything about one run as JSON: scores, coverage, timings, manifest."""
    record = Repository.at(Settings.from_environment().store).run(run_id)
    output.print_json(output.run_json(record) | {"state": record.state})


@runs_app.command("delete")
def runs_delete(run_id: Annotated[str, typer.Argument(help="a run id, or how it begins")]) -> None:
    """Delete one run with its scores and items; embeddings stay in the cache."""
    repository = Repository.at(Settings.from_environment().store)
    record = repository.run(run_id)
    repository.delete(record)
    print(f"run {record.run_id} deleted")


@app.command()
def export(
    run_id: Annotated[str, typer.Argument(help="a run id, or how it begins")],
    output: Annotated[Path, typer.Option(help="file to write; its ending decides: .csv or .parquet")],
) -> None:
    """Write a run's per-item results, with their texts, to a CSV or Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    writers = {".csv": write_csv, ".parquet": parquet.write_table}
    if output.suffix not in writers:
        raise InputError(f"cannot tell the format of '{output}'", expected="a name that ends in .csv or .parquet")
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {output.parent}", expected="an existing folder for the file")
    repository = Repository.at(Settings.from_environment().store)
    record = repository.run(run_id)
    if record.state is not RunState.DONE:
        raise InputError(f"run {record.run_id} is {record.state}, it has no results", remedy="run it again first")
    entry = replace(diagnostics.find(record.plan.diagnostic), version=record.plan.diagnostic_version)
    table = pa.Table.from_pandas(repository.items(entry, [record.run_id], texts=True), preserve_index=False)
    write_atomically(output, lambda f: writers[output.suffix](table, f))
    print(f"{table.num_rows} rows written to {output}")


@app.command()
def doctor(
    as_json: AsJson = False,
    mend: Annotated[bool, typer.Option("--mend", help="Put right what can be, asking before each thing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --mend: do not ask.")] = False,
    ready: Annotated[bool, typer.Option("--ready", help="Only say, quickly, whether it can serve now.")] = False,
) -> None:
    """Look for what is wrong here, and say what to do; exit code 1 where there is a problem."""
    if sum((as_json, mend, ready)) > 1 or (yes and not mend):
        raise InputError("these options do not go together", expected="--json, --ready, --mend or --mend --yes")
    if ready:
        cli_doctor.ready()
    elif mend:
        cli_doctor.mend(yes=yes)
    else:
        cli_doctor.report(as_json=as_json)


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="benchmarks; all if left out")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast Blindspot is here: ratios within one run, medians of interleaved pairs, and times of the app."""
    from core.benchmarks import catalog as benchmarks

    with output.progress("benchmark") as progress:
        report = benchmarks.run(names or list(benchmarks.BENCHMARKS), progress)
    for name, reason in report.not_measured.items():
        print(f"{name} not measured: {reason}", file=sys.stderr)
    if as_json:
        output.print_json(report.as_json())
        return
    output.print_table(
        ", ".join(f"{k} {v}" for k, v in report.machine.items()),
        ["benchmark", "value", "unit", "to reach", "is it", "samples"],
        [
            (
                r.name,
                f"{r.value:.3g}",
                r.unit,
                benchmarks.reach_in_words(r),
                benchmarks.verdict(r),
                " ".join(f"{s:.3g}" for s in r.samples),
            )
            for r in report.results
        ],
    )
    for name in dict.fromkeys(benchmarks.benchmark_of(r.name).name for r in report.results):
        print(f"{name} ({report.seconds[name]:.0f} s): {benchmarks.BENCHMARKS[name].description}")
    print(f"all of it took {sum(report.seconds.values()):.0f} s")
