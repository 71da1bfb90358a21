"""The figures of HEROS's spread show the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.heros.figures.spread import chains, ridges
from blindspot.diagnostics.heros.orderings import Ordering, Rate
from blindspot.diagnostics.heros.transforms import ChainProfile
from blindspot.diagnostics.heros.view import Spread
from blindspot.figures.theme import Scheme, looks, styles
from blindspot.numerics.statistics.density import Density, Quantiles
from blindspot.numerics.statistics.estimate import Sure, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.variants import Variant
from tests.support.figures import checked

VARIANTS = [Variant("a", "none"), Variant("<i>b", "center")]


def ridge(variant: Variant, subset: str, middle: float) -> Spread:
    at = np.array([middle - 0.1, middle, middle + 0.1])
    quantiles = Quantiles(middle - 0.05, middle - 0.02, middle, middle + 0.03, middle + 0.06)
    return Spread(variant, subset, Density(at, np.array([0.0, 8.0, 0.0])), quantiles, middle + 0.01, 0.2, 40)


@pytest.mark.parametrize("scheme", Scheme)
def test_a_hill_per_variant_and_subset_with_its_quantiles(scheme: Scheme) -> None:
    rows = [ridge(v, s, m) for v in VARIANTS for s, m in (("random_mlm", 0.8), ("my_<own>", 0.6))]
    figure = checked(ridges(rows, styles(VARIANTS, scheme), scheme, axis="cosine", baseline="unrelated"))
    assert len(figure.data) == 3 * len(VARIANTS)
    hill, mark, dots = figure.data[:3]
    assert list(hill.x) == [0.7, 0.8, 0.9, 0.9, 0.8, 0.7, None, 0.5, 0.6, 0.7, 0.7, 0.6, 0.5]
    assert hill.y[0] == hill.y[5], "it stands on its foot"
    assert hill.y[0] - hill.y[1] == pytest.approx(0.86), "and its peak fills its room, upwards"
    assert list(mark.x) == [0.2, 0.2, None, 0.2, 0.2]
    assert list(dots.x) == [0.8, 0.6]
    np.testing.assert_allclose(dots.error_x.array, [0.03, 0.03])
    np.testing.assert_allclose(dots.error_x.arrayminus, [0.02, 0.02])
    name, *numbers = dots.customdata[1]
    assert name == "my &lt;own&gt;"
    assert numbers == ["0.550", "0.580", "0.600", "0.630", "0.660", "0.610", "40"]
    assert mark.text == ("0.200", "0.200", "", "0.200", "0.200")
    assert list(figure.layout.yaxis.ticktext) == ["random word", "my &lt;own&gt;"]
    assert figure.data[3].name == "_i_b + center"
    assert figure.layout.xaxis.range[0] < 0.2


def test_the_axis_may_begin_where_the_hills_do() -> None:
    rows = [ridge(VARIANTS[0], "typo", 0.8)]
    figure = ridges(rows, styles(VARIANTS, Scheme.LIGHT), Scheme.LIGHT, axis="", baseline="", near=True)
    assert list(figure.layout.xaxis.range) == pytest.approx([0.696, 0.904])


def test_eight_variants_by_eight_subsets_stay_below_what_a_browser_draws() -> None:
    variants = [Variant(f"v{i}", "none") for i in range(8)]
    hill = Density(np.linspace(0, 1, 128), np.linspace(1, 2, 128))
    rows = [Spread(v, f"s{j}", hill, Quantiles(0, 0, 0, 0, 0), 0, 0, 9) for v in variants for j in range(8)]
    figure = checked(ridges(rows, styles(variants, Scheme.LIGHT), Scheme.LIGHT, axis="", baseline=""))
    assert sum(len(trace.x) for trace in figure.data) < 25_000


def share(value: float, low: float, high: float) -> Sure:
    return Sure(value, Interval(low, high), "Wilson", Unit.SENTENCES, 60, 60.0)


KEPT = Ordering("synonym", "typo")
ROWS = [
    ChainProfile("none", {"synonym": 0.9, "typo": 0.5}, Rate(KEPT, share(0.7, 0.6, 0.75))),
    ChainProfile("center+<b>", {"synonym": 0.8, "typo": 0.6}, Rate(KEPT, share(0.6, 0.5, 0.7))),
]


def test_a_line_per_subset_from_chain_to_chain_and_the_rate_beside() -> None:
    by_subset = dict(zip(("synonym", "typo"), looks(2, Scheme.DARK), strict=True))
    figure = checked(chains(ROWS, by_subset, "synonym over typo", Scheme.DARK))
    synonym, typo, rate = figure.data
    assert (list(synonym.x), list(typo.x)) == ([0.9, 0.8], [0.5, 0.6])
    assert list(rate.x) == [0.7, 0.6]
    np.testing.assert_allclose(rate.error_x.arrayminus, [0.1, 0.1])
    assert list(rate.text) == ["70%", "60%"]
    assert list(figure.layout.yaxis.ticktext) == ["none", "center+&lt;b&gt;"]


def test_without_an_ordering_there_is_one_panel() -> None:
    rows = [ChainProfile(r.chain, {"typo": r.means["typo"]}, None) for r in ROWS]
    figure = checked(chains(rows, {"typo": looks(1, Scheme.LIGHT)[0]}, "", Scheme.LIGHT))
    assert len(figure.data) == 1
