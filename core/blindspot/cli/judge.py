"""Commands ``judge``: items for human raters, their votes and the results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import TRANSFORM_HELP, AsJson, SetId, check_file
from blindspot.cli.studies.training_data import check_folder, report
from blindspot.cli.variants import opened, variants_of
from blindspot.datasets.catalog import OWN_FILE, find_dataset
from blindspot.errors import InputError, unknown
from blindspot.files.typed_tables import TableFormat
from blindspot.files.writing import read_limited, write_atomically
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import interval, number, p_in_cell
from blindspot.runs.at_work import at_work
from blindspot.runs.log import JobLine
from blindspot.runs.training_data import making as making_of_data
from blindspot.runs.training_data.from_run import Wishes
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments import bundles, making, own_queries, scoring, verdict
from blindspot.studies.judgments import training_data as of_votes
from blindspot.studies.judgments.agreement import Agreement, agreement
from blindspot.studies.judgments.automatic import Automatic, answer
from blindspot.studies.judgments.bundles import Part
from blindspot.studies.judgments.inventories import SENTENCES, Inventory, Ready
from blindspot.studies.judgments.making import SEED, ItemsRequest
from blindspot.studies.judgments.rules import RANKS, Closeness, Rule
from blindspot.studies.judgments.scoring import By, PairTest, Scores, VariantScore
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.tallies import Tally, tally
from blindspot.studies.judgments.types import ItemSet, SetSummary, Task
from blindspot.variants import Variant

app = typer.Typer(no_args_is_help=True, help="Intruder test and comparative task: items, votes, results.")


@app.command()
def make(
    task: Annotated[Task, typer.Option(help="task of the raters")],
    encoder: Annotated[list[str], typer.Option(help="encoder reference; repeat for several")],
    transform: Annotated[list[str] | None, typer.Option(help=TRANSFORM_HELP)] = None,
    dataset: Annotated[str, typer.Option(help=f"dataset id or {OWN_FILE}")] = "vocab-wordfreq",
    queries: Annotated[
        str,
        typer.Option(
            help=f"{Ready.DEFAULT} (100 built-in words), {Ready.SIMLEX}, {Ready.SENTENCES}[:N] (a sample of the "
            "dataset), or a file: .txt with one query per line, .csv or .tsv with a column word, query or text"
        ),
    ] = Ready.DEFAULT,
    sample: Annotated[int | None, typer.Option(help="size of a seeded sample of the queries; default: all")] = None,
    rule: Annotated[
        Closeness,
        typer.Option(help="intruder: frequency within 0.1 in log10 of the mean (log10), or within 500 counts (count)"),
    ] = Closeness.LOG10,
    k: Annotated[list[int] | None, typer.Option("-k", help="comparative: rank; repeat for several")] = None,
    metric: Annotated[Similarity, typer.Option(help="similarity")] = Similarity.COS,
    seed: Annotated[int, typer.Option(help="seed of the samples")] = SEED,
    title: Annotated[str, typer.Option(help="title of the set")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a set of items and store it; the same choices again give the same set."""
    settings = Settings.from_environment()
    inventory, of_sentences = _queries(queries)
    if of_sentences is not None and sample is not None:
        raise InputError("both --sample and sentences:N are given", expected="one of the two")
    variants = tuple(Variant(e, t) for e in encoder for t in transform or ["none"])
    request = making.check(
        ItemsRequest(
            task,
            variants,
            dataset,
            metric,
            inventory,
            sample if of_sentences is None else of_sentences,
            Rule.of(rule),
            tuple(k or RANKS),
            seed,
            title,
        ),
        settings,
    )
    line = JobLine("items", variant=", ".join(variant.label for variant in variants), dataset=dataset)
    with at_work(settings, line), output.progress(request.label) as progress:
        items = making.make(request, settings, Repository.at(settings.store), progress)
    if as_json:
        output.print_json(_made(items))
        return
    output.print_text(f"{items.set_id}  {items.title}")
    output.print_text(making.in_words(items))


