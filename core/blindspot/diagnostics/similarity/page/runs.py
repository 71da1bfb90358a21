"""The runs that the page Similarity shows, and the pairs that they scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.pairs import ScoredTable, scored_table
from blindspot.figures.theme import Scheme, Style
from blindspot.store.records import RunRecord
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import Keys, cached, repository
from blindspot.variants import Variant

BY_RUNS: Keys = {ScoredTable: lambda table: table.run_ids}  # a finished run never changes


@dataclass(frozen=True, eq=False)
class SimilarityView:
    """One run per variant on the picked dataset, the best first, and the pairs that all of them scored.

    ``own`` are the columns of the user's file, if it is one.
    """

    picks: Picks
    runs: Sequence[RunRecord]
    table: ScoredTable
    styles: Mapping[Variant, Style]
    scheme: Scheme
    own: Sequence[OwnColumn] = ()


def table_of(runs: Sequence[RunRecord]) -> ScoredTable:
    """The pairs that all runs scored."""
    return _table(tuple(r.run_id for r in runs))


@cached(8, "Reading similarities …", shared=True)
def _table(run_ids: tuple[str, ...]) -> ScoredTable:
    return scored_table(ENTRY, run_ids, repository())
