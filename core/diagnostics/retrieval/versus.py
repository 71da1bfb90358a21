"""A against B: the paired difference of nDCG@10, and the queries that one of two runs answers better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.diagnostics.retrieval.definition import ENTRY, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, became, query_table
from blindspot.numerics.ranking import graded
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.outcomes import Outcome
from blindspot.runs.comparison import Change, Changes, Difference, ItemScores, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

TEST = "sign flips of groups of near-duplicate queries"


@dataclass(frozen=True)
class Paired:
    """A's mean nDCG@10 less B's over the same queries.

    Attributes:
        estimate: with its 95% interval.
        p: of the test, two-sided; NaN without one.
        smallest: the smallest true difference that this test detects with 80% probability at 5%; NaN if there is none.
    """

    estimate: Estimate
    p: float
    smallest: float


def paired(table: QueryTable, a: Side, b: Side) -> Paired:
    """Two rankings compared query by query; groups of near-duplicate queries are independent."""
    one, other = (table.scores(side, ENTRY.headline) for side in (a, b))
    gain = (one - other)[:, np.newaxis]
    smallest = statistics.smallest_detectable(gain, table.known, 1, ALPHA)
    p = statistics.p_values(gain, table.known)
    return Paired(statistics.difference(one, other, table.known), float(p[0]), float(smallest[0]))


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``."""
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    table = query_table(ENTRY, ids, repository)
    metric, known = ENTRY.headline, table.known
    values = {run_id: table.scores(Side(run_id), metric) for run_id in ids}
    both = [(values[a.run_id], values[b.run_id]) for a, b in pairs]
    p = statistics.p_values(np.column_stack([one - other for one, other in both]), known)
    return [
        Difference.of(
            ENTRY,
            metric,
            f"Mean {TITLES[metric]}",
            statistics.share(one, known),
            statistics.share(other, known),
            statistics.difference(one, other, known),
            float(p[i]),
            TEST,
            wins=int(np.count_nonzero(one > other)),
            losses=int(np.count_nonzero(one < other)),
            address={"retrieval_view": "queries"} | sides_in_address(first, second),
        )
        for i, ((first, second), (one, other)) in enumerate(zip(pairs, both, strict=True))
    ]


def sides_in_address(first: RunRecord, second: RunRecord) -> dict[str, str]:
    return {"retrieval_a": str(first.plan.variant), "retrieval_b": str(second.plan.variant)}


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``. An item is a query, its score nDCG@10."""
    table = query_table(ENTRY, [first.run_id, second.run_id], repository)
    a, b = Side(first.run_id), Side(second.run_id)
    scores = [table.scores(side, ENTRY.headline) for side in (a, b)]
    gain = scores[0] - scores[1]
    outcomes = became(table, a, b)
    tabs = {place: str(tab) for tab in Outcome for place in np.flatnonzero(outcomes.of(tab)).tolist()}
    rows = []
    for place in np.concatenate(largest(gain, most)).tolist():
        number = int(table.numbers[place])
        texts = (("query", str(table.about["query"].iloc[place])),)
        said = [f"{TITLES[ENTRY.headline]} {score[place]:.2f}, {first_found(table, side, place)}" for side, score in
                zip((a, b), scores, strict=True)]  # fmt: skip
        address = {"retrieval_view": "queries", "query": str(number), "outcome": tabs[place]}
        address |= sides_in_address(first, second)
        rows.append(Change(number, texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("queries", "ranks relevant documents higher", won, lost, len(gain) - won - lost, tuple(rows))


def first_found(table: QueryTable, side: Side, row: int) -> str:
    """Place of the first relevant document of a run's query, in words."""
    relevant = [one for one in table.judged(side.run_id, row) if one.grade >= 1]
    if ranks := [one.rank for one in relevant if one.rank]:
        return f"first relevant document at rank {min(ranks):,}"
    return "no relevant document retrieved" if relevant else "no relevant document"


def item_scores(run: RunRecord, repository: Repository) -> dict[str, ItemScores]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a query."""
    table = query_table(ENTRY, [run.run_id], repository)
    texts = table.about["query"].tolist()
    of = {name: table.scores(Side(run.run_id), name) for name in graded.NAMES}
    return {
        name: ItemScores(float(values.mean()), values, table.numbers, texts, table.known) for name, values in of.items()
    }
