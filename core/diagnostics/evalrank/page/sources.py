"""Where the pairs of the EvalRank page come from, with the scores that people gave them."""

from __future__ import annotations

import streamlit as st

from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostics.evalrank.pairs import PairTable
from core.diagnostics.evalrank.sources import PairSources, find_sources
from core.ui.widgets.dataset_offer import scored_pairs


def sources_of(table: PairTable, run_ids: tuple[str, ...], entry: DatasetEntry) -> PairSources | None:
    """Where every pair of a table comes from, in its order; None, having said why, where that cannot be told."""
    scored = scored_pairs(entry)
    return None if scored is None else _sources(table, scored, run_ids, entry.id)


@st.cache_resource(show_spinner=False, max_entries=8)
def _sources(_table: PairTable, _scored: ScoredPairs, run_ids: tuple[str, ...], entry_id: str) -> PairSources:  # noqa: ARG001 - cache key
    return find_sources(_table.frame["query"].tolist(), _table.frame["mate"].tolist(), _scored)
