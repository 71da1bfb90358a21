"""Spearman correlations of evaluators with tasks over variants, with intervals over families (Wang 2022, section 4.5).

With fewer than ten families there is no interval. Two evaluators are compared by the difference of their correlations
with one task, over the same variants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from blindspot.numerics.statistics.correlations import spearman
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.families import (
    FEWEST_FAMILIES,
    estimate_of_difference,
    estimate_of_rho,
    numbers_of,
    spearman_without_each,
    too_few,
)
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import ci_in_words, number
from blindspot.studies.evidence.scores import Measure, ScoreTable
from blindspot.texts import counted
from blindspot.types import Bool, Float64

FEWEST_VARIANTS = 4  # for a correlation: with three it is 1 or -1 by chance in a third of the cases


@dataclass(frozen=True)
class Cell:
    """The correlation of an evaluator with a task; ``why`` explains a missing ``rho`` or 95% ``interval``.

    ``n`` is the number of variants with both scores, ``families`` the number of their families.
    """

    evaluator: Measure
    task: Measure
    rho: float | None
    n: int
    families: int
    estimate: Estimate | None = None
    why: str = ""

    @property
    def interval(self) -> Interval | None:
        return self.estimate.interval if self.estimate else None


def correlations(table: ScoreTable) -> tuple[Cell, ...]:
    """A cell per evaluator and task, evaluator by evaluator. Columns over the same variants share their ranking."""
    out: dict[tuple[str, str], Cell] = {}
    patterns: dict[bytes, list[Cell]] = {}
    for evaluator in table.evaluators:
        for task in table.tasks:
            cell = _cell(table, evaluator, task)
            out[evaluator.id, task.id] = cell
            if cell.rho is not None and cell.families >= FEWEST_FAMILIES:
                patterns.setdefault(_both(table, evaluator, task).tobytes(), []).append(cell)
    for pattern, cells in patterns.items():
        keep = np.frombuffer(pattern, dtype=np.bool_)
        evaluators = list(dict.fromkeys(cell.evaluator for cell in cells))
        tasks = list(dict.fromkeys(cell.task for cell in cells))
        without = spearman_without_each(
            _columns(table, evaluators, keep), _columns(table, tasks, keep), numbers_of(table.families, keep)
        )
        for cell in cells:
            without_family = without[:, evaluators.index(cell.evaluator), tasks.index(cell.task)]
            if cell.rho is not None:
                estimate = estimate_of_rho(cell.rho, without_family, cell.n)
                out[cell.evaluator.id, cell.task.id] = replace(
                    cell, estimate=estimate, why=_no_interval(estimate.refusal)
                )
    return tuple(out.values())


def _both(table: ScoreTable, *measures: Measure) -> Bool:
    return np.asarray(~np.isnan(np.stack([table.of(m) for m in measures])).any(axis=0))


def _columns(table: ScoreTable, measures: Sequence[Measure], keep: Bool) -> Float64:
    return np.stack([table.better(m)[keep] for m in measures], axis=1)


def _cell(table: ScoreTable, evaluator: Measure, task: Measure) -> Cell:
    keep = _both(table, evaluator, task)
    n = int(keep.sum())
    families = len({family for family, kept in zip(table.families, keep, strict=True) if kept})
    if n < FEWEST_VARIANTS:
        return Cell(
            evaluator, task, None, n, families, why=f"only {n} models have both scores; it takes {FEWEST_VARIANTS}"
        )
    x, y = table.better(evaluator)[keep], table.better(task)[keep]
    for values, what in ((x, "benchmark"), (y, "task")):
        if np.ptp(values) == 0:
            return Cell(evaluator, task, None, n, families, why=f"the {what} gives all models the same score")
    return Cell(evaluator, task, spearman(x, y), n, families, why=_no_interval(too_few(families)))


def _no_interval(refusal: str) -> str:
    return f"no interval: {refusal}" if refusal else ""


# --- without one family


@dataclass(frozen=True)
class Without:
    """A cell's correlation without one family; None if too few variants are left, or all are alike."""

    family: str
    variants: int
    rho: float | None


def without_each_family(table: ScoreTable, evaluator: Measure, task: Measure) -> tuple[Without, ...]:
    """A correlation without each family in turn, the largest change first."""
    whole = _cell(table, evaluator, task).rho
    keep = _both(table, evaluator, task)
    present = [family for family, kept in zip(table.families, keep, strict=True) if kept]
    out = [
        Without(
            family, present.count(family), _cell(table.rows(f != family for f in table.families), evaluator, task).rho
        )
        for family in dict.fromkeys(present)
    ]
    return tuple(sorted(out, key=lambda w: -abs(w.rho - whole) if w.rho is not None and whole is not None else 1.0))


# --- two evaluators


@dataclass(frozen=True)
class TwoCorrelations:
    """Two evaluators and one task over the variants with all three scores; ``why`` explains what is missing.

    The 95% interval is of the first minus the second.
    """

    first: Measure
    second: Measure
    task: Measure
    first_rho: float | None
    second_rho: float | None
    n: int
    families: int
    estimate: Estimate | None = None
    why: str = ""

    @property
    def interval(self) -> Interval | None:
        return self.estimate.interval if self.estimate else None

    @property
    def difference(self) -> float | None:
        if self.first_rho is None or self.second_rho is None:
            return None
        return self.first_rho - self.second_rho


def compare(table: ScoreTable, first: Measure, second: Measure, task: Measure) -> TwoCorrelations:
    """Compare two evaluators on a task, and test whether the difference depends on the choice of models."""
    keep = _both(table, first, second, task)
    shared = table.rows(keep)
    cell, other = (_cell(shared, evaluator, task) for evaluator in (first, second))
    why = next((c.why for c in (cell, other) if c.rho is None), cell.why)
    comparison = TwoCorrelations(first, second, task, cell.rho, other.rho, cell.n, cell.families, why=why)
    if comparison.difference is None or why:
        return comparison
    without = spearman_without_each(
        _columns(table, [first, second], keep), _columns(table, [task], keep), numbers_of(table.families, keep)
    )
    estimate = estimate_of_difference(comparison.difference, without[:, 0, 0] - without[:, 1, 0])
    return replace(comparison, estimate=estimate, why=_no_interval(estimate.refusal))


def in_words(two: TwoCorrelations) -> str:
    """The comparison in a few sentences, with its limits."""
    if two.difference is None or two.first_rho is None or two.second_rho is None:
        return f"{two.first.phrase} and {two.second.phrase} cannot be compared on {two.task.phrase}: {two.why}."
    text = (
        f"Over the {two.n} models of {counted(two.families, 'family', 'families')} with all three scores, "
        f"{two.first.phrase} correlates with {two.task.phrase} at {number(two.first_rho, '.2f')}, {two.second.phrase} "
        f"at {number(two.second_rho, '.2f')}: a difference of {number(two.difference, '+.2f')}"
    )
    if two.interval is None:
        return f"{text}. It describes these models only ({two.why})."
    ends = f"{ci_in_words(two.estimate, '+.2f')}, over families"
    if two.interval.low <= 0 <= two.interval.high:
        return (
            f"{text} ({ends}). No significant difference: these models do not show which of the two predicts "
            f"{two.task.phrase} better, nor that they are equally good."
        )
    better = two.first if two.difference > 0 else two.second
    return (
        f"{text} ({ends}). {better.phrase} predicts {two.task.phrase} significantly better for models like these. "
        "The interval covers this one pair and task; of many comparisons, one in twenty excludes 0 by chance."
    )
