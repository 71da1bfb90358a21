"""The rows of a dataset on the page *Data*, whatever its kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.labelled_texts import LabelledTexts
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.pairs import PairSet
from core.datasets.kinds.relations import Analogies, Categories
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.preview import (
    LabelledPreview,
    MinimalPairPreview,
    PairPreview,
    ScoredPreview,
    VocabularyPreview,
)
from core.errors import BlindspotError
from core.types import digest_of_strings
from core.ui.markdown import as_text
from core.ui.resources import settings
from core.ui.widgets.browse_table import Pages
from core.workspace.data import labelled as data_labelled

# The rows of analogies and of categories on the page *Data*.

ROWS = 1_000
Relation = Analogies | Categories


def show_relations(data: Relation) -> None:
    """How many there are, and the first rows."""
    if isinstance(data, Analogies):
        st.markdown(
            f"**{len(data.answers):,}** questions in {len(data.sections)} sections, answered among "
            f"**{len(data.items):,}** words, {data.own_words:,} of them of the questions"
        )
        first = np.column_stack([data.questions, data.answers])[:ROWS]
        frame = pd.DataFrame([[data.items[i] for i in row] for row in first], columns=["a", "b", "c", "right"])
        frame["section"] = [data.sections[i] for i in data.section_numbers[:ROWS]]
    else:
        st.markdown(f"**{len(data.items):,}** distinct words in {len(data.classes)} classes")
        frame = pd.DataFrame(
            {
                "word": [data.items[i] for i in data.members[:ROWS]],
                "class": [data.classes[i] for i in data.class_numbers[:ROWS]],
            }
        )
    st.dataframe(frame, hide_index=True, key="relation_rows")
    if len(frame) == ROWS:
        st.caption(f"The first {ROWS:,} rows.")


# The rows of a set of scored pairs on the page *Data*.


def show_scored_pairs(data: ScoredPreview, unit: str, content: str, per_page: int) -> None:
    """How many pairs there are and on which scale, and a page of them with their scores."""
    low, high = data.scale
    sets = f" in **{len(data.dataset.sets)}** sets" if len(data.dataset.sets) > 1 else ""
    st.markdown(
        f"**{data.pairs:,}** scored pairs{sets} · **{len(data.dataset.items):,}** distinct {unit}s · scores from "
        f"{low:g} to {high:g}"
    )
    pages = Pages.of(f"rows_page_{content}", data.pairs, per_page)
    rows = data.rows(pages.rows.start, pages.rows.stop)
    st.dataframe(
        pd.DataFrame(rows, columns=["pair", "set", "score", "first text", "second text"]),
        hide_index=True,
        key="scored_rows",
        column_config={
            "pair": st.column_config.NumberColumn(width=60, help="Number of the pair in the dataset"),
            "score": st.column_config.NumberColumn(format="%.3g", help="What people gave it; more is more alike"),
        },
    )
    pages.turn()


# The rows of a vocabulary on the page *Data*.


def show_vocabulary(data: VocabularyPreview, content: str, per_page: int) -> None:
    """How many words there are, and a page of them with their counts."""
    st.markdown(f"**{data.words:,}** words, in a corpus of **{data.dataset.corpus_size:,.0f}** words")
    pages = Pages.of(f"rows_page_{content}", data.words, per_page)
    rows = data.rows(pages.rows.start, pages.rows.stop)
    st.dataframe(
        pd.DataFrame(rows, columns=["number", "word", "count", "per million words"]),
        hide_index=True,
        key="word_rows",
        column_config={
            "number": st.column_config.NumberColumn(width=60, help="Number of the word in the dataset"),
            "count": st.column_config.NumberColumn(help="Occurrences in the corpus", format="%,.6g"),
            "per million words": st.column_config.NumberColumn(format="%,.4g"),
        },
    )
    pages.turn()


ROWS_PER_PAGE = 10
REWRITES_PER_PAGE = 12
BACKGROUND_ITEMS = 10
_SEED = "background_seed"
_Preview = PairPreview | MinimalPairPreview | ScoredPreview | LabelledPreview | VocabularyPreview | Relation


@st.cache_resource(show_spinner="Reading the dataset …", max_entries=2)
def _loaded(_entry: DatasetEntry, dataset_id: str, content: str) -> _Preview:  # noqa: ARG001 - cache key
    """Shared, since nothing changes it: a copy of 25,000 texts at every click is not needed."""
    dataset = fetch.load(_entry, settings())
    if isinstance(dataset, MinimalPairSet):
        return MinimalPairPreview(dataset)
    if isinstance(dataset, PairSet):
        return PairPreview(dataset)
    if isinstance(dataset, Vocabulary):
        return VocabularyPreview(dataset)
    if isinstance(dataset, Relation):
        return dataset
    if isinstance(dataset, ScoredPairs):
        return ScoredPreview(dataset)
    if isinstance(dataset, LabelledTexts):
        return LabelledPreview(dataset)
    raise TypeError(f"there is no preview of a {dataset.kind}")


def preview(entry: DatasetEntry) -> None:
    """Counts and pages of rows; of a pair set also some of the items that are in no pair. Text is shown as text."""
    checksums = [fetch.recorded_checksum(file, settings()) for file in entry.files]
    content = digest_of_strings([entry.id, entry.revision, *checksums])[:12]
    try:
        data = _loaded(entry, entry.id, content)
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    st.subheader("Rows", anchor=False)
    if isinstance(data, MinimalPairPreview):
        _minimal_pairs(data, entry.unit, content)
        return
    if isinstance(data, Relation):
        show_relations(data)
        return
    if isinstance(data, VocabularyPreview):
        show_vocabulary(data, content, ROWS_PER_PAGE)
        return
    if isinstance(data, ScoredPreview):
        show_scored_pairs(data, entry.unit, content, ROWS_PER_PAGE)
        return
    if isinstance(data, LabelledPreview):
        data_labelled.show(data, entry.unit, content, ROWS_PER_PAGE)
        return
    counts = data.counts
    parts = [
        f"**{counts.pairs:,}** pairs",
        f"**{counts.items:,}** distinct {entry.unit}s",
        f"**{counts.queries:,}** queries, {counts.several_mates:,} of them with several mates",
        f"**{counts.self_pairs:,}** pairs of a {entry.unit} with itself",
    ]
    if counts.repeated_pairs:
        parts.append(f"**{counts.repeated_pairs:,}** repeated pairs")
    st.markdown(" · ".join(parts))
    _pairs(data, content)
    _background(data, entry.unit, content)


def _minimal_pairs(data: MinimalPairPreview, unit: str, content: str) -> None:
    same = [f"**{n:,}** {subset} rewrites that change nothing" for subset, n in data.same.items() if n]
    parts = [f"**{data.originals:,}** originals", f"**{len(data.dataset.items):,}** distinct {unit}s", *same]
    st.markdown(" · ".join(parts))
    per_page = max(1, REWRITES_PER_PAGE // len(data.dataset.subsets))
    pages = Pages.of(f"rows_page_{content}", data.originals, per_page)
    rows = data.rows(pages.rows.start, pages.rows.stop)
    st.markdown("**Minimal pairs**")
    st.dataframe(
        pd.DataFrame(rows, columns=["number", "original", "subset", "rewrite"]),
        hide_index=True,
        key="minimal_pair_rows",
        column_config={
            "number": st.column_config.NumberColumn(width=60, help="Number of the original in the dataset"),
            "subset": st.column_config.TextColumn(width=100, help="What was done to the original"),
        },
    )
    pages.turn()


def _pairs(data: PairPreview, content: str) -> None:
    pages = Pages.of(f"rows_page_{content}", data.counts.pairs, ROWS_PER_PAGE)
    rows = data.rows(pages.rows.start, pages.rows.stop)
    st.markdown("**Pairs**")
    st.dataframe(
        pd.DataFrame(rows, columns=["pair", "query", "mate"]),
        hide_index=True,
        key="pair_rows",
        column_config={
            "pair": st.column_config.NumberColumn(width=60, help="Number of the pair in the dataset"),
            "query": st.column_config.TextColumn(width=200, help="What is searched with"),
            "mate": st.column_config.TextColumn(width=200, help="What should be found first"),
        },
    )
    pages.turn()


def _background(data: PairPreview, unit: str, content: str) -> None:
    if not data.counts.background_only:
        st.caption(f"Every {unit} belongs to a pair. Each mate is ranked among all of them.")
        return
    st.markdown(f"**Background**: {data.counts.background_only:,} {unit}s that are in no pair")
    seed = st.session_state.setdefault(_SEED, 0)
    st.dataframe(
        pd.DataFrame({unit: data.background(BACKGROUND_ITEMS, seed)}),
        hide_index=True,
        key=f"background_rows_{content}_{seed}",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Others", icon=":material/shuffle:", key="other_background", on_click=_other_background)
        st.caption(f"{BACKGROUND_ITEMS} at random. Each mate is ranked among all of these too.")


def _other_background() -> None:
    st.session_state[_SEED] = st.session_state.get(_SEED, 0) + 1
