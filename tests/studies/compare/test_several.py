"""Several variants: the matrix of wins, and the front of score against cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.compare.costs import Cost, CostKind
from blindspot.studies.compare.rows import Row
from blindspot.studies.compare.several import ByPair, front, points, scored, wins
from blindspot.variants import Variant
from tests.support.finding_runs import run_record

A, B, C = (Variant(name, "none") for name in "abc")


def row(a: Variant, b: Variant, values: tuple[float, float], p: float | None, diagnostic: str = "evalrank") -> Row:
    one = PairedTest(
        "x", "X", True, (0.0, 1.0), *values, 9, "pairs", "a test", p=p, refusal="" if p is not None else "none",
        a_interval=Interval(values[0] - 0.1, values[0] + 0.1), p_corrected=p,
    )  # fmt: skip
    return Row(run_record(diagnostic, str(a)), run_record(diagnostic, str(b)), one, p)


BY_PAIR: ByPair = {
    (A, B): (
        row(A, B, (0.9, 0.5), 0.01),
        row(A, B, (0.1, 0.2), 0.01, "transfer"),
        row(A, B, (0.3, 0.2), 0.01, "geometry"),
    ),
    (A, C): (row(A, C, (0.9, 0.7), 0.5), row(A, C, (0.1, 0.4), None, "transfer")),
    (B, C): (row(B, C, (0.5, 0.7), 0.001),),
}


def test_wins_are_counted_for_either_side() -> None:
    found = wins(BY_PAIR, (A, B, C))
    assert found.wins.tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]], "geometry describes, p = 0.5 is undecided"
    assert found.shared.tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    assert found.total.tolist() == [0, -1, 1]


def test_points_have_the_scores_costs_and_intervals() -> None:
    assert scored(BY_PAIR) == [("evalrank", "made-up"), ("transfer", "made-up")]
    costs = {A: Cost(100, 10), B: Cost(50, 20), C: Cost(100, None)}
    found = points(BY_PAIR, ("evalrank", "made-up"), costs, CostKind.PARAMETERS).points
    assert [(p.variant, p.score, p.cost, p.on_front) for p in found] == [(A, 0.9, 10.0, True), (B, 0.5, 20.0, False)]
    assert found[0].interval == Interval(0.8, 1.0)
    by_size = points(BY_PAIR, ("evalrank", "made-up"), costs, CostKind.DIMENSION).points
    assert [(p.variant, p.on_front) for p in by_size] == [(A, True), (B, True), (C, False)]
    unknown = dict.fromkeys((A, B, C), Cost(None, None))
    assert points(BY_PAIR, ("evalrank", "made-up"), unknown, CostKind.MEMORY).points == ()
    assert costs[A].megabytes_per_million == 400.0


def test_points_are_of_the_same_items() -> None:
    """A and B were compared on all texts, and each with C on fewer: a point of C would stand beside others' scores."""

    def on_fewer(one: Row) -> Row:
        of_two = (replace(run, plan=replace(run.plan, covered_digest="fewer")) for run in (one.a, one.b))
        return Row(*of_two, one.difference, one.p_of_all)

    by_pair: ByPair = {
        (A, B): BY_PAIR[A, B],
        (A, C): tuple(on_fewer(row(A, C, values, 0.5)) for values in [(0.95, 0.7)]),
    }
    found = points(by_pair, ("evalrank", "made-up"), dict.fromkeys((A, B, C), Cost(100, 10)), CostKind.DIMENSION)
    assert [(p.variant, p.score) for p in found.points] == [(A, 0.9), (B, 0.5)]
    assert found.elsewhere == (C,)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_the_front_is_what_no_other_one_beats(pairs: list[tuple[int, int]]) -> None:
    slow = [
        not any(o[0] >= p[0] and o[1] >= p[1] and o != p for o in pairs)
        for p in pairs
    ]  # fmt: skip
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    assert front(columns[:, 0], columns[:, 1]).tolist() == slow
