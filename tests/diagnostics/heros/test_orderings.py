"""Orderings of HEROS's subsets: rates, win rates and the headline, against loops and cases done by hand."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from blindspot.diagnostics.heros import orderings
from blindspot.diagnostics.heros.definition import ORDERINGS, SUBSETS, Meaning, meaning_of
from blindspot.diagnostics.heros.orderings import Cosines, Ordering, Reading, listed_orderings
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.intervals import mcnemar
from blindspot.numerics.statistics.written import percent
from blindspot.types import Float64
from tests.support.tables import each


def cosines(**columns: list[float]) -> Cosines:
    return Cosines(tuple(columns), np.array(list(columns.values()), dtype=np.float64).T)


def loop(table: Cosines, near: str, far: str) -> float:
    """Original by original, in halves."""
    halves = 0
    for row in table.values:
        lead = row[table.subsets.index(near)] - row[table.subsets.index(far)]
        halves += 1 if abs(lead) <= 1e-6 else 2 if lead > 0 else 0
    return halves / (2 * len(table.values))


# --- which orderings


@each(
    ("subsets", "listed"),
    [
        (list(SUBSETS), [f"{near}>{far}" for near, far in ORDERINGS]),
        (["typo", "of my own", "random_mlm", "synonym"], ["synonym>random_mlm", "typo>random_mlm", "synonym>typo"]),
        (
            ["opposite_1", "formal", "opposite_2", "paraphrase"],  # all pairs, kept over changed meaning first
            (
                "paraphrase>opposite_1 paraphrase>opposite_2 opposite_1>formal opposite_1>opposite_2 "
                "formal>opposite_2 formal>paraphrase"
            ).split(),
        ),
        ([], []),
        (["synonym"], []),
        (["my own"], []),
    ],
)
def test_listed_orderings(subsets: list[str], listed: list[str]) -> None:
    assert [str(ordering) for ordering in listed_orderings(subsets)] == listed


def test_the_list_is_capped() -> None:
    listed = listed_orderings([*(f"column {i}" for i in range(20)), "opposite_9", "paraphrase"])
    assert len(listed) == orderings.MAX_LISTED
    assert str(listed[0]) == "paraphrase>opposite_9"


@given(st.lists(st.sampled_from([*SUBSETS, "paraphrase", "opposite_1", "a", "b>c", "<i>"]), unique=True))
def test_no_pair_is_listed_twice(subsets: list[str]) -> None:
    pairs = [frozenset((o.near, o.far)) for o in listed_orderings(subsets)]
    assert len(set(pairs)) == len(pairs)
    assert all(len(pair) == 2 and pair <= set(subsets) for pair in pairs)


@each(
    ("subset", "meaning"),
    [
        ("synonym", Meaning.KEPT),
        ("Paraphrase", Meaning.KEPT),
        ("typo", Meaning.KEPT),
        ("positive", Meaning.KEPT),
        ("negated", Meaning.CHANGED),
        ("hard_negative_1", Meaning.CHANGED),
        ("contradiction", Meaning.CHANGED),
        ("entailment", Meaning.KEPT),
        ("antonym", Meaning.CHANGED),
        ("negation", Meaning.CHANGED),
        ("negation_main", Meaning.CHANGED),
        ("Opposite_2", Meaning.CHANGED),
        ("negation_antonym", Meaning.CHANGED),
        ("random_mlm", Meaning.CHANGED),
        ("formal", Meaning.UNKNOWN),
        ("not a synonym", Meaning.UNKNOWN),
    ],
)
def test_the_meaning_of_a_subset_by_its_name(subset: str, meaning: Meaning) -> None:
    assert meaning_of(subset) is meaning


# --- stored rows


def test_rows_become_a_table_in_any_order() -> None:
    rows = pd.DataFrame(
        {
            "item_no": [1, 0, 1, 0],
            "subset": ["a", "b", "b", "a"],
            "cosine": [0.1, 0.2, 0.3, 0.4],
            "original_no": [5, 3, 5, 3],
            "rewrite_no": [1, 2, 4, 6],
            "run_id": "x",
        }
    )
    table = Cosines.of_rows(rows, np.arange(7))
    assert table.texts is not None
    assert table.texts.tolist() == [[3, 6, 2], [5, 1, 4]]
    assert table.dependence.is_of_singles
    assert Cosines.of_rows(rows, np.array([0, 1, 1, 3, 4, 5, 6])).dependence.units == 1, "texts 1 and 2 are the same"
    assert table.subsets == ("a", "b")
    np.testing.assert_array_equal(table.values, [[0.4, 0.2], [0.1, 0.3]])
    assert Cosines.of_rows(rows, np.arange(7), ["b"]).values.tolist() == [[0.2], [0.3]]
    assert table.of("b").tolist() == [0.2, 0.3]


@each("cosine", [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3, math.nan], [0.1, 0.2, 0.3, math.inf], []])
def test_rows_that_lack_a_cosine_are_refused(cosine: list[float]) -> None:
    rows = pd.DataFrame({"item_no": [0, 0, 1, 1], "subset": ["a", "b"] * 2}).head(len(cosine)).assign(cosine=cosine)
    with pytest.raises(BlindspotError, match="are not complete; expected one for every original and subset"):
        Cosines.of_rows(rows, np.arange(7))


# --- rates


def test_win_rates_by_hand() -> None:
    """Four originals; one tie, since 0.5 and 0.5000005 are within the tolerance."""
    table = cosines(a=[0.9, 0.8, 0.5, 0.1], b=[0.7, 0.9, 0.5000005, 0.0], c=[0.9, 0.1, 0.6, 0.1])
    expected = [[np.nan, 2.5 / 4, 2 / 4], [1.5 / 4, np.nan, 1 / 4], [2 / 4, 3 / 4, np.nan]]
    np.testing.assert_array_equal(orderings.win_rates(table), expected)


TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.sampled_from([-1.0, 0.0, 0.3, 0.3 + 5e-7, 0.3 + 5e-6, 0.9, 1.0]),
)


@given(TABLES)
def test_win_rates_are_those_of_a_loop_and_mirror_each_other(values: Float64) -> None:
    table = Cosines(tuple(f"s{i}" for i in range(values.shape[1])), values)
    won = orderings.win_rates(table)
    for a, near in enumerate(table.subsets):
        for b, far in enumerate(table.subsets):
            if a == b:
                assert math.isnan(won[a, b])
            else:
                assert won[a, b] == pytest.approx(loop(table, near, far), abs=1e-12)
                assert won[a, b] + won[b, a] == pytest.approx(1.0, abs=1e-12)
                assert won[a, b] == pytest.approx(orderings.rate(table, Ordering(near, far)).share.value, abs=1e-12)


def test_a_rate_has_wilsons_interval() -> None:
    rng = np.random.default_rng(5)
    values = rng.uniform(size=(150, 2))
    found = orderings.rate(Cosines(("a", "b"), values), Ordering("a", "b"))
    wins = int(np.count_nonzero(values[:, 0] > values[:, 1]))
    assert found.share.value == wins / 150
    low, high = proportion_confint(wins, 150, method="wilson")
    assert (found.share.low, found.share.high) == pytest.approx((low, high), abs=1e-12)


# --- the headline


@each(
    ("against", "reading", "interval"),
    [
        (83, Reading.SURPRISING, (0.7445, 0.8911)),
        (55, Reading.UNCLEAR, (0.4524, 0.6439)),
        (10, Reading.AS_HOPED, (0.0552, 0.1744)),
    ],
)
def test_a_finding_says_what_its_interval_allows(against: int, reading: Reading, interval: tuple[float, float]) -> None:
    """In words it is the share of the right order, as in the figures: one minus the rate, with its ends swapped."""
    share, negation = against / 100, [0.9] * against + [0.1] * (100 - against)
    found = orderings.worst(cosines(synonym=[0.5] * 100, negation=negation, formal=[0.99] * 100))
    assert found is not None
    assert found.rate.share.value == share
    assert found.reading is reading
    assert (found.rate.share.interval.low, found.rate.share.interval.high) == pytest.approx(interval, abs=1e-4)
    low, high = (
        percent(1 - end, 1).removesuffix("%") for end in (found.rate.share.interval.high, found.rate.share.interval.low)
    )
    said, half = orderings.finding_in_words(found, "E"), orderings.share_in_words(found)
    for words in (said, half):
        assert words.index("synonym") < words.index("negation")
        assert f" {100 - against}.0% " in words
        assert f"{low} to {high}%)" in words
        verdicts = {one for one, verdict in orderings.NOT_BETTER.items() if f" {verdict}" in words}
        assert verdicts == {reading} - {Reading.AS_HOPED}


def test_the_headline_is_the_highest_rate_against_meaning() -> None:
    """Against a loop over every changing by every keeping subset; `formal`, unknown, and `typo` are not among them."""
    rng = np.random.default_rng(1)
    names = ("typo", "formal", "opposite_1", "synonym", "antonym", "paraphrase")
    tables = [Cosines(names, rng.uniform(size=(60, 6))) for _ in range(3)]
    rates = {
        (near, far): [loop(table, near, far) for table in tables]
        for near in ("opposite_1", "antonym")
        for far in ("synonym", "paraphrase")
    }
    found, contrast = orderings.worst(tables[0]), orderings.contrast(tables)
    assert found is not None
    worst = max(rates, key=lambda pair: rates[pair][0])
    assert found.rate.ordering == Ordering(*worst)
    assert found.rate.share.value == pytest.approx(rates[worst][0])
    assert found.out_of == 4
    interval = found.rate.share.interval
    ends = f"{percent(1 - interval.high, 1)} to {percent(1 - interval.low, 1)}".replace("% ", " ")
    assert ends in orderings.finding_in_words(found, "E")
    low, high = proportion_confint(
        60 * found.rate.share.value, 60, alpha=2 * 0.75 * 0.05 / 4, method="wilson"
    )  # Bonferroni
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
    apart = max(rates, key=lambda pair: max(rates[pair]) - min(rates[pair]))
    assert contrast is not None
    more, less = contrast.more, contrast.less
    claim = Ordering(*apart)
    assert contrast.ordering == claim
    assert (rates[apart][more], rates[apart][less]) == (max(rates[apart]), min(rates[apart]))
    p = mcnemar(tables[more].outcomes(claim), tables[less].outcomes(claim))
    assert contrast.test.p_corrected == pytest.approx(min(1.0, p * 4 * 3))  # shares, pairs of variants
    sure = replace(contrast, test=replace(contrast.test, p_corrected=0.01))
    said = orderings.contrast_in_words(sure, ["one", "two", "three"], str.upper)
    assert said.index(apart[1].upper()) < said.index(apart[0].upper())  # the right order
    for rate, place in ((max(rates[apart]), more), (min(rates[apart]), less)):
        assert re.search(rf"{re.escape(percent(1 - rate, 1))}[a-z ]* {['one', 'two', 'three'][place]}\b", said)


@each("n", [10, 12, 21, 50, 150])
@each("k", [1, 4, 8])
def test_more_often_than_not_is_rarely_said_of_the_highest_of_several_coins(k: int, n: int) -> None:
    """Exact: k independent shares of n originals, all one half in truth, by the distribution of their largest count.

    With the interval of a single share it would be said in 10% of cases of k = 4 and 20% of k = 8.
    """
    names = ["synonym", *(f"opposite_{i}" for i in range(k))]
    at_most = binom.cdf(np.arange(n + 1), n, 0.5) ** k  # of the largest count
    probability = np.diff(at_most, prepend=0.0)
    said = 0.0
    for count in range(n + 1):
        values = np.full((n, 1 + k), 0.1)
        values[:, 0] = 0.5
        values[:count, 1] = 0.9
        found = orderings.worst(Cosines(tuple(names), values))
        assert found is not None
        said += probability[count] * (found.reading is Reading.SURPRISING)
    assert said <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 4, 8])
def test_so_it_is_where_all_shares_have_a_rewrite_in_common(k: int) -> None:
    """Every order is against the same synonym; the interval of the highest share holds its truth, one half."""
    rng = np.random.default_rng(19)
    names = ("synonym", *(f"opposite_{i}" for i in range(k)))
    simulations, said, held = 4_000, 0, 0
    for _ in range(simulations):
        found = orderings.worst(Cosines(names, rng.random((150, 1 + k))))
        assert found is not None
        said += found.reading is Reading.SURPRISING
        held += found.rate.share.interval.low <= 0.5 <= found.rate.share.interval.high
    print(f"HEROS, highest of {k}: said falsely {said / simulations:.3f}, coverage {held / simulations:.3f}")
    assert said / simulations <= 0.065
    assert 0.92 <= held / simulations <= 0.98


def test_a_typo_counts_only_if_nothing_else_keeps_the_meaning() -> None:
    assert [str(o) for o in orderings.against_meaning(["typo", "antonym"])] == ["antonym>typo"]
    assert [str(o) for o in orderings.against_meaning(["typo", "synonym", "antonym"])] == ["antonym>synonym"]


def test_a_contrast_needs_two_that_differ() -> None:
    table = cosines(synonym=[0.5, 0.4], antonym=[0.6, 0.1])
    for variants in ([table], [table, table], [table, cosines(synonym=[0.1, 0.2])]):
        assert orderings.contrast(variants) is None
    contrast = orderings.contrast([table, cosines(synonym=[0.5, 0.4], antonym=[0.1, 0.1])])
    assert contrast is not None
    assert contrast.test.p_corrected == 1.0  # one original of two
    assert "between A and B" in orderings.contrast_in_words(contrast, ["A", "B"]), "which of those shown"


@pytest.mark.parametrize(("turned", "separable"), [(5, False), (6, True)])
def test_a_contrast_says_whether_it_is_more_than_chance(turned: int, separable: bool) -> None:
    """Of six originals on which two variants differ one way: p = 2 / 2^6 = 0.031; of five: 0.0625."""
    table = cosines(synonym=[0.5] * 10, antonym=[0.6] * turned + [0.1] * (10 - turned))
    other = cosines(synonym=[0.5] * 10, antonym=[0.1] * 10)
    contrast = orderings.contrast([table, other])
    assert contrast is not None
    assert contrast.test.p_corrected == pytest.approx(2 / 2**turned)
    assert (contrast.test.verdict is Verdict.BETTER) is separable
    if separable:
        said = orderings.contrast_in_words(contrast, ["A", "B"])
        assert re.search(r"100\.0%.* B, .*40\.0%.* A\.", said)


@pytest.mark.parametrize("columns", [{"a": [0.1], "b": [0.2]}, {"synonym": [0.1], "typo": [0.2]}])
def test_without_kept_and_changed_meanings_there_is_no_headline(columns: dict[str, list[float]]) -> None:
    assert orderings.worst(cosines(**columns)) is None
    assert orderings.contrast([cosines(**columns), cosines(**columns)]) is None


# --- originals that share texts


def test_where_every_original_is_there_twice_it_counts_once() -> None:
    rng = np.random.default_rng(4)
    values, other = rng.random((2, 30, 2))
    names, texts = ("synonym", "antonym"), np.arange(90).reshape(30, 3)
    once, often = (
        [Cosines(names, np.repeat(v, times, axis=0), np.repeat(texts, times, axis=0)) for v in (values, other)]
        for times in (1, 2)
    )
    assert [o.dependence.is_of_singles for o in (once[0], often[0])] == [True, False]
    assert (often[0].dependence.units, often[0].dependence.unit) == (30, "groups of sentences")
    ordering = Ordering(*names)
    narrow, rate, wide = (orderings.rate(c, ordering) for c in (Cosines(names, often[0].values), once[0], often[0]))
    assert rate.share.value == wide.share.value == narrow.share.value
    width = [one.share.interval.high - one.share.interval.low for one in (narrow, rate, wide)]
    assert width[0] < 0.75 * width[1]
    assert width[2] == pytest.approx(width[1], rel=0.08)

    contrasts = [orderings.contrast(two) for two in (once, often)]
    assert contrasts[0] is not None
    assert contrasts[1] is not None
    assert contrasts[1].test.p_corrected == pytest.approx(contrasts[0].test.p_corrected, abs=0.02)