def _queries(named: str) -> tuple[Ready | Inventory, int | None]:
    """The inventory named by ``--queries``, and the number of sentences to sample from the dataset."""
    name, colon, number = named.partition(":")
    if name == Ready.SENTENCES:
        if colon and not number.isdecimal():
            raise InputError(f"--queries is '{named}'", expected=f"{Ready.SENTENCES}:N, for example sentences:100")
        return Ready.SENTENCES, int(number) if colon else SENTENCES
    if named in (Ready.DEFAULT, Ready.SIMLEX):
        return Ready(named), None
    path = Path(named).expanduser()
    if not os.path.lexists(path):
        raise InputError(
            f"--queries is '{named}', but there is no such file",
            expected=f"{', '.join(Ready)}, {Ready.SENTENCES}:N or a file",
        )
    data = read_limited(path, own_queries.MAX_BYTES)
    return own_queries.of_file(path.name, data), None


def _made(items: ItemSet) -> dict[str, object]:
    manifest = items.manifest
    return {
        "set_id": items.set_id,
        "task": items.task.value,
        "title": items.title,
        "variants": [str(v) for v in items.variants],
        "items": len(items.items),
        "queries": manifest["queries"],
        "skipped": manifest["skipped"],
        "unknown": manifest["unknown"],
        "unknown_total": manifest["unknown_total"],
        "manifest": dict(manifest),
    }


@app.command("list")
def list_sets(
    task: Annotated[Task | None, typer.Option(help="only sets of this task")] = None, as_json: AsJson = False
) -> None:
    """List the stored sets of items, newest first."""
    sets = Judgments.at(Settings.from_environment().store).sets(task)
    if as_json:
        output.print_json({"sets": [_summary(found) for found in sets]})
        return
    if not sets:
        output.print_text("No sets of items yet. Make one with: blindspot judge make")
    for found in sets:
        output.print_text(
            f"{found.set_id}  {found.task:<11}  {found.items:>4} items  {found.votes:>5} votes  {found.title}"
        )


def _summary(found: SetSummary) -> dict[str, object]:
    return {
        "set_id": found.set_id,
        "task": found.task.value,
        "title": found.title,
        "variants": [str(v) for v in found.variants],
        "items": found.items,
        "raters": found.raters,
        "votes": found.votes,
        "created_at": found.created_at.isoformat(),
    }


@app.command()
def export(
    set_id: SetId,
    output_file: Annotated[Path, typer.Option("--output", help="file to write: .zip, or with --only .csv or .parquet")],
    table_format: Annotated[
        TableFormat, typer.Option("--format", help="format of the tables in the zip")
    ] = TableFormat.CSV,
    only: Annotated[Part | None, typer.Option(help="write only this table")] = None,
) -> None:
    """Write a set of items with its votes to a file that another machine can import, or one of its tables."""
    endings = [".zip"] if only is None else [f".{form}" for form in TableFormat]
    check_file(output_file, endings, "cannot write")
    judgments = Judgments.at(Settings.from_environment().store)
    bundle = bundles.collect(judgments, judgments.named(set_id).set_id)
    if only is None:
        content = bundles.pack(bundle, table_format)
    else:
        content = bundles.table(bundle, only, TableFormat(output_file.suffix[1:]))
    write_atomically(output_file, lambda f: f.write(content))
    output.print_text(f"{len(bundle.items.items)} items and {len(bundle.votes)} votes: {output_file}")


@app.command("import")
def import_set(
    file: Annotated[Path, typer.Argument(help="a .zip written by 'judge export' or the app")], as_json: AsJson = False
) -> None:
    """Import a set of items with its votes; votes already stored are kept as they are."""
    data = read_limited(file, bundles.MOST_BYTES)
    bundle, merged = bundles.take_in(data, Judgments.at(Settings.from_environment().store))
    if as_json:
        output.print_json(
            {
                "set_id": bundle.items.set_id,
                "task": bundle.items.task.value,
                "new_set": merged.new_set,
                "votes": {"new": merged.new, "known": merged.known, "differing": merged.differing},
            }
        )
        return
    output.print_text(
        f"set {bundle.items.set_id} ({bundle.items.task}) {'is new' if merged.new_set else 'was already here'}; votes: "
        f"{merged.new} new, {merged.known} known, {merged.differing} with an answer other than the stored one (ignored)"
    )


@app.command()
def remove(set_id: SetId, yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False) -> None:
    """Remove a set of items with all its votes permanently."""
    judgments = Judgments.at(Settings.from_environment().store)
    found = judgments.named(set_id)
    what = f"{found.items} items and {found.votes} votes of {found.raters} rater(s): {found.set_id} {found.title!r}"
    if not yes and not _agreed(f"Remove {what}?"):
        output.print_text("nothing was removed")
        return
    judgments.remove_set(found.set_id)
    output.print_text(f"removed {what}")


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        raise InputError("the question was not answered", remedy="add --yes to remove without being asked") from error


