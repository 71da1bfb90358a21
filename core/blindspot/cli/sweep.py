"""Command ``sweep``: variants by datasets by diagnostics, resumable, with a table of results at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from blindspot.cli import computing, output
from blindspot.cli.options import (
    COVERED_HELP,
    FIT_ON_HELP,
    AsJson,
    Covered,
    Datasets,
    OwnNames,
    Transforms,
    datasets_of,
    names_own_data,
    settings_and_store,
    takes_parameters,
)
from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import FIT_ON, Diagnostic, Score, find_diagnostic, in_words
from blindspot.errors import InputError
from blindspot.names import current
from blindspot.runs import estimates, manifests, sweeps
from blindspot.runs.computing import Done, Failed, failure, parted
from blindspot.runs.packs import groups
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.groups import Shard
from blindspot.runs.packs.importing import required
from blindspot.runs.packs.results import PackResults
from blindspot.runs.requests import RunRequest
from blindspot.runs.sweeps import EVIDENCE, MEANING, SweepPlan
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.texts import counted, duration

SHARD_HELP = "compute only the i-th of n parts, into --out; every machine finds the same parts"
OUT_HELP = "folder of result packs, or an address such as s3://BUCKET/FOLDER; with --on, one that all nodes share"
METRICS_SHOWN = 6  # besides the headline
DETAILS = ("_optimistic", "_pessimistic", "_ceiling", "_sd", "_low", "_high")  # endings of scores left out of tables

HELP = """Run models by datasets by diagnostics, then print a table of scores per dataset.

Results already in the store are reused: after an interruption, run the same command to continue. Every diagnostic runs
on the datasets of its kind.

`sweep demo` runs all encoders of the catalog with four transforms on the built-in sentences and needs no network.
`sweep meaning` runs them on the published sets that change a sentence's meaning in a known way: SugarCrepe++,
EventsAdapt, XNLI negation in five languages, the GLUE diagnostic and STS3k.
`sweep evidence` computes what *Do scores predict tasks?* in the Lab needs: EvalRank, geometry, similarity and two
transfer tasks for at least 24 models in six families, if BLINDSPOT_MIRROR has the word vectors; it starts by estimating
its time. A file takes the same choices as the options:

\b
    encoders = ["minilm", "minilm-cls", "vectors:glove.6B.300d.txt"]
    transforms = ["none", "center", "abtt:2"]     # default: none
    datasets = ["demo-pairs", "demo-minimal"]
    diagnostics = ["evalrank", "heros"]
    support = "common"                            # or "own"
    fit_on = "stsb-dev"                           # texts to fit transforms on; default: the evaluated texts
    params.metric = ["cos", "l2"]                 # for diagnostics that
    params.protocol = "definition"                # have these parameters
