"""Where the pairs of the EvalRank page come from, with the scores that people gave them."""

from __future__ import annotations

from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostics.evalrank.page.shown import BY_RUNS
from core.diagnostics.evalrank.pairs import PairTable
from core.diagnostics.evalrank.sources import PairSources, find_sources
from core.ui.resources import cached
from core.ui.widgets.dataset_offer import scored_pairs


def sources_of(table: PairTable, entry: DatasetEntry) -> PairSources | None:
    """Where every pair of a table comes from, in its order; None, having said why, where that cannot be told."""
    scored = scored_pairs(entry)
    return None if scored is None else _sources(table, scored)


@cached(8, shared=True, keys=BY_RUNS)
def _sources(table: PairTable, scored: ScoredPairs) -> PairSources:
    return find_sources(table.frame["query"].tolist(), table.frame["mate"].tolist(), scored)
