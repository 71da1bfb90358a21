"""Command ``sweep``: variants by datasets by diagnostics, resumable, with a table of results at the end."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter
from typing import Annotated, Any

import typer

from blindspot.cli import cluster, output, shards
from blindspot.cli.options import (
    FIT_ON_HELP,
    SUPPORT_HELP,
    TRANSFORM_HELP,
    AsJson,
    OwnNames,
    Support,
    datasets_of,
    names_own_data,
    takes_parameters,
)
from blindspot.cli.shards import OUT_HELP, SHARD_HELP, Shard, duration
from blindspot.datasets.catalog import OWN_FILE, OWN_FOLDER, find_dataset, title_of
from blindspot.diagnostic import FIT_ON, Diagnostic, Score, find_diagnostic, in_words
from blindspot.errors import BlindspotError, DataMissing, InputError
from blindspot.runs import estimates, manifests, pipeline, sweeps
from blindspot.runs.cluster.driver import Stored
from blindspot.runs.packs.computing import Failed
from blindspot.runs.pipeline import RunOutcome
from blindspot.runs.requests import RunRequest
from blindspot.runs.sending import sendings
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted

DEMO, EVIDENCE, MEANING = "demo", "evidence", "meaning"  # ready-made sweeps
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


@dataclass(frozen=True)
class Failure:
    """A run of a sweep that failed."""

    request: RunRequest
    error: BlindspotError


@dataclass(frozen=True)
class Done:
    """A run of a sweep that is in the store."""

    request: RunRequest
    outcome: RunOutcome

    @property
    def record(self) -> RunRecord:
        return self.outcome.record


@names_own_data
@takes_parameters(several=True)
def sweep(
    *,
    file: Annotated[str, typer.Argument(help="demo, meaning, evidence, or a TOML file; instead of options")] = "",
    encoder: Annotated[list[str] | None, typer.Option(help="encoder reference; repeat for several")] = None,
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help=f"dataset id, {OWN_FILE} or {OWN_FOLDER}; repeat for several")
    ] = None,
    diagnostic: Annotated[list[str] | None, typer.Option(help="diagnostic id; repeat for several")] = None,
    params: dict[str, list[str]],
    support: Annotated[Support | None, typer.Option(help=f"{SUPPORT_HELP}; default: common")] = None,
    fit_on: Annotated[str, typer.Option(help=FIT_ON_HELP)] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only list the runs, which are in the store, and what the others take")
    ] = False,
    shard: Annotated[str, typer.Option(metavar="i/n", help=SHARD_HELP)] = "",
    out: Annotated[str, typer.Option(metavar="FOLDER", help=OUT_HELP)] = "",
    on: Annotated[str, typer.Option(metavar="ENGINE", help=cluster.ON_HELP)] = "",
    workers: Annotated[int | None, typer.Option(help=cluster.WORKERS_HELP)] = None,
    gpus_per_task: Annotated[float | None, typer.Option(help=cluster.GPUS_HELP)] = None,
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """See ``HELP``."""
    cluster.check(on, workers, gpus_per_task, shard)
    dataset = datasets_of(dataset or [], own)
    lists = {"encoder": encoder, "transform": transform, "dataset": dataset, "diagnostic": diagnostic}
    options = {**lists, **params, "support": [support] if support else [], "fit-on": fit_on}
    settings = Settings.from_environment()
    wanted = _of_file(file, options, settings) if file else _of_options(options, params)
    part = Shard.parse(shard)
    expansion = sweeps.expand(wanted, settings)
    if (shard or out) and not (dry_run or on):
        shards.compute(expansion.requests, part, out, settings, as_json=as_json)
        return
    repository = Repository.at(settings.store)
    # Before the work, after which a file may be gone. In ready-made sweeps, diagnostics without a dataset are intended.
    notes = [*wanted.notes, *([] if file in (EVIDENCE, MEANING) else _notes(expansion))]
    if dry_run:
        _list(expansion, notes, settings, repository, part if shard or (out and not on) else None, as_json=as_json)
        return
    if file in (EVIDENCE, MEANING):
        _announce(expansion, wanted.notes, settings, repository)
    stored = estimates.stored_requests(expansion.requests, repository)
    output.announce([request for request in expansion.requests if request not in stored], settings)
    if on:
        came = cluster.run(on, expansion.requests, settings, repository, workers=workers, gpus=gpus_per_task, out=out)
        results = [_of_cluster(one) for one in came]
    else:
        results = _run(expansion.requests, settings, repository)
    done = [result for result in results if isinstance(result, Done)]
    failures = [result for result in results if isinstance(result, Failure)]
    output.warn(manifests.notes(d.record for d in done))
    output.warn_of_changes((d.request.variant.encoder for d in done), settings)
    if as_json:
        runs = [output.run_json(d.record) | {"computed": d.outcome.computed} for d in done]
        output.print_json(
            {"runs": runs, "failed": [shards.named(f.request) | {"error": str(f.error)} for f in failures]}
        )
    else:
        output.use_names(settings, repository, [result.request.variant.encoder for result in results])
        _print(done, failures, notes)
    if failures:
        raise _in_one_line(failures, len(results))


def _of_file(file: str, options: dict[str, Any], settings: Settings) -> sweeps.Sweep:
    """The sweep of a file, or a ready-made one; ``InputError`` if options are given too, or as ``sweeps.read_toml``."""
    if given := [f"--{name}" for name, value in options.items() if value]:
        raise InputError(
            f"both '{file}' and {', '.join(given)} are given",
            expected="either a file (or demo, meaning or evidence) or options",
        )
    if file == EVIDENCE:
        with output.progress("word vectors") as progress:
            return sweeps.evidence(settings, progress)
    ready = {DEMO: sweeps.demo, MEANING: sweeps.meaning}
    return ready[file]() if file in ready else sweeps.read_toml(file)


def _announce(expansion: sweeps.Expansion, notes: Sequence[str], settings: Settings, repository: Repository) -> None:
    """Print the cost of a long sweep to stderr before it starts."""
    cost = estimates.estimate(expansion.requests, settings, repository)
    guess = f" (a rough estimate: {len(cost.guessed)} encoders have not been run here yet)" if cost.guessed else ""
    there = len(cost.runs) - len(cost.wanted)
    lines = [
        *notes,
        f"{counted(len(cost.runs), 'run')}, {there} already in the store; the others take about "
        f"{duration(cost.seconds)}{guess} and {cost.disk_bytes / 1e6:,.0f} MB for embeddings",
    ]
    for line in lines:
        print(line, file=sys.stderr)


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
        common_support=options["support"] != [Support.OWN],
        fit_on=options["fit-on"],
    )


def _run(requests: Sequence[RunRequest], settings: Settings, repository: Repository) -> list[Done | Failure]:
    """Run one request after another; a failure does not stop the others. ``BlindspotError`` on Ctrl-C."""
    results: list[Done | Failure] = []
    pace, missing = sweeps.RemainingTime(), dict[str, DataMissing]()
    try:
        with output.progress("sweep") as progress:
            for number, request in enumerate(requests, 1):
                seconds = pace.remaining(requests[number - 1 :])
                left = "" if seconds is None else f" (about {duration(seconds)} left)"
                progress.title = f"{number} of {len(requests)}{left}: {request.label}"
                began, typical = perf_counter(), False
                try:
                    if request.dataset in missing:  # one attempt to download it is enough
                        raise missing[request.dataset]
                    outcome = pipeline.run(request, settings, repository, progress)
                except BlindspotError as error:
                    if isinstance(error, DataMissing):
                        missing[request.dataset] = error
                    results.append(Failure(request, error))
                else:
                    typical = outcome.computed and not outcome.record.manifest.get("embeddings", {}).get("encoded_now")
                    results.append(Done(request, outcome))
                pace.note(request, perf_counter() - began, is_typical=typical)
    except KeyboardInterrupt:
        done = sum(isinstance(result, Done) for result in results)
        raise BlindspotError(
            f"interrupted; {done} of {len(requests)} runs are done", remedy="run the same command to continue"
        ) from None
    return results


def _of_cluster(result: Stored | Failed) -> Done | Failure:
    if isinstance(result, Stored):
        return Done(result.request, result.outcome)
    return Failure(result.request, result.error)


def _in_one_line(failures: Sequence[Failure], of: int) -> BlindspotError:
    """The error of a sweep; bad input only if every run failed because of it."""
    first = failures[0]
    bad_input = len(failures) == of and all(isinstance(f.error, InputError) for f in failures)
    kind = InputError if bad_input else BlindspotError
    return kind(f"{len(failures)} of {of} runs failed; the first was {first.request.label}: {first.error}")


# --- printing


def _list(
    expansion: sweeps.Expansion,
    notes: Sequence[str],
    settings: Settings,
    repository: Repository,
    shard: Shard | None,
    *,
    as_json: bool,
) -> None:
    """Print the runs of a sweep and which of them the store has, and the groups of the others, or of a shard."""
    found = [pipeline.find(request, settings, repository) for request in expansion.requests]
    ids = [None if record is None else record.run_id for record in found]
    lacking = [request for request, run_id in zip(expansion.requests, ids, strict=True) if run_id is None]
    sent = sendings(lacking, settings)
    if shard:  # a shard knows nothing of a store
        groups, no_groups = shards.planned(expansion.requests, shard, settings, None)
    else:
        groups, no_groups = shards.planned(lacking, Shard(1, 1), settings, repository)
    if as_json:
        planned = [shards.named(r) | {"run_id": i} for r, i in zip(expansion.requests, ids, strict=True)]
        sends = [{"host": s.host, "texts": s.texts, "tokens": s.tokens, "key_env": s.key_env} for s in sent]
        grouped = {"groups": shards.groups_json(groups)}
        output.print_json({"planned": planned, **grouped, **({"sends": sends} if sends else {})})
        return
    output.use_names(settings, repository, [request.variant.encoder for request in expansion.requests])
    rows = [
        (
            str(n),
            find_diagnostic(r.diagnostic).title,
            r.variant.label,
            title_of(r.dataset),
            in_words(dict(r.params)),
            f"run {i}" if i else "-",
        )
        for n, (r, i) in enumerate(zip(expansion.requests, ids, strict=True), 1)
    ]
    output.print_table("Runs", ["no.", "diagnostic", "model", "dataset", "parameters", "in the store"], rows)
    shards.print_groups(groups)
    for note in [*notes, *filter(None, [no_groups]), *(sending.in_words for sending in sent)]:
        print(note)
    print(f"{counted(len(ids), 'run')}: {len(ids) - ids.count(None)} in the store, {ids.count(None)} to compute")


def _print(done: Sequence[Done], failures: Sequence[Failure], notes: Sequence[str]) -> None:
    def table_of(one: Done) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        return one.request.diagnostic, one.request.dataset, one.request.params

    order = {table: number for number, table in enumerate(dict.fromkeys(map(table_of, done)))}
    for _, group in groupby(sorted(done, key=lambda one: order[table_of(one)]), key=table_of):
        _print_scores(list(group))
    if failures:
        rows = [(f.request.label, in_words(dict(f.request.params)), str(f.error)) for f in failures]
        output.print_table("Failed", ["run", "parameters", "why"], rows)
    for note in notes:
        print(note)
    computed = sum(one.outcome.computed for one in done)
    failed = f", {len(failures)} failed" if failures else ""
    runs = counted(len(done) + len(failures), "run")
    print(f"{runs}: {computed} computed, {len(done) - computed} found in the store{failed}")


def _notes(expansion: sweeps.Expansion) -> list[str]:
    """Combinations left out, with the reason, and how the user's own files were read."""
    left_out = [
        f"skipped: {diagnostic} on {dataset}; it needs a {find_diagnostic(diagnostic).dataset_kind.in_words}, "
        f"and this is a {find_dataset(dataset).kind.in_words}"
        for diagnostic, dataset in expansion.unfit
    ]
    own = [find_dataset(dataset).own for dataset in dict.fromkeys(r.dataset for r in expansion.requests)]
    return [*left_out, *(f"read {pairs.summary}" for pairs in own if pairs)]


