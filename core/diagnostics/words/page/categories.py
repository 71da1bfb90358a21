"""The drill-down of categories: classes by clusters, and the words of a cluster."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core import diagnostic as diagnostics
from core.diagnostics.words import figures
from core.diagnostics.words.categorization import order_clusters, shares
from core.diagnostics.words.page.choice import choose_dataset, choose_variant
from core.diagnostics.words.page.shown import Shown
from core.store.records import RunRecord
from core.types import Int64
from core.ui.resources import cached, repository


def show(shown: Shown) -> None:
    """One run: its purity beside chance, its confusion, and a cluster's words."""
    runs = choose_dataset(shown, "categorization", "categories_of")
    if not runs:
        return
    run = choose_variant(runs, "categories_by")
    _purity(run)
    rows = _rows(run.run_id)
    classes = list(dict.fromkeys(rows["class"]))
    table = _table(rows, classes)
    order = order_clusters(table)
    figure = figures.confusion(table[order], shares(table)[order], classes, [int(c) for c in order], shown.scheme)
    st.plotly_chart(figure, key="words_confusion")
    _words(rows, len(table))


@cached(8)
def _rows(run_id: str) -> pd.DataFrame:
    """A row per word and class."""
    return repository().items(diagnostics.find("categorization"), [run_id], texts=True)


def _purity(run: RunRecord) -> None:
    m = run.metrics
    st.markdown(
        f"Purity **{m['purity']:.1%}** of {int(m['words']):,} words in {int(m['classes'])} classes; over the starts of "
        f"k-means {m['purity_low']:.1%} to {m['purity_high']:.1%}, mean {m['purity_mean']:.1%}. By chance it would be "
        f"{m['chance']:.1%}."
    )


def _table(rows: pd.DataFrame, classes: list[str]) -> Int64:
    """Words by cluster and class, ``[k, classes]``."""
    numbers = {name: i for i, name in enumerate(classes)}
    out = np.zeros((max(len(classes), int(rows["cluster"].max()) + 1), len(classes)), dtype=np.int64)
    np.add.at(out, (rows["cluster"].to_numpy(), rows["class"].map(numbers).to_numpy()), 1)
    return out


def _words(rows: pd.DataFrame, clusters: int) -> None:
    """The words of the chosen cluster, or those that are in no cluster of their class."""
    number = st.number_input(
        "Cluster",
        min_value=0,
        max_value=clusters - 1,
        value=None,
        step=1,
        key="cluster",
        bind="query-params",
        placeholder="all: words outside of their class",
        help="A number below the figure. Empty: the words whose cluster is named for another class than theirs.",
    )
    by_word = rows.groupby("item_no", sort=True).agg(
        word=("word", "first"),
        classes=("class", ", ".join),
        cluster=("cluster", "first"),
        named=("cluster_class", "first"),
        right=("class", lambda found: bool((found == rows.loc[found.index, "cluster_class"]).any())),
    )
    if number is None:
        found = by_word[~by_word["right"]]
        st.caption(f"{len(found):,} of {len(by_word):,} words are in a cluster of another class.")
    else:
        found = by_word[by_word["cluster"] == number]
        name = found["named"].iloc[0] if len(found) else "none"
        st.caption(f"{len(found):,} words in a cluster whose largest class is:")
        st.text(name)
    st.dataframe(
        found.sort_values(["right", "classes", "word"])[["word", "classes", "cluster", "named", "right"]].rename(
            columns={"classes": "class", "named": "cluster's class", "right": "same"}
        ),
        hide_index=True,
        key="words_of_cluster",
    )
