"""Shares of each pair in the scores of EvalRank, and the pairs whose match one of two runs ranks higher."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import (
    WITH_INTERVAL,
    family_of,
    is_median,
    is_rank,
    one_sample,
    pair_values,
)
from blindspot.numerics.statistics.compare import SHARE, ItemScores, MeanRank
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.outcomes import Outcome, Outcomes
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

LABELS = {score.name: ENTRY.overview.columns.get(score.name, score.name) for score in ENTRY.metrics}


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


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a pair that the runs ranked.

    Raw and filtered ranks are families of their own (``family_of``): a page shows one or the other.
    """
    table = pair_table(ENTRY, [run.run_id for run in runs], repository)
    known = one_sample(table, [run.run_id for run in runs], [ENTRY.headline]).dependence
    ranked = ~np.isnan(table.ranks(runs[0].run_id, filtered=False))
    frame = table.frame[ranked]
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    units = "groups of pairs that share no text" if known.unit is Unit.COMPONENTS else ""

    def texts() -> list[str]:
        return [f"{query} → {mate}" for query, mate in zip(frame["query"], frame["mate"], strict=True)]

    def score(run: RunRecord, name: str) -> ItemScores:
        statistic = MeanRank() if is_rank(name) else SHARE
        values = pair_values(table, run.run_id, name)[ranked]
        family = family_of(name)
        return scores(
            ENTRY, name, LABELS[name], values, numbers, known, texts, statistic=statistic, units=units, family=family
        )

    return [{name: score(run, name) for name in WITH_INTERVAL if not is_median(name)} for run in runs]
