"""``python -m core runs trust``: what a score owes to the way of counting."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId, finished_run, score_json
from core.datasets import catalog as datasets
from core.diagnostics.evalrank.pairs import pair_table, rows_of_runs
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
    texts = PairTexts.of(rows, pair_table(entry, [run.run_id], repository).frame)
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
        rows_json = [{"about": c.about, "way": c.way, "meaning": c.meaning, **score_json(c.score)} for c in found]
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
