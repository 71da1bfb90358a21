"""View of correlations of benchmark scores with tasks: the same on the page and by the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.numerics.statistics import rankings
from blindspot.numerics.statistics.correlations import spearman
from blindspot.numerics.statistics.families import FEWEST_FAMILIES, one_of
from blindspot.numerics.statistics.written import ci, number, with_ci
from blindspot.runs.comparison import ends
from blindspot.studies.evidence.correlation import Cell
from blindspot.studies.evidence.scores import Downstream, Level, Measure, ScoreTable
from blindspot.texts import counted
from blindspot.types import Float64
from blindspot.variants import Variant


@dataclass(frozen=True)
class Point:
    """A variant's two scores, or places."""

    variant: Variant
    family: str
    x: float
    y: float


@dataclass(frozen=True, eq=False)
class Ranks:
    """Places of n models by m scores.

    Attributes:
        places: ``[n, m]``, 1 is the best; ties share the mean of theirs.
        rho: of each score with the first; NaN where all are tied.
    """

    places: Float64
    rho: tuple[float, ...]


def ranks_view(table: ScoreTable) -> Ranks:
    """The ranks by every score of a table without gaps."""
    better = np.stack([table.better(measure) for measure in table.measures], axis=1)
    return Ranks(rankings.places(better), tuple(spearman(better[:, 0], column) for column in better.T))


def places_by_columns(values: Sequence[Sequence[float]]) -> Float64:
    """Places of n models by m scores where more is better, ``[n, m]``, as in ``Ranks``."""
    return rankings.places(np.array(values))


def as_json(table: ScoreTable, cells: Sequence[Cell], level: Level, downstream: Downstream) -> dict[str, Any]:
    """The correlations as JSON; what is undefined is None."""
    return {
        "level": level,
        "classifier": downstream.classifier,
        "seed": downstream.seed,
        "score": downstream.metric,
        "variants": [
            {"encoder": variant.encoder, "transform": variant.transform, "family": family}
            for variant, family in zip(table.variants, table.families, strict=True)
        ],
        "cells": [
            {
                "evaluator": cell.evaluator.id,
                "sign": cell.evaluator.sign,
                "task": cell.task.dataset,
                "rho": cell.rho,
                "variants": cell.n,
                "families": cell.families,
                **ends(cell.interval),
                "why": cell.why,
            }
            for cell in cells
        ],
    }


def headline_in_words(cells: Sequence[Cell]) -> str:
    """Plain text; "" without a correlation."""
    correlated = [c for c in cells if c.rho is not None]
    if not correlated:
        return ""
    task = max((c.task for c in correlated), key=lambda t: max(c.n for c in correlated if c.task == t))
    of_task = [c for c in correlated if c.task == task]
    most = max(c.n for c in of_task)
    compared = [c for c in of_task if c.n == most]
    low, best = (end(compared, key=lambda c: c.rho if c.rho is not None else 0.0) for end in (min, max))
    many = len(compared)
    models = f"{best.n} models of {counted(best.families, 'family', 'families')}"
    sure = [c.interval for c in correlated if c.interval]
    if not sure and best.families < FEWEST_FAMILIES:
        ends = f"from {_rho(low, many)} to {_rho(best, many)}" if many > 1 else _rho(best, many)
        return (
            f"Too few models to say: {models}; an interval needs {FEWEST_FAMILIES} families. Among these, "
            f"{counted(many, 'correlation')} with {task.phrase}: {ends}. Any of them can be chance: do not "
            "choose a model by them."
        )
    text = f"Over {models}, the highest of {counted(many, 'correlation')} with {task.phrase} is {_rho(best, many)}"
    text += f", the lowest {_rho(low, many)}." if many > 1 else "."
    if not sure:
        return text
    above, below = sum(correlation.low > 0 for correlation in sure), sum(correlation.high < 0 for correlation in sure)
    return (
        f"{text} Of {counted(len(sure), 'correlation')} with an interval, {above} are above 0, {below} below 0, and "
        f"{len(sure) - above - below} could be 0."
    )


def _rho(cell: Cell, many: int) -> str:
    """``ρ 0.68 of HEROS synonym on Demo minimal pairs (95% CI 0.41 to 0.85)``, of one of so many correlations.

    Without an interval the highest and lowest of many have no name: ``rho 0.68``.
    """
    rho = float("nan") if cell.rho is None else cell.rho
    if cell.estimate is None or cell.interval is None:
        return f"ρ {number(rho)}" if many > 1 else f"ρ {number(rho)} of {cell.evaluator.phrase}"
    return f"ρ {number(rho)} of {cell.evaluator.phrase}{ci(one_of(cell.estimate, many, cell.n))}"


def best_in_words(cells: Sequence[Cell]) -> list[str]:
    """The highest correlation on each task, among the scores that most models have; empty for a single task, since
    the headline says it. It is not a test."""
    if len({c.task for c in cells}) < 2:
        return []
    lines = []
    for task in dict.fromkeys(c.task for c in cells):
        of_task = [c for c in cells if c.task == task and c.rho is not None]
        most = max((c.n for c in of_task), default=0)
        correlations = [(c.rho, c.evaluator.label, c.estimate) for c in of_task if c.rho is not None and c.n == most]
        if len(correlations) < 2:
            continue
        rho, label, estimate = max(correlations, key=lambda pair: pair[0])
        if estimate is None or estimate.interval is None:
            lines.append(f"{task.label}: {number(rho)} over {most}")
            continue
        alike = sum(round(other, 2) == round(rho, 2) for other, *_ in correlations) - 1
        others = f" and {alike} more" if alike else ""
        lines.append(
            f"{task.label}: {label}{others}, {with_ci(one_of(estimate, len(correlations), most))}, over {most}"
        )
    return lines


def cell_in_words(cell: Cell) -> str:
    what = f"{cell.evaluator.phrase} and {cell.task.phrase}"
    families = counted(cell.families, "family", "families")
    if cell.rho is None:
        return f"{what}: no correlation, {cell.why}."
    text = f"{what}: ρ {number(cell.rho)} over {cell.n} models of {families}"
    if cell.interval is None:
        return f"{text} ({cell.why})."
    return f"{text}{ci(cell.interval)}, from leaving each family out."


def points(table: ScoreTable, evaluator: Measure, task: Measure, *, ranks: bool) -> list[Point]:
    """The models that have both scores; with ``ranks`` their places among these, 1 the best."""
    x, y = table.of(evaluator), table.of(task)
    keep = ~np.isnan(x) & ~np.isnan(y)
    if ranks:
        better = np.stack([table.better(evaluator), table.better(task)], axis=1)
        better[~keep] = np.nan
        x, y = rankings.places(better).T
    return [
        Point(variant, family, float(x[i]), float(y[i]))
        for i, (variant, family) in enumerate(zip(table.variants, table.families, strict=True))
        if keep[i]
    ]
