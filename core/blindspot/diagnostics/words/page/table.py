"""Table of the page Words: the runs that it shows, its published rows, and buttons for what is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.words import figures
from blindspot.diagnostics.words.analogy import Rule
from blindspot.diagnostics.words.schnabel_table import (
    BUILT_IN,
    GROUPS,
    IN_PAPER,
    NOT_COMPARABLE,
    SOURCE,
    TASKS,
    Task,
    published,
)
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot
from blindspot.figures.theme import Scheme, Style
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import SCORE, interval, number, percent
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.store.records import RunRecord
from blindspot.texts import counted, listed
from blindspot.ui import gone
from blindspot.ui.headline import score_of
from blindspot.ui.markdown import as_text
from blindspot.ui.options import asked_for, options, row
from blindspot.ui.page_state import link
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import explained, repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import shown_runs, tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

USUAL = ("minilm-static", "minilm")  # offered where nothing was run, with the reader's own or instead
FEW = 30
# By diagnostic: the score's name, the metric that counts its items, and what the items are.
ABOUT = {
    "similarity": ("Spearman's ρ", "n", "pairs"),
    "categorization": ("purity", "words", "words"),
    "analogy": ("accuracy", "questions", "questions"),
    "outliers": ("accuracy", "groups", "groups"),
    "thematic_fit": ("accuracy", "verbs", "verbs"),
    "chunking": ("F1", "sentences", "sentences"),
}


@dataclass(frozen=True, eq=False)
class WordsView:
    """Selection by the controls.

    Attributes:
        variants: the rows: those picked, else those that have a run of some task.
        runs: by diagnostic and dataset, one comparable run per variant.
        hidden: variants that have a run on other words than the rest; this run is not in ``runs``.
        own: whether each encoder is tested on the words that it covers itself.
    """

    picks: Picks
    variants: Sequence[Variant]
    runs: Mapping[tuple[str, str], Mapping[Variant, RunRecord]]
    hidden: Sequence[Variant]
    own: bool
    rule: Rule
    styles: Mapping[Variant, Style]
    scheme: Scheme

    def of(self, task: Task) -> Mapping[Variant, RunRecord]:
        """The runs behind a column."""
        return self.runs.get((task.diagnostic, task.dataset), {})


def selected(picks: Picks) -> WordsView:
    """The controls, and the newest comparable runs of every task."""
    more = options()
    about = "3CosAdd: the candidate nearest to b - a + c, as in the paper. 3CosMul: products instead of sums."
    rule = one_of("Analogy rule", Rule, "rule", about, container=more)
    covers_own = shown_runs.choose_own("Words", "words", "words_covered", container=more)
    by_task: dict[tuple[str, str], list[RunRecord]] = {}
    for diagnostic in dict.fromkeys(task.diagnostic for task in TASKS):
        wanted = {task.dataset for task in TASKS if task.diagnostic == diagnostic}
        for run in repository().finished(find_diagnostic(diagnostic), params=_params_of(diagnostic, rule)):
            if run.plan.dataset in wanted and picks.keeps(run.plan.variant):
                by_task.setdefault((diagnostic, run.plan.dataset), []).append(run)
    with_runs = {run.plan.variant for runs in by_task.values() for run in runs}
    variants = picks.subject_first(
        picks.variants or asked_for(picks, (v for v in repository().variants() if v in with_runs))
    )
    by_task = {task: [run for run in runs if run.plan.variant in variants] for task, runs in by_task.items()}
    shown = shown_runs.by_variant(by_task, covers_own)
    hidden = {r.plan.variant for task, runs in by_task.items() for r in runs if r.plan.variant not in shown[task]}
    styles = variant_styles(variants)
    return WordsView(picks, variants, shown, [v for v in variants if v in hidden], covers_own, rule, styles, scheme())


def _params_of(diagnostic: str, rule: Rule) -> dict[str, str]:
    return find_diagnostic(diagnostic).check_params({"rule": rule} if diagnostic == "analogy" else {})


def show(shown: WordsView) -> None:
    """Dots of the tasks that were run, then the table, measured columns before published ones of the same tasks.

    Without runs, both show the published scores.
    """
    tasks = [t for t in TASKS if shown.of(t)] or [t for t in TASKS if t.group in IN_PAPER]
    if shown.own:
        st.warning(
            "Each model is tested on the words that it covers itself: these scores are **not comparable**.",
            icon=":material/balance:",
        )
    elif shown.hidden:
        st.info(
            f"Scores of {as_text(', '.join(v.label for v in shown.hidden))} on other words are not shown. *Run what is "
            "missing* compares on words that all models cover; *own* (under Options) shows every score.",
            icon=":material/balance:",
        )
    with_published = options().toggle(
        "Show published embeddings",
        value=True,
        key="words_published",
        bind="query-params",
        help=f"{SOURCE}: six embeddings of 50 dimensions, trained on Wikipedia of 2008.",
    )
    scores = {(variant, task): score for task in tasks for variant, score in _scores(shown, task).items()}
    names = {t.name: _title(t) for t in tasks}
    others = {
        model: {names[name]: value for name, value in row.items() if name in names}
        for model, row in (published() if with_published else {}).items()
        if names.keys() & row.keys()
    }
    tasks = [
        t for t in tasks if any(t == task for _, task in scores) or any(names[t.name] in row for row in others.values())
    ]
    if not tasks:
        return
    measured = [dot(variant, _title(task), score) for (variant, task), score in scores.items()]
    scored = " or ".join(dict.fromkeys(ABOUT[t.diagnostic][0] for t in tasks))
    figure = figures.task_dots(
        measured, others, shown.styles, shown.scheme, axis=scored, specs={_title(t): _spec(t) for t in tasks}
    )
    st.plotly_chart(figure, key="words_table_dots")
    _table(shown, scores, others, tasks)
    _notes(shown, names, with_published=bool(others))


def _title(task: Task) -> str:
    part = task.metric.removeprefix("accuracy_") if task.metric.startswith("accuracy_") else ""
    return f"{title_of(task.dataset)}{f', {part}' if part else ''}"


def _scores(shown: WordsView, task: Task) -> dict[Variant, Measured]:
    """Scores of a task by variant, in the order of the table's columns."""
    runs = [run for v in shown.variants if (run := shown.of(task).get(v)) and task.metric in run.metrics]
    return {run.plan.variant: score_of(run, task.metric) for run in runs}


