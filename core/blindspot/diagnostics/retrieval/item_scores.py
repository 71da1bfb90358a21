"""Shares of each query in the scores of retrieval, and the queries that one of two runs answers better."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.diagnostics.retrieval.definition import ENTRY, TITLES
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.numerics.ranking import graded
from blindspot.numerics.statistics.compare import Item, ItemScores, PairedTest, compare, decide, with_detectable
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

UNITS = "groups of near-duplicate queries"


def paired(table: QueryTable, a: Side, b: Side) -> PairedTest:
    """The test of A's mean nDCG@10 less B's over the same queries; A or B may be keyword search. Corrected as usual."""
    first_scores, other = (side_scores(table, side) for side in (a, b))
    names = sorted(first_scores, key=lambda name: name != ENTRY.headline)
    of = [(first_scores[name], other[name]) for name in names]
    return with_detectable(decide(compare(of)), of)[0]


def first_found(table: QueryTable, side: Side, row: int) -> str:
    """Place of the first relevant document of a run's query, in words."""
    relevant = [judgment for judgment in table.judged(side.run_id, row) if judgment.grade >= 1]
    if ranks := [judgment.rank for judgment in relevant if judgment.rank]:
        return f"first relevant document at rank {min(ranks):,}"
    return "no relevant document retrieved" if relevant else "no relevant document"


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a query."""
    table = query_table(ENTRY, [run.run_id for run in runs], repository)
    return [side_scores(table, Side(run.run_id)) for run in runs]


def side_scores(table: QueryTable, side: Side) -> dict[str, ItemScores]:
    """A ranking's scores by name; an item is a query of the table."""

    def score(name: str) -> ItemScores:
        values, texts = table.scores(side, name), table.about["query"].tolist
        return scores(
            ENTRY,
            name,
            f"Mean {TITLES[name]}",
            values,
            table.numbers,
            table.known,
            texts,
            units=UNITS,
            describe=lambda number: Item(
                (("query", str(table.about["query"].iloc[number])),),
                f"{TITLES[name]} {values[number]:.2f}, {first_found(table, side, number)}",
            ),
        )

    return {name: score(name) for name in graded.NAMES}
