"""The runs that the page Retrieval shows, and the queries that they evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blindspot.diagnostics.retrieval.definition import CONDENSED, ENTRY, JUDGED
from blindspot.diagnostics.retrieval.outcomes import QueryTable, query_table
from blindspot.figures.theme import Scheme, Style
from blindspot.references import BM25
from blindspot.store.records import RunRecord
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import Keys, cached, repository
from blindspot.variants import Variant

BY_RUNS: Keys = {QueryTable: lambda table: table.run_ids}  # a finished run never changes


@dataclass(frozen=True, eq=False)
class RetrievalView:
    """One run per variant on the picked dataset among the same documents, the best first, and their queries."""

    picks: Picks
    runs: Sequence[RunRecord]
    table: QueryTable
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def has_bm25(self) -> bool:
        """Whether keyword search is one of the models, so that it need not be drawn beside them."""
        return any(run.plan.variant.encoder == BM25 for run in self.runs)

    @property
    def is_condensed(self) -> bool:
        """Whether unjudged documents were removed before scoring."""
        return JUDGED.value_in(self.runs[0].plan.params) == CONDENSED


def table_of(runs: Sequence[RunRecord]) -> QueryTable:
    """The queries of runs among the same documents."""
    return _table(tuple(r.run_id for r in runs))


@cached(8, "Reading queries …", shared=True)
def _table(run_ids: tuple[str, ...]) -> QueryTable:
    return query_table(ENTRY, run_ids, repository())
