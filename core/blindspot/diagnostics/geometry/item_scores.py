"""Shares of each pair in the alignment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.geometry.definition import ENTRY
from blindspot.numerics.statistics.compare import ItemScores, Unbounded
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a pair that all of the runs have."""
    ids = [run.run_id for run in runs]
    ends = repository.items(ENTRY, ids[:1], texts=True).set_index("item_no")
    rows = repository.items(ENTRY, ids, texts=False)
    wide = rows.pivot(index="item_no", columns="run_id", values="squared_distance").dropna()
    ends = ends.loc[wide.index]
    dependence = Dependence.of_texts(ends["query"], ends["match"])
    units = "groups of pairs that share no text" if dependence.unit is Unit.COMPONENTS else ""
    numbers = wide.index.to_numpy(dtype=np.int64)

    def texts() -> list[str]:
        return [f"{query} → {match}" for query, match in zip(ends["query"], ends["match"], strict=True)]

    def score(run_id: str) -> ItemScores:
        values = wide[run_id].to_numpy(dtype=np.float64)
        of = Unbounded(4.0)
        return scores(ENTRY, ENTRY.headline, "Alignment", values, numbers, dependence, texts, statistic=of, units=units)

    return [{ENTRY.headline: score(run_id)} for run_id in ids]
