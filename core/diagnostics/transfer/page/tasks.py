"""The view *tasks* of the page Transfer: scores of variants over tasks, the baseline, overlap, coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.transfer import figures
from core.diagnostics.transfer.outcomes import Measure
from core.diagnostics.transfer.page import offer
from core.diagnostics.transfer.page.runs import TransferView, outcomes_of, title
from core.diagnostics.transfer.tasks import DEMO, PAIR_TASKS, Score, baseline, score
from core.figures import grids
from core.figures.dots import DOT, dot
from core.numerics.statistics.intervals import Interval
from core.store.records import RunRecord
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached
from core.ui.variant_looks import variant_styles
from core.ui.widgets import tables
from core.ui.widgets.choices import one_of

MOST_DOTS = 11  # variants: no two of so many share a colour
Scores = Mapping[tuple[str, Variant], Score]


def show(shown: TransferView) -> None:
    """The figure, the table, what overlaps, what is left out and what can be run."""
    tasks = _chosen_tasks(shown)
    scores = {
        (task, variant): found
        for task in tasks
        for variant, run in shown.runs[task].items()
        if variant in shown.variants and (found := _score(shown, run)) is not None
    }
    if not scores:
        st.info(
            f"Nothing was run with `{shown.classifier}` and seed {shown.seed} for these variants yet: choose below "
            "what to run, or another classifier above.",
            icon=":material/play_circle:",
        )
        offer.missing(shown)
        return
    tasks = [task for task in tasks if any(of == task for of, _ in scores)]
    variants = [v for v in shown.variants if any(of == v for _, of in scores)]
    _support_notes(shown)
    _figure(shown, tasks, variants, scores)
    _table(shown, tasks, variants, scores)
    _notes(shown, tasks)
    lacking = {task: [v.label for v in shown.variants if v not in shown.runs[task]] for task in tasks}
    if said := [f"{title(task)} by {', '.join(labels)}" for task, labels in lacking.items() if labels]:
        st.caption(as_text(f"Not run yet: {'; '.join(said)}."))
    offer.missing(shown)


def _chosen_tasks(shown: TransferView) -> list[str]:
    available = list(shown.runs)
    stored = st.session_state.get("tasks")
    if stored and not set(stored) <= set(available):  # of another classifier or seed
        st.session_state["tasks"] = [task for task in stored if task in available]
    chosen = st.multiselect(
        "Tasks",
        available,
        key="tasks",
        bind="query-params",
        placeholder="All that were run" if available else "None yet",
        help="Empty means all. The mean is over those that all the variants have.",
    )
    return [task for task in available if not chosen or task in chosen]


def _score(shown: TransferView, run: RunRecord) -> Score | None:
    found = score(run, shown.measure, overlap=shown.overlap)
    if found is None or found.interval is not None:
        return found
    return Score(found.value, _interval(run, shown.measure, overlap=shown.overlap))


@cached(1_000, "Computing intervals …")
def _interval(run: RunRecord, measure: Measure, *, overlap: bool) -> Interval | None:
    return outcomes_of([run], overlap=overlap).interval(run.run_id, measure)


def _support_notes(shown: TransferView) -> None:
    if shown.own:
        st.warning(
            "Each encoder is tested on the examples that it covers itself: these scores are **not comparable**.",
            icon=":material/balance:",
        )
    elif shown.hidden:
        st.info(
            f"Scores of {as_text(', '.join(v.label for v in shown.hidden))} are missing where they were tested on "
            "other examples than the others, since some encoder lacks texts. *Run more* below tests all on the "
            "examples that all of them have; *own* shows every score there is.",
            icon=":material/balance:",
        )


# --- the figure


def _figure(shown: TransferView, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    about = "dots: with 95% intervals and the baseline. grid: a column per task, for many variants."
    if one_of("Drawn as", ["dots", "grid"], "transfer_figure", about) == "grid":
        values = np.array([[_value(scores, task, v) for v in variants] for task in tasks])
        figure = grids.score_grid(values, [title(t) for t in tasks], [v.label for v in variants], 1.0, shown.scheme)
        st.plotly_chart(figure, key="transfer_grid")
        return
    drawn = variants[:MOST_DOTS]
    if len(drawn) < len(variants):
        st.caption(f"The first {MOST_DOTS} of {len(variants)} variants; *grid* shows all. Pick others in the sidebar.")
    # In the order of the tasks: a variant may lack the first one.
    rows = [
        dot(v, title(t), found.value, found.interval) for t in tasks for v in drawn if (found := scores.get((t, v)))
    ]
    baselines = {title(task): value for task in tasks if (value := _baseline(shown, task)) is not None}
    looks, axis = variant_styles(drawn), shown.axis
    figure = figures.task_dots(pd.DataFrame(rows, columns=DOT), baselines, looks, shown.scheme, axis=axis)
    st.plotly_chart(figure, key="transfer_dots")


def _value(scores: Scores, task: str, variant: Variant) -> float:
    found = scores.get((task, variant))
    return found.value if found else float("nan")


def _baseline(shown: TransferView, task: str) -> float | None:
    """The lowest of the runs' baselines: they differ if runs are on different examples."""
    found = [baseline(run, shown.measure, overlap=shown.overlap) for run in shown.runs[task].values()]
    return min((value for value in found if value is not None), default=None)


