"""Correlations of evaluators with tasks: by hand, by scipy, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy import stats

from blindspot.studies.evidence.correlation import TwoCorrelations, compare, correlations, in_words, without_each_family
from blindspot.studies.evidence.scores import Measure, ScoreTable
from blindspot.types import Float64
from blindspot.variants import Variant

NAN = float("nan")
FIRST = Measure("evalrank", "demo-pairs", "mrr", "EvalRank MRR", 1, "sentence")
TURNED = Measure("geometry", "demo-pairs", "align", "alignment", -1, "sentence")
CR = Measure("transfer", "cr", "accuracy", "accuracy", 1, "sentence")
TREC = Measure("transfer", "trec", "accuracy", "accuracy", 1, "sentence")


def table_of(columns: dict[Measure, list[float] | Float64], families: list[str]) -> ScoreTable:
    variants = tuple(Variant(f"encoder-{i}", "none") for i in range(len(families)))
    return ScoreTable(variants, tuple(families), tuple(columns), np.array([*columns.values()], dtype=np.float64).T)


def many(families: int, per_family: int = 2, seed: int = 0) -> ScoreTable:
    """The first evaluator is the task but for noise, the turned one is noise."""
    rng = np.random.default_rng(seed)
    n = families * per_family
    task = rng.random(n)
    columns = {FIRST: task + rng.normal(0, 0.05, n), TURNED: rng.random(n), CR: task, TREC: 1 - task}
    return table_of(columns, [f"family {i // per_family}" for i in range(n)])


@effort(max_examples=30, deadline=None)
@given(st.data())
def test_equals_scipy_over_the_variants_that_have_both(data: st.DataObject) -> None:
    n = data.draw(st.sampled_from([12, 9, 6, 3, 0]))  # large ones first: few examples are to reach both branches
    scores = st.lists(st.one_of(st.just(NAN), st.integers(0, 5)), min_size=n, max_size=n)
    x, y = (np.array(data.draw(scores), dtype=np.float64) for _ in range(2))
    families = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    (cell,) = correlations(table_of({TURNED: x, CR: y}, families))
    both = [(a, b, f) for a, b, f in zip(x, y, families, strict=True) if not (np.isnan(a) or np.isnan(b))]
    assert cell.n == len(both)
    assert cell.families == len({f for _, _, f in both})
    if len(both) < 4 or len({a for a, _, _ in both}) == 1 or len({b for _, b, _ in both}) == 1:
        assert cell.rho is None
        assert cell.why
    else:
        expected = stats.spearmanr([-a for a, _, _ in both], [b for _, b, _ in both]).statistic
        assert cell.rho == pytest.approx(expected, abs=1e-12)


def test_why_there_is_none() -> None:
    few = table_of({FIRST: [1, 2, 3, NAN], CR: [1, 2, 3, 4]}, list("abcd"))
    assert "only 3 models" in correlations(few)[0].why
    alike = table_of({FIRST: [1, 2, 3, 4], TURNED: [5, 5, 5, 5], CR: [1, 1, 1, 1 + 1e-9]}, list("abcd"))
    assert "task gives all models the same" in correlations(alike)[0].why
    assert "benchmark gives all models the same" in correlations(alike)[1].why


def test_intervals_from_ten_families_on() -> None:
    assert all(cell.interval is None for cell in correlations(many(9)))
    cells = correlations(many(10, seed=1))
    assert [(c.evaluator, c.task) for c in cells] == [(FIRST, CR), (FIRST, TREC), (TURNED, CR), (TURNED, TREC)]
    for cell in cells:
        assert cell.interval is not None
        assert cell.rho is not None
        assert cell.interval.low <= cell.rho <= cell.interval.high
        assert cell.why == ""
    strong, opposed, noise, _ = (c.interval for c in cells)
    assert strong is not None
    assert opposed is not None
    assert noise is not None
    assert strong.low > 0.5
    assert opposed.high < -0.5
    assert noise.low < 0 < noise.high


def test_cells_that_other_variants_have_stand_on_their_own() -> None:
    """A cell does not depend on what stands beside it, whatever is missing there."""
    table = many(12)
    values = table.values.copy()
    values[:2, 1] = NAN  # the first family has no second evaluator
    values[5, 3] = NAN
    table = ScoreTable(table.variants, table.families, table.measures, values)
    for cell in correlations(table):
        (alone,) = correlations(table.columns([cell.evaluator, cell.task]))
        assert alone == cell


def test_one_family_can_make_a_correlation() -> None:
    """Without the family that is worse at both, what is left goes the other way."""
    table = table_of({FIRST: [0, 0.1, 5, 6, 7, 8], CR: [0, 0.1, 9, 8, 7, 6]}, list("aabbcc"))
    found = without_each_family(table, FIRST, CR)
    assert found[0].family == "a"
    assert found[0].rho == pytest.approx(-1.0)
    assert found[0].variants == 2
    assert {w.family for w in found} == {"a", "b", "c"}
    small = table_of({FIRST: [1, 2, 3, 4], CR: [1, 2, 3, 4]}, list("aabb"))
    assert [w.rho for w in without_each_family(small, FIRST, CR)] == [None, None]


def test_two_evaluators_over_the_same_variants() -> None:
    """Both correlations are over the variants that have all three scores."""
    first, second, task = [1, 2, 3, 4, 9, NAN], [1, 3, 2, 4, NAN, 1], [1, 2, 3, 4, 0, 9]
    table = table_of({FIRST: first, TURNED: second, CR: task}, list("abcdef"))
    found = compare(table, FIRST, TURNED, CR)
    assert (found.n, found.families) == (4, 4)
    assert found.first_rho == pytest.approx(1.0)
    assert found.second_rho == pytest.approx(-0.8)
    assert found.difference == pytest.approx(1.8)
    assert found.interval is None
    assert "these models only" in in_words(found)
    assert "4 families" in in_words(found)


def test_the_difference_is_paired() -> None:
    """An evaluator that ranks as another one differs from it in no draw, though both vary from draw to draw."""
    table = many(10)
    twin = Measure("evalrank", "demo-pairs", "hits@1", "EvalRank Hits@1", 1, "sentence")
    values = np.column_stack([table.values, 2 * table.values[:, 0] + 1])
    table = ScoreTable(table.variants, table.families, (*table.measures, twin), values)
    same = compare(table, FIRST, twin, CR)
    assert (same.difference, same.interval) == (0.0, None), "an interval from 0 to 0 would promise too much"
    assert same.why
    other = compare(table, FIRST, TURNED, CR)
    assert other.interval is not None
    assert other.interval.low > 0
    assert "EvalRank MRR on Demo pairs predicts CR significantly better" in in_words(other)
    back = compare(table, TURNED, FIRST, CR)
    assert back.interval is not None
    assert back.interval.low == pytest.approx(-other.interval.high)
    assert "EvalRank MRR on Demo pairs predicts CR significantly better" in in_words(back)


def test_what_cannot_be_compared_is_said() -> None:
    table = table_of({FIRST: [1, 2, 3], TURNED: [1, 2, 3], CR: [1, 2, 3]}, list("abc"))
    found = compare(table, FIRST, TURNED, CR)
    assert found.difference is None
    assert "cannot be compared on CR: only 3 models" in in_words(found)
    assert isinstance(found, TwoCorrelations)
