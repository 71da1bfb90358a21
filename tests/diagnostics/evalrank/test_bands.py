"""Pairs by the frequency of query and mate, against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from core.diagnostics.evalrank.kinds import LABELS, UNKNOWN, by_bands


def band(zipf: float) -> str:
    if np.isnan(zipf):
        return UNKNOWN
    return next(label for label, end in zip(LABELS[1:], (3, 4, 5, np.inf), strict=True) if zipf < end)


def test_every_pair_is_in_one_band_of_each_side_and_in_one_cell() -> None:
    rng = np.random.default_rng(0)
    queries, mates = rng.uniform(1.5, 7, 80), rng.choice([0.0, 3.0, 4.0, 5.0, np.nextafter(5.0, 0)], 80)
    queries[:5] = np.nan
    bands = by_bands(queries, mates)
    for pair in range(80):
        inside = [(g.side, g.label) for g in bands.sides.groups if g.inside[pair]]
        assert inside == [("query", band(queries[pair])), ("mate", band(mates[pair]))]
        (cell,) = [i for i, g in enumerate(bands.cells.groups) if g.inside[pair]]
        query, mate = bands.places[cell]
        assert (LABELS[query], LABELS[mate]) == (band(queries[pair]), band(mates[pair]))
    assert len(bands.places) == len(set(bands.places)) == len(bands.cells.groups)
    assert all(g.inside.any() for g in (*bands.sides.groups, *bands.cells.groups))
    assert list(bands.sides.axis) == ["query", "mate"]


def test_bands_are_those_of_the_evalrank_page_where_all_is_known() -> None:
    from core.datasets.word_frequency import band_scores

    rng = np.random.default_rng(1)
    zipf, reciprocal = rng.uniform(1, 7, 60), rng.uniform(size=60)
    expected = band_scores(zipf, reciprocal).set_index("band")
    groups = [g for g in by_bands(zipf, zipf).sides.groups if g.side == "query"]
    for group in groups:
        assert expected.loc[group.label, "pairs"] == group.inside.sum()
        assert expected.loc[group.label, "mrr"] == pytest.approx(reciprocal[group.inside].mean())
