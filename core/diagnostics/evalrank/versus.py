"""A against B: the paired difference of MRR, and the pairs whose match one of two runs ranks higher."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import WITH_INTERVAL, is_rank, one_sample, pair_values
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.outcomes import Outcome, Outcomes
from blindspot.runs.comparison import Change, Changes, Difference, ItemScores, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``; raw ranks, as the headline."""
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    metric = ENTRY.headline
    sample = one_sample(pair_table(ENTRY, ids, repository), ids, [metric])
    known = sample.dependence
    values = {run_id: (sample.values[run_id, metric], sample.values[run_id, "mean_rank"]) for run_id in ids}
    both = [(values[a.run_id], values[b.run_id]) for a, b in pairs]
    p = statistics.p_values(np.column_stack([one - other for (one, _), (other, _) in both]), known)
    scores = {run_id: statistics.share(one, known) for run_id, (one, _) in values.items()}
    flips = known.unit is not Unit.TEXTS
    test = "sign flips of groups of pairs that share no text" if flips else "t of the dyadic-robust standard error"
    return [
        Difference.of(
            ENTRY,
            metric,
            "MRR",
            scores[first.run_id],
            scores[second.run_id],
            statistics.difference(one, other, known),
            float(p[i]),
            test,
            wins=int(np.count_nonzero(rank < other_rank)),
            losses=int(np.count_nonzero(rank > other_rank)),
            address={"view": "pairs", "a": str(first.plan.variant), "b": str(second.plan.variant)},
        )
        for i, ((first, second), ((one, rank), (other, other_rank))) in enumerate(zip(pairs, both, strict=True))
    ]


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


def item_scores(run: RunRecord, repository: Repository) -> dict[str, ItemScores]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a pair that the run ranked."""
    table = pair_table(ENTRY, [run.run_id], repository)
    sample = one_sample(table, [run.run_id], [ENTRY.headline])
    ranked = ~np.isnan(table.ranks(run.run_id, filtered=False))
    frame = table.frame[ranked]
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    texts = [f"{query} → {mate}" for query, mate in zip(frame["query"], frame["mate"], strict=True)]
    out = {}
    for name in WITH_INTERVAL:
        if not is_rank(name):
            values = pair_values(table, run.run_id, name)[ranked]
            out[name] = ItemScores(float(values.mean()), values, numbers, texts, sample.dependence)
    return out
