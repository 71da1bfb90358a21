"""The frame of the page Words: table 1 of Schnabel 2015 with measured rows, and buttons for what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core import diagnostic as diagnostics
from core.datasets import catalog as datasets
from core.diagnostic import DiagnosticEntry
from core.diagnostics.words import figures
from core.diagnostics.words.analogy import Rule
from core.diagnostics.words.page.shown import Shown
from core.diagnostics.words.schnabel_table import (
    BUILT_IN,
    GROUPS,
    NOT_COMPARABLE,
    SOURCE,
    TASKS,
    Task,
    published,
)
from core.errors import BlindspotError
from core.runs import pipeline
from core.runs.pipeline import RunRequest
from core.store.records import RunRecord, RunState
from core.types import Variant
from core.ui import gone
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.resources import repository, scheme, settings
from core.ui.variant_looks import variant_styles
from core.ui.widgets import tables
from core.ui.widgets.work import run_button

FIRST = (Variant("minilm-static", "none"), Variant("minilm", "none"))  # what an empty store is offered
MARK = "○ {}, published"
FEW = 30
COUNTED = {"similarity": "n", "categorization": "words", "analogy": "questions"}  # metrics
UNITS = {"similarity": "pairs", "categorization": "words", "analogy": "questions"}
WHAT = {
    "similarity": "Spearman's rho",
    "categorization": "purity",
    "analogy": "accuracy",
}


def gather(picks: Picks) -> Shown:
    """The newest comparable runs of every task, with the controls that decide which."""
    rule, own = _controls()
    found: dict[tuple[str, str], list[RunRecord]] = {}
    for diagnostic in dict.fromkeys(task.diagnostic for task in TASKS):
        entry = diagnostics.find(diagnostic)
        wanted = {task.dataset for task in TASKS if task.diagnostic == diagnostic}
        for run in repository().runs(
            diagnostic=diagnostic,
            version=entry.version,
            params=params_of(diagnostic, rule),
            state=RunState.DONE,
            current=True,
        ):
            if run.plan.dataset in wanted and picks.keeps(run.plan.variant):
                found.setdefault((diagnostic, run.plan.dataset), []).append(run)
    with_runs = {run.plan.variant for runs in found.values() for run in runs}
    stored = [variant for variant in repository().variants() if variant in with_runs]
    shown = {
        place: {run.plan.variant: run for run in tables.on_one_support(runs, own)} for place, runs in found.items()
    }
    hidden = {r.plan.variant for place, runs in found.items() for r in runs if r.plan.variant not in shown[place]}
    variants = picks.variants or stored
    return Shown(
        picks, variants, shown, [v for v in variants if v in hidden], own, rule, variant_styles(variants), scheme()
    )


def params_of(diagnostic: str, rule: str) -> dict[str, str]:
    """All parameters of a task's diagnostic: the paper's cosine, and the rule that was chosen."""
    return diagnostics.find(diagnostic).check_params({"rule": rule} if diagnostic == "analogy" else {})


def _controls() -> tuple[str, bool]:
    left, right = st.columns(2)
    rule = left.segmented_control(
        "Analogies answered by",
        [str(rule) for rule in Rule],
        default=str(Rule.ADD),
        required=True,
        key="rule",
        bind="query-params",
        help="3cosadd: the candidate nearest to b - a + c, as the paper does. 3cosmul: products in place of sums.",
    )
    support = right.segmented_control(
        "Words looked at",
        ["common", "own"],
        default="common",
        required=True,
        key="words_support",
        bind="query-params",
        help="Word vectors lack some words. common: per task the words that all the encoders cover, so that their "
        "scores can be compared. own: each encoder on the words that it covers itself.",
    )
    return str(rule), support == "own"


def show_table(shown: Shown) -> None:
    """Dots, then the table: measured rows, then the six published ones."""
    tasks = [t for t in TASKS if t.group != BUILT_IN or shown.of(t)]
    if shown.own:
        st.warning(
            "Each encoder is tested on the words that it covers itself: these scores are **not comparable**.",
            icon=":material/balance:",
        )
    elif shown.hidden:
        st.info(
            f"Scores of {as_text(', '.join(v.label for v in shown.hidden))} are missing where they were tested on "
            "other words than the others: some encoder lacks words. *Run what is missing* tests all on the words that "
            "all of them have; *own* shows every score there is.",
            icon=":material/balance:",
        )
    with_published = st.toggle(
        "Show published embeddings",
        value=True,
        key="words_published",
        bind="query-params",
        help=f"{SOURCE}: six embeddings of 50 dimensions, trained on Wikipedia of 2008.",
    )
    measured = [figures.Line(v.label, _scores(shown, v, tasks), v) for v in shown.variants]
    lines = [line for line in measured if line.values]
    if with_published:
        lines += [figures.Line(row.model, row.scores) for row in published()]
    if not lines:
        return
    st.plotly_chart(
        figures.table_dots(lines, [t.name for t in tasks], shown.styles, shown.scheme), key="words_table_dots"
    )
    rows = [*measured, *(line for line in lines if line.variant is None)]
    _table(shown, rows, tasks)
    _notes(shown, with_published)


def _scores(shown: Shown, variant: Variant, tasks: Sequence[Task]) -> dict[str, float]:
    runs = {task.name: (task, shown.of(task).get(variant)) for task in tasks}
    return {
        name: run.metrics[task.metric]
        for name, (task, run) in runs.items()
        if run is not None and task.metric in run.metrics
    }


def _table(shown: Shown, rows: Sequence[figures.Line], tasks: Sequence[Task]) -> None:
    names = [task.name for task in tasks]
    frame = pd.DataFrame(
        {
            "embedding": [r.name if r.variant else MARK.format(r.name) for r in rows],
            **{n: [100 * r.values[n] if n in r.values else None for r in rows] for n in names},
        }
    ).astype(dict.fromkeys(names, float))
    first_published = sum(r.variant is not None for r in rows)
    styled = frame.style.format(dict.fromkeys(names, "{:.1f}"), na_rep="–").set_properties(
        subset=pd.IndexSlice[frame.index[first_published:], :], **{"font-style": "italic", "opacity": "0.75"}
    )
    for name in names:  # the best among the measured ones; the published are of other words
        values = frame[name].iloc[:first_published].round(1)
        if values.notna().sum() > 1:
            cells = pd.IndexSlice[values.index[values == values.max()], [name]]
            styled = styled.format(f"{tables.HIGHEST} {{:.1f}}", subset=cells)
            styled = styled.set_properties(subset=cells, **{"font-weight": "bold"})
    columns = {
        t.name: st.column_config.Column(
            t.name, help=f"{t.group}: {WHAT[t.diagnostic]} × 100 on {datasets.DATASETS[t.dataset].title}"
        )
        for t in tasks
    }
    st.dataframe(styled, hide_index=True, column_config=columns, placeholder="–", key="words_table")
    if part := _incomplete(shown):
        st.caption(as_text(f"In part only: {part}."))
    if few := _few(shown, tasks):
        st.warning(as_text(f"Too few to tell encoders apart: {', '.join(few)}."), icon=":material/data_alert:")


def _incomplete(shown: Shown) -> str:
    """How many datasets of the table are looked at in part, and the smallest part."""
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
        f"on {len({name for _, name in parts})} datasets some encoder lacks words, most on {dataset}, where "
        f"{least:.0%} of the words are left; the view coverage has the counts"
    )


def _few(shown: Shown, tasks: Sequence[Task]) -> list[str]:
    """Columns in which some score is of fewer than ``FEW`` pairs, questions or words, and how many those are."""
    out = []
    for task in {t.dataset: t for t in reversed(tasks)}.values():
        counts = [run.metrics[COUNTED[task.diagnostic]] for run in shown.of(task).values()]
        if counts and min(counts) < FEW:
            out.append(f"{task.name} ({min(counts):.0f} {UNITS[task.diagnostic]})")
    return out[::-1]


def _notes(shown: Shown, with_published: bool) -> None:
    said = [f"{tables.HIGHEST} highest measured score of its column; not tested whether the others are worse."]
    candidates = [
        int(run.metrics["candidates"])
        for (name, _), runs in shown.runs.items()
        if name == "analogy"
        for run in runs.values()
    ]
    if candidates:
        low, high = min(candidates), max(candidates)
        said.append(
            f"Analogies are answered among {f'{low:,} to ' if low < high else ''}{high:,} words; the fewer, the easier."
        )
    if with_published:
        said.append(
            f"Published rows: {SOURCE}, hollow marks. The paper does not say whether its correlations are "
            "Spearman's or Pearson's (section 3.1 names both); measured ones are Spearman's. It does not say "
            "among which words its analogies were answered: its vocabularies have more than 100,000."
        )
        said += [f"{name} has no published cell: {why}." for name, why in NOT_COMPARABLE.items()]
    st.caption(as_text(" ".join(said)))


def offer(shown: Shown) -> None:
    """A button per group of tasks for what no run is there of."""
    variants = gone.usable(shown.variants or FIRST)
    missing = {group: [t for t in _distinct(group) if any(v not in shown.of(t) for v in variants)] for group in GROUPS}
    missing = {group: tasks for group, tasks in missing.items() if tasks}
    if not shown.variants:
        st.info(
            "No word relation was measured yet. Choose what to run below, for "
            f"{' and '.join(v.label for v in FIRST)}; pick other variants in the sidebar once they were run.",
            icon=":material/spellcheck:",
        )
    if shown.variants:
        st.page_link("pages/run.py", label="Run other encoders or transforms", icon=":material/add:")
    if not missing:
        return
    with st.expander("Run what is missing", expanded=not shown.variants, icon=":material/add:"):
        for group, tasks in missing.items():
            text, button = st.columns([3, 1], vertical_alignment="center")
            names = ", ".join(datasets.DATASETS[t.dataset].title for t in tasks)
            text.markdown(f"**{group[0].upper()}{group[1:]}**: {as_text(names)}")
            try:
                requests = _requests(tasks, variants, shown)
            except BlindspotError as error:
                text.error(as_text(str(error)))
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
            f"For {as_text(', '.join(v.label for v in variants))}. All but the built-in sets are downloaded first, "
            "where they are not here yet. An analogy set has some 30,000 words to encode: seconds for word vectors, "
            "minutes for a transformer."
        )


def heading(entry: DiagnosticEntry) -> None:
    """Whose "How is this computed?" follows."""
    st.markdown(f"**{entry.title}**: {entry.question}")


def _distinct(group: str) -> list[Task]:
    """The tasks of a group, one per dataset."""
    return list({t.dataset: t for t in TASKS if t.group == group}.values())


def _requests(tasks: Sequence[Task], variants: Sequence[Variant], shown: Shown) -> list[RunRequest]:
    """Runs of all the variants where one of them lacks its: on the words of all of them, or on its own."""
    everybody = () if shown.own else [v.encoder for v in variants]
    return [
        pipeline.request(
            t.diagnostic,
            v.encoder,
            v.transform,
            t.dataset,
            params_of(t.diagnostic, shown.rule),
            settings(),
            everybody,
        )
        for t in tasks
        for v in variants
        if not shown.own or v not in shown.of(t)
    ]


def datasets_with_runs(shown: Shown, diagnostic: str) -> Mapping[str, Mapping[Variant, RunRecord]]:
    """The runs of a diagnostic by dataset, in the order of the table; the sidebar's dataset first."""
    found = {t.dataset: shown.of(t) for t in TASKS if t.diagnostic == diagnostic and shown.of(t)}
    order = sorted(found, key=lambda name: name != shown.picks.dataset)
    return {name: found[name] for name in order}
