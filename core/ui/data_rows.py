"""The rows of a dataset on the page *Data*, whatever its kind."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.preview import LabelledPreview, MinimalPairPreview, PairPreview, ScoredPreview, VocabularyPreview
from core.errors import BlindspotError
from core.labelled import LabelledTexts
from core.types import MinimalPairSet, PairSet, ScoredPairs, Vocabulary, digest_of_strings
from core.ui import data_labelled, data_relations, data_scored, data_vocabulary
from core.ui.data_relations import Relation
from core.ui.markdown import as_text
from core.ui.resources import settings

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
        data_relations.show(data)
        return
    if isinstance(data, VocabularyPreview):
        data_vocabulary.show(data, content, ROWS_PER_PAGE)
        return
    if isinstance(data, ScoredPreview):
        data_scored.show(data, entry.unit, content, ROWS_PER_PAGE)
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
    pages = -(-data.originals // per_page)
    key = f"rows_page_{content}"
    number = min(int(st.session_state.get(key, 1)), pages)
    rows = data.rows((number - 1) * per_page, number * per_page)
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
    st.pagination(pages, key=key)


def _pairs(data: PairPreview, content: str) -> None:
    pages = -(-data.counts.pairs // ROWS_PER_PAGE)
    key = f"rows_page_{content}"
    number = min(int(st.session_state.get(key, 1)), pages)
    rows = data.rows((number - 1) * ROWS_PER_PAGE, number * ROWS_PER_PAGE)
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
    st.pagination(pages, key=key)


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
