"""Contents of a report, gathered from the store."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from blindspot.datasets.catalog import limits_of, title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Diagnostic, in_words
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.runs.default_models import check_were_run
from blindspot.settings import Settings
from blindspot.store.changed_models import changes
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.compare.costs import Cost, CostKind, cost_of, written
from blindspot.studies.compare.rows import MOST_VARIANTS, Comparison, compare
from blindspot.studies.findings import collection
from blindspot.studies.findings.collection import Collected, Make, RunsOf, Selection
from blindspot.studies.report.manifest import commands_of, manifest_of, portable
from blindspot.studies.report.tables import Table
from blindspot.texts import counted, listed
from blindspot.variants import Variant

WORDS, NUMBERS = ("diagnostic", "dataset", "score"), ("A", "B", "A - B", "95% interval", "n", "p (Holm)", "A is")
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Report:
    """Contents of a report.

    Attributes:
        runs: behind it, diagnostic by diagnostic.
        comparisons: of the first variant with each of the others.
        costs: of each variant.
        changed: a sentence for each model whose files have changed since its newest run.
    """

    variants: tuple[Variant, ...]
    selection: Selection
    runs: tuple[RunsOf, ...]
    findings: Collected
    comparisons: tuple[Comparison, ...]
    costs: tuple[Cost, ...]
    changed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return listed([variant.label for variant in self.variants])

    @property
    def every_run(self) -> tuple[RunRecord, ...]:
        return tuple(run for runs in self.runs for run in runs.chosen)

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.plan.dataset for run in self.every_run))

    @property
    def entries(self) -> tuple[Diagnostic, ...]:
        return tuple(runs.entry for runs in self.runs if runs.chosen)

    @cached_property
    def commands(self) -> tuple[str, ...]:
        return (*commands_of(self.every_run), self.own_command)

    @property
    def own_command(self) -> str:
        words = ["blindspot", "report"]
        words += [word for v in self.variants for word in ("--variant", portable(str(v)))]
        words += [word for d in self.selection.datasets for word in ("--dataset", portable(d))]
        words += [word for name in self.selection.diagnostics for word in ("--diagnostic", name)]
        if self.selection.metric:
            words += ["--metric", self.selection.metric]
        return shlex.join([*words, "--out", "report.html"])

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return manifest_of(self.every_run, self.commands)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The scores, a table per diagnostic."""
        return tuple(score_table(runs) for runs in self.runs if runs.chosen)

    @property
    def every_table(self) -> tuple[Table, ...]:
        return (*self.comparison_tables, cost_table(self), *self.tables)

    @cached_property
    def comparison_tables(self) -> tuple[Table, ...]:
        """A against B, one table per B, with stars for significant differences."""
        return tuple(comparison_table(comparison) for comparison in self.comparisons if comparison.rows)


def gather(
    repository: Repository,
    settings: Settings,
    selection: Selection,
    making: Make | None = None,
) -> Report:
    """The contents of a report on some variants, on all if none is named; models have the names in force.

    Raises:
        InputError: nothing was run, or none of these variants on these datasets; it names the nearest that was.
    """
    check_were_run(selection.variants, repository)
    selection.scope.check(repository)
    runs, _ = collection.select(repository, selection)
    variants = tuple(dict.fromkeys(run.plan.variant for model_runs in runs for run in model_runs.chosen))
    if not variants:
        raise selection.scope.nothing
    ordered = [v for v in selection.variants if v in variants] or list(variants)
    findings = collection.collect(repository, settings, selection, making)
    picked = {"metric": selection.metric} if selection.metric else {}
    pairs = [(ordered[0], other) for other in ordered[1:MOST_VARIANTS]]
    comparisons = [compare(a, b, repository, picked).only(selection.scope) for a, b in pairs]
    costs = tuple(cost_of(variant, repository) for variant in ordered)
    changed = changes([variant.encoder for variant in ordered], repository, settings)
    return Report(tuple(ordered), selection, tuple(runs), findings, tuple(comparisons), costs, tuple(changed))


def score_table(runs: RunsOf) -> Table:
    """The scores of the Overview, a row per dataset and variant; a dash if a run has no such score."""
    entry = runs.entry
    chosen = sorted(runs.chosen, key=lambda run: (not is_own(run.plan.dataset), run.plan.dataset))
    columns = {
        metric: title for metric, title in entry.overview.columns.items() if any(metric in r.metrics for r in chosen)
    }
    rows = tuple(
        (
            title_of(run.plan.dataset),
            run.plan.variant.label,
            *(number(run.metrics[metric], SCORE) if metric in run.metrics else "–" for metric in columns),
            f"{run.metrics[entry.overview.counted[0]]:,.0f}" if entry.overview.counted[0] in run.metrics else "–",
        )
        for run in chosen
    )
    protocol = in_words(chosen[0].plan.params)
    caption = f"{entry.title}{f' ({protocol})' if protocol else ''}, version {entry.version}: {entry.question}"
    heads = ("Dataset", "Model", *map(_sentence, columns.values()), _sentence(entry.overview.counted[1]))
    return Table(entry.title, heads, rows, caption, words=2)


def comparison_table(comparison: Comparison) -> Table:
    """The paired differences of two variants, from the side of the headline; ``comparison`` has rows."""
    comparison, rows = comparison.told, []
    for row in comparison.rows:
        cells = row.cells()
        cells["score"] += " (less is better)" * (row.difference.higher_is_better is False)
        cells["A - B"] += stars(row.difference.p_corrected)
        rows.append(tuple(cells[name] for name in (*WORDS, *NUMBERS)))
    params = comparison.rows[0].a.plan.params
    protocol = "".join(f", {name} {params[name]}" for name in ("metric", "protocol") if name in params)
    signs = ", ".join(f"{sign} below {bound}" for bound, sign in reversed(STARS))
    caption = (
        f"A is {comparison.a.label}, B is {comparison.b.label}{protocol}. Paired tests on the same items; stars: p "
        f"corrected (Holm) for the diagnostic's main scores, {signs}. "
        "Intervals are 95%, for each difference alone."
    )
    heads = (*map(_sentence, WORDS), *NUMBERS)
    return Table(f"{comparison.a.label} against {comparison.b.label}", heads, tuple(rows), caption, words=len(WORDS))


def cost_table(report: Report) -> Table:
    """Cost of each model; a dash where unknown."""
    costs = list(zip(report.variants, report.costs, strict=True))
    rows = tuple((variant.label, *(written(kind, cost) for kind in CostKind)) for variant, cost in costs)
    heads = ("Model", "Dimension", "Parameters", "MB per million texts")
    return Table("Cost", heads, rows, "What each model's vectors take; a dash where it is not known.")


def _sentence(title: str) -> str:
    """A title in sentence case, as the heading of a column."""
    return title[:1].upper() + title[1:]


def stars(p: float | None) -> str:
    """``***`` for p below 0.001, ``**`` below 0.01, ``*`` below 0.05."""
    return "" if p is None else next((sign for bound, sign in STARS if p < bound), "")


def summary(report: Report) -> str:
    """Scope of the report in a sentence, and what scores on its datasets do not say."""
    runs: Sequence[RunRecord] = report.every_run
    return (
        f"{counted(len(runs), 'run')} of {counted(len(report.variants), 'model')} on "
        f"{counted(len(report.datasets), 'dataset')}; "
        f"{counted(report.findings.hypotheses, 'hypothesis', 'hypotheses')} tested, false discovery rate controlled at "
        f"5% (Benjamini-Hochberg).{''.join(f' {s}' for s in (*limits_of(report.datasets), *report.changed))}"
    )