def _table(
    shown: WordsView,
    scores: Mapping[tuple[Variant, Task], Measured],
    others: Mapping[str, Mapping[str, float]],
    tasks: Sequence[Task],
) -> None:
    columns = {"task": [_title(task) for task in tasks], "score": [ABOUT[task.diagnostic][0] for task in tasks]}
    best = {
        task: max(scores_of_task)
        for task in tasks
        if len(scores_of_task := [round(s.value, 3) for (_, t), s in scores.items() if t == task]) > 1
    }
    for variant in shown.variants:
        columns[variant.label] = [
            "–" if (score := scores.get((variant, task))) is None else _cell(score, _spec(task), best.get(task))
            for task in tasks
        ]
    for name, values in others.items():
        columns[f"{name}, published"] = [
            "–" if (value := values.get(_title(task))) is None else number(value, _spec(task)) for task in tasks
        ]
    tables.draw(columns, key="words_table", column_config={"task": {"pinned": True}})
    if part := _incomplete(shown):
        st.caption(as_text(f"Incomplete: {part}."))
    if few := _few(shown, tasks):
        st.warning(
            as_text(f"So few that only large differences can be significant: {', '.join(few)}."),
            icon=":material/warning:",
        )


def _cell(score: Measured, spec: str, best: float | None) -> str:
    mark = f"{tables.HIGHEST} " if round(score.value, 3) == best else ""
    return f"{mark}{number(score.value, spec)}" + (f" ({interval(score.interval, spec)})" if score.interval else "")


def _spec(task: Task) -> str:
    """Shares are percents, as in the headline; correlations and F1 are scores."""
    return ".1%" if ABOUT[task.diagnostic][0] in {"accuracy", "purity"} else SCORE


def _incomplete(shown: WordsView) -> str:
    parts = [
        (run.coverage["items_covered"] / run.coverage["items"], dataset)
        for (_, dataset), runs in shown.runs.items()
        for run in runs.values()
        if run.coverage["items_covered"] < run.coverage["items"]
    ]
    if not parts:
        return ""
    least, dataset = min(parts)
    return (
        f"on {counted(len({name for _, name in parts}), 'dataset')} some model lacks words, most on "
        f"{title_of(dataset)}, where {percent(least)} of the words are left; see the view coverage"
    )


