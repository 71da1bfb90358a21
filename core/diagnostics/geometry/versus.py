"""A against B: the paired difference of alignment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.geometry.definition import ENTRY
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import Difference
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``: of the mean squared distance of matches."""
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    ends = repository.items(ENTRY, ids[:1], texts=True).set_index("item_no")
    rows = repository.items(ENTRY, ids, texts=False)
    wide = rows.pivot(index="item_no", columns="run_id", values="squared_distance").dropna()
    ends = ends.loc[wide.index]
    known = Dependence.of(*(ends[name].to_numpy(dtype=np.int64) for name in ("query_no", "mate_no")))
    values = {run_id: wide[run_id].to_numpy(dtype=np.float64) for run_id in ids}
    both = [(values[a.run_id], values[b.run_id]) for a, b in pairs]
    p = statistics.p_values(np.column_stack([one - other for one, other in both]), known, np.inf)
    flips = known.unit is not Unit.TEXTS
    test = "sign flips of groups of pairs that share no text" if flips else "t of the dyadic-robust standard error"
    return [
        Difference.of(
            ENTRY,
            ENTRY.headline,
            "Alignment",
            statistics.difference(one, np.zeros(len(one)), known, most=4.0),
            statistics.difference(other, np.zeros(len(one)), known, most=4.0),
            statistics.difference(one, other, known, most=4.0),
            float(p[i]),
            test,
            wins=int(np.count_nonzero(one < other)),
            losses=int(np.count_nonzero(one > other)),
        )
        for i, (one, other) in enumerate(both)
    ]
