"""Groups of rows: bins by hand, scores and gains against loops."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.numerics.statistics.compare import SHARE, ItemScores
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.groups import SHARES, Group, Grouping, binned, gains, scores, up_to, whole
from blindspot.numerics.statistics.intervals import holm
from blindspot.numerics.statistics.pairs import Dependence, p_values, share


def labels(values: list[float], bins: object) -> list[str | None]:
    groups = binned("x", np.array(values), bins)
    return [next((g.label for g in groups if g.inside[i]), None) for i in range(len(values))]


def test_ends_of_bins_by_hand() -> None:
    assert labels([1, 3, 3.5, 5, 6], up_to(3, 5)) == ["up to 3", "up to 3", "over 3 to 5", "over 3 to 5", "over 5"]
    counts = [0, 1, 2, 5, 6, 1_000, 1_001, np.nan, -1]
    named = ["0", "1", "2 to 5", "2 to 5", "6 to 1,000", "6 to 1,000", "over 1,000", None, None]
    assert labels(counts, whole(0, 1, 5, 1_000)) == named
    assert labels([0, 0.1, 0.25, 0.75, 1, np.nan], SHARES) == [
        "none", "under 0.25", "0.25 to 0.5", "0.75 to 1", "all words", None
    ]  # fmt: skip


def test_scores_and_gains_against_loops() -> None:
    rng = np.random.default_rng(0)
    m = 200
    of_row = rng.integers(0, 150, m)
    a = np.round(rng.uniform(0, 1, m), 2)
    b = np.clip(a + np.where(np.arange(m) < 60, 0.3, -0.01) + rng.normal(0, 0.05, m), 0, 1)
    a[7] = np.nan
    sets = {"first": (0, 60), "rest": (60, 190), "few": (190, 197)}
    inside = {name: (np.arange(m) >= low) & (np.arange(m) < high) for name, (low, high) in sets.items()}
    groups = Grouping({"x": "rows"}, False, tuple(Group("x", name, rows) for name, rows in inside.items()))
    found = scores(groups, {"s": a}, Dependence.of_groups(of_row, Unit.QUERIES), "rows")
    for row in found:
        rows = [i for i in range(m) if inside[str(row["label"])][i] and not np.isnan(a[i])]
        known = share(a[rows], Dependence.of_groups(of_row[rows], Unit.QUERIES))
        assert (row["rows"], row["s"]) == (len(rows), pytest.approx(sum(a[rows]) / len(rows)))
        if known.interval is None:
            assert np.isnan(row["s_low"])
        else:
            assert (row["s_low"], row["s_high"]) == (known.interval.low, known.interval.high)
    numbers, known = np.arange(m), Dependence.of_groups(of_row, Unit.QUERIES)
    one, other = (
        ItemScores("s", "S", 0.5, own, numbers, known, True, (0.0, 1.0), SHARE, lambda: [""] * m) for own in (a, b)
    )
    against = gains({"by": groups, "again": groups}, numbers, one.among(np.flatnonzero(~np.isnan(a))), other)
    assert [(one.by, one.group.label) for one in against.tested] == [
        ("by", "first"), ("by", "rest"), ("again", "first"), ("again", "rest")
    ]  # fmt: skip
    p = []
    for one in against.tested:
        rows = [i for i in range(m) if one.group.inside[i] and not np.isnan(a[i])]
        p.append(p_values((b - a)[rows][:, np.newaxis], Dependence.of_groups(of_row[rows], Unit.QUERIES))[0])
        assert one.test.value == pytest.approx(np.mean([b[i] - a[i] for i in rows]))
        assert one.rows == len(rows)
        assert one.test.of_many == 4, "the largest of all is shown"
    assert [one.test.p_corrected for one in against.tested] == pytest.approx(holm(np.array(p)))
    assert against.gain is not None
    assert against.gain.group.label == "first"


def test_groups_of_one_row_have_no_interval() -> None:
    groups = Grouping({"x": "rows"}, False, (Group("x", "one", np.array([True, False])),))
    (row,) = scores(groups, {"s": np.array([0.5, 1.0])}, Dependence.of_groups(np.arange(2), Unit.QUERIES), "rows")
    assert (row["rows"], row["s"]) == (1, 0.5)
    assert np.isnan(row["s_low"])
