"""``python -m core evidence``: correlations of scores without a task with those on a task."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from core.cli import output
from core.cli.options import AsJson
from core.errors import BlindspotError
from core.numerics.statistics.families import FEWEST_FAMILIES
from core.settings import Settings
from core.store.repository import Repository
from core.studies.evidence.correlation import FEWEST_VARIANTS, Cell, correlations
from core.studies.evidence.scores import Downstream, Level, Outcome, ScoreTable, score_table
from core.texts import counted


def evidence(
    level: Annotated[Level, typer.Option(help="evaluators of sentences or of words")] = Level.SENTENCE,
    classifier: Annotated[str, typer.Option(help="what is trained on the embeddings of a task")] = "logreg",
    outcome: Annotated[Outcome, typer.Option(help="what counts as doing well on a task")] = Outcome.ACCURACY,
    without_overlap: Annotated[
        bool, typer.Option("--without-overlap", help="leave out tested texts that stand in training too, or repeat")
    ] = False,
    like_similarity: Annotated[
        bool, typer.Option("--with-pairs", help="MRPC and SICK-E too, which are much like similarity sets")
    ] = False,
    untransformed: Annotated[
        bool, typer.Option("--untransformed", help="without post-processed variants, as in the paper's table 11")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Spearman's rho of every stored score without a task with every transfer task, over all variants in the store.

    Intervals are over families of models; of fewer than ten families there is none.
    """
    downstream = Downstream(classifier, outcome, without_overlap)
    table = score_table(Repository.at(Settings.from_environment().store), downstream)
    table = table.at(level, like_similarity=like_similarity).comparable
    if untransformed:
        table = table.rows(variant.transform == "none" for variant in table.variants)
    if len(table.variants) < FEWEST_VARIANTS:
        have = counted(len(table.variants), "variant has", "variants have")
        raise BlindspotError(
            f"{have} both a score without a task at the level {level} and one on a task",
            expected=f"{FEWEST_VARIANTS} or more, with the classifier {classifier}",
            remedy="compute them with: python -m core sweep evidence",
        )
    cells = correlations(table)
    if as_json:
        output.print_json(_fields(table, cells, level, downstream))
        return
    output.print_table(
        f"Spearman's rho with {downstream.metric} ({classifier}) over {len(table.variants)} variants of "
        f"{len(table.family_list)} families; in brackets variants and families",
        ["evaluator", *(task.label for task in table.tasks)],
        [
            [evaluator.label, *(_written(cell) for cell in cells if cell.evaluator == evaluator)]
            for evaluator in table.evaluators
        ],
    )
    output.print_text("↓: less of it counts as better, so its sign is turned. –: too few variants, or all alike.")
    if not any(cell.interval for cell in cells):
        output.print_text(
            f"There are no intervals: variants of one model are not independent; it takes {FEWEST_FAMILIES} families."
        )


def _written(cell: Cell) -> str:
    if cell.rho is None:
        return f"– ({cell.n}, {cell.families})"
    ends = f" [{cell.interval.low:.2f}, {cell.interval.high:.2f}]" if cell.interval else ""
    return f"{cell.rho:.2f}{ends} ({cell.n}, {cell.families})"


def _fields(table: ScoreTable, cells: tuple[Cell, ...], level: Level, downstream: Downstream) -> dict[str, Any]:
    variants = [
        {"encoder": v.encoder, "transform": v.transform, "family": family}
        for v, family in zip(table.variants, table.families, strict=True)
    ]
    return {
        "level": level.value,
        "classifier": downstream.classifier,
        "seed": downstream.seed,
        "score": downstream.metric,
        "variants": variants,
        "cells": [
            {
                "evaluator": cell.evaluator.id,
                "sign": cell.evaluator.sign,
                "task": cell.task.dataset,
                "rho": cell.rho,
                "variants": cell.n,
                "families": cell.families,
                "low": cell.interval.low if cell.interval else None,
                "high": cell.interval.high if cell.interval else None,
                "why": cell.why,
            }
            for cell in cells
        ],
    }
