"""Commands ``gate`` and ``audit``: may a new model replace an old one, and is the golden set worth asking?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, OwnNames, check_file, dataset_of, names_own_data, takes_parameters
from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostics.retrieval.definition import BM25
from blindspot.errors import InputError
from blindspot.runs import pipeline
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.gate import audit, sides, verdict, written
from blindspot.studies.gate.verdict import LEAST_ALPHA, MOST_ALPHA, MOST_TOLERATED, Outcome, Verdict
from blindspot.types import Variant

CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.UNDECIDED: 3}
NO_MODEL = ("random-projection", "lsa")  # encoders that nobody trained
DATA_HELP = "golden set: a file or folder of your own, or a dataset id"
ALPHA_HELP = "probability of a false alarm at a drop of just the tolerance"
TRAIN_HELP = "file that a model was trained on; repeat for several"
DROP_HELP = "largest drop of the score that is accepted"


@names_own_data
@takes_parameters(several=False)
def gate(
    *,
    encoder: Annotated[str, typer.Option(help="new model: encoder, or ENCODER~TRANSFORM such as minilm~center")],
    data: Annotated[str, typer.Option(help=DATA_HELP)] = "",
    baseline: Annotated[str, typer.Option(help="old model, or a file that --record wrote")] = "",
    score: Annotated[str, typer.Option(help="score to decide by; the headline of the diagnostic if left out")] = "",
    max_drop: Annotated[float, typer.Option(help=DROP_HELP, min=0.0, max=MOST_TOLERATED)] = 0.02,
    alpha: Annotated[float, typer.Option(help=ALPHA_HELP, min=LEAST_ALPHA, max=MOST_ALPHA)] = 0.05,
    record: Annotated[Path | None, typer.Option(help="write this model's scores per item to a .json file")] = None,
    texts: Annotated[bool, typer.Option(help="with --record: also the texts of the golden set")] = False,
    junit: Annotated[Path | None, typer.Option(help="write the verdict as JUnit XML")] = None,
    markdown: Annotated[Path | None, typer.Option(help="append the verdict to a Markdown file")] = None,
    params: dict[str, str],
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Fail if a new model's score drops by more than a tolerance on a golden set, beyond chance.

    Exit code 0: within the tolerance, 1: beyond it, 3: the set is too small to tell, 2: bad input.
    """
    if not baseline and record is None:
        raise InputError("there is neither a baseline nor a file to record", expected="--baseline or --record, or both")
    for path, endings in ((record, (".json",)), (junit, (".xml",))):
        if path:
            check_file(path, endings)
    if markdown and not markdown.parent.is_dir():  # any ending: a CI job names the file
        raise InputError(f"there is no folder {markdown.parent}", expected="an existing folder for the file")
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    dataset = dataset_of(data, own)
    is_recorded = baseline.endswith(".json")
    recorded = sides.read(Path(baseline)) if is_recorded else None
    new = _run(encoder, dataset, params, settings, repository)
    scores = sides.scores_of(new, repository)
    asked = sides.score_named(score, sides.diagnostic_of(find_dataset(dataset).kind), new.metrics, scores)
    if record:
        sides.write(record, new, scores, texts=texts)
    if not baseline:
        _print_recorded(record, new, asked, as_json)
        return
    if recorded is None:
        old = _run(baseline, dataset, params, settings, repository)
        recorded = sides.recorded(old, sides.scores_of(old, repository))
    found = verdict.judge(recorded, sides.recorded(new, scores), scores, asked, max_drop, alpha)
    if junit:
        written.write(junit, written.as_junit(found))
    if markdown:
        written.append(markdown, written.as_markdown(found))
    if as_json:
        output.print_json(_fields(found))
    else:
        _print(found)
    raise typer.Exit(CODES[found.outcome])


def _run(name: str, dataset: str, params: dict[str, str], settings: Settings, repository: Repository) -> RunRecord:
    variant, entry = Variant.parse(name), sides.diagnostic_of(find_dataset(dataset).kind)
    request = pipeline.request(entry.id, variant.encoder, variant.transform, dataset, params, settings)
    with output.progress(request.label) as progress:
        return pipeline.run(request, settings, repository, progress).record


