"""Headline of the page Words: the first model's scores with their intervals, then those of the others."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.words import analogy
from blindspot.diagnostics.words.cases import KINDS
from blindspot.diagnostics.words.categorization import SEEDS
from blindspot.diagnostics.words.chunking.answers import answers, sums_of
from blindspot.diagnostics.words.chunking.scoring import difference_of, estimate_of
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import TASKS, Task
from blindspot.diagnostics.words.versus import word_pairs
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics.against import bounded_against, change_against, of_ends
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import holm
from blindspot.numerics.statistics.pairs import p_values, share
from blindspot.store.records import RunRecord
from blindspot.texts import counted, percent
from blindspot.ui.headline import NAMED, Rival, corrected, in_words
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository


def show(shown: WordsView) -> None:
    """A sentence on each task: on the first set of each that the first model was run on."""
    said = []
    sentences = {
        "analogy": _analogies,
        "categorization": _categories,
        "outliers": _cases,
        "thematic_fit": _cases,
        "chunking": _chunks,
    }
    for diagnostic, sentence in sentences.items():
        tasks = (t for t in TASKS if t.diagnostic == diagnostic and t.metric in {"accuracy", "purity", "f1"})
        task = next((t for t in tasks if shown.variants[0] in shown.of(t)), None)
        if task is not None:
            runs = [shown.of(task)[v] for v in shown.variants if v in shown.of(task)]
            said.append(sentence(task, runs))
    with st.container(key="words_headline", gap="xsmall"):
        for one in said:
            st.markdown(one)


def _analogies(task: Task, runs: list[RunRecord]) -> str:
    estimates, p_values = _of_analogies(tuple(run.run_id for run in runs))
    said = f"{_name(runs[0])} solves **{percent(estimates[0].value, 1)}** of {int(runs[0].metrics['questions']):,} "
    said += f"analogies in {as_text(title_of(task.dataset))}{_ends(estimates[0])}"
    rivals = [
        Rival(run.plan.variant.label, percent(found.value, 1), found.value > estimates[0].value, p)
        for run, found, p in zip(runs[1:], estimates[1:], p_values, strict=True)
    ]
    return in_words(said, rivals, "better", "worse")


def _categories(task: Task, runs: list[RunRecord]) -> str:
    first = runs[0].metrics
    said = f"{_name(runs[0])} puts **{percent(first['purity'], 1)}** of {int(first['words']):,} words in "
    said += f"{as_text(title_of(task.dataset))} into a cluster of their own category ({_starts(runs[0])}; chance "
    said += f"{percent(first['chance'])})"
    others = [
        f"**{as_text(run.plan.variant.label)}** {percent(run.metrics['purity'], 1)} ({_starts(run)})"
        for run in runs[1:]
    ]
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    named = f" Others, without a significance test: {', '.join(others[:NAMED])}{more}." if others else ""
    return (
        f"{said}.{named} Of {len(SEEDS)} random starts of k-means the tightest clustering counts: where the ranges "
        "overlap, a difference can be luck."
    )


def _cases(task: Task, runs: list[RunRecord]) -> str:
    kind = KINDS[task.diagnostic]
    estimates, p_of = _of_cases(task.diagnostic, tuple(run.run_id for run in runs))
    first, m = estimates[0], runs[0].metrics
    share, number = f"**{percent(first.value, 1)}**", counted(int(m["cases"]), *kind.cases)
    said = f"{_name(runs[0])} {kind.does.format(share, number)} in {as_text(title_of(task.dataset))}"
    if first.interval is not None:
        low, high = percent(first.interval.low), percent(first.interval.high)
        said += f" (95% CI {low} to {high}, over {first.units:,} {kind.unit}; guessing {percent(m['chance'])})"
    else:
        said += f" (guessing {percent(m['chance'])})"
    rivals = [
        Rival(run.plan.variant.label, percent(found.value, 1), found.value > first.value, p)
        for run, found, p in zip(runs[1:], estimates[1:], p_of, strict=True)
    ]
    return in_words(said, rivals, "better", "worse")


@cached(32)
def _of_cases(diagnostic: str, run_ids: tuple[str, ...]) -> tuple[list[Estimate], list[float | None]]:
    """The share of right cases of each run, and Holm's p-values of the differences of the others from the first; None
    without a test."""
    kind = KINDS[diagnostic]
    rows = repository().items(kind.entry, list(run_ids), texts=True)
    right = rows.pivot(index="item_no", columns="run_id", values="hit").dropna()
    groups = rows.drop_duplicates("item_no").set_index("item_no")[kind.group].loc[right.index]
    known = kind.dependence(groups.tolist())
    values = [right[run_id].to_numpy(dtype=np.float64) for run_id in run_ids]
    if len(values) == 1:
        return [share(values[0], known)], []
    p = p_values(np.column_stack([other - values[0] for other in values[1:]]), known)
    return [share(own, known) for own in values], corrected([None if math.isnan(one) else one for one in p.tolist()])


def _starts(run: RunRecord) -> str:
    """Mean and range of a run's purity."""
    mean, low, high = (percent(run.metrics[f"purity_{name}"]) for name in ("mean", "low", "high"))
    return f"mean of all starts {mean}, {low} to {high}"