"""


@names_own_data
@takes_parameters(several=True)
def sweep(
    *,
    file: Annotated[str, typer.Argument(help="demo, meaning, evidence, or a TOML file; instead of options")] = "",
    encoder: Annotated[list[str] | None, typer.Option(help="encoder reference; repeat for several")] = None,
    transform: Transforms = None,
    dataset: Datasets = None,
    diagnostic: Annotated[list[str] | None, typer.Option(help="diagnostic id; repeat for several")] = None,
    params: dict[str, list[str]],
    covered: Annotated[Covered | None, typer.Option("--support", help=f"{COVERED_HELP}; default: common")] = None,
    fit_on: Annotated[str, typer.Option(help=FIT_ON_HELP)] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only list the runs, which are in the store, and what the others take")
    ] = False,
    shard: Annotated[str, typer.Option(metavar="i/n", help=SHARD_HELP)] = "",
    out: Annotated[str, typer.Option(metavar="FOLDER", help=OUT_HELP)] = "",
    on: Annotated[str, typer.Option(metavar="ENGINE", help=computing.ON_HELP)] = "",
    workers: Annotated[int | None, typer.Option(help=computing.WORKERS_HELP)] = None,
    gpus_per_task: Annotated[float | None, typer.Option(help=computing.GPUS_HELP)] = None,
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """See ``HELP``."""
    computing.check(on, workers, gpus_per_task, shard)
    datasets = datasets_of(dataset or [], own)
    lists = {"encoder": encoder, "transform": transform, "dataset": datasets, "diagnostic": diagnostic}
    options = {**lists, **params, "support": [covered] if covered else [], "fit-on": fit_on}
    settings, repository = settings_and_store()
    wanted = _of_file(file, options, settings) if file else _of_options(options, params)
    part = Shard.parse(shard)
    expansion = sweeps.expand(wanted, settings)
    requests = expansion.requests
    if (shard or out) and not (dry_run or on):
        _compute_shard(requests, part, out, settings, as_json=as_json)
        return
    # Before the work, after which a file may be gone. In ready-made sweeps, diagnostics without a dataset are intended.
    notes = [*wanted.notes, *([] if file in (EVIDENCE, MEANING) else _notes(expansion))]
    if dry_run:
        of_shard = part if shard or (out and not on) else None
        plan = SweepPlan.of(requests, settings, repository, of_shard)
        if as_json:
            output.print_json(plan.as_json())
        else:
            output.use_names(settings, repository, [request.variant.encoder for request in requests])
            _print_plan(plan, notes)
        return
    if file in (EVIDENCE, MEANING):
        computing.announce_cost(requests, settings, repository, wanted.notes)
    stored = estimates.stored_requests(requests, repository)
    output.announce([request for request in requests if request not in stored], settings)
    if on:
        results = computing.on_cluster(on, requests, settings, repository, workers=workers, gpus=gpus_per_task, out=out)
    else:
        results = computing.one_by_one(requests, settings, repository)
    done, failed = parted(results)
    output.warn(manifests.notes(result.outcome.record for result in done))
    output.warn_of_changes((result.request.variant.encoder for result in done), settings, repository)
    if as_json:
        runs = [output.run_json(result.outcome.record) | {"computed": result.computed} for result in done]
        output.print_json({"runs": runs, "failed": _failed_json(failed)})
    else:
        output.use_names(settings, repository, [request.variant.encoder for request in requests])
        _print(done, failed, notes)
    if failed:
        raise failure(failed, len(results))


def _of_file(file: str, options: dict[str, Any], settings: Settings) -> sweeps.Sweep:
    """The sweep of a file, or a ready-made one; ``InputError`` if options are given too, or by ``sweeps.read_toml``."""
    if given := [f"--{name}" for name, value in options.items() if value]:
        raise InputError(
            f"both '{file}' and {', '.join(given)} are given",
            expected="either a file (or demo, meaning or evidence) or options",
        )
    with output.progress("word vectors") as progress:
        return sweeps.named(file, settings, progress)


def _compute_shard(
    requests: Sequence[RunRequest], shard: Shard, out: str, settings: Settings, *, as_json: bool
) -> None:
    """Compute a shard into packs, opening no store; ``BlindspotError`` if runs failed, or on Ctrl-C."""
    folder = folder_at(required(out))
    mine = groups.shard(groups.of_requests(requests, settings, shard.of), shard.number, shard.of)
    wanted = [request for group in mine for request in group.requests]
    output.announce(wanted, settings)
    results = computing.one_by_one(wanted, settings, PackResults(folder))
    done, failed = parted(results)
    if as_json:
        runs = [d.request.as_json() | {"run_id": d.outcome.record.run_id, "computed": d.computed} for d in done]
        output.print_json({"shard": str(shard), "out": folder.address, "runs": runs, "failed": _failed_json(failed)})
    else:
        _print_failed(failed)
        computed = sum(result.computed for result in done)
        print(
            f"shard {shard}, {counted(len(results), 'run')}: {computed} computed, "
            f"{len(done) - computed} found in {folder.address}, {len(failed)} failed"
        )
    if failed:
        raise failure(failed, len(results))


def _failed_json(failed: Sequence[Failed]) -> list[dict[str, Any]]:
    return [failure.request.as_json() | {"error": str(failure.error)} for failure in failed]


def _of_options(options: dict[str, Any], params: Mapping[str, Sequence[str]]) -> sweeps.Sweep:
    """The sweep that options describe; ``InputError`` if one is missing."""
    needed = ("encoder", "dataset", "diagnostic")
    if missing := [f"--{name}" for name in needed if not options[name]]:
        raise InputError(
            f"{', '.join(missing)} missing",
            expected="encoders, datasets and diagnostics, or a TOML file, or demo",
            remedy="try: blindspot sweep demo",
        )
    return sweeps.Sweep(
        encoders=tuple(options["encoder"]),
        transforms=tuple(options["transform"] or ["none"]),
        datasets=tuple(options["dataset"]),
        diagnostics=tuple(options["diagnostic"]),
        params={name: tuple(values) for name, values in params.items()},
        covered_by_all=options["support"] != [Covered.OWN],
        fit_on=options["fit-on"],
    )


# --- printing


def _print_plan(plan: SweepPlan, notes: Sequence[str]) -> None:
    rows = [
        {
            "no.": number,
            "diagnostic": find_diagnostic(r.diagnostic).title,
            "model": r.variant.label,
            "dataset": title_of(r.dataset),
            "parameters": in_words(dict(r.params)),
            "in the store": f"run {run_id}" if run_id else "-",
        }
        for number, (r, run_id) in enumerate(zip(plan.requests, plan.run_ids, strict=True), 1)
    ]
    output.print_rows("Runs", rows)
    groups_shown = [
        {
            "no.": number,
            "model": current().model(group.model),
            "datasets": ", ".join(title_of(dataset) for dataset in group.datasets),
            "runs": len(group.requests),
            "time": duration(group.seconds + group.load_seconds),
            "memory": f"{group.memory_bytes / 1e9:.1f} GB",
            "embeddings": f"{group.disk_bytes / 1e6:,.1f} MB",
        }
        for number, group in enumerate(plan.groups, 1)
    ]
    output.print_rows("Groups", groups_shown)
    for note in [*notes, *filter(None, [plan.why_no_groups]), *(sending.in_words for sending in plan.sends)]:
        print(note)
    lacking = plan.run_ids.count(None)
    print(f"{counted(len(rows), 'run')}: {len(rows) - lacking} in the store, {lacking} to compute")


def _print_failed(failed: Sequence[Failed]) -> None:
    rows = [
        {"run": failure.request.label, "parameters": in_words(dict(failure.request.params)), "why": failure.error}
        for failure in failed
    ]
    output.print_rows("Failed", rows)


def _print(done: Sequence[Done], failed: Sequence[Failed], notes: Sequence[str]) -> None:
    tables = defaultdict[tuple[object, ...], list[Done]](list)
    for result in done:
        tables[result.request.diagnostic, result.request.dataset, result.request.params].append(result)
    for group in tables.values():
        _print_scores(group)
    _print_failed(failed)
    for note in notes:
        print(note)
    computed = sum(result.computed for result in done)
    runs, others = counted(len(done) + len(failed), "run"), f", {len(failed)} failed" if failed else ""
    print(f"{runs}: {computed} computed, {len(done) - computed} found in the store{others}")


def _notes(expansion: sweeps.Expansion) -> list[str]:
    """Combinations left out, with the reason, and how the user's own files were read."""
    left_out = [
        f"skipped: {diagnostic} on {dataset}; it needs a {find_diagnostic(diagnostic).dataset_kind.in_words}, "
        f"and this is a {dataset.entry().kind.in_words}"
        for diagnostic, dataset in expansion.unfit
    ]
    user_files = [dataset.entry().own for dataset in dict.fromkeys(r.dataset for r in expansion.requests)]
    return [*left_out, *(f"read {pairs.summary}" for pairs in user_files if pairs)]


