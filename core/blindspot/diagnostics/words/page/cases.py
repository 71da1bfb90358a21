"""Views *outliers* and *events* of the page Words: the cases of one dataset, by model, group and word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from blindspot.diagnostics.words.cases import EVENTS, KINDS, OUTLIERS, CaseKind
from blindspot.diagnostics.words.page.drill_down import ROWS, choose_dataset, choose_rows, choose_variant
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import SOURCE, table_1
from blindspot.diagnostics.words.view import case_groups, case_shares
from blindspot.figures.dots import dot, dots
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.written import SCORE, percent
from blindspot.store.records import RunRecord
from blindspot.texts import same_text
from blindspot.ui.page_state import link
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables
from blindspot.variants import Variant

MOST_GROUPS = 24  # that the figure shows one by one


def outliers(shown: WordsView) -> None:
    """Accuracy and outlier position of all models, by group where there are few groups, then the cases of one model."""
    runs = choose_dataset(shown, "outliers")
    if not runs:
        return
    by_group = {variant: _by_group(run.run_id, "outliers") for variant, run in runs.items()}
    few = len(next(iter(by_group.values()))) <= MOST_GROUPS
    lines = [
        dot(variant, str(name), float(row["right"]))
        for variant, rows in by_group.items()
        for name, row in rows.iterrows()
    ]
    _figure(shown, runs, lines if few else [], "outliers found")
    run = next(iter(runs.values()))
    st.caption(
        _counted(run, "cases")
        + f" Groups: {int(run.metrics['groups']):,}. Guessing finds {percent(run.metrics['chance'], 1)}. Outlier "
        "position: 100 if the outlier stands out most, 50 on average for guessing. Groups that share "
        "words, and cases of one outlier, depend on each other."
    )
    link("intruder", label="Beside people's precision: People", icon=":material/how_to_vote:")
    run = choose_variant(runs, "outliers_by")
    _groups(_by_group(run.run_id, "outliers"), "outliers found")
    frame = _chosen(run, OUTLIERS, ["outlier", "words"], "; ")
    _table(
        frame[["group_name", "outlier", "picked", "words", "opp", "similarity", "lowest"]],
        {
            "group_name": st.column_config.TextColumn("group"),
            "picked": st.column_config.TextColumn("model's pick"),
            "opp": st.column_config.NumberColumn("outlier position", format="percent"),
            "similarity": st.column_config.NumberColumn(
                "outlier's mean cosine", format=f"%{SCORE}", help="With the words of the group"
            ),
            "lowest": st.column_config.NumberColumn(
                "pick's mean cosine", format=f"%{SCORE}", help="With the other words, the outlier among them"
            ),
        },
    )


def events(shown: WordsView) -> None:
    """Accuracies of all models by what patients are compared with, then the events of one model."""
    runs = choose_dataset(shown, "thematic_fit")
    if not runs:
        return
    _figure(shown, runs, [], "typical patient nearer than the atypical one")
    run = next(iter(runs.values()))
    m = run.metrics
    st.caption(
        _counted(run, "events")
        + f" Verbs: {int(m['verbs']):,}; of {int(m['with_fillers']):,} events the verb has another typical patient. "
        "Guessing reaches 50%. Events of one verb or one agent depend on each other."
    )
    _published()
    run = choose_variant(runs, "events_by")
    _groups(_by_group(run.run_id, "thematic_fit"), "typical nearer")
    frame = _chosen(run, EVENTS, ["agent", "verb", "typical", "atypical"], None)
    nearer = {
        name: st.column_config.NumberColumn(title, format="%g", help="1: the typical patient is nearer; 0.5: tied")
        for name, title in (("hit_verb", "by verb"), ("hit_agent", "by agent"), ("hit_fillers", "by fillers"))
    }
    _table(
        frame[["agent", "verb", "typical", "atypical", "cosine_typical", "cosine_atypical", *nearer, "fillers"]],
        {
            "cosine_typical": st.column_config.NumberColumn("cosine of typical", format=f"%{SCORE}"),
            "cosine_atypical": st.column_config.NumberColumn("cosine of atypical", format=f"%{SCORE}"),
            "fillers": st.column_config.NumberColumn("others of the verb", help="Typical patients of its other events"),
            **nearer,
        },
    )


def _published() -> None:
    """The paper's scores of selectional preference, on data that are not public."""
    with st.expander("Published selectional preferences, on other data", icon=":material/menu_book:"):
        rows = [
            {"embedding": name, "UP": 100 * row["up"], "McRae": 100 * row["mrae"]} for name, row in table_1().items()
        ]
        number = "%.1f"
        tables.draw(
            rows,
            key="words_published_preferences",
            column_config={"UP": number, "McRae": number},
        )
        st.caption(
            f"{SOURCE}: correlation × 100 of ratings with the cosine of a noun and the mean of the verb's most "
            "associated nouns. Other data and another score: not comparable with the shares above."
        )


