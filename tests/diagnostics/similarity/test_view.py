"""What the page Similarity computes of stored rows: intervals and orders, residuals, bands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from blindspot.diagnostics.similarity import pairs, view
from blindspot.diagnostics.similarity.bands import BANDS, QUANTILES, draw, in_bands
from blindspot.diagnostics.similarity.pairs import (
    DISAGREEMENT,
    PAIR,
    Fit,
    Order,
    ScoredTable,
    described,
    fitted,
    ordered,
)
from blindspot.diagnostics.similarity.view import ALL, MEAN
from blindspot.numerics.statistics.correlations import KINDS, correlations, influences
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import Dependence, correlation
from blindspot.types import Float64

ENDS = np.arange(4), 4 + np.arange(4)


def table_of(gold: list[float], *similarities: list[float], sets: list[str] | None = None) -> ScoredTable:
    n = len(gold)
    frame = pd.DataFrame(
        {
            "item_no": np.arange(n) * 2,  # numbers in the dataset need not be rows
            "set_name": sets or ["only"] * n,
            "gold": gold,
            "first": [f"a{i}" for i in range(n)],
            "second": [f"b{i}" for i in range(n)],
        }
    )
    return ScoredTable(frame, {name: np.array(s) for name, s in zip(("x", "y"), similarities, strict=False)})


# --- intervals


def test_rows_are_all_pairs_the_mean_and_the_sets() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=50)
    predicted = gold + rng.normal(size=50)
    sets = ["one"] * 20 + ["two"] * 30
    ends = np.arange(50), 50 + np.arange(50)
    rows = view.rows_of(predicted, gold, sets, ends)
    assert [(row.of, row.pairs) for row in rows] == [(ALL, 50), (MEAN, 50), ("one", 20), ("two", 30)]
    whole, mean, one, two = rows
    for kind in KINDS:
        assert whole.estimates[kind].value == getattr(correlations(predicted, gold), kind)
        known = Dependence.of(*ends)
        assert whole.estimates[kind] == correlation(
            whole.estimates[kind].value, influences(predicted, gold).of(kind), known
        )
        expected = (20 * one.estimates[kind].value + 30 * two.estimates[kind].value) / 50
        assert mean.estimates[kind].value == pytest.approx(expected)
        inside = mean.estimates[kind].interval
        assert inside is not None
        assert inside.low < expected < inside.high
        moved = [influences(predicted[part], gold[part]).of(kind) for part in (slice(20), slice(20, None))]
        assert mean.estimates[kind] == correlation(mean.estimates[kind].value, np.concatenate(moved), known)
    assert [row.of for row in view.rows_of(predicted, gold, ["only"] * 50, ends)] == [ALL]


def test_pairs_that_all_share_a_word_have_no_interval() -> None:
    rng = np.random.default_rng(0)
    (row,) = view.rows_of(*rng.normal(size=(2, 50)), ["only"] * 50, (np.zeros(50, np.int64), 1 + np.arange(50)))
    assert set(row.estimates) == set(KINDS)
    for estimate in row.estimates.values():
        assert estimate.interval is None
        assert "share one query" in estimate.refusal


def test_an_undefined_set_has_no_estimates_and_leaves_no_mean() -> None:
    rows = view.rows_of(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 5, 5]), ["one", "one", "flat", "flat"], ENDS)
    assert [list(row.estimates) for row in rows] == [list(KINDS), [], list(KINDS), []]


def test_disagreements_between_the_correlations() -> None:
    gold = [1.0, 2, 3, 4, 5, 6]
    curved = [1.0, 2, 4, 8, 16, 300]  # in perfect order, far from a line
    straight = [1.0, 2, 3, 4, 6, 5]  # nearly a line, one pair turned round
    table = table_of(gold, curved, straight)
    (found,) = view.disagreements(table)
    assert {one.of_many for one in found.differences.values()} == {3}  # correlations of two runs
    assert (found.first, found.second) == ("x", "y")
    assert found.differences["pearson"].value == pytest.approx(
        stats.pearsonr(curved, gold)[0] - stats.pearsonr(straight, gold)[0]
    )
    assert found.differences["pearson"].value < 0 < found.differences["spearman"].value
    assert found.differences["kendall"].value == pytest.approx(1 - 13 / 15)
    assert view.disagreements(table_of(gold, gold, straight)) == ()


def test_a_disagreement_is_beyond_chance_where_both_sides_are_sure() -> None:
    def one(**ends: tuple[float, float]) -> bool:
        differences = {kind: Estimate(sum(e) / 2, Interval(*e), "", Unit.PAIRS, 9, 9.0) for kind, e in ends.items()}
        return view.Disagreement("x", "y", differences).beyond_chance

    assert one(pearson=(-0.3, -0.1), spearman=(0.1, 0.2), kendall=(-0.1, 0.1))
    assert not one(pearson=(-0.3, 0.1), spearman=(0.1, 0.2), kendall=(0.1, 0.2))
    assert not one(pearson=(0.1, 0.2), spearman=(0.1, 0.2), kendall=(-0.3, 0.0))


def test_a_view_has_models_words_and_the_order() -> None:
    table = table_of([1.0, 2, 3, 4, 5, 6], [1.0, 2, 4, 8, 16, 300], [6.0, 1, 3, 2, 5, 4], sets=["x"] * 3 + ["y"] * 3)
    found = view.scores_view(table)
    assert {run_id: [row.of for row in rows] for run_id, rows in found.runs.items()} == {
        run_id: [ALL, MEAN, "x", "y"] for run_id in ("x", "y")
    }
    assert found.runs["x"] == view.rows_of(table.similarity["x"], table.gold, ["x"] * 3 + ["y"] * 3, table.ends)
    run_ids, values, places = found.order()
    assert run_ids == ["x", "y"]
    assert values[:, 1].tolist() == [found.runs[run_id][0].estimates["spearman"].value for run_id in run_ids]
    assert places.tolist() == [[1, 1, 1], [2, 2, 2]]
    ends = found.runs["y"][0].estimates["spearman"].interval
    assert ("y" in found.near_zero()) == (ends is not None and ends.low <= 0 <= ends.high)
    assert ("x" in found.near_zero()) is False


def test_scores_are_reversed_where_all_models_and_the_words_are_below_0() -> None:
    rng = np.random.default_rng(5)
    shared = rng.integers(0, 6, 60)  # words of the five of a pair
    follows, does_not = shared + rng.normal(size=60), rng.normal(size=60)
    firsts = [f"a{i} b{i} c{i} d{i} e{i}" for i in range(60)]

    def sharing(counts: Sequence[int]) -> list[str]:
        others = [f"v{i} w{i} x{i} y{i} z{i}" for i in range(60)]
        both = zip(firsts, others, counts, strict=True)
        return [" ".join([*first.split()[:n], *other.split()[n:]]) for first, other, n in both]

    def reversed_by(
        *models: Float64, sign: float = -1, counts: Sequence[int] = shared.tolist(), dataset: str = "file:mine.csv"
    ) -> bool:
        table = table_of((sign * shared).tolist(), *(model.tolist() for model in models))
        table.frame["first"], table.frame["second"] = firsts, sharing(counts)
        return view.are_reversed(dataset, table)

    assert reversed_by(follows)
    assert reversed_by(follows, follows**3)
    assert not reversed_by(follows, sign=1)
    assert not reversed_by(follows, does_not), "its interval contains 0"
    assert not reversed_by(follows, counts=rng.permutation(shared).tolist()), "words say nothing"
    assert reversed_by(follows, counts=[0] * 60), "there are no shared words"
    assert not reversed_by(follows, np.zeros(60)), "undefined"
    assert not reversed_by(follows, dataset="demo-scored"), "known which way it runs"
    assert view.contradiction(1).replace("the model", "every model") == view.contradiction(2)


# --- residuals


def slow_monotone(x: Float64, y: Float64) -> Float64:
    """The isotonic fit by its minimax formula, equal x pooled: ``max over i<=k of min over j>=k of mean(y[i..j])``."""
    distinct = np.unique(x)
    groups = [y[x == value] for value in distinct]
    fit = {}
    for k, value in enumerate(distinct):
        fit[value] = max(
            min(float(np.concatenate(groups[i : j + 1]).mean()) for j in range(k, len(groups))) for i in range(k + 1)
        )
    return np.array([fit[value] for value in x])


def test_the_fits_against_slow_ones() -> None:
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=40), 1)
    y = np.round(x + rng.normal(size=40), 1)
    np.testing.assert_allclose(fitted(x, y, Fit.MONOTONE), slow_monotone(x, y), atol=1e-9)
    line = stats.linregress(x, y)
    np.testing.assert_allclose(fitted(x, y, Fit.LINE), line.intercept + line.slope * x, atol=1e-9)
    flat = np.ones(40)
    for fit in Fit:
        np.testing.assert_allclose(fitted(flat, y, fit), y.mean())


def test_residuals_and_orders_by_hand() -> None:
    # On the line score = 5 similarity but for the third pair, which moves the line; with the monotone fit the last two
    # pairs of A are pooled, since the higher similarity has the lower score.
    table = table_of([0.0, 2, 5, 1], [0.0, 0.4, 0.6, 0.9], [0.0, 0.2, 0.9, 0.1])
    rows = described(table, {"A": "x", "B": "y"}, Fit.MONOTONE)
    assert rows["fitted in A"].tolist() == pytest.approx([0, 2, 3, 3])
    assert rows["residual in A"].tolist() == pytest.approx([0, 0, -2, 2])
    assert rows["fitted in B"].tolist() == pytest.approx([0, 2, 5, 1])
    assert rows[DISAGREEMENT].tolist() == pytest.approx([0, 0, -2, 2])
    assert rows[PAIR].tolist() == [0, 2, 4, 6]
    orders = {order: ordered(rows, order)[PAIR].tolist() for order in Order}
    assert orders[Order.WORST] == [4, 6, 0, 2]
    assert orders[Order.TOO_ALIKE] == [6, 0, 2, 4]
    assert orders[Order.TOO_DIFFERENT] == [4, 0, 2, 6]
    assert orders[Order.DISAGREE] == [4, 6, 0, 2]
    alone = described(table, {"A": "x"}, Fit.LINE)
    assert DISAGREEMENT not in alone
    assert alone["residual in A"].sum() == pytest.approx(0)


# --- bands


def test_bands_are_drawn_once_for_all_and_hold_their_ends() -> None:
    gold = np.array([0, 1, 2, 2.5, 3, 4, 5] * 40, dtype=np.float64)
    drawn = draw(gold, per_band=100)
    assert [d.label for d in drawn] == ["[5,3]", "[4,2]", "[3,1]", "[2,0]"]
    assert [d.available for d in drawn] == [120, 160, 160, 120]
    for one, band in zip(drawn, BANDS, strict=True):
        inside = gold[one.rows]
        assert len(one.rows) == len(set(one.rows.tolist())) == 100
        assert (inside.min(), inside.max()) == band
    assert all((a.rows == b.rows).all() for a, b in zip(drawn, draw(gold, per_band=100), strict=True))
    assert [len(d.rows) for d in draw(gold)] == [120, 160, 160, 120], "all of a band that has fewer"


def test_a_band_has_its_own_correlations_and_quantiles() -> None:
    rng = np.random.default_rng(9)
    gold = rng.uniform(0, 5, 300)
    similarity = gold + rng.normal(size=300)
    drawn = draw(gold, per_band=50)
    ends = np.arange(300), 300 + np.arange(300)
    for one, found in zip(drawn, in_bands(similarity, gold, ends, drawn), strict=True):
        x, y = similarity[one.rows], gold[one.rows]
        assert {kind: e.value for kind, e in found.estimates.items()} == {
            k: getattr(correlations(x, y), k) for k in KINDS
        }
        assert list(found.quantiles.values()) == pytest.approx(np.quantile(x, list(QUANTILES.values())))
        known = Dependence.of(*(side[one.rows] for side in ends))
        assert found.estimates["spearman"] == correlation(correlations(x, y).spearman, influences(x, y).spearman, known)
    gold, ends = np.array([4.0, 4.5, 0.5]), (np.arange(3), 3 + np.arange(3))
    assert [b.label for b in in_bands(np.array([0.1, 0.2, 0.3]), gold, ends, draw(gold))] == ["[5,3]"]


def test_a_pair_is_misjudged_beyond_a_fifth_of_the_scores_range() -> None:
    scores = [0.0, 5.0, 2.0, 4.0]
    residuals = {"A": [1.0, -1.01, 0.2, 3.0], "B": [-1.5, 0.5, 0.0, -2.0]}
    rows = pd.DataFrame({pairs.SCORE: scores} | {f"residual in {side}": values for side, values in residuals.items()})
    found = pairs.became(rows)
    right = {side: [abs(value) <= 0.2 * (max(scores) - min(scores)) for value in residuals[side]] for side in "AB"}
    assert right == {"A": [True, False, True, False], "B": [False, True, True, False]}
    assert {str(outcome): found.of(outcome).tolist().index(True) for outcome in found.counts} == {
        "won-by-a": 0,
        "won-by-b": 1,
        "both-wrong": 3,
        "both-right": 2,
    }