def _few(shown: WordsView, tasks: Sequence[Task]) -> list[str]:
    out = []
    for task in {t.dataset: t for t in reversed(tasks)}.values():
        _, metric, unit = ABOUT[task.diagnostic]
        counts = [run.metrics[metric] for run in shown.of(task).values()]
        if counts and min(counts) < FEW:
            out.append(f"{title_of(task.dataset)} ({min(counts):.0f} {unit})")
    return out[::-1]


def _notes(shown: WordsView, names: Collection[str], *, with_published: bool) -> None:
    notes = [
        f"In brackets: 95% CI. {tables.HIGHEST} highest measured score of its task, "
        "whether or not the difference is significant."
    ]
    of_analogies = [run for (name, _), runs in shown.runs.items() if name == "analogy" for run in runs.values()]
    if candidates := [int(run.metrics["candidates"]) for run in of_analogies]:
        low, high = min(candidates), max(candidates)
        notes.append(
            f"Analogies are answered among {f'{low:,} to ' if low < high else ''}{high:,} words; more words are harder."
        )
    if with_published:
        notes.append(
            f"Hollow: published, {SOURCE}; not directly comparable. The paper answers analogies among more than "
            "100,000 words, and does not say whether its correlations are Spearman's (as here) or Pearson's."
        )
        notes += [f"{name} has no published score: {why}." for name, why in NOT_COMPARABLE.items() if name in names]
    st.caption(as_text(notes[0]))
    if more := notes[1:]:
        with st.expander("What these scores compare with", icon=":material/info:"):
            st.markdown(as_text(" ".join(more)))


# --- missing runs


def offer(shown: WordsView) -> None:
    """A button per group of tasks with missing runs."""
    first = [Variant(model, "none") for model in own_at_first() or USUAL]
    variants = gone.usable(shown.variants or first)
    by_dataset = {group: {t.dataset: t for t in TASKS if t.group == group}.values() for group in GROUPS}
    missing = {
        group: lacking
        for group, tasks in by_dataset.items()
        if (lacking := [t for t in tasks if any(v not in shown.of(t) for v in variants)])
    }
    if shown.variants:
        with row():
            link("run", label="Run another model", icon=":material/add:", width="content")
    else:
        st.info(
            f"No results yet. Choose below what to run for {listed([v.label for v in first])}.",
            icon=":material/spellcheck:",
        )
    if not missing:
        return
    with st.expander("Run tasks without results", expanded=not shown.variants, icon=":material/add:"):
        for group, tasks in missing.items():
            text, button = st.columns([3, 1], vertical_alignment="center")
            names = "; ".join(title_of(t.dataset) for t in tasks)  # titles have commas
            text.markdown(f"**{group[0].upper()}{group[1:]}**: {as_text(names)}")
            try:
                requests = _requests(tasks, variants, shown)
            except BlindspotError as error:
                text.error(as_text(explained(error)))
                continue
            with button:
                run_button(
                    "Run" if group != BUILT_IN else "Run the demo",
                    f"Words, {group}",
                    requests,
                    key=f"words_run_{GROUPS.index(group)}",
                    primary=group == BUILT_IN or bool(shown.variants),
                )
        st.caption(
            f"For {as_text(', '.join(v.label for v in variants))}. Missing datasets are downloaded first. An analogy "
            "set has about 30,000 words to encode: seconds for word vectors, minutes for a transformer."
        )


def _requests(tasks: Sequence[Task], variants: Sequence[Variant], shown: WordsView) -> list[RunRequest]:
    """Requests for all variants on the words that all of them cover, or for those without a run on their own words."""
    everybody = () if shown.own else [v.encoder for v in variants]
    wanted = [(t, v) for t in tasks for v in variants if not shown.own or v not in shown.of(t)]
    return [
        requesting.request(
            t.diagnostic, v.encoder, v.transform, t.dataset, _params_of(t.diagnostic, shown.rule), settings(), everybody
        )
        for t, v in wanted
    ]
