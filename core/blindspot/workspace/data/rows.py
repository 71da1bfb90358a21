"""Rows of a dataset of any kind on the page *Data*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.relations import Analogies, Categories, Events, Outliers
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.errors import BlindspotError
from blindspot.types import digest_of_strings
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import explained, load, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.browse_table import Pages
from blindspot.workspace.data import labeled

ROWS = 1_000  # of a kind that is not paged through
ROWS_PER_PAGE = 10
REWRITES_PER_PAGE = 12
BACKGROUND_ITEMS = 10
_SEED = "background_seed"


def preview(entry: DatasetEntry) -> None:
    """Draw counts and pages of rows, and for pairs also texts that are in no pair."""
    checksums = [fetch.recorded_checksum(file, settings()) for file in entry.files]
    content = digest_of_strings([entry.id, entry.revision, *checksums])[:12]
    try:
        data = load(entry)
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return
    st.subheader("Rows", anchor=False)
    _SHOWN.get(data.kind, _first_rows)(data, entry.unit, content)


def _paged(
    data: Dataset, count: int, content: str, key: str, columns: Mapping[str, Any], per_page: int = ROWS_PER_PAGE
) -> None:
    """Draw one page of a dataset's ``count`` rows, with paging."""
    pages = Pages.of(f"rows_page_{content}", count, per_page)
    frame = pd.DataFrame(data.rows(pages.rows.start, pages.rows.stop), columns=list(data.headings))
    tables.draw(frame, key=key, column_config=columns)
    pages.turn()


def _first_rows(data: Dataset, _unit: str, _content: str) -> None:
    """Draw the first rows of a kind without its own view."""
    rows = data.first_rows(ROWS)
    _table(pd.DataFrame(rows.cells, columns=list(rows.headings)))


def _table(frame: pd.DataFrame) -> None:
    tables.draw(frame, key="relation_rows")
    if len(frame) == ROWS:
        st.caption(f"The first {ROWS:,} rows.")


def _analogies(data: Analogies, _unit: str, _content: str) -> None:
    st.markdown(
        f"**{len(data.answers):,}** questions in {len(data.sections)} sections. Candidate answers: "
        f"**{len(data.items):,}** words, {data.own_words:,} of them from the questions"
    )
    frame = pd.DataFrame(data.rows(0, ROWS), columns=list(data.headings))
    frame["section"] = [data.sections[i] for i in data.section_numbers[:ROWS]]
    _table(frame)


def _categories(data: Categories, unit: str, content: str) -> None:
    st.markdown(f"**{len(data.items):,}** distinct words in {len(data.classes)} classes")
    _first_rows(data, unit, content)


def _outliers(data: Outliers, unit: str, content: str) -> None:
    cases, groups, words = len(data.outliers), len(data.groups), len(data.items)
    st.markdown(f"**{cases:,}** cases of {groups:,} groups, **{words:,}** distinct words")
    _first_rows(data, unit, content)


def _chunked(data: ChunkedSentences, _unit: str, content: str) -> None:
    st.markdown(
        f"**{len(data.splits):,}** sentences of **{len(data.words):,}** tokens · **{len(data.items):,}** distinct words"
    )
    columns = {
        "sentence": st.column_config.TextColumn(width="large"),
        "phrases": st.column_config.TextColumn(width="large", help="NP: noun phrase, VP: verb phrase, PP: preposition"),
    }
    _paged(data, len(data.splits), content, "chunked_rows", columns)


def _events(data: Events, unit: str, content: str) -> None:
    st.markdown(f"**{len(data.verbs):,}** events of {len(set(data.verbs.tolist())):,} verbs")
    _first_rows(data, unit, content)


def _scored_pairs(data: ScoredPairs, unit: str, content: str) -> None:
    low, high = data.scale
    sets = f" in **{len(data.sets)}** sets" if len(data.sets) > 1 else ""
    st.markdown(
        f"**{len(data.scores):,}** scored pairs{sets} · **{len(data.items):,}** distinct {unit}s · scores from "
        f"{low:g} to {high:g}"
    )
    columns = {
        "pair": st.column_config.NumberColumn(width=60, help="Number of the pair in the dataset"),
        "score": st.column_config.NumberColumn(format="%.3g", help="Human rating; higher means more similar"),
    }
    _paged(data, len(data.scores), content, "scored_rows", columns)


def _vocabulary(data: Vocabulary, _unit: str, content: str) -> None:
    st.markdown(f"**{len(data.items):,}** words, in a corpus of **{data.corpus_size:,.0f}** words")
    columns = {
        "number": st.column_config.NumberColumn(width=60, help="Number of the word in the dataset"),
        "count": st.column_config.NumberColumn(help="Occurrences in the corpus", format="%,.6g"),
        "per million words": "%,.4g",
    }
    _paged(data, len(data.items), content, "word_rows", columns)


