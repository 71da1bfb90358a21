"""Commands ``gate`` and ``audit``: may a new model replace an old one, and is the golden set worth asking?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import (
    AsJson,
    OwnNames,
    check_file,
    dataset_of,
    names_own_data,
    settings_and_store,
    takes_parameters,
)
from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import BlindspotError, InputError, library_missing
from blindspot.files.writing import disk_error
from blindspot.numerics.statistics.tolerance import TOLERATED
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.gate import audit, sides, untrained, verdict, written
from blindspot.studies.gate.verdict import LEAST_ALPHA, MOST_ALPHA, MOST_TOLERATED, Outcome, Verdict
from blindspot.variants import Variant

CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.UNDECIDED: 3}
COULD_NOT_RUN = 4
EASY_HELP = "pass although the old model is at the ceiling of the score, or an untrained one solves the set"
DATA_HELP = "golden set: a file or folder of your own, or a dataset id"
ALPHA_HELP = "probability of a false alarm at a drop of just the tolerance"
TRAIN_HELP = "file that a model was trained on; repeat for several"
DROP_HELP = "largest drop of the score that is accepted"


class Undecided(StrEnum):
    FAILS = "fail"
    PASSES = "pass"


@names_own_data
@takes_parameters(several=False)
def gate(
    *,
    encoder: Annotated[str, typer.Option(help="new model: encoder, or ENCODER~TRANSFORM such as minilm~center")],
    data: Annotated[str, typer.Option(help=DATA_HELP)] = "",
    baseline: Annotated[str, typer.Option(help="old model, or a file that --record wrote")] = "",
    score: Annotated[str, typer.Option(help="score to decide by; the headline of the diagnostic if left out")] = "",
    max_drop: Annotated[float, typer.Option(help=DROP_HELP, min=0.0, max=MOST_TOLERATED)] = TOLERATED,
    alpha: Annotated[float, typer.Option(help=ALPHA_HELP, min=LEAST_ALPHA, max=MOST_ALPHA)] = 0.05,
    record: Annotated[Path | None, typer.Option(help="write this model's scores per item to a .json file")] = None,
    texts: Annotated[bool, typer.Option(help="with --record: also the texts of the golden set")] = False,
    junit: Annotated[Path | None, typer.Option(help="write the verdict as JUnit XML")] = None,
    markdown: Annotated[Path | None, typer.Option(help="append the verdict to a Markdown file")] = None,
    undecided: Annotated[Undecided, typer.Option(help="whether an undecided gate fails the job")] = Undecided.FAILS,
    allow_easy: Annotated[bool, typer.Option("--allow-easy", help=EASY_HELP)] = False,
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Fail if a new model's score drops by more than a tolerance on a golden set, beyond chance.

    Exit code 0: within the tolerance, 1: a drop beyond it, 3: undecided, since the set is too small or too easy, 2: bad
    input, 4: it could not run (a server is down, a library is missing, the disk is full).
    """
    if junit and junit.suffix != ".xml":
        raise InputError(f"cannot tell the format of '{junit}'", expected="a name that ends in .xml")
    with _saying_what_could_not_run(junit, score):
        if not baseline and record is None:
            raise InputError(
                "there is neither a baseline nor a file to record", expected="--baseline or --record, or both"
            )
        if record:
            check_file(record, (".json",))
        if markdown and not markdown.parent.is_dir():  # any ending: a CI job names the file
            raise InputError(f"there is no folder {markdown.parent}", expected="an existing folder for the file")
        settings, repository = settings_and_store()
        dataset = dataset_of(data, own)
        recorded = sides.read(Path(baseline)) if baseline.endswith(".json") else None
        new = _run(encoder, dataset, params, settings, repository)
        scores = sides.scores_of(new, repository)
        asked = sides.score_named(score, sides.diagnostic_of(dataset.entry().kind), new.metrics, scores)
        if record:
            sides.write(record, new, scores, settings, texts=texts)
        if not baseline:
            _print_recorded(record, new, asked, as_json)
            return
        if recorded is None:
            old = _run(baseline, dataset, params, settings, repository)
            recorded = sides.recorded(old, sides.scores_of(old, repository), settings)

        def easy(value: float) -> str:
            if allow_easy:
                return ""
            return untrained.why_run_is_easy(new, asked, value, settings, repository, output.progress)

        side = sides.recorded(new, scores, settings)
        doubts = find_diagnostic(new.plan.diagnostic).doubts([new], repository)
        decision = verdict.judge(recorded, side, scores, asked, max_drop, alpha, easy, doubts)
        if junit:
            written.write(junit, written.as_junit(decision, undecided_fails=undecided is Undecided.FAILS))
        if markdown:
            written.append(markdown, written.as_markdown(decision))
        if as_json:
            output.print_json(decision.as_json())
        else:
            _print(decision)
    is_tolerated = decision.outcome is Outcome.UNDECIDED and undecided is Undecided.PASSES
    raise typer.Exit(0 if is_tolerated else CODES[decision.outcome])


class CouldNotRun(BlindspotError):
    """The gate has no verdict, though its input is right."""

    exit_code = COULD_NOT_RUN