@app.command()
def results(
    items_of: Annotated[str, typer.Argument(metavar="SET", help="id of a set of items, or its beginning")],
    session: Annotated[
        str | None, typer.Option(help='only votes of this session; "" for votes outside any session')
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="encoder, or ENCODER~TRANSFORM, to use as an automatic rater")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print precision or win ratio per model with intervals, tests and agreement, and an automatic rater's scores."""
    settings = Settings.from_environment()
    store = Judgments.at(settings.store)
    items = store.find_set(store.named(items_of).set_id)
    if items is None:
        raise InputError(f"the set '{items_of}' was removed meanwhile", remedy="see: blindspot judge list")
    if session is not None:
        _check_session(store, items.set_id, session)
    counted = tally(items, store.votes(items.set_id, session))
    automatic = _automatic(items, reference, settings) if reference is not None else None
    found, tests, agreed = scoring.scores(counted), scoring.pair_tests(counted), agreement(counted)
    if as_json:
        output.print_json(_described(items, session, counted, found, tests, agreed, automatic))
        return
    output.use_names(settings, Repository.at(settings.store), [variant.encoder for variant in items.variants])
    _print(items, counted, found, tests, agreed, automatic)


@app.command("training-data")
def training_data(
    items_of: Annotated[str, typer.Argument(metavar="SET", help="id of a set of items, or its beginning")],
    out: Annotated[Path, typer.Option("--output", help="folder to write; a new or an empty one")],
    session: Annotated[
        str | None, typer.Option(help='only votes of this session; "" for votes outside any session')
    ] = None,
    least: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="share of the votes by which the positive must be ahead; 0: any")
    ] = 0.0,
    negatives: Annotated[int, typer.Option(min=1, max=30, help="columns of negatives in a row of triplets")] = 1,
    held_out: Annotated[float, typer.Option(min=0.01, max=0.9, help="share to hold out")] = making_of_data.HELD_OUT,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="dataset whose texts must not be trained on; repeat for several")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="dataset whose texts may be trained on although models were evaluated on it; repeatable"),
    ] = None,
    seed: Annotated[int, typer.Option(help="of the split")] = making_of_data.SEED,
    as_json: AsJson = False,
) -> None:
    """Write votes as training data: a query, the text that most people chose, and those that fewer chose.

    Near-duplicates of texts that models are evaluated on are left out, and what is held out shares no text with the
    rest, as in blindspot training-data.
    """
    check_folder(out)
    settings = Settings.from_environment()
    store = Judgments.at(settings.store)
    items = store.find_set(store.named(items_of).set_id)
    if items is None:
        raise InputError(f"the set '{items_of}' was removed meanwhile", remedy="see: blindspot judge list")
    if session is not None:
        _check_session(store, items.set_id, session)
    wishes = Wishes(
        negatives=negatives,
        held_out=held_out,
        leave_out=tuple(leave_out or ()),
        allow=tuple(allow or ()),
        seed=seed,
    )
    counted = tally(items, store.votes(items.set_id, session))
    found = of_votes.make(items, counted, least, wishes, settings, Repository.at(settings.store))
    report(found, out, as_json=as_json)


def _check_session(store: Judgments, set_id: str, session: str) -> None:
    known = {s.name for s in store.sessions() if set_id in s.sets.values()} | set(store.sessions_with_votes(set_id))
    if session and session not in known:
        raise unknown("session", session, known - {""})


def _automatic(items: ItemSet, reference: str, settings: Settings) -> Automatic:
    asked = Variant.parse(reference)
    (variant,) = variants_of([asked.encoder], [asked.transform])
    entry = find_dataset(str(items.manifest.get("dataset", "")))
    _, (space,) = opened([variant], entry, settings)
    return answer(items, space)


# --- JSON: shares are fractions, undefined values are null