def _counted(run: RunRecord, name: str) -> str:
    every, covered = run.coverage[name], run.coverage[f"{name}_covered"]
    left = f"; {every - covered:,} of {every:,} are left out, since a word has no vector" if covered < every else ""
    return f"{covered:,} {name}{left}."


def _figure(shown: WordsView, runs: Mapping[Variant, RunRecord], more: list[dict[str, object]], axis: str) -> None:
    lines = [
        dot(variant, name, estimate)
        for variant, run in runs.items()
        for name, estimate in _shares(run.run_id, run.plan.diagnostic).items()
    ]
    figure = dots([*lines, *more], shown.styles, shown.scheme, axis=axis, spec=".1%")
    st.plotly_chart(figure, key="words_cases")


@cached(16)
def _frame(run_id: str, diagnostic: str) -> pd.DataFrame:
    return repository().items(KINDS[diagnostic].entry, [run_id], texts=True)


@cached(32)
def _shares(run_id: str, diagnostic: str) -> dict[str, Estimate]:
    return case_shares(KINDS[diagnostic], _frame(run_id, diagnostic))


@cached(32)
def _by_group(run_id: str, diagnostic: str) -> pd.DataFrame:
    return case_groups(KINDS[diagnostic], _frame(run_id, diagnostic))


def _groups(groups: pd.DataFrame, right: str) -> None:
    st.markdown("**By group**, the fewest right first: of a few cases each, their order is partly chance")
    named = groups.reset_index()
    config = {
        "right": st.column_config.NumberColumn(right, format="percent"),
        "opp": st.column_config.NumberColumn("outlier position", format="percent"),
        "group_name": st.column_config.TextColumn("group"),
    }
    tables.draw(named, key="words_case_groups", column_config=config)


def _chosen(run: RunRecord, kind: CaseKind, words: list[str], split: str | None) -> pd.DataFrame:
    """The rows that the reader asks for; ``words`` are columns of words, with ``split`` between several in a cell."""
    frame = _frame(run.run_id, kind.entry.id)
    label = "Verb" if kind is EVENTS else "Group"
    group, word, only_wrong = choose_rows("case", "case_group", label, dict.fromkeys(frame[kind.group]))
    rows = frame if group is None else frame[frame[kind.group] == group]
    asked, wrong = len(rows), int((rows["hit"] < 1).sum())
    if only_wrong:
        rows = rows[rows["hit"] < 1]
    if word:
        cells = rows[words].map(
            lambda cell: [same_text(word_in_cell) for word_in_cell in (cell.split(split) if split else [cell])]
        )
        rows = rows[cells.map(lambda words_of_cell: word in words_of_cell).any(axis=1)]
    more = f"; the first {ROWS:,} of {len(rows):,} are listed." if len(rows) > ROWS else "."
    st.caption(f"{wrong:,} of {asked:,} {kind.cases[1]} wrong or tied{more}")
    return rows.head(ROWS)


def _table(frame: pd.DataFrame, columns: Mapping[str, Any]) -> None:
    tables.draw(frame, key="words_cases_table", column_config=columns)