@contextmanager
def _saying_what_could_not_run(junit: Path | None, score: str) -> Iterator[None]:
    """Context in which every failure but a wrong input ends the command with a code of its own, so that 1 always means
    a drop; any failure is an error in the JUnit file."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        failure = _failure_of(error)
        if junit:
            try:
                written.write(junit, written.error_as_junit(score, str(failure)))
            except BlindspotError as unwritten:
                raise CouldNotRun(f"{failure}; and it {unwritten.what}") from error
        if isinstance(error, InputError):
            raise
        raise CouldNotRun(failure.what, expected=failure.expected, remedy=failure.remedy) from error


def _failure_of(error: BaseException) -> BlindspotError:
    if isinstance(error, BlindspotError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return BlindspotError("interrupted", remedy="embeddings made so far are kept: run it again to continue")
    explained = library_missing(error) if isinstance(error, ImportError) else disk_error(error)
    return explained or BlindspotError(
        f"unexpected {type(error).__name__}: {error}", remedy="--debug shows the traceback"
    )


def _run(
    name: str, dataset: DatasetRef, params: dict[str, str], settings: Settings, repository: Repository
) -> RunRecord:
    variant, entry = Variant.parse(name), sides.diagnostic_of(dataset.entry().kind)
    request = requesting.request(entry.id, variant.encoder, variant.transform, dataset, params, settings)
    with output.progress(request.label) as progress:
        return pipeline.run(request, settings, repository, progress).record


def _print_recorded(path: Path | None, run: RunRecord, score: str, as_json: bool) -> None:
    if as_json:
        output.print_json({"recorded": str(path), "run_id": run.run_id, "score": score, "value": run.metrics[score]})
        return
    output.print_text(f"recorded {run.plan.variant.label} in {path}: {score} is {number(run.metrics[score], SCORE)}")


def _print(decision: Verdict) -> None:
    output.print_text(f"{decision.outcome}: {decision.score}", *decision.sentences)
    if decision.worse:
        more = decision.losses - len(decision.worse)
        output.print_table(
            "Items that got worse" + (f" (the worst {len(decision.worse)} of {decision.losses:,})" if more else ""),
            ["item", "old", "new"],
            [[item.text, number(item.old, SCORE), number(item.new, SCORE)] for item in decision.worse],
        )


@names_own_data
def audit_set(
    *,
    data: Annotated[str, typer.Argument(metavar="[DATA]", help=DATA_HELP)] = "",
    train: Annotated[list[str] | None, typer.Option(help=TRAIN_HELP)] = None,
    max_drop: Annotated[float, typer.Option(help=DROP_HELP, min=0.0, max=MOST_TOLERATED)] = TOLERATED,
    alpha: Annotated[float, typer.Option(help=ALPHA_HELP, min=LEAST_ALPHA, max=MOST_ALPHA)] = 0.05,
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Tell whether a golden set is worth gating on: repeats, training data, easy questions, the drop it can see."""
    settings, repository = settings_and_store()
    training = [training_overlap.read_file(Path(name).expanduser()) for name in train or []]
    reference = dataset_of(data, own, "DATA")
    entry = sides.diagnostic_of(reference.entry().kind)
    run = _run(untrained.MODELS[0], reference, {}, settings, repository)
    scores = sides.scores_of(run, repository)
    score = sides.score_named("", entry, run.metrics, scores)
    reached = untrained.reached(run, score, settings, repository, output.progress)
    dataset = fetch.load(reference.entry(), settings)
    audited = audit.audited(dataset, training, score, reached, scores[score].known, max_drop, alpha)
    if as_json:
        output.print_json(audited.as_json())
        return
    _print_audit(audited, max_drop)


def _print_audit(audited: audit.Audit, tolerance: float) -> None:
    output.print_text(f"{audited.rows:,} rows: {audited.independent}")
    facts = [
        ("rows that repeat an earlier one", f"{audited.repeated:,}"),
        ("groups of rows that contradict each other", f"{audited.contradicting:,}"),
        *([(audited.tied[1], f"{audited.tied[0]:,}")] if audited.tied[1] else []),
        *((f"rows in the training set {name}", f"{count:,}") for name, count in audited.seen),
    ]
    output.print_table("Rows", ["", ""], facts)
    output.print_table(
        f"Without a trained model: {audited.score}",
        ["", ""],
        [(score.name, number(score.value, SCORE)) for score in audited.reached],
    )
    drops, enough = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for change in audited.visible:
        changing = f"{percent(change.changing)} of the items"
        drops.append((changing, "none" if change.drop is None else number(change.drop, SCORE)))
        items = "no number is enough" if change.items is None else f"{change.items:,}"
        enough.append((changing, items, f"{audited.effective:,}"))
    found = f"Smallest drop that is found to be beyond {tolerance:g}, in four cases of five"
    output.print_table(found, ["if a new model changes", "drop"], drops)
    passing = f"Independent items that pass an equally good model at {tolerance:g}, in four cases of five"
    output.print_table(passing, ["if it changes", "items", "here"], enough)
    output.warn(audited.warnings)
