"""Scores of votes: hand-computed, against slow loops, and on raters whose skill is known."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from core.errors import InputError
from core.judgement.scoring import By, breakdown, groups, most_missed, pair_tests, scores
from core.judgement.tallies import NO_VOTE, UNKNOWN, Tally, tally
from core.judgement.types import NOT_ASKED, Item, Query, Task
from core.numerics import crossed
from core.numerics.stats import resample_counts
from core.types import Variant
from tests.judgement_samples import A, B, C, comparative_set, intruder_set, votes


def own_of(items, item_no: int, variant: int) -> int:
    return items.items[item_no].own[variant]


def other_than(option: int) -> int:
    return (option + 1) % 4


# --- by hand


def test_precision_by_hand() -> None:
    """Queries 0 (one item of both), 1 (items 1 of A, 2 of B): A has 3 of 5 votes, B 3 of 4."""
    items = intruder_set(3)
    right = {no: max(item.own) for no, item in enumerate(items.items)}
    cast = [
        ("ann", 0, right[0]),
        ("bob", 0, right[0]),
        ("ann", 1, right[1]),
        ("bob", 1, other_than(right[1])),
        ("cem", 1, other_than(right[1])),
        ("ann", 2, right[2]),
        ("Ann", 2, None),
        ("bob", 2, other_than(right[2])),
        ("cem", 4, None),
    ]
    counted = tally(items, votes(cast))
    assert (counted.raters, counted.votes, counted.unknown, counted.repeated) == (("ann", "bob", "cem"), 7, 1, 1)
    found = scores(counted)
    a, b = found.variants
    assert (found.items, found.queries, found.raters, found.votes, found.unknown) == (3, 2, 3, 7, 1)
    assert (a.items, a.votes, a.own) == (2, 5, 3.0)
    assert a.headline.value == a.micro.value == pytest.approx(3 / 5)
    assert a.item_mean.value == pytest.approx((1 + 1 / 3) / 2)
    assert (b.votes, b.own) == (4, 3.0)
    assert b.micro.value == pytest.approx(3 / 4)
    assert b.item_mean.value == pytest.approx((1 + 1 / 2) / 2)
    assert a.chance == b.chance == 0.25
    (test,) = pair_tests(counted)
    # Query 0 is shared: difference 0; query 1: 1/3 - 1/2. Of the two signs both are as far: p = 1.
    assert test.difference == pytest.approx((0 + 1 / 3 - 1 / 2) / 2)
    assert (test.compared, test.left_out, test.p_value, test.p_corrected) == (2, 0, 1.0, 1.0)


def test_win_ratio_by_hand() -> None:
    """k = 1 has three candidates, k = 5 two: A and B return the same one and both have its votes."""
    items = comparative_set(1)
    one, five, fifty = items.items
    cast = [
        *[(name, 0, one.own[v]) for name, v in (("ann", 0), ("bob", 0), ("cem", 1), ("dee", 2))],
        *[(name, 1, five.own[v]) for name, v in (("ann", 0), ("bob", 1), ("cem", 2))],
        ("ann", 2, None),
    ]
    counted = tally(items, votes(cast))
    found = scores(counted)
    a, b, c = found.variants
    assert (five.own[0], len(one.options), len(five.options)) == (five.own[1], 3, 2)
    assert a.headline.value == a.item_mean.value == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert b.headline.value == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert c.headline.value == pytest.approx((1 / 4 + 1 / 3) / 2)
    total = (2 / 4 + 2 / 3 + 1 / 4 + 2 / 3 + 1 / 4 + 1 / 3) / 2
    assert a.normalised.value == pytest.approx((2 / 4 + 2 / 3) / 2 / total)
    assert sum(v.normalised.value for v in found.variants) == pytest.approx(1.0)
    assert a.micro.value == pytest.approx(4 / 7)
    assert a.chance == b.chance == c.chance == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert [v.headline.interval for v in found.variants] == [None] * 3, "one query alone has no interval"
    ab, ac, bc = pair_tests(counted)
    assert ab.difference == pytest.approx((2 / 4 - 1 / 4 + 0) / 2)
    assert ac.difference == pytest.approx((2 / 4 - 1 / 4 + 2 / 3 - 1 / 3) / 2)
    # Both differences of A and C point one way: of four signs two are as far, p = 1/2; Holm: 3 pairs.
    assert (ab.p_value, ac.p_value, ac.p_corrected) == (1.0, 0.5, 1.0)
    assert bc.difference == pytest.approx((0 + 2 / 3 - 1 / 3) / 2)
    assert (fifty.k, ac.compared, ac.left_out) == (50, 2, 0)


def test_what_only_one_has_votes_on_is_left_out_of_the_test() -> None:
    items = intruder_set(4)
    counted = tally(items, votes([("ann", no, max(items.items[no].own)) for no in (0, 1, 2, 3)]))
    (test,) = pair_tests(counted)
    assert (test.compared, test.left_out) == (2, 1), "query 2 has a vote for A's item alone"
    (none,) = pair_tests(tally(items, votes([("ann", 1, 0)])))
    assert (none.compared, none.left_out, none.p_value, none.p_corrected, none.difference) == (0, 1, None, None, None)


@pytest.mark.parametrize("items", [intruder_set(3), comparative_set(2)])
def test_without_votes_there_is_no_number(items) -> None:
    for cast in ([], votes([("ann", 0, None), ("bob", 1, None)])):
        found = scores(tally(items, cast))
        assert (found.votes, found.unknown) == (0, len(cast))
        for variant in found.variants:
            assert (variant.micro.value, variant.item_mean.value, variant.normalised.value) == (None, None, None)
            assert (variant.micro.interval, variant.chance, variant.votes) == (None, None, 0)
        assert all(test.p_value is None for test in pair_tests(tally(items, cast)))
        assert most_missed(tally(items, cast), 0) == []


def test_a_rater_of_several_sessions_has_one_vote_per_item() -> None:
    items = intruder_set(2)
    cast = [*votes([("Ann", 0, 1)], "one"), *votes([("ANN", 0, 2), ("ann", 1, 3)], "two")]
    counted = tally(items, cast)
    assert counted.raters == ("Ann",)
    assert counted.chosen.tolist() == [[1], [3], [NO_VOTE]]
    assert counted.repeated == 1


@pytest.mark.parametrize(("item", "option"), [(99, 0), (0, 4), (0, -1)])
def test_votes_for_what_is_not_there_are_refused(item: int, option: int) -> None:
    with pytest.raises(InputError, match=f"a vote for option {option} of item {item}"):
        tally(intruder_set(2), votes([("ann", item, option)]))


def test_most_missed_comes_first() -> None:
    items = intruder_set(4)
    right = {no: max(item.own) for no, item in enumerate(items.items)}
    cast = [("ann", 1, right[1]), ("ann", 3, other_than(right[3])), ("bob", 3, None)]
    cast += [(name, 5, other_than(right[5])) for name in ("ann", "bob")]
    cast += [("ann", 0, right[0]), ("bob", 0, other_than(right[0]))]
    counted = tally(items, votes(cast))
    found = most_missed(counted, 0)
    assert [(m.item.item_no, m.own, m.votes, m.unknown) for m in found] == [
        (5, 0, 2, 0),
        (3, 0, 1, 1),
        (0, 1, 2, 0),
        (1, 1, 1, 0),
    ]
    assert sum(found[0].per_option) == 2
    assert found[0].per_option[other_than(right[5])] == 2
    assert [m.item.item_no for m in most_missed(counted, 1)] == [0], "B has no votes but on the shared item"


# --- by what the queries are


def test_a_breakdown_is_the_scores_of_each_part() -> None:
    items = comparative_set(7)
    rng = np.random.default_rng(3)
    cast = votes([(f"rater {r}", i.item_no, int(rng.integers(len(i.options)))) for r in range(4) for i in items.items])
    counted = tally(items, cast)
    by_k = breakdown(counted, By.K, resamples=50)
    assert [g.name for g in by_k] == ["1", "5", "50"]
    for group in by_k:
        alone = replace(items, items=tuple(i for i in items.items if str(i.k) == group.name))
        numbers = {i.item_no for i in alone.items}
        assert group.scores == scores(tally(alone, [v for v in cast if v.item_no in numbers]), resamples=50)
    assert [g.name for g in breakdown(counted, By.BAND, resamples=20)] == ["rare", "medium", "frequent"]
    assert [g.name for g in breakdown(counted, By.PART_OF_SPEECH, resamples=20)] == [
        "adjective",
        "adverb",
        "noun",
        "verb",
    ]
    assert groups(items.items, By.CONCRETENESS) == 2


def test_what_is_not_known_is_a_group_of_its_own_and_the_last() -> None:
    items = intruder_set(3)
    unknown = replace(items.items[0], query=replace(items.items[0].query, concreteness=""))
    items = replace(items, items=(unknown, *items.items[1:]))
    counted = tally(items, votes([("ann", 0, 0), ("ann", 1, 0)]))
    assert [(g.name, g.scores.votes) for g in breakdown(counted, By.CONCRETENESS)] == [
        ("abstract", 1),
        ("concrete", 0),
        ("unknown", 1),
    ]
    assert groups(items.items, By.K) == 0, "the intruder test has no ranks"
    bands = ["long", "short", "medium", "long", "short"]
    lengths = replace(items, items=tuple(replace(i, band=b) for i, b in zip(items.items, bands, strict=True)))
    assert [g.name for g in breakdown(tally(lengths, []), By.BAND)] == ["short", "medium", "long"]


# --- intervals against a slow loop on the same draws


def random_tally(seed: int, task: Task = Task.COMPARATIVE, items: int = 9, raters: int = 5) -> Tally:
    """Three variants, some items not about all, some cells empty, some unknown."""
    rng = np.random.default_rng(seed)
    made = []
    for no in range(items):
        options = int(rng.integers(2, 5))
        own = rng.integers(-1, options, size=3)
        own[rng.integers(3)] = 0
        made.append(Item(no, Query(f"q{no // 2}"), "rare", 1, tuple("abcd"[:options]), tuple(int(o) for o in own)))
    chosen = np.array(
        [rng.choice([NO_VOTE, UNKNOWN, *range(len(item.options))], size=raters) for item in made], dtype=np.int64
    )
    return Tally(task, (A, B, C), tuple(made), tuple(f"r{r}" for r in range(raters)), chosen)


def slow_scores(t: Tally, units, raters) -> dict[int, tuple[float, float]]:
    """Micro and item mean per variant, item by item and vote by vote."""
    out = {}
    for v in range(len(t.variants)):
        own = votes_cast = mean = weight = 0.0
        for i, item in enumerate(t.items):
            if item.own[v] == NOT_ASKED:
                continue
            n = h = 0.0
            for r in range(len(t.raters)):
                if t.chosen[i, r] >= 0:
                    n += raters[r]
                    h += raters[r] * (t.chosen[i, r] == item.own[v])
            w = units[item.query.text]
            own += w * h
            votes_cast += w * n
            if n > 0:
                mean += w * h / n
                weight += w
        out[v] = (own / votes_cast if votes_cast else np.nan, mean / weight if weight else np.nan)
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("raters", [1, 5])
def test_intervals_are_those_of_a_slow_loop(seed: int, raters: int) -> None:
    t = random_tally(seed, raters=raters)
    resamples = 60
    found = scores(t, resamples, seed=11)
    answered = [i for i in range(len(t.items)) if (t.chosen[i] >= 0).any()]
    queries = sorted({t.items[i].query.text for i in answered}, key=lambda text: int(text[1:]))
    voters = [r for r in range(raters) if (t.chosen[:, r] >= 0).any()]
    rng = np.random.default_rng(11)
    unit_draws = resample_counts(len(queries), resamples, rng)
    rater_draws = resample_counts(len(voters), resamples, rng) if len(voters) > 1 else np.ones((resamples, 1))
    drawn = []
    for u, w in zip(unit_draws, rater_draws, strict=True):
        units = dict.fromkeys((item.query.text for item in t.items), 0.0) | dict(zip(queries, u, strict=True))
        weights = [0.0] * raters
        for r, weight in zip(voters, w, strict=True):
            weights[r] = weight
        drawn.append(slow_scores(t, units, weights))
    point = slow_scores(t, dict.fromkeys((item.query.text for item in t.items), 1.0), [1.0] * raters)
    for v, score in enumerate(found.variants):
        for place, estimate in enumerate((score.micro, score.item_mean)):
            assert estimate.value == (None if np.isnan(point[v][place]) else pytest.approx(point[v][place], abs=1e-12))
            values = np.array([d[v][place] for d in drawn])
            values = values[~np.isnan(values)]
            if score.queries < 2 or len(values) < resamples / 2 or np.ptp(values) < 1e-12:
                assert estimate.interval is None
                continue
            low, high = np.quantile(values, [0.025, 0.975])
            assert estimate.interval.low == pytest.approx(low, abs=1e-12)
            assert estimate.interval.high == pytest.approx(high, abs=1e-12)
        sums = np.array([sum(d[o][1] for o in range(3)) for d in drawn])
        shares = np.array([d[v][1] for d in drawn])[sums > 0] / sums[sums > 0]
        if score.normalised.interval is not None:
            low, high = np.quantile(shares, [0.025, 0.975])
            assert score.normalised.interval.low == pytest.approx(low, abs=1e-12)
            assert score.normalised.interval.high == pytest.approx(high, abs=1e-12)


def test_slices_of_the_draws_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    t = random_tally(1)
    whole = scores(t, 40)
    monkeypatch.setattr(crossed, "_NUMBERS_AT_A_TIME", 9 * 7)
    assert scores(t, 40) == whole


def test_votes_all_alike_have_no_interval() -> None:
    items = intruder_set(5)
    cast = votes([(name, i.item_no, max(i.own)) for name in ("ann", "bob") for i in items.items])
    for variant in scores(tally(items, cast)).variants:
        assert (variant.micro.value, variant.micro.interval) == (1.0, None)


# --- permutation test against all exchanges of labels


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(Task))
def test_the_permutation_test_is_that_of_all_exchanges(seed: int, task: Task) -> None:
    t = random_tally(seed, task, items=6, raters=3)
    t = replace(t, items=tuple(replace(item, query=Query(f"q{item.item_no}")) for item in t.items))
    for test in pair_tests(t):
        a, b = t.variants.index(test.first), t.variants.index(test.second)
        differences = []
        for item, row in zip(t.items, t.chosen, strict=True):
            cast = [option for option in row if option >= 0]
            if cast and NOT_ASKED not in (item.own[a], item.own[b]):
                shares = [sum(option == item.own[v] for option in cast) / len(cast) for v in (a, b)]
                differences.append(shares[0] - shares[1])
        assert test.compared == len(differences)
        if not differences:
            assert test.p_value is None
            continue
        observed = abs(np.mean(differences))
        flipped = [
            abs(np.mean(np.multiply(s, differences))) for s in itertools.product((1, -1), repeat=len(differences))
        ]
        assert test.p_value == pytest.approx(np.mean([f >= observed - 1e-10 for f in flipped]))
        assert test.difference == pytest.approx(np.mean(differences))


# --- raters of known skill


def simulated(rng: np.random.Generator, skills: list[float], queries: int, raters: int, spread: float) -> Tally:
    """Intruder items, one per query and variant; how easy a query is and how good a rater both vary."""
    easy, good = spread * rng.normal(size=queries), spread * rng.normal(size=raters)
    items, chosen = [], []
    for q in range(queries):
        for v, skill in enumerate(skills):
            own = tuple(0 if v == o else NOT_ASKED for o in range(len(skills)))
            items.append(Item(len(items), Query(f"q{q}"), "rare", None, tuple("abcd"), own))
            found = rng.random(raters) < 1 / (1 + np.exp(-(np.log(skill / (1 - skill)) + easy[q] + good)))
            chosen.append(np.where(found, 0, rng.integers(1, 4, size=raters)))
    variants = tuple(Variant(f"v{v}", "none") for v in range(len(skills)))
    return Tally(Task.INTRUDER, variants, tuple(items), tuple(f"r{r}" for r in range(raters)), np.array(chosen))


def test_intervals_hold_the_true_precision() -> None:
    """Over queries and raters, both drawn anew: an interval over items alone would hold it far less often."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(2, 200_000))
    truth = float(np.mean(1 / (1 + np.exp(-(np.log(0.6 / 0.4) + z[0] + z[1])))))
    held = items_alone = 0
    for _ in range(150):
        drawn = simulated(rng, [0.6], 25, 12, 1.0)
        interval = scores(drawn, 300).variants[0].micro.interval
        held += interval.low <= truth <= interval.high
        draws = crossed.draw(25, 12, 300)
        fixed = crossed.Draws(draws.units, np.ones_like(draws.raters))
        narrow = crossed.middle(crossed.resampled_shares(drawn.hits_of(0), drawn.votes_on(0), drawn.units, fixed).micro)
        items_alone += narrow.low <= truth <= narrow.high
    assert 0.88 <= held / 150 <= 1.0
    assert items_alone / 150 < 0.85


def test_p_is_uniform_where_two_variants_are_alike() -> None:
    rng = np.random.default_rng(2)
    p = np.array([pair_tests(simulated(rng, [0.6, 0.6], 25, 20, 1.0), 499)[0].p_value for _ in range(150)])
    assert kstest(p, "uniform").pvalue > 0.01
    assert 0 < np.mean(p <= 0.1) < 0.2


def test_p_is_small_where_two_variants_differ() -> None:
    rng = np.random.default_rng(4)
    (test,) = pair_tests(simulated(rng, [0.8, 0.4], 25, 10, 0.5))
    assert test.difference > 0.2
    assert test.p_corrected < 0.001