def _described(
    items: ItemSet,
    session: str | None,
    counted: Tally,
    found: Scores,
    tests: tuple[PairTest, ...],
    agreed: Agreement | None,
    automatic: Automatic | None,
) -> dict[str, Any]:
    return {
        "set_id": items.set_id,
        "task": items.task.value,
        "title": items.title,
        "session": session,
        **_scores(found),
        "repeated": counted.repeated,
        "tests": [
            {
                "first": str(t.first),
                "second": str(t.second),
                "difference": t.difference,
                "interval": _interval(t.interval),
                "p": t.p_value,
                "p_holm": t.p_corrected,
                "compared": t.compared,
                "left_out": t.left_out,
                "queries": t.queries,
                "population": t.population.value,
                "why": t.refusal,
            }
            for t in tests
        ],
        "agreement": agreed
        and {
            "items": agreed.items,
            "observed": agreed.observed,
            "by_chance": agreed.by_chance,
            "kappa": agreed.kappa,
            "interval": _interval(agreed.interval),
        },
        "breakdown": {
            by.value: {group.name: _scores(group.scores) for group in scoring.breakdown(counted, by)}
            for by in By
            if scoring.groups(items.items, by)
        },
        "automatic": automatic
        and {
            "reference": str(automatic.reference),
            "is_judged": automatic.is_judged,
            "unanswered": automatic.unanswered,
            "variants": [_score(s) for s in automatic.scores.variants],
        },
    }


def _scores(found: Scores) -> dict[str, Any]:
    return {
        "items": found.items,
        "queries": found.queries,
        "raters": found.raters,
        "votes": found.votes,
        "unknown": found.unknown,
        "population": found.population.value,
        "variants": [_score(s) for s in found.variants],
    }


def _score(score: VariantScore) -> dict[str, Any]:
    return {
        "variant": str(score.variant),
        verdict.MEASURE[score.task].replace(" ", "_"): _estimate(score.headline),
        "micro": _estimate(score.micro),
        "item_mean": _estimate(score.item_mean),
        "normalised": _estimate(score.normalised),
        "chance": score.chance,
        "own": score.own,
        "votes": score.votes,
        "items": score.items,
        "queries": score.queries,
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"value": None, "interval": None, "why": ""}
    independent = {"unit": estimate.unit.value, "units": estimate.units}
    return {"value": estimate.value, "interval": _interval(estimate.interval), "why": estimate.refusal, **independent}


def _interval(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None


# --- text


def _print(
    items: ItemSet,
    counted: Tally,
    found: Scores,
    tests: tuple[PairTest, ...],
    agreed: Agreement | None,
    automatic: Automatic | None,
) -> None:
    measure = verdict.MEASURE[items.task]
    beside = {s.variant: s.value for s in automatic.scores.variants} if automatic else {}
    output.print_table(
        f"{items.title} ({items.set_id}, {items.task.value})",
        [
            "model",
            measure,
            "95% CI",
            "guessing",
            "for its own",
            "votes",
            "items",
            *(["automatic"] if automatic else []),
        ],
        [
            [
                s.variant.label,
                _percent(s.value),
                interval(s.interval, ".1%"),
                _percent(s.chance),
                f"{s.own:g}",
                f"{s.votes:,}",
                f"{s.items:,}",
                *([_percent(beside[s.variant])] if automatic else []),
            ]
            for s in found.variants
        ],
    )
    if tests:
        output.print_table(
            "Tests of the difference, clustered by queries and raters",
            ["A", "B", "A - B", "95% CI", "p (Holm)", "p", "compared", "left out"],
            [
                [
                    t.first.label,
                    t.second.label,
                    "–" if t.difference is None else number(100 * t.difference, "+.1f"),
                    interval(t.interval, "+.1f", 100),
                    p_in_cell(t.p_corrected, t.p_value),
                    p_in_cell(t.p_value),
                    f"{t.compared:,}",
                    f"{t.left_out:,}",
                ]
                for t in tests
            ],
        )
    output.print_text(
        f"{found.votes:,} votes of {found.raters:,} raters on {found.items:,} of {len(items.items):,} items; "
        f'{found.unknown:,} answers "I don\'t know these words" left out'
        + (f"; {counted.repeated:,} second answers in another session left out." if counted.repeated else ".")
    )
    if said := verdict.headline(found, tests, lambda v: v.label):
        output.print_text(said)
        output.print_text(verdict.intervals(found).removeprefix("Bars: "))
        output.print_text(verdict.agreement_in_words(agreed))
    if automatic:
        judged = ", which is one of the judged models and so rates its own neighbors" if automatic.is_judged else ""
        output.print_text(
            f"Automatic rater: {automatic.reference.label}{judged}; it could not answer {automatic.unanswered:,} items."
        )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