def _print_scores(group: Sequence[Done]) -> None:
    """Print a table of the models on one dataset under one diagnostic, best first."""
    request, entry = group[0].request, find_diagnostic(group[0].request.diagnostic)
    ranked, how = [(result.request.variant.label, result.outcome.record) for result in group], ""
    records = [record for _, record in ranked]
    headline, *others = shown_metrics(entry, records)
    if headline.higher_is_better is not None and all(headline.name in record.metrics for record in records):
        ranked.sort(key=lambda model: model[1].metrics[headline.name], reverse=headline.higher_is_better)
        how = f", best {headline.name} first"
    part_of, called = ("pairs", "pairs") if "pairs" in records[0].coverage else ("items", "texts")
    in_part = any(record.coverage["items"] != record.coverage["items_covered"] for record in records)
    columns = ["model", headline.name, *(m.name for m in others), *([f"{called} covered"] if in_part else []), "run"]
    rows = []
    for label, record in ranked:
        metrics, coverage = record.metrics, record.coverage
        scores = [output.score_cell(m, metrics[m.name]) if m.name in metrics else "–" for m in (headline, *others)]
        part = [f"{coverage[f'{part_of}_covered']:,} of {coverage[part_of]:,}"] if in_part else []
        rows.append([label, *scores, *part, record.run_id])
    given = ((name, value) for name, value in request.params if name != FIT_ON)
    params = "".join(f", {name} {value}" for name, value in given)
    params += f", fitted on {title_of(request.fit_on)}" if request.fit_on else ""
    output.print_table(f"{entry.title} on {title_of(request.dataset)}{params}{how}", columns, rows)
    if len({record.plan.covered_digest for record in records}) > 1:
        print("these models were ranked on different texts: their scores cannot be compared")


def shown_metrics(entry: Diagnostic, records: Sequence[RunRecord]) -> list[Score]:
    """The headline and a few other scores that some of the runs have, without counts and details."""
    metrics = entry.metrics_of(name for record in records for name in record.metrics)
    name = next((name for record in records if (name := entry.headline_of(record.metrics))), entry.headline)
    headline = next(m for m in entry.metrics if m.name == name)
    others = [m for m in metrics if m != headline and not m.is_count and not m.name.endswith(DETAILS)]
    return [headline, *others[:METRICS_SHOWN]]