# --- the table


def _table(shown: TransferView, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    shared = [task for task in tasks if task != DEMO and all((task, v) in scores for v in variants)]
    frame = pd.DataFrame({"variant": [*(v.label for v in variants), f"– {figures.BASELINE}"]})
    by_task = {
        task: np.array([*(_value(scores, task, v) for v in variants), _baseline(shown, task)], dtype=np.float64)
        for task in tasks
    }
    if len(shared) > 1:
        frame[f"mean of {len(shared)}"] = 100 * np.mean([by_task[task] for task in shared], axis=0)
    for task, values in by_task.items():
        frame[title(task)] = 100 * values
    st.dataframe(tables.mark_highest(frame, len(variants)), hide_index=True, placeholder="–", key="transfer_table")
    said = f"{shown.axis[0].upper()}{shown.axis[1:]} × 100. "
    said += f"{tables.HIGHEST} highest of its column; intervals are in the figure."
    if len(shared) > 1:
        said += f" The mean counts alike the {len(shared)} tasks that all these variants have"
        said += ", pairs among them" if set(shared) & set(PAIR_TASKS) else ""
        said += "; the demo is left out." if DEMO in tasks else "."
    st.caption(said)


def _notes(shown: TransferView, tasks: Sequence[str]) -> None:
    st.markdown("**What is tested**")
    rows = []
    for task in tasks:
        runs = {v: run for v, run in shown.runs[task].items() if v in shown.variants}
        run = next(iter(runs.values()))
        m = run.metrics
        # Without a split everything is trained on and tested, fold by fold.
        is_split = m["trained"] < run.coverage["examples_covered"]
        rows.append(
            {
                "task": title(task),
                "tested": int(m["tested"]),
                "classes": int(m["classes"]),
                "baseline": f"{m['majority']:.1%}",
                "overlap": int(m["overlap"]),
                "in words": _overlap_in_words(m, is_split=is_split),
                "in part": _coverage_in_words(runs) or "–",
            }
        )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="transfer_counts",
        column_config={
            "baseline": st.column_config.TextColumn(help="Accuracy of always saying the most frequent class"),
            "in words": st.column_config.TextColumn(
                "what overlaps",
                width="large",
                help="The same text in training and in test; of pairs the same two texts, in either order. Folds of a "
                "task without a split have none. Pairs that share one text are kept together there too, unless too "
                "many of them hang together; those that do share one with training are counted here.",
            ),
            "in part": st.column_config.TextColumn(help="Examples of whose texts an encoder has vectors"),
        },
    )
    st.caption(
        "Bars: 95% intervals from the tested examples, those of one text counting as one; they do not speak "
        "of another training part or seed."
    )


def _overlap_in_words(metrics: Mapping[str, float], *, is_split: bool) -> str:
    overlap, shared, tested = (int(metrics[name]) for name in ("overlap", "shared_text", "tested"))
    said = []
    if overlap:
        said.append(f"{overlap / tested:.1%} {'stand in training too' if is_split else 'stand more than once'}")
    if shared:
        said.append(f"{shared / tested:.1%} share a text with training")
    return "; ".join(said) or "none"


def _coverage_in_words(runs: Mapping[Variant, RunRecord]) -> str:
    covered = {v.label: (r.coverage["examples_covered"], r.coverage["examples"]) for v, r in runs.items()}
    partly = {label: f"{some:,} of {every:,}" for label, (some, every) in covered.items() if some < every}
    if len(partly) == len(covered) > 1 and len(set(partly.values())) == 1:
        return f"each {next(iter(partly.values()))}"
    return "; ".join(f"{label} {count}" for label, count in partly.items())
