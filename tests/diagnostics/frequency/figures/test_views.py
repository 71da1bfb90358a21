"""The figures of bands, lengths and hubs."""

from __future__ import annotations

import numpy as np

from blindspot.diagnostics.frequency.figures.bands import Cell, band_matrix
from blindspot.diagnostics.frequency.figures.hubs import occurrence_tails
from blindspot.diagnostics.frequency.figures.norms import norm_scatter
from blindspot.figures.theme import Scheme, styles
from blindspot.numerics.neighbors.hubness import tail
from blindspot.numerics.statistics.association import binned_medians
from blindspot.variants import Variant

ONE, OTHER = Variant("a<b>", "none"), Variant("b", "center")


def test_a_matrix_shows_scores_and_greys_few_pairs() -> None:
    cells = [
        Cell(1, 1, 0.25, 0.1, 0.4, 50),
        Cell(3, 1, 0.75, np.nan, np.nan, 3),
        Cell(3, 3, 0.5, 0.4, 0.6, 20),
    ]
    for scheme in Scheme:
        figure = band_matrix(cells, ["?", "rare", "middle", "frequent"], "MRR", 20, 0.5, scheme)
        scores, greys = figure.data
        assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == ["rare", "frequent"]
        assert [list(row) for row in scores.z] == [[0.25, None], [None, 0.5]]
        assert [list(row) for row in greys.z] == [[None, None], [0.0, None]]
        assert "0.1" in scores.customdata[0][0]
        assert "no interval" in greys.customdata[1][0]
        assert [a.text for a in figure.layout.annotations] == ["0.250<br>50", "0.750<br>3", "0.500<br>20"]


def test_dots_name_items_and_the_line_is_of_all() -> None:
    rng = np.random.default_rng(0)
    zipf, norms = rng.uniform(1, 7, 500), rng.uniform(1, 2, 500)
    medians = binned_medians(zipf, norms, 0.5, 20)
    drawn = np.arange(0, 500, 5)
    figure = norm_scatter(
        zipf[drawn], norms[drawn], drawn, medians, (0.0, 8.0), styles([ONE], Scheme.LIGHT)[ONE], Scheme.LIGHT
    )
    dots, line = figure.data
    assert dots.customdata.tolist() == drawn.tolist()
    np.testing.assert_allclose(dots.y, norms[drawn], rtol=1e-6)
    assert line.y.tolist() == medians.median.tolist()
    np.testing.assert_allclose(line.y + line.error_y.array, medians.high)
    np.testing.assert_allclose(line.y - line.error_y.arrayminus, medians.low)


def test_tails_have_a_line_each_and_the_mark_of_hubs() -> None:
    tails = {ONE: tail(np.array([0, 3, 3])), OTHER: tail(np.array([2, 2, 2]))}
    random = {7: tail(np.array([1, 2, 3]))}
    figure = occurrence_tails(tails, random, 2, 10.0, styles([ONE, OTHER], Scheme.DARK), Scheme.DARK)
    assert [t.name for t in figure.data] == ["random, 7 dimensions", "a_b_", "b + center"]
    assert list(figure.data[1].x) == [3]
    assert list(figure.data[1].y) == [2 / 3]
    assert figure.layout.shapes[0].x0 == 20
    assert figure.layout.annotations[0].x == np.log10(20)
    assert figure.layout.xaxis.range[1] > np.log10(20)
