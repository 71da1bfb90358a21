"""Shares of each query in the scores of retrieval, and the queries that one of two runs answers better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.retrieval.definition import ENTRY, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, became, query_table
from blindspot.numerics.ranking import graded
from blindspot.numerics.statistics.compare import ItemScores, PairedTest, compare, decide, with_detectable
from blindspot.numerics.statistics.outcomes import Outcome
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

UNITS = "groups of near-duplicate queries"
TEST = f"sign flips of {UNITS}"


def paired(table: QueryTable, a: Side, b: Side) -> PairedTest:
    """A's mean nDCG@10 less B's over the same queries, of runs or of keyword search; corrected as everywhere."""
    one, other = (_scores(table, side) for side in (a, b))
    names = sorted(one, key=lambda name: name != ENTRY.headline)
    of = [(one[name], other[name]) for name in names]
    return with_detectable(decide(compare(of)), of)[0]


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


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a query."""
    table = query_table(ENTRY, [run.run_id for run in runs], repository)
    return [_scores(table, Side(run.run_id)) for run in runs]


def _scores(table: QueryTable, side: Side) -> dict[str, ItemScores]:
    def score(name: str) -> ItemScores:
        values, texts = table.scores(side, name), table.about["query"].tolist
        return scores(ENTRY, name, f"Mean {TITLES[name]}", values, table.numbers, table.known, texts, units=UNITS)

    return {name: score(name) for name in graded.NAMES}
