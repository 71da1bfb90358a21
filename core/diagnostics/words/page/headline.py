"""Headline of the page Words: the first model's scores with their intervals, then those of the others."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.words import analogy
from blindspot.diagnostics.words.categorization import SEEDS
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import TASKS, Task
from blindspot.diagnostics.words.versus import word_pairs
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics.against import bounded_against, change_against, of_ends
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import holm
from blindspot.store.records import RunRecord
from blindspot.texts import percent
from blindspot.ui.headline import NAMED, Rival, in_words
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository


def show(shown: WordsView) -> None:
    """A sentence on analogies and one on categories: the first set of each that the first model was run on."""
    said = []
    for diagnostic, sentence in (("analogy", _analogies), ("categorization", _categories)):
        tasks = (t for t in TASKS if t.diagnostic == diagnostic and t.metric in {"accuracy", "purity"})
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
def _of_analogies(run_ids: tuple[str, ...]) -> tuple[list[Estimate], list[float]]:
    """Of each run the share of questions answered right, and Holm's p of each but the first against the first.

    Pairs of words are independent, as in ``findings``. A p that cannot be computed is 1.
    """
    rows = repository().items(analogy.ENTRY, run_ids, texts=True)
    rows["hit"] = expected_hit(rows["greater"].to_numpy(), rows["ties"].to_numpy(), 1)
    own = {run_id: part.set_index("item_no") for run_id, part in rows.groupby("run_id")}
    estimates, p_values = [], []
    first = own[run_ids[0]]
    for run_id in run_ids:
        moved, known = of_ends(own[run_id]["hit"].to_numpy(np.float64), *word_pairs(own[run_id]))
        estimates.append(bounded_against(float(own[run_id]["hit"].mean()), moved, known, known.units, 0.5)[0])
        if run_id != run_ids[0]:
            shared = first.index.intersection(own[run_id].index)
            apart = (own[run_id].loc[shared, "hit"] - first.loc[shared, "hit"]).to_numpy(np.float64)
            _, p = change_against(float(apart.mean()), *of_ends(apart, *word_pairs(first.loc[shared])))
            p_values.append(1.0 if math.isnan(p) else p)
    return estimates, holm(np.array(p_values)).tolist() if p_values else []
