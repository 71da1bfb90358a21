"""Views *analogies* and *categories* of the page Words: the questions or clusters of one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.words import analogy, categorization, figures
from blindspot.diagnostics.words.categorization import placed, shares
from blindspot.diagnostics.words.page.table import WordsView
from blindspot.diagnostics.words.schnabel_table import TASKS
from blindspot.diagnostics.words.view import clusters_view
from blindspot.figures.dots import dot, dots
from blindspot.numerics.statistics.written import SCORE, percent
from blindspot.policy import MOST_SEARCHED
from blindspot.store.records import RunRecord
from blindspot.texts import same_text
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import names_of_variants, one_named, tab_named
from blindspot.variants import Variant

ROWS = 1_000
PREFIX = "accuracy@"
# By diagnostic: its view, and the key of the dataset that is chosen there.
PLACES = {
    "analogy": ("analogies", "analogies_of"),
    "categorization": ("categories", "categories_of"),
    "outliers": ("outliers", "outliers_of"),
    "thematic_fit": ("events", "events_of"),
    "chunking": ("chunks", "chunks_of"),
}


def choose_dataset(shown: WordsView, diagnostic: str) -> Mapping[Variant, RunRecord] | None:
    """The runs of the chosen dataset by variant, in the order of the table's rows; without any, a note, and None.

    By default it is the picked dataset, or the first one with runs.
    """
    by_dataset = {t.dataset: shown.of(t) for t in TASKS if t.diagnostic == diagnostic and shown.of(t)}
    if not by_dataset:
        st.info("No results yet: see *Run tasks without results* below.", icon=":material/play_circle:")
        return None
    usual = shown.picks.dataset if shown.picks.dataset in by_dataset else next(iter(by_dataset))
    key = PLACES[diagnostic][1]
    chosen = tab_named("Dataset", [usual, *sorted(by_dataset.keys() - {usual})], key=key, name=title_of)
    return {v: by_dataset[chosen][v] for v in shown.variants if v in by_dataset[chosen]}


def choose_variant(runs: Mapping[Variant, RunRecord], key: str) -> RunRecord:
    by_id = {str(variant): run for variant, run in runs.items()}
    chosen = one_named("Model", list(by_id), key=key, name=names_of_variants(by_id), index=0)
    return by_id[chosen or next(iter(by_id))]


def choose_rows(
    key: str, group_key: str, label: str, groups: Iterable[str], **look: Any
) -> tuple[str | None, str, bool]:
    """The group, the word ("" for any), and whether only wrong rows are asked for.

    Args:
        key: beginning of the keys of the other widgets.
        look: of the list of groups.
    """
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    look = {"placeholder": "all", **look}
    group = left.selectbox(label, list(groups), index=None, key=group_key, bind="query-params", **look)
    word = middle.text_input("With the word", key=f"{key}_word", max_chars=MOST_SEARCHED, persist_state="session")
    only_wrong = right.toggle("Wrong only", value=True, key=f"{key}_wrong", persist_state="session")
    return group, same_text(word), only_wrong


# --- analogies


def analogies(shown: WordsView) -> None:
    """Accuracy of all variants by section, then the questions of one variant."""
    runs = choose_dataset(shown, "analogy")
    if not runs:
        return
    lines = [
        dot(variant, name.removeprefix(PREFIX), value)
        for variant, run in runs.items()
        for name, value in run.metrics.items()
        if name.startswith(PREFIX)
    ]
    figure = dots(lines, shown.styles, shown.scheme, axis="accuracy", spec=".1%")
    st.plotly_chart(figure, key="words_sections")
    _questions(choose_variant(runs, "analogies_by"))


@cached(4, "Reading the questions …")
def _asked(run_id: str) -> pd.DataFrame:
    frame = repository().items(analogy.ENTRY, [run_id], texts=True)
    frame["rank"] = 1 + frame["greater"] + frame["ties"] / 2
    return frame


def _questions(run: RunRecord) -> None:
    frame = _asked(run.run_id)
    sections = dict.fromkeys(frame["section"])
    section, word, only_wrong = choose_rows("analogy", "analogy_section", "Section", sections)
    rows = frame if section is None else frame[frame["section"] == section]
    wrong, asked = int((rows["greater"] > 0).sum()), len(rows)
    tied = int(((rows["greater"] == 0) & (rows["ties"] > 0)).sum())
    if only_wrong:
        rows = rows[rows["greater"] + rows["ties"] > 0]
    if word:
        words = rows[["a", "b", "c", "d", "predicted"]].map(same_text)
        rows = rows[(words == word).any(axis=1)]
    st.caption(
        f"{wrong:,} of {asked:,} questions answered wrong"
        + (f", {tied:,} ties for first place" if tied else "")
        + (f". {len(rows):,} match" if len(rows) != wrong + tied else "")
        + (f", the first {ROWS:,} are listed" if len(rows) > ROWS else "")
        + ". The question's own three words are never answers."
    )
    table = rows.head(ROWS)[["a", "b", "c", "d", "predicted", "rank", "score", "best", "section"]]
    tables.draw(
        table.rename(columns={"d": "right", "predicted": "answered", "score": "its score", "best": "answer's score"}),
        key="words_questions",
        column_config={
            "b": st.column_config.TextColumn("is to b"),
            "c": st.column_config.TextColumn("as c"),
            "right": st.column_config.TextColumn("is to (right answer)"),
            "answered": st.column_config.TextColumn("model's answer"),
            "rank": st.column_config.NumberColumn(
                "rank of right answer", format="%g", help="Among all candidate words; tied ones share their mean rank"
            ),
            "its score": st.column_config.NumberColumn("score of right answer", format=f"%{SCORE}"),
            "answer's score": st.column_config.NumberColumn("score of model's answer", format=f"%{SCORE}"),
        },
    )


# --- categories


def categories(shown: WordsView) -> None:
    """The purity of one run, its confusion matrix, and a cluster's words."""
    runs = choose_dataset(shown, "categorization")
    if not runs:
        return
    run = choose_variant(runs, "categories_by")
    m = run.metrics
    st.markdown(
        f"**{percent(m['purity'], 1)}** of {int(m['words']):,} words in {int(m['classes'])} classes are in a cluster "
        f"of their class (purity; chance: {percent(m['chance'], 1)}). Shown: the tightest clustering of several "
        f"random starts of k-means; all of them: {percent(m['purity_low'], 1)} to {percent(m['purity_high'], 1)}, mean "
        f"{percent(m['purity_mean'], 1)}."
    )
    rows = _members(run.run_id)
    view = clusters_view(rows)
    figure = figures.confusion(
        view.counts, shares(view.counts), view.classes, [int(c) for c in view.order], shown.scheme
    )
    st.plotly_chart(figure, key="words_confusion")
    _words(rows, len(view.order))


@cached(8)
def _members(run_id: str) -> pd.DataFrame:
    return repository().items(categorization.ENTRY, [run_id], texts=True)


def _words(rows: pd.DataFrame, clusters: int) -> None:
    number = st.number_input(
        "Cluster",
        min_value=0,
        max_value=clusters - 1,
        value=None,
        step=1,
        key="cluster",
        bind="query-params",
        placeholder="all: words in the wrong cluster",
        help="A number on the x axis. Empty: words in a cluster named after another class.",
    )
    by_word = placed(rows)
    if number is None:
        selected = by_word[~by_word["right"]]
        st.caption(f"{len(selected):,} of {len(by_word):,} words are in a cluster of another class.")
    else:
        selected = by_word[by_word["cluster"] == number]
        name = selected["cluster_class"].iloc[0] if len(selected) else "none"
        st.caption(f"{len(selected):,} words in a cluster whose largest class is:")
        st.text(name)
    listed = selected.sort_values(["right", "classes", "word"])
    tables.draw(
        listed[["word", "classes", "cluster", "cluster_class", "right"]].rename(
            columns={"classes": "class", "cluster_class": "cluster's class", "right": "same"}
        ),
        key="words_of_cluster",
    )
