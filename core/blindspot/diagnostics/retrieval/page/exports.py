"""Files from the rankings of the view *queries*: hard negatives, and TREC's runs."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval import exports
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side
from blindspot.diagnostics.retrieval.page.retrieval_view import BY_RUNS, RetrievalView
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached
from blindspot.ui.widgets import downloads
from blindspot.ui.widgets.downloads import TEXT, Holds

MOST = (1, 3, 5, 10, 30)


def show(shown: RetrievalView, dataset: RetrievalDataset, letter: str, name: str, side: Side, run: RunRecord) -> None:
    """Downloads of one ranking: A's or B's, by its letter and name."""
    holds = Holds(shown.picks.dataset, (run.run_id,))
    tag = "BM25" if side.is_bm25 else run.plan.variant.label
    st.markdown(f"**{letter}: {as_text(name)}**")
    most = st.segmented_control(
        "Hard negatives per query, at most",
        MOST,
        default=exports.MOST,
        required=True,
        key=f"negatives_{letter.lower()}",
        help="The highest-ranked documents above the first relevant one that are unjudged or judged irrelevant: to "
        "train a model with. An unjudged one may be relevant: the column *judged* tells.",
    )
    counts = _count(shown.table, side, dataset, int(most))
    st.caption(f"{counted(counts[0], 'hard negative')} for {counted(counts[1], 'query', 'queries')}.")
    if counts[0]:
        downloads.tables(
            partial(exports.hard_negatives, shown.table, side, dataset, int(most)),
            holds,
            stem=downloads.stem_of("hard-negatives", shown.picks.dataset, tag),
            key=f"negatives_{letter.lower()}_download",
            help="Columns query, positive, negative; then ids, ranks, and whether the negative is judged.",
            has_lines=True,
        )
    downloads.button(
        "TREC run",
        partial(_run, shown.table, side, tag),
        holds,
        file_name=f"{downloads.stem_of(shown.picks.dataset, tag)}.run",
        mime=TEXT,
        key=f"trec_{letter.lower()}",
        help="The first 100 documents of every query, for trec_eval, ranx or ir_measures.",
    )


def _run(table: QueryTable, side: Side, tag: str) -> bytes:
    return exports.trec_run(table, side, tag).encode()


@cached(16, "Counting hard negatives …", keys=BY_RUNS)
def _count(table: QueryTable, side: Side, dataset: RetrievalDataset, most: int) -> tuple[int, int]:
    """Hard negatives, and queries that have some."""
    rows: pd.DataFrame = exports.hard_negatives(table, side, dataset, most)
    return len(rows), int(rows["query_id"].nunique())
