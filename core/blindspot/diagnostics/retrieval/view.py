"""Views of the queries that some runs evaluated: scores, kinds of query and A against B; for the page and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from blindspot.diagnostics.retrieval import outcomes
from blindspot.diagnostics.retrieval.definition import ENTRY, TITLES
from blindspot.diagnostics.retrieval.item_scores import paired, side_scores
from blindspot.diagnostics.retrieval.kinds import scores_by_kind
from blindspot.diagnostics.retrieval.outcomes import Lost, QueryTable, Side
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.compare import PairedTest, Verdict
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.groups import Gains, Grouping, gains
from blindspot.numerics.statistics.outcomes import Outcomes
from blindspot.numerics.statistics.written import ci, number, p_in_words, percent

HEAD = ENTRY.headline
QUERY, TEXT, DIFFERENCE, RELEVANT = "query", "text", "A − B", "relevant"


@dataclass(frozen=True)
class RankingScores:
    """A ranking's scores over all queries.

    Attributes:
        estimates: by score, with 95% intervals.
        unjudged: share of its top tens that nobody judged.
        against_bm25: test of the run's nDCG@10 less that of keyword search; None for keyword search itself.
    """

    estimates: Mapping[str, Estimate]
    unjudged: float
    against_bm25: PairedTest | None


def ranking_scores(table: QueryTable, side: Side) -> RankingScores:
    estimates = {name: statistics.share(table.scores(side, name), table.known) for name in TITLES}
    against = None if side.is_bm25 else paired(table, side, Side(side.run_id, is_bm25=True))
    return RankingScores(estimates, table.unjudged(side).share, against)


def bars_in_words(table: QueryTable) -> str:
    """What the intervals are from, or why there are none."""
    dependence = table.known
    return (
        f"No intervals: {dependence.refusal}." if dependence.refusal else f"Bars: 95% CI from {dependence.independent}."
    )


def unjudged_in_words(models: Sequence[RankingScores], bm25: RankingScores, *, is_condensed: bool) -> str:
    """What unjudged documents count as, and how many there are in the top tens."""
    low, high = (percent(end(model.unjudged for model in models)) for end in (min, max))
    return (
        ("**Condensed lists:** unjudged documents are removed before scoring. " if is_condensed else "")
        + f"Nobody judged {high if low == high else f'{low} to {high}'} of the models' top tens and "
        f"{percent(bm25.unjudged)} of BM25's{'.' if is_condensed else '; unjudged documents count as irrelevant.'}"
    )


def kinds_view(table: QueryTable, groups: Grouping) -> dict[Side, list[dict[str, object]]]:
    """Scores of each run, and of keyword search, on each kind of query: a record per kind (``scores_by_kind``)."""
    sides = [*map(Side, table.run_ids), Side(table.run_ids[0], is_bm25=True)]
    return {side: scores_by_kind(groups, table, side) for side in sides}


def gains_view(table: QueryTable, groupings: Mapping[str, Grouping], a: Side, b: Side) -> Gains:
    """The kinds of query, from several named groupings, on which ranking B gains and loses most against A."""
    return gains(groupings, table.numbers, *(side_scores(table, side)[HEAD] for side in (a, b)))


# --- A against B


@dataclass(frozen=True, eq=False)
class AgainstView:
    """What changes if A is replaced by B.

    Attributes:
        rows: a row per query: number, id, text, relevant documents, nDCG@10 of A and B and their difference, and how
            many documents of each top ten nobody judged.
        outcomes: who wins each query.
        test: B's mean nDCG@10 less A's.
    """

    rows: pd.DataFrame
    outcomes: Outcomes
    lost: Lost
    test: PairedTest

    @property
    def tested(self) -> str:
        """The difference of the means, and the smallest difference that these queries would show."""
        test = self.test
        if test.p_corrected is None:
            return f"Not tested: {test.refusal}."
        verdict = test.verdict if test.verdict is Verdict.ALIKE else f"B is significantly {test.verdict}"
        text = (
            f"{TITLES[HEAD]} changes by {number(test.value, '+.3f')}{ci(test, '+.3f')} on average: {verdict} "
            f"(corrected {p_in_words(test.p_corrected, test.p)})."
        )
        if test.detectable is None:
            return f"{text} Too few queries differ for this test to find any difference."
        return f"{text} This test finds a difference of {number(test.detectable, '.3f')} or more with 80% probability."


def against_view(table: QueryTable, a: Side, b: Side) -> AgainstView:
    rows = pd.DataFrame({QUERY: table.numbers, TEXT: table.about["query"], RELEVANT: table.about["relevant"]})
    rows["A"], rows["B"] = table.scores(a, HEAD), table.scores(b, HEAD)
    rows[DIFFERENCE] = rows["A"] - rows["B"]
    for letter, side in (("A", a), ("B", b)):
        rows[f"unjudged {letter}"] = table.unjudged(side).counts
    rows["id"] = table.about["query_id"]
    return AgainstView(rows, outcomes.became(table, a, b), outcomes.lost(table, a, b), paired(table, b, a))
