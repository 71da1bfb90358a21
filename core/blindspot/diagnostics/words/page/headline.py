"""Headline of the page Words: the first model's score with its interval, then those of the others."""

from __future__ import annotations

from dataclasses import replace

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.words.cases import KINDS
from blindspot.diagnostics.words.categorization import SEEDS
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import TASKS, Task
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import SCORE, number, percent
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui.headline import Rival, in_words, rivals, score_of, sure
from blindspot.ui.headline import show as draw
from blindspot.ui.markdown import as_text


def show(shown: WordsView) -> None:
    """One sentence on the first model, on the task of ``task_told``."""
    if task := task_told(shown):
        runs = [shown.of(task)[v] for v in shown.variants if v in shown.of(task)]
        draw(_SENTENCES[task.diagnostic](task, runs))


def task_told(shown: WordsView) -> Task | None:
    """That of the picked dataset if the first model was run on it, else the first of its tasks."""
    tasks = [
        task
        for diagnostic in _SENTENCES
        for task in TASKS
        if task.diagnostic == diagnostic
        and task.metric in {"accuracy", "purity", "f1"}
        and shown.variants[0] in shown.of(task)
    ]
    return next((task for task in tasks if task.dataset == shown.picks.dataset), next(iter(tasks), None))


def _analogies(task: Task, runs: list[RunRecord]) -> str:
    estimate = _estimate(runs[0])
    text = f"{_name(runs[0])} solves **{percent(estimate.value, 1)}** of {int(runs[0].metrics['questions']):,} "
    text += f"analogies in {as_text(title_of(task.dataset))}{_ends(estimate)}"
    return in_words(text, _rivals(task, runs), "better", "worse")


def _categories(task: Task, runs: list[RunRecord]) -> str:
    first = runs[0].metrics
    text = f"{_name(runs[0])} puts **{percent(first['purity'], 1)}** of {int(first['words']):,} words in "
    text += f"{as_text(title_of(task.dataset))} into a cluster of their own category ({_starts(runs[0])}; chance "
    text += f"{percent(first['chance'])})"
    starts = {run.plan.variant.label: _starts(run) for run in runs[1:]}
    others = [replace(rival, score=f"{rival.score} ({starts[rival.label]})") for rival in _rivals(task, runs)]
    return (
        f"{in_words(text, others, 'better', 'worse')} Of {len(SEEDS)} random starts of k-means the tightest clustering "
        "counts: where the ranges overlap, a difference can be luck."
    )


def _cases(task: Task, runs: list[RunRecord]) -> str:
    kind = KINDS[task.diagnostic]
    first, m = _estimate(runs[0]), runs[0].metrics
    share, number = f"**{percent(first.value, 1)}**", counted(int(m["cases"]), *kind.cases)
    text = f"{_name(runs[0])} {kind.does.format(share, number)} in {as_text(title_of(task.dataset))}"
    ends = sure(first, ".1%", more=f"over {first.units:,} {kind.named(first).unit}")
    text += f"{ends}, by guessing {percent(m['chance'])}"
    return in_words(text, _rivals(task, runs), "better", "worse")


def _rivals(task: Task, runs: list[RunRecord]) -> list[Rival]:
    return rivals(find_diagnostic(task.diagnostic), runs, ".1%")


def _estimate(run: RunRecord) -> Estimate:
    """The headline score of a run with its interval."""
    score = score_of(run, find_diagnostic(run.plan.diagnostic).headline)
    if not isinstance(score, Estimate):
        raise TypeError(f"{run.plan.diagnostic} has no score by item")
    return score


def _starts(run: RunRecord) -> str:
    """Mean and range of a run's purity over all starts."""
    mean, low, high = (percent(run.metrics[f"purity_{name}"]) for name in ("mean", "low", "high"))
    return f"mean of all starts {mean}, {low} to {high}"


def _name(run: RunRecord) -> str:
    return f"**{as_text(run.plan.variant.label)}**"


def _ends(estimate: Estimate) -> str:
    """The interval and what it is over: questions that share a pair of words are not independent."""
    return sure(estimate, ".1%", more=f"over the {estimate.units:,} word pairs that they are made of")


def _chunks(task: Task, runs: list[RunRecord]) -> str:
    first, m = _estimate(runs[0]), runs[0].metrics
    text = (
        f"{_name(runs[0])} tells the phrases of {int(m['sentences']):,} sentences of {as_text(title_of(task.dataset))} "
    )
    text += f"with F1 **{number(first.value, SCORE)}**{sure(first, '.3f', more='over sentences')}"
    entry = find_diagnostic(task.diagnostic)
    return in_words(text, rivals(entry, runs, ".3f"), "better", "worse")


_SENTENCES = {
    "analogy": _analogies,
    "categorization": _categories,
    "outliers": _cases,
    "thematic_fit": _cases,
    "chunking": _chunks,
}
