"""``python -m core runs trust`` and ``runs overlap``: what a score owes to the way of counting, and to training."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from core.cli import output
from core.cli.runs.kinds import AsJson, RunId, finished_run
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.own import files as own
from core.diagnostics.evalrank import pairs as explore
from core.diagnostics.evalrank import training_overlap
from core.diagnostics.evalrank.pairs import Score, rows_of_runs
from core.diagnostics.evalrank.training_overlap import TrainingSet
from core.diagnostics.evalrank.trust import (
    Choice,
    PairTexts,
    choices,
    other_protocol,
    other_support,
    score_of_run,
    with_first_items,
)
from core.settings import Settings
from core.store.repository import Repository
from core.transforms.toolkit import DEFINITION

STS_TRAIN = "stsb-train"


def trust(
    run_id: RunId,
    filtered: Annotated[bool, typer.Option("--filtered", help="start from the filtered score")] = False,
    as_json: AsJson = False,
) -> None:
    """What each choice of counting does to an EvalRank run's score."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    entry, run = finished_run(run_id, repository)
    rows = rows_of_runs(entry, [run.run_id], repository)[run.run_id]
    texts = PairTexts.of(rows, explore.pair_table(entry, [run.run_id], repository).frame)
    found = choices(rows, texts, filtered=filtered)
    dataset = datasets.DATASETS.get(run.plan.dataset)
    if dataset and dataset.core_texts and run.plan.params["protocol"] == DEFINITION:
        fewer = with_first_items(run, dataset.core_texts, settings, repository, entry)
        meaning = f"Among the {dataset.core_texts:,} words of the similarity sets only."
        found.append(Choice("background", "without frequent words", fewer.score(filtered), meaning))
    for about, other in (
        ("protocol", other_protocol(run, entry, repository)),
        ("support", other_support(run, entry, repository) if run.plan.support_digest else None),
    ):
        if other is not None:
            way = (
                other.plan.params["protocol"] if about == "protocol" else "own" if other.plan.own_support else "common"
            )
            score = score_of_run(other, entry, repository, filtered=filtered)
            found.append(Choice(about, way, score, f"Run {other.run_id}, {other.plan.variant.label}."))
    shown = found[0].score
    if as_json:
        rows_json = [{"about": c.about, "way": c.way, "meaning": c.meaning, **_score_json(c.score)} for c in found]
        output.print_json({"run_id": run.run_id, "filtered": filtered, "choices": rows_json})
        return
    output.print_table(
        f"{run.plan.variant.label} on {run.plan.dataset}",
        ["choice", "way", "mrr", "difference", "hits@1", "difference", "pairs"],
        [
            (
                c.about,
                c.way,
                f"{c.score.mrr:.4f}",
                f"{c.score.mrr - shown.mrr:+.4f}",
                f"{c.score.hits_at_1:.4f}",
                f"{c.score.hits_at_1 - shown.hits_at_1:+.4f}",
                str(c.score.pairs),
            )
            for c in found
        ],
    )


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
    pairs = PairTexts.of(rows, explore.pair_table(entry, [run.run_id], repository).frame)
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
                "scores": {name: {w: _score_json(s) for w, s in ways.items()} for name, ways in scores.items()},
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
                *(_shown(value) for way in ("raw", "filtered") for value in (ways[way].mrr, ways[way].hits_at_1)),
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


def _score_json(score: Score) -> dict[str, float | int | None]:
    values = asdict(score)
    names = {"mrr": "mrr", "hits_at_1": "hits@1", "pairs": "pairs"}
    return {names[name]: value if value == value else None for name, value in values.items()}  # noqa: PLR0124 - NaN


def _shown(value: float) -> str:
    return f"{value:.4f}" if value == value else "–"  # noqa: PLR0124 - NaN
