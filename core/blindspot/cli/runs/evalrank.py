"""Commands on runs of EvalRank: intervals, and effects of counting rules and training overlap."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, RunId, finished_run, named, settings_and_store
from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import OWN_FILE, SOURCES, DatasetEntry, title_of
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.user_data.files import is_own, path_of
from blindspot.diagnostic import find_diagnostic, in_words
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import WITH_INTERVAL, Estimated, groups, in_cell
from blindspot.diagnostics.evalrank.view import Others, overlap_view, ranked_again, sts_benchmark, trust_view
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import CHANGE, SCORE, number
from blindspot.runs.comparison import ends, entry_of_both
from blindspot.settings import Settings


def scores(
    run_ids: Annotated[list[str], typer.Argument(metavar="RUN...", help="runs of evalrank on one dataset")],
    as_json: AsJson = False,
) -> None:
    """Print EvalRank's scores with 95% intervals that account for pairs sharing texts."""
    settings, repository = settings_and_store()
    runs = list({run.run_id: run for run in map(repository.run, run_ids)}.values())
    entry = find_diagnostic("evalrank")
    for run in runs:
        finished_run(run.run_id, repository, entry.id)
        if run is not runs[0]:
            entry_of_both(runs[0], run)
    ids = [run.run_id for run in runs]
    estimates = [Estimated.of(group) for group in groups(pair_table(entry, ids, repository), ids)]
    of_run = {run_id: estimate for estimate in estimates for run_id in estimate.estimates}
    if as_json:
        output.print_json(
            {
                "runs": [
                    named(run)
                    | {"dataset": run.plan.dataset, "independent": of_run[run.run_id].independent}
                    | {"pairs": of_run[run.run_id].pairs}
                    | {"scores": {m: _scored(e) for m, e in of_run[run.run_id].estimates[run.run_id].items()}}
                    for run in runs
                ]
            }
        )
        return
    output.use_names(settings, repository)
    output.print_table(
        f"EvalRank on {title_of(runs[0].plan.dataset)}, with 95% intervals",
        ["score", *(f"{run.plan.variant.label}\n{in_words(run.plan.params)}" for run in runs)],
        [
            [metric, *(in_cell(metric, of_run[run.run_id].estimates[run.run_id][metric]) for run in runs)]
            for metric in (m.name for m in find_diagnostic("evalrank").metrics)
            if metric in WITH_INTERVAL
        ],
    )
    output.print_text(*dict.fromkeys(estimate.method for estimate in estimates))
    if len(estimates) > 1:
        output.print_text("These runs ranked different pairs, so their scores are not comparable.")
    output.print_limits([runs[0].plan.dataset])


def _scored(estimate: Estimate) -> dict[str, object]:
    return {"value": estimate.value, **ends(estimate.interval), "no_interval": estimate.refusal or None}


def trust(
    run_id: RunId,
    filtered: Annotated[bool, typer.Option("--filtered", help="start from the filtered score")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how each counting rule changes the score of an EvalRank run."""
    settings, repository = settings_and_store()
    entry, run = finished_run(run_id, repository, "evalrank")
    if not as_json:
        output.use_names(settings, repository)
    frame = pair_table(entry, [run.run_id], repository).frame
    view = trust_view(run, frame, Others.of(run, repository), repository, filtered=filtered)
    view = view.with_choices(ranked_again(run, settings, repository, filtered=filtered))
    if as_json:
        output.print_json(view.as_json())
        return
    shown = view.choices[0].score
    output.print_table(
        f"{run.plan.variant.label} on {title_of(run.plan.dataset)}",
        ["rule", "choice", "mrr", "difference", "hits@1", "difference", "pairs"],
        [
            (
                c.about,
                c.way,
                number(c.score.mrr, SCORE),
                number(c.score.mrr - shown.mrr, CHANGE),
                number(c.score.hits_at_1, SCORE),
                number(c.score.hits_at_1 - shown.hits_at_1, CHANGE),
                str(c.score.pairs),
            )
            for c in view.choices
        ],
    )
    output.print_limits([run.plan.dataset])


STS_TRAIN = "stsb-train"


def overlap(
    run_id: RunId,
    training: Annotated[
        str,
        typer.Option(
            help=f"training texts: path or {OWN_FILE} of a .txt, .csv, .tsv, .jsonl or .parquet file, or {STS_TRAIN}"
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Count the pairs of an EvalRank run that are in a training set, and score the others."""
    settings, repository = settings_and_store()
    entry, run = finished_run(run_id, repository, "evalrank")
    if training == STS_TRAIN:
        texts = sts_benchmark(scored_pairs(SOURCES["evalrank-sent-sources"], settings))
    else:
        texts = training_overlap.read_file(path_of(training) if is_own(training) else Path(training))
    view = overlap_view(pair_table(entry, [run.run_id], repository), texts)
    if training != STS_TRAIN:  # naming a file says that a model was trained on it
        training_overlap.remember(settings.training, run.plan.dataset_digest, texts, view.found)
    if as_json:
        output.print_json(view.as_json(run.run_id))
        return
    output.use_names(settings, repository)
    words = {"all": "all pairs", "seen": "in training", "rest": "the rest", "no_text": "no text in training"}
    rows = [
        {"pairs": words[name], "number": part.raw.pairs}
        | {"mrr": output.cell(part.raw.mrr), "hits@1": output.cell(part.raw.hits_at_1)}
        | {"mrr_filtered": output.cell(part.filtered.mrr), "hits@1_filtered": output.cell(part.filtered.hits_at_1)}
        for name, part in view.scores[run.run_id].items()
    ]
    title = f"{run.plan.variant.label} on {title_of(run.plan.dataset)}"
    output.print_rows(f"{title}, training: {texts.name} ({texts.rows:,} rows)", rows)


def scored_pairs(entry: DatasetEntry, settings: Settings) -> ScoredPairs:
    """The dataset, downloaded if missing."""
    with output.progress(entry.id) as progress:
        scored = fetch.load(entry, settings, progress)
    if not isinstance(scored, ScoredPairs):
        raise TypeError(f"{entry.id} is not a set of scored pairs")
    return scored
