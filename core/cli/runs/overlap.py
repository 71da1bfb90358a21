"""``python -m core runs overlap``: how much of a score is on pairs that stand in a training set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId, finished_run, score_json
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.own import files as own
from core.diagnostics.evalrank import training_overlap
from core.diagnostics.evalrank.pairs import pair_table, rows_of_runs
from core.diagnostics.evalrank.training_overlap import TrainingSet
from core.diagnostics.evalrank.trust import PairTexts
from core.settings import Settings
from core.store.repository import Repository

STS_TRAIN = "stsb-train"


def overlap(
    run_id: RunId,
    training: Annotated[
        str,
        typer.Option(
            help=f"path, or {datasets.OWN_FILE}, of a .txt, .csv, .tsv, .jsonl or .parquet of training texts, or "
            f"{STS_TRAIN}"
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """How many of an EvalRank run's pairs stand in a training set, and the score on the rest."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    entry, run = finished_run(run_id, repository)
    texts = _sts_benchmark(settings) if training == STS_TRAIN else training_overlap.read_file(_file_of(training))
    rows = rows_of_runs(entry, [run.run_id], repository)[run.run_id]
    pairs = PairTexts.of(rows, pair_table(entry, [run.run_id], repository).frame)
    found = training_overlap.overlap(pairs.queries, pairs.mates, texts)
    if training != STS_TRAIN:  # whoever names a file says that a model was trained on it
        training_overlap.remember(settings.training, run.plan.dataset_digest, texts, found)
    parts = {"all": None, "seen": found.both, "rest": ~found.both, "no_text": ~found.any_text}
    scores = {
        name: {way: rows.score(f, among) for way, f in (("raw", False), ("filtered", True))}
        for name, among in parts.items()
    }
    if as_json:
        output.print_json(
            {
                "run_id": run.run_id,
                "training": {"name": texts.name, "rows": texts.rows},
                "pairs": len(found.both),
                "pairs_in_training": int(found.both.sum()),
                "pairs_with_a_text_in_training": int(found.any_text.sum()),
                "scores": {name: {w: score_json(s) for w, s in ways.items()} for name, ways in scores.items()},
            }
        )
        return
    words = {"all": "all pairs", "seen": "in training", "rest": "the rest", "no_text": "no text in training"}
    output.print_table(
        f"{run.plan.variant.label} on {run.plan.dataset}, training: {texts.name} ({texts.rows:,} rows)",
        ["pairs", "number", "mrr", "hits@1", "mrr_filtered", "hits@1_filtered"],
        [
            (
                words[name],
                str(ways["raw"].pairs),
                *(output.cell(value) for way in ("raw", "filtered") for value in (ways[way].mrr, ways[way].hits_at_1)),
            )
            for name, ways in scores.items()
        ],
    )


def _file_of(training: str) -> Path:
    """The file that is named, by its path or as ``--dataset`` names one."""
    return own.path_of(training) if own.is_own(training) else Path(training)


def _sts_benchmark(settings: Settings) -> TrainingSet:
    """STS-Benchmark's training part, fetched where it is not here."""
    entry = datasets.SOURCES["evalrank-sent-sources"]
    with output.progress(entry.id) as progress:
        scored = fetch.load(entry, settings, progress)
    if not isinstance(scored, ScoredPairs):
        raise TypeError(f"{entry.id} is no set of scored pairs")
    return training_overlap.of_scored_pairs("STS-Benchmark, training part", scored, "STS-B train")
