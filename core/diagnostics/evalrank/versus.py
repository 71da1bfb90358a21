"""The pairs whose match one of two runs ranks higher."""

from __future__ import annotations

import numpy as np

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.numerics.statistics.outcomes import Outcome, Outcomes
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``. An item is a pair, its score 1 divided by the rank of the match."""
    a, b = first.run_id, second.run_id
    table = pair_table(ENTRY, [a, b], repository)
    ranks = [table.ranks(run_id, filtered=False) for run_id in (a, b)]
    both = ~np.isnan(ranks[0] + ranks[1])
    one, other = (table.reciprocal_ranks(run_id, filtered=False) for run_id in (a, b))
    gain = np.where(both, one - other, 0.0)
    frame = table.frame
    became = Outcomes.of_right(ranks[0] <= 1, ranks[1] <= 1, both)
    tabs = {place: str(tab) for tab in Outcome for place in np.flatnonzero(became.of(tab)).tolist()}
    rows = []
    for place in np.concatenate(largest(gain, most)).tolist():
        number = int(frame["item_no"].iloc[place])
        texts = (("query", frame["query"].iloc[place]), ("match", frame["mate"].iloc[place]))
        said = [f"rank {rank[place]:,g}" for rank in ranks]
        sides = {"a": str(first.plan.variant), "b": str(second.plan.variant)}
        address = {"pair": str(number), "outcome": tabs[place], **sides}
        rows.append(Change(number, texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("pairs", "ranks the match higher", won, lost, int(both.sum()) - won - lost, tuple(rows))