def _name(run: RunRecord) -> str:
    return f"**{as_text(run.plan.variant.label)}**"


def _ends(found: Estimate) -> str:
    """The interval and what it is over: questions that share a pair of words are not independent."""
    if found.interval is None:
        return ""
    low, high = percent(found.interval.low), percent(found.interval.high)
    return f" (95% CI {low} to {high}, over the {found.units:,} word pairs that they are made of)"


@cached(32)
def _of_analogies(run_ids: tuple[str, ...]) -> tuple[list[Estimate], list[float | None]]:
    """Of each run the share of questions answered right, and Holm's p of each but the first against the first.

    Pairs of words are independent, as in ``findings``. p is None without a test.
    """
    rows = repository().items(analogy.ENTRY, run_ids, texts=True)
    rows["hit"] = expected_hit(rows["greater"].to_numpy(), rows["ties"].to_numpy(), 1)
    own = {run_id: part.set_index("item_no") for run_id, part in rows.groupby("run_id")}
    estimates: list[Estimate] = []
    p_values: list[float | None] = []
    first = own[run_ids[0]]
    for run_id in run_ids:
        moved, known = of_ends(own[run_id]["hit"].to_numpy(np.float64), *word_pairs(own[run_id]))
        estimates.append(bounded_against(float(own[run_id]["hit"].mean()), moved, known, known.units, 0.5)[0])
        if run_id != run_ids[0]:
            shared = first.index.intersection(own[run_id].index)
            apart = (own[run_id].loc[shared, "hit"] - first.loc[shared, "hit"]).to_numpy(np.float64)
            _, p = change_against(float(apart.mean()), *of_ends(apart, *word_pairs(first.loc[shared])))
            p_values.append(None if math.isnan(p) else p)
    return estimates, corrected(p_values)


def _chunks(task: Task, runs: list[RunRecord]) -> str:
    estimates, p_values = _of_chunks(tuple(run.run_id for run in runs))
    first, m = estimates[0], runs[0].metrics
    interval = f" (95% CI {first.interval:.3f}, over sentences)" if first.interval else ""
    said = (
        f"{_name(runs[0])} tells the phrases of {int(m['sentences']):,} sentences of {as_text(title_of(task.dataset))} "
    )
    said += f"with F1 **{first.value:.3f}**{interval}"
    rivals = [
        Rival(run.plan.variant.label, f"{found.value:.3f}", found.value > first.value, p)
        for run, found, p in zip(runs[1:], estimates[1:], p_values, strict=True)
    ]
    return in_words(said, rivals, "better", "worse")


@cached(32)
def _of_chunks(run_ids: tuple[str, ...]) -> tuple[list[Estimate], list[float]]:
    """Of each run F1, and Holm's p of each but the first against the first."""
    rows = answers(run_ids, repository())
    sums = [sums_of(rows[run_id]) for run_id in run_ids]
    p_values = [difference_of(own, sums[0])[1] for own in sums[1:]]
    return [estimate_of(own) for own in sums], holm(np.array(p_values)).tolist() if p_values else []