def _print_recorded(path: Path | None, run: RunRecord, score: str, as_json: bool) -> None:
    if as_json:
        output.print_json({"recorded": str(path), "run_id": run.run_id, "score": score, "value": run.metrics[score]})
        return
    output.print_text(f"recorded {run.plan.variant.label} in {path}: {score} is {run.metrics[score]:.4f}")


def _print(found: Verdict) -> None:
    output.print_text(f"{found.outcome}: {found.score}")
    for sentence in found.sentences:
        output.print_text(sentence)
    if found.worse:
        more = found.losses - len(found.worse)
        output.print_table(
            "Items that got worse" + (f" (the worst {len(found.worse)} of {found.losses:,})" if more else ""),
            ["item", "old", "new"],
            [[one.text, f"{one.old:.4f}", f"{one.new:.4f}"] for one in found.worse],
        )


def _fields(found: Verdict) -> dict[str, Any]:
    return {
        "outcome": found.outcome.value,
        "score": found.score,
        "old": {"model": found.old_name, "value": found.old},
        "new": {"model": found.new_name, "value": found.new},
        "drop": asdict(found.drop),
        "items": found.items,
        "independent": found.independent,
        "losses": found.losses,
        "gains": found.gains,
        "worse": [asdict(one) for one in found.worse],
        "said": list(found.sentences),
    }


@names_own_data
def audit_set(
    *,
    data: Annotated[str, typer.Argument(metavar="[DATA]", help=DATA_HELP)] = "",
    train: Annotated[
        list[str] | None, typer.Option(help="file that a model was trained on; repeat for several")
    ] = None,
    max_drop: Annotated[float, typer.Option(help=DROP_HELP, min=0.0, max=MOST_TOLERATED)] = 0.02,
    alpha: Annotated[float, typer.Option(help=ALPHA_HELP, min=LEAST_ALPHA, max=MOST_ALPHA)] = 0.05,
    as_json: AsJson = False,
    own: OwnNames,
) -> None:
    """Tell whether a golden set is worth gating on: repeats, training data, easy questions, the drop it can see."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    training = [training_overlap.read_file(Path(name).expanduser()) for name in train or []]
    reference = dataset_of(data, own, "DATA")
    kind = find_dataset(reference).kind
    entry = sides.diagnostic_of(kind)
    runs = [_run(name, reference, {}, settings, repository) for name in NO_MODEL]
    scores = sides.scores_of(runs[0], repository)
    score = sides.score_named("", entry, runs[0].metrics, scores)
    reached = [audit.Reached(run.plan.variant.label, run.metrics[score]) for run in runs]
    if kind is DatasetKind.RETRIEVAL:
        reached.append(audit.Reached("Keyword search (BM25)", runs[0].metrics[f"{BM25}{score}"]))
    dataset = fetch.load(find_dataset(reference), settings)
    found = audit.audited(dataset, training, score, reached, scores[score].known, max_drop, alpha)
    if as_json:
        output.print_json(asdict(found) | {"warnings": list(found.warnings)})
        return
    _print_audit(found, max_drop)


def _print_audit(found: audit.Audit, tolerance: float) -> None:
    output.print_text(f"{found.rows:,} rows: {found.independent}")
    facts = [
        ("rows that repeat an earlier one", f"{found.repeated:,}"),
        ("groups of rows that contradict each other", f"{found.contradicting:,}"),
        *([(found.tied[1], f"{found.tied[0]:,}")] if found.tied[1] else []),
        *((f"rows in the training set {name}", f"{count:,}") for name, count in found.seen),
    ]
    output.print_table("Rows", ["", ""], facts)
    output.print_table(
        f"Without a trained model: {found.score}", ["", ""], [(one.name, f"{one.value:.4f}") for one in found.reached]
    )
    output.print_table(
        f"Smallest drop that is found to be beyond {tolerance:g}, in four cases of five",
        ["if a new model changes", "drop"],
        [
            (f"{one.changing:.0%} of the items", "none" if one.drop is None else f"{one.drop:.3f}")
            for one in found.visible
        ],
    )
    output.warn(found.warnings)
