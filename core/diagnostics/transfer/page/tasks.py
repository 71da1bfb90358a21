"""The view *tasks* of the page Transfer: scores of variants over tasks, the baseline, overlap, coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.diagnostics.transfer import figures
from core.diagnostics.transfer import tasks as numbers
from core.diagnostics.transfer.page import offer as transfer_offer
from core.diagnostics.transfer.page.runs import coverage_in_words, outcomes_of, title
from core.diagnostics.transfer.page.shown import AS_READ, Shown
from core.diagnostics.transfer.tasks import DEMO, PAIR_TASKS, Score
from core.figures import grids
from core.numerics.statistics.intervals import Interval
from core.store.records import RunRecord
from core.types import Variant
from core.ui.markdown import as_text
from core.ui.resources import cached
from core.ui.variant_looks import variant_styles
from core.ui.widgets import tables

MOST_DOTS = 11  # variants: no two of so many share a colour
Scores = Mapping[tuple[str, Variant], Score]


def show(shown: Shown) -> None:
    """The figure, the table, what overlaps and what is left out, and what can be run."""
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
        transfer_offer.missing(shown)
        return
    tasks = [task for task in tasks if any(of == task for of, _ in scores)]
    variants = [v for v in shown.variants if any(of == v for _, of in scores)]
    _support_notes(shown)
    _figure(shown, tasks, variants, scores)
    _table(shown, tasks, variants, scores)
    _notes(shown, tasks)
    if lacking := transfer_offer.without_scores(shown, tasks):
        st.caption(
            as_text(
                "Not run yet: "
                + "; ".join(f"{title(t)} by {', '.join(v.label for v in found)}" for t, found in lacking.items())
                + "."
            )
        )
    transfer_offer.missing(shown)


def _chosen_tasks(shown: Shown) -> list[str]:
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


def _score(shown: Shown, run: RunRecord) -> Score | None:
    """What a run scored; the interval from its predictions where it has not stored one."""
    found = numbers.score(run, shown.measure, overlap=shown.overlap)
    if found is None or found.interval is not None:
        return found
    return Score(found.value, _interval(shown, run))


@cached(1_000, "Computing intervals …", keys=AS_READ)
def _interval(shown: Shown, run: RunRecord) -> Interval | None:
    return outcomes_of(shown, [run]).interval(run.run_id, shown.measure)


def _support_notes(shown: Shown) -> None:
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


def _figure(shown: Shown, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    kind = st.segmented_control(
        "Drawn as",
        ["dots", "grid"],
        default="dots",
        required=True,
        key="transfer_figure",
        bind="query-params",
        help="dots: with 95% intervals and the baseline. grid: a column per task, for many variants.",
    )
    if kind == "grid":
        values = np.array([[_value(scores, task, v) for v in variants] for task in tasks])
        figure = grids.score_grid(values, [title(t) for t in tasks], [v.label for v in variants], 1.0, shown.scheme)
        st.plotly_chart(figure, key="transfer_grid")
        return
    drawn = variants[:MOST_DOTS]
    if len(drawn) < len(variants):
        st.caption(f"The first {MOST_DOTS} of {len(variants)} variants; *grid* shows all. Pick others in the sidebar.")
    rows = pd.DataFrame(
        [
            {
                "variant": v,
                "name": title(task),
                "value": found.value,
                "low": found.interval.low if found.interval else float("nan"),
                "high": found.interval.high if found.interval else float("nan"),
            }
            for v in drawn
            for task in tasks
            if (found := scores.get((task, v)))
        ],
        columns=["variant", "name", "value", "low", "high"],
    )
    baselines = {title(task): value for task in tasks if (value := _baseline(shown, task)) is not None}
    figure = figures.task_dots(
        _in_order(rows, [title(t) for t in tasks]), baselines, variant_styles(drawn), shown.scheme, axis=shown.axis
    )
    st.plotly_chart(figure, key="transfer_dots")


def _in_order(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Rows in the order of the tasks: a variant may lack the first one."""
    return rows.sort_values("name", key=lambda column: column.map(list(names).index), kind="stable")


def _value(scores: Scores, task: str, variant: Variant) -> float:
    found = scores.get((task, variant))
    return found.value if found else float("nan")


def _baseline(shown: Shown, task: str) -> float | None:
    """The lowest of the runs' baselines: they differ where runs are of other examples."""
    found = [numbers.baseline(run, shown.measure, overlap=shown.overlap) for run in shown.runs[task].values()]
    known = [value for value in found if value is not None]
    return min(known, default=None)


# --- the table


def _table(shown: Shown, tasks: Sequence[str], variants: Sequence[Variant], scores: Scores) -> None:
    shared = [task for task in numbers.in_every(tasks, variants, scores) if task != DEMO]
    over = numbers.means(shared, variants, scores)
    titles = [title(task) for task in tasks]
    frame = pd.DataFrame({"variant": [v.label for v in variants]})
    mean_title = f"mean of {len(shared)}"
    if len(shared) > 1:
        frame[mean_title] = [100 * over[v] for v in variants]
    for task, name in zip(tasks, titles, strict=True):
        frame[name] = [100 * _value(scores, task, v) for v in variants]
    numeric = list(frame.columns[1:])
    baselines = {title(task): _baseline(shown, task) for task in tasks}
    of_shared = [baselines[title(task)] for task in shared]
    if len(shared) > 1 and None not in of_shared:
        baselines[mean_title] = float(np.mean(of_shared))  # type: ignore[arg-type]
    last = pd.DataFrame(
        [{"variant": f"– {figures.BASELINE}"} | {n: 100 * b for n, b in baselines.items() if b is not None}]
    )
    whole = pd.concat([frame, last], ignore_index=True).astype(dict.fromkeys(numeric, float))
    styled = whole.style.format(dict.fromkeys(numeric, "{:.1f}"), na_rep="–").set_properties(
        subset=pd.IndexSlice[whole.index[len(frame) :], :], **{"font-style": "italic", "opacity": "0.75"}
    )
    for name in numeric:
        values = frame[name].round(1)
        if values.notna().sum() > 1:
            cells = pd.IndexSlice[values.index[values == values.max()], [name]]
            styled = styled.format(f"{tables.HIGHEST} {{:.1f}}", subset=cells)
            styled = styled.set_properties(subset=cells, **{"font-weight": "bold"})
    st.dataframe(styled, hide_index=True, placeholder="–", key="transfer_table")
    said = f"{shown.axis[0].upper()}{shown.axis[1:]} × 100. "
    said += f"{tables.HIGHEST} highest of its column; intervals are in the figure."
    if len(shared) > 1:
        said += f" The mean counts alike the {len(shared)} tasks that all these variants have"
        said += ", pairs among them" if set(shared) & set(PAIR_TASKS) else ""
        said += "; the demo is left out." if DEMO in tasks else "."
    st.caption(said)


def _notes(shown: Shown, tasks: Sequence[str]) -> None:
    """Overlap, examples and coverage, task by task."""
    st.markdown("**What is tested**")
    rows = []
    for task in tasks:
        runs = {v: run for v, run in shown.runs[task].items() if v in shown.variants}
        run = next(iter(runs.values()))
        m = run.metrics
        # Without a split of its own everything is trained on and tested, fold by fold.
        is_split = m["trained"] < run.coverage["examples_covered"]
        rows.append(
            {
                "task": title(task),
                "tested": int(m["tested"]),
                "classes": int(m["classes"]),
                "baseline": f"{m['majority']:.1%}",
                "overlap": int(m["overlap"]),
                "in words": _overlap_in_words(m, is_split=is_split),
                "in part": coverage_in_words(runs) or "–",
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
