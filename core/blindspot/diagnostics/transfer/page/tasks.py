"""The view *tasks* of a page of tasks: scores of variants over tasks, the baseline, overlap, coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostics.transfer import figures
from blindspot.diagnostics.transfer.classifiers import IN_WORDS as CLASSIFIERS_IN_WORDS
from blindspot.diagnostics.transfer.outcomes import Measure
from blindspot.diagnostics.transfer.page import offer
from blindspot.diagnostics.transfer.page.runs import TransferView, classes_of
from blindspot.diagnostics.transfer.tasks import DEMO, PAIR_TASKS, baseline, score
from blindspot.figures import grids
from blindspot.figures.dots import dot
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import ci, percent
from blindspot.runs.default_models import KNOW_NO_MEANING
from blindspot.store.records import RunRecord
from blindspot.texts import first_upper
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.options import options
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of
from blindspot.variants import Variant

MOST_NAMED = 4  # classes in the headline
MOST_DOTS = 11  # variants: no two of so many share a color
Scores = Mapping[tuple[str, Variant], Measured]


def show(shown: TransferView) -> None:
    """The figure, the table, what overlaps, what is left out and what can be run."""
    tasks = _chosen_tasks(shown)
    scores = {
        (task, variant): estimate
        for task in tasks
        for variant, run in shown.runs[task].items()
        if variant in shown.variants and (estimate := score(run, shown.measure, overlap=shown.overlap)) is not None
    }
    if not scores:
        st.info(
            f"No runs with `{shown.classifier}` and seed {shown.seed} for these models yet. Choose below what to run, "
            "or another classifier under *Options*.",
            icon=":material/play_circle:",
        )
        offer.missing(shown)
        return
    tasks = [task for task in tasks if any(of == task for of, _ in scores)]
    variants = [v for v in shown.variants if any(of == v for _, of in scores)]
    _coverage_notes(shown)
    if not shown.is_task:
        st.caption("All tasks that were run, whatever dataset is picked.")
    _figure(shown, tasks, variants, scores)
    _table(shown, tasks, variants, scores)
    _notes(shown, tasks)
    lacking = {task: [v.label for v in shown.variants if v not in shown.runs[task]] for task in tasks}
    if models_lacking := [
        f"{shown.page.titled(task)} by {', '.join(labels)}" for task, labels in lacking.items() if labels
    ]:
        st.caption(as_text(f"Not run yet: {'; '.join(models_lacking)}."))
    offer.missing(shown)


def show_headline(shown: TransferView) -> None:
    """A model's accuracy on one task with its interval, and how the other models differ from it."""
    usual = shown.picks.dataset
    task = usual if usual in shown.runs else next(iter(shown.runs), usual)
    runs = [run for v, run in shown.runs.get(task, {}).items() if v in shown.variants]
    runs = headline.subject_first(runs, shown.picks)
    estimate = score(runs[0], Measure.ACCURACY, overlap=True) if runs else None
    if estimate is None:
        return
    text = (
        f"{as_text(shown.page.titled(task))}{_classes_in_words(task)}: a {CLASSIFIERS_IN_WORDS[shown.classifier]} on "
        f"embeddings of **{as_text(runs[0].plan.variant.label)}** predicts **{percent(estimate.value, 1)}** of "
        f"{runs[0].metrics['tested']:,.0f} examples right{_sure(runs[0], estimate)}{_in_folds(runs[0])}; always "
        f"choosing the most frequent class would be right on {percent(runs[0].metrics['majority'], 1)}"
    )
    headline.show(headline.in_words(text, headline.rivals(shown.page.entry, runs, ".1%"), "better", "worse"))
    if not shown.page.asks(task) and (ahead := _word_counting_ahead(runs)):
        names = " and ".join(as_text(run.plan.variant.label) for run in ahead)
        know = "knows" if len(ahead) == 1 else "know"
        word = ", here “not”," if task == DEMO else ""
        st.caption(
            f"Why {names}, which {know} only spelling and words, can win: single words{word} give the class away. "
            "Such a task measures how easily a word can be read off an embedding, not how well it captures meaning."
        )