def _minimal_pairs(data: MinimalPairSet, unit: str, content: str) -> None:
    same = [f"**{n:,}** {subset} rewrites identical to their original" for subset, n in data.unchanged.items() if n]
    parts = [f"**{len(data.originals):,}** originals", f"**{len(data.items):,}** distinct {unit}s", *same]
    st.markdown(" · ".join(parts))
    st.markdown("**Minimal pairs**")
    columns = {
        "number": st.column_config.NumberColumn(width=60, help="Number of the original in the dataset"),
        "subset": st.column_config.TextColumn(width=100, help="How the original was changed"),
    }
    per_page = max(1, REWRITES_PER_PAGE // len(data.subsets))
    _paged(data, len(data.originals), content, "minimal_pair_rows", columns, per_page)


def _pairs(data: PairSet, unit: str, content: str) -> None:
    counts = data.counts
    parts = [
        f"**{counts.pairs:,}** pairs",
        f"**{counts.items:,}** distinct {unit}s",
        f"**{counts.queries:,}** queries"
        + (f", {counts.several_matches:,} of them with several matches" if counts.several_matches else ""),
    ]
    if counts.self_pairs:
        parts.append(f"**{counts.self_pairs:,}** pairs of a {unit} with itself")
    if counts.repeated_pairs:
        parts.append(f"**{counts.repeated_pairs:,}** repeated pairs")
    st.markdown(" · ".join(parts))
    st.markdown("**Pairs**")
    columns = {
        "pair": st.column_config.NumberColumn(width=50, help="Number of the pair in the dataset"),
        "query": st.column_config.TextColumn(width="large", help="The text that is searched for"),
        "match": st.column_config.TextColumn("match", width="large", help="The text that should be found first"),
    }
    _paged(data, counts.pairs, content, "pair_rows", columns)
    _background(data, unit, content)


def _retrieval(data: RetrievalDataset, _unit: str, content: str) -> None:
    counts = data.counts
    grades = ", ".join(str(grade) for grade in counts.grades)
    parts = [
        f"**{counts.queries:,}** queries",
        f"**{counts.documents:,}** documents",
        f"**{counts.judgments:,}** judgments, **{counts.relevant:,}** of a relevant document (grades: {grades})",
    ]
    if counts.unanswered:
        parts.append(f"**{counts.unanswered:,}** queries without a relevant document")
    if counts.same_documents:
        parts.append(f"**{counts.same_documents:,}** documents with the text of another")
    st.markdown(" · ".join(parts))
    columns = {
        "query": st.column_config.TextColumn(width=100, help="Id of the query"),
        "text": st.column_config.TextColumn(width="large"),
        "relevant": st.column_config.NumberColumn(width=80, help="Number of documents judged relevant to it"),
        "relevant documents": st.column_config.TextColumn(help="Ids of the first of them"),
    }
    _paged(data, counts.queries, content, "query_rows", columns)
    st.markdown("**Documents**")
    pages = Pages.of(f"documents_page_{content}", counts.documents, ROWS_PER_PAGE)
    numbers = range(pages.rows.start, min(pages.rows.stop, counts.documents))
    rows = {
        "document": [data.document_ids[n] for n in numbers],
        "title": [data.titles[n] for n in numbers],
        "text, with its title": [data.items[data.documents[n]] for n in numbers],
    }
    tables.draw(rows, key="document_rows")
    pages.turn()


def _labeled(data: LabeledTexts, unit: str, content: str) -> None:
    labeled.show(data, unit, content, ROWS_PER_PAGE)


_SHOWN: Mapping[DatasetKind, Callable[[Any, str, str], None]] = {
    DatasetKind.PAIR_SET: _pairs,
    DatasetKind.MINIMAL_PAIR_SET: _minimal_pairs,
    DatasetKind.SCORED_PAIRS: _scored_pairs,
    DatasetKind.VOCABULARY: _vocabulary,
    DatasetKind.ANALOGIES: _analogies,
    DatasetKind.CATEGORIES: _categories,
    DatasetKind.OUTLIERS: _outliers,
    DatasetKind.CHUNKED: _chunked,
    DatasetKind.EVENTS: _events,
    DatasetKind.RETRIEVAL: _retrieval,
    DatasetKind.LABELED_TEXTS: _labeled,
    DatasetKind.PROBING: _labeled,
}


def _background(data: PairSet, unit: str, content: str) -> None:
    if not data.counts.background_only:
        st.caption(f"Every {unit} belongs to a pair. Each match is ranked among all of them.")
        return
    st.markdown(f"**Background**: {data.counts.background_only:,} {unit}s that are in no pair, but can outrank a match")
    seed = st.session_state.setdefault(_SEED, 0)
    tables.draw(
        {unit: data.background(BACKGROUND_ITEMS, seed)},
        key=f"background_rows_{content}_{seed}",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Show others", icon=":material/shuffle:", key="other_background", on_click=_other_background)
        st.caption(f"{BACKGROUND_ITEMS} at random. A match is ranked among all {unit}s, these included.")


def _other_background() -> None:
    st.session_state[_SEED] = st.session_state.get(_SEED, 0) + 1