def _print_scores(group: Sequence[Done]) -> None:
    """Print a table of the models on one dataset under one diagnostic, best first."""
    request, entry = group[0].request, find_diagnostic(group[0].request.diagnostic)
    headline, *others = shown_metrics(entry, [one.record for one in group])
    ranked, how = list(group), ""
    if headline.higher_is_better is not None and all(headline.name in one.record.metrics for one in group):
        ranked.sort(key=lambda one: one.record.metrics[headline.name], reverse=headline.higher_is_better)
        how = f", best {headline.name} first"
    part_of, called = ("pairs", "pairs") if "pairs" in group[0].record.coverage else ("items", "texts")
    in_part = any(one.record.coverage["items"] != one.record.coverage["items_covered"] for one in group)
    columns = ["model", headline.name, *(m.name for m in others), *([f"{called} covered"] if in_part else []), "run"]
    rows = []
    for one in ranked:
        metrics, coverage = one.record.metrics, one.record.coverage
        scores = [output.number(m, metrics[m.name]) if m.name in metrics else "–" for m in (headline, *others)]
        part = [f"{coverage[f'{part_of}_covered']:,} of {coverage[part_of]:,}"] if in_part else []
        rows.append([one.request.variant.label, *scores, *part, one.record.run_id])
    given = ((name, value) for name, value in request.params if name != FIT_ON)
    params = "".join(f", {name} {value}" for name, value in given)
    params += f", fitted on {title_of(request.fit_on)}" if request.fit_on else ""
    output.print_table(f"{entry.title} on {title_of(request.dataset)}{params}{how}", columns, rows)
    if len({one.record.plan.support_digest for one in group}) > 1:
        print("these models were ranked on different texts: their scores cannot be compared")


def shown_metrics(entry: Diagnostic, records: Sequence[RunRecord]) -> list[Score]:
    """The headline and a few other scores that some of the runs have; neither counts nor details."""
    found = entry.metrics_of(name for record in records for name in record.metrics)
    name = next((name for record in records if (name := entry.headline_of(record.metrics))), entry.headline)
    headline = next(m for m in entry.metrics if m.name == name)
    others = [m for m in found if m != headline and not m.is_count and not m.name.endswith(DETAILS)]
    return [headline, *others[:METRICS_SHOWN]]