def _sure(run: RunRecord, stored: Measured) -> str:
    """The stored interval of a run's accuracy; where there is none, why."""
    if stored.interval is not None:
        return ci(stored.interval, ".1%")
    return headline.sure(headline.score_of(run, Measure.ACCURACY), ".1%")


def _word_counting_ahead(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Random and word-counting models with a higher accuracy than the first model, unless that is one itself."""
    first, *others = runs
    if first.plan.variant.encoder in KNOW_NO_MEANING:
        return []
    ahead = [run for run in others if run.metrics["accuracy"] > first.metrics["accuracy"]]
    return [run for run in ahead if run.plan.variant.encoder in KNOW_NO_MEANING]


def _in_folds(run: RunRecord) -> str:
    """A note on a run without a split: every example is trained on and tested, fold by fold; "" with a split."""
    return "" if _is_split(run) else ", tested in cross-validation"


def _is_split(run: RunRecord) -> bool:
    return run.metrics["trained"] < run.coverage["examples_covered"]


def _classes_in_words(task: str) -> str:
    classes = classes_of(DatasetRef(task))
    return f" ({as_text(' or '.join(classes))})" if 0 < len(classes) <= MOST_NAMED else ""


def _chosen_tasks(shown: TransferView) -> list[str]:
    available = list(shown.runs)
    stored = st.session_state.get("tasks")
    if stored and not set(stored) <= set(available):  # of another classifier or seed
        st.session_state["tasks"] = [task for task in stored if task in available]
    chosen = options().multiselect(
        "Tasks",
        available,
        key="tasks",
        bind="query-params",
        placeholder="All" if available else "None yet",
        help="Empty means all. The mean is over tasks that all models were run on.",
    )
    return [task for task in available if not chosen or task in chosen]


def _coverage_notes(shown: TransferView) -> None:
    if shown.own:
        st.warning(
            "Each model is tested on the examples that it covers itself: these scores are **not comparable**.",
            icon=":material/balance:",
        )
    elif shown.hidden:
        st.info(
            f"Scores of {as_text(', '.join(v.label for v in shown.hidden))} are missing where they were tested on "
            "other examples. *Run more* below tests all models on the examples that all cover; *Options*, *own* shows "
            "every score.",
            icon=":material/balance:",
        )


# --- the figure


def _figure(shown: TransferView, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    about = "dots: with 95% CI and the baseline. grid: a column per task, for many models."
    with options():
        drawn_as = one_of("Drawn as", ["dots", "grid"], "transfer_figure", about)
    if drawn_as == "grid":
        values = np.array([[_value(scores, task, v) for v in variants] for task in tasks])
        figure = grids.score_grid(
            values, [shown.page.titled(t) for t in tasks], [v.label for v in variants], 1.0, shown.scheme
        )
        st.plotly_chart(figure, key="transfer_grid")
        return
    drawn = variants[:MOST_DOTS]
    if len(drawn) < len(variants):
        st.caption(
            f"The first {MOST_DOTS} of {len(variants)} models; *grid* (Options) shows all. Pick others in the sidebar."
        )
    # In the order of the tasks: a variant may lack the first one.
    rows = [dot(v, shown.page.titled(t), estimate) for t in tasks for v in drawn if (estimate := scores.get((t, v)))]
    baselines = {shown.page.titled(task): value for task in tasks if (value := _baseline(shown, task)) is not None}
    looks, axis = variant_styles(drawn), shown.axis
    figure = figures.task_dots(rows, baselines, looks, shown.scheme, axis=axis)
    st.plotly_chart(figure, key="transfer_dots")


def _value(scores: Scores, task: str, variant: Variant) -> float:
    estimate = scores.get((task, variant))
    return estimate.value if estimate else float("nan")


def _baseline(shown: TransferView, task: str) -> float | None:
    """The lowest of the runs' baselines: they differ if runs are on different examples."""
    values = [baseline(run, shown.measure, overlap=shown.overlap) for run in shown.runs[task].values()]
    return min((value for value in values if value is not None), default=None)


# --- the table


def _table(shown: TransferView, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    demos = [task for task in tasks if task in shown.page.demos]
    shared = [task for task in tasks if task not in demos and all((task, v) in scores for v in variants)]
    frame = pd.DataFrame({"model": [*(v.label for v in variants), figures.BASELINE]})
    by_task = {
        task: np.array([*(_value(scores, task, v) for v in variants), _baseline(shown, task)], dtype=np.float64)
        for task in tasks
    }
    if len(shared) > 1:
        frame[f"mean of {len(shared)}"] = 100 * np.mean([by_task[task] for task in shared], axis=0)
    for task, values in by_task.items():
        frame[shown.page.titled(task)] = 100 * values
    tables.draw(tables.mark_highest(frame, len(variants)), placeholder="–", key="transfer_table")
    text = f"{first_upper(shown.axis)}. {tables.HIGHEST} highest in its column, whether or not the "
    text += "difference is significant. Bars in the figure: 95% CI over the tested examples, those that share a text "
    text += "being dependent; another training set or seed may give other scores."
    if len(shared) > 1:
        text += f" The mean is over the {len(shared)} tasks that all these models were run on"
        text += ", including pair tasks" if set(shared) & set(PAIR_TASKS) else ""
        text += ", without the demo." if len(demos) == 1 else ", without the demos." if demos else "."
    st.caption(text)


def _notes(shown: TransferView, tasks: Sequence[str]) -> None:
    st.markdown("**The tasks**")
    asked = [(shown.page.titled(task), asks) for task in tasks if (asks := shown.page.asks(task))]
    if asked:
        st.markdown("\n".join(f"- **{as_text(name)}**: {asks}" for name, asks in asked))
    rows = []
    for task in tasks:
        runs = {v: run for v, run in shown.runs[task].items() if v in shown.variants}
        run = next(iter(runs.values()))
        m = run.metrics
        is_split = _is_split(run)
        rows.append(
            {
                "task": shown.page.titled(task),
                "tested": int(m["tested"]),
                "classes": int(m["classes"]),
                **({"chance": percent(m["chance"], 1)} if "chance" in m else {}),
                "baseline": percent(m["majority"], 1),
                "overlap": int(m["overlap"]),
                "in words": _overlap_in_words(m, is_split=is_split),
                **({"in part": in_part} if (in_part := _coverage_in_words(runs)) else {}),
            }
        )
    tables.draw(
        rows,
        key="transfer_counts",
        placeholder="–",
        column_config={
            "classes": "localized",
            "tested": st.column_config.NumberColumn("tested examples", format="localized"),
            "chance": st.column_config.TextColumn(help="Accuracy of guessing: 1 over the number of classes"),
            "baseline": st.column_config.TextColumn(
                "most frequent class", help="Accuracy of always predicting the training part's most frequent class"
            ),
            "overlap": st.column_config.NumberColumn(
                "also in training", format="localized", help="Tested examples that are also in training, or repeat"
            ),
            "in words": st.column_config.TextColumn(
                "overlap",
                width="medium",
                help="The same text in training and test; for pairs, the same two texts in either order. Folds of a "
                "task without a split have no overlap. Pairs that share one text stay in one fold unless too many are "
                "connected; those that share one with training are counted here.",
            ),
            "in part": st.column_config.TextColumn(
                "examples with vectors", help="Where a model lacks some texts; – where all models cover every text"
            ),
        },
    )


def _overlap_in_words(metrics: Mapping[str, float], *, is_split: bool) -> str:
    overlap, shared, tested = (int(metrics[name]) for name in ("overlap", "shared_text", "tested"))
    parts = []
    if overlap:
        parts.append(f"{percent(overlap / tested, 1)} {'are also in training' if is_split else 'occur more than once'}")
    if shared:
        parts.append(f"{percent(shared / tested, 1)} share a text with training")
    return "; ".join(parts) or "none"


def _coverage_in_words(runs: Mapping[Variant, RunRecord]) -> str:
    covered = {v.label: (r.coverage["examples_covered"], r.coverage["examples"]) for v, r in runs.items()}
    partly = {label: f"{some:,} of {every:,}" for label, (some, every) in covered.items() if some < every}
    if len(partly) == len(covered) > 1 and len(set(partly.values())) == 1:
        return f"each {next(iter(partly.values()))}"
    return "; ".join(f"{label} {count}" for label, count in partly.items())
