"""Commands ``judge``: items for human raters, their votes and the results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    Encoders,
    Metric,
    OneDataset,
    SetId,
    Transforms,
    check_file,
    datasets_named,
    opened,
    settings_and_store,
    variants_of,
)
from blindspot.cli.studies.training_data import (
    Allow,
    Folder,
    HeldOut,
    LeaveOut,
    Negatives,
    SplitSeed,
    report,
)
from blindspot.datasets.catalog import DatasetRef
from blindspot.errors import InputError
from blindspot.files.typed_tables import TableFormat
from blindspot.files.writing import check_new_folder, read_limited, write_atomically
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import interval
from blindspot.runs.at_work import at_work
from blindspot.runs.training_data.from_run import Wishes
from blindspot.runs.training_data.making import HELD_OUT
from blindspot.runs.training_data.making import SEED as SPLIT_SEED
from blindspot.settings import Settings
from blindspot.studies.judgments import bundles, making, own_queries, verdict
from blindspot.studies.judgments import training_data as of_votes
from blindspot.studies.judgments.automatic import Automatic, answer
from blindspot.studies.judgments.bundles import Part
from blindspot.studies.judgments.inventories import Ready
from blindspot.studies.judgments.making import SEED, ItemsRequest
from blindspot.studies.judgments.rules import RANKS, Closeness, Rule
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.tallies import tally
from blindspot.studies.judgments.types import ItemSet, Task
from blindspot.studies.judgments.view import Results, results_view, rows_of_tests, share_rows
from blindspot.variants import Variant

app = typer.Typer(no_args_is_help=True, help="Intruder test and comparative task: items, votes, results.")
Session = Annotated[str | None, typer.Option(help='only votes of this session; "" for votes outside any session')]


@app.command()
def make(
    task: Annotated[Task, typer.Option(help="task of the raters")],
    encoder: Encoders,
    transform: Transforms = None,
    dataset: OneDataset = "vocab-wordfreq",
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
    metric: Metric = Similarity.COS,
    seed: Annotated[int, typer.Option(help="seed of the samples")] = SEED,
    title: Annotated[str, typer.Option(help="title of the set")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a set of items and store it; the same choices again give the same set."""
    settings, repository = settings_and_store()
    inventory, of_sentences = own_queries.named(queries)
    if of_sentences is not None and sample is not None:
        raise InputError("both --sample and sentences:N are given", expected="one of the two")
    variants = tuple(Variant(e, t) for e in encoder for t in transform or ["none"])
    request = making.check(
        ItemsRequest(
            task,
            variants,
            DatasetRef(dataset),
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
    with at_work(settings, request.line), output.progress(request.label) as progress:
        items = making.make(request, settings, repository, progress)
    if as_json:
        output.print_json(making.as_json(items))
        return
    output.print_text(f"{items.set_id}  {items.title}", making.in_words(items))


@app.command("list")
def list_sets(
    task: Annotated[Task | None, typer.Option(help="only sets of this task")] = None, as_json: AsJson = False
) -> None:
    """List the stored sets of items, newest first."""
    sets = Judgments.at(Settings.from_environment().store).sets(task)
    if as_json:
        output.print_json({"sets": [judgment_set.as_json() for judgment_set in sets]})
        return
    if not sets:
        output.print_text("No sets of items yet. Make one with: blindspot judge make")
    for chosen in sets:
        output.print_text(
            f"{chosen.set_id}  {chosen.task:<11}  {chosen.items:>4} items  {chosen.votes:>5} votes  {chosen.title}"
        )


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
    judgment_set = judgments.named(set_id)
    counts = f"{judgment_set.items} items and {judgment_set.votes} votes of {judgment_set.raters} rater(s)"
    what = f"{counts}: {judgment_set.set_id} {judgment_set.title!r}"
    if not yes and not _agreed(f"Remove {what}?"):
        output.print_text("nothing was removed")
        return
    judgments.remove_set(judgment_set.set_id)
    output.print_text(f"removed {what}")


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        raise InputError("the question was not answered", remedy="add --yes to remove without being asked") from error


@app.command()
def results(
    items_of: SetId,
    session: Session = None,
    reference: Annotated[
        str | None, typer.Option(help="encoder, or ENCODER~TRANSFORM, to use as an automatic rater")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print precision or win ratio per model with intervals, tests and agreement, and an automatic rater's scores."""
    settings, repository = settings_and_store()
    items, votes = Judgments.at(settings.store).with_votes(items_of, session)
    automatic = _automatic(items, reference, settings) if reference is not None else None
    view = results_view(tally(items, votes))
    if as_json:
        output.print_json(view.as_json(items, session, automatic))
        return
    output.use_names(settings, repository, [variant.encoder for variant in items.variants])
    _print(items, view, automatic)


@app.command("training-data")
def training_data(
    *,
    items_of: SetId,
    out: Folder,
    session: Session = None,
    least: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="share of the votes by which the positive must be ahead; 0: any")
    ] = 0.0,
    negatives: Negatives = 1,
    held_out: HeldOut = HELD_OUT,
    leave_out: LeaveOut = None,
    allow: Allow = None,
    seed: SplitSeed = SPLIT_SEED,
    as_json: AsJson = False,
) -> None:
    """Write votes as training data: a query, the text that most people chose, and those that fewer chose.

    Near-duplicates of texts that models are evaluated on are left out, and what is held out shares no text with the
    rest, as in blindspot training-data.
    """
    check_new_folder(out)
    settings, repository = settings_and_store()
    items, votes = Judgments.at(settings.store).with_votes(items_of, session)
    wishes = Wishes(
        negatives=negatives,
        held_out=held_out,
        leave_out=datasets_named(leave_out),
        allow=datasets_named(allow),
        seed=seed,
    )
    training_files = of_votes.make(items, tally(items, votes), least, wishes, settings, repository)
    report(training_files, out, as_json=as_json)


def _automatic(items: ItemSet, reference: str, settings: Settings) -> Automatic:
    asked = Variant.parse(reference)
    (variant,) = variants_of([asked.encoder], [asked.transform])
    entry = DatasetRef(items.manifest.get("dataset", "")).entry()
    _, (space,) = opened([variant], entry, settings)
    return answer(items, space)


def _print(items: ItemSet, view: Results, automatic: Automatic | None) -> None:
    scores = view.scores
    rows = [
        {
            "model": row.variant.label,
            verdict.MEASURE[items.task]: output.cell(row.value, ".1%"),
            "95% CI": interval(score.interval, ".1%"),
            "guessing": output.cell(row.chance, ".1%"),
            "for its own": f"{row.own:g}",
            "votes": f"{row.votes:,}",
            "items": f"{row.items:,}",
            **({"automatic": output.cell(row.automatic, ".1%")} if automatic else {}),
        }
        for row, score in zip(share_rows({"": scores}, automatic), scores.variants, strict=True)
    ]
    output.print_rows(f"{items.title} ({items.set_id}, {items.task.value})", rows)
    output.print_rows(
        "Tests of the difference, clustered by queries and raters",
        rows_of_tests(view.tests, lambda variant: variant.label),
        dict.fromkeys(("A − B", "from", "to"), "+.1%"),
    )
    repeated = view.tally.repeated
    output.print_text(
        f"{scores.votes:,} votes of {scores.raters:,} raters on {scores.items:,} of {len(items.items):,} items; "
        f'{scores.unknown:,} answers "I don\'t know these words" left out'
        + (f"; {repeated:,} second answers in another session left out." if repeated else ".")
    )
    if headline := verdict.headline(scores, view.tests, lambda v: v.label):
        bars = verdict.intervals(scores).removeprefix("Bars: ")
        output.print_text(headline, bars, verdict.agreement_in_words(view.agreement))
    if automatic:
        judged = ", which is one of the judged models and so rates its own neighbors" if automatic.is_judged else ""
        output.print_text(
            f"Automatic rater: {automatic.reference.label}{judged}; it could not answer {automatic.unanswered:,} items."
        )
