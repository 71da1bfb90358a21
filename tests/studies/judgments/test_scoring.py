"""Scores of votes: hand-computed, against slow loops, and on raters whose skill is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

from blindspot.errors import InputError
from blindspot.numerics.statistics.intervals import Z_95
from blindspot.numerics.statistics.votes import FEWEST_QUERIES, Population
from blindspot.studies.judgments.scoring import By, breakdown, groups, most_missed, pair_tests, scores
from blindspot.studies.judgments.tallies import NO_VOTE, Tally, tally
from blindspot.studies.judgments.types import NOT_ASKED, Item, Query, Task
from blindspot.variants import Variant
from tests.support.judgment_samples import A, comparative_set, intruder_set, random_tally, votes
from tests.support.tables import each


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
    assert a.value == a.micro.value == pytest.approx(3 / 5)
    assert a.item_mean.value == pytest.approx((1 + 1 / 3) / 2)
    assert (b.votes, b.own) == (4, 3.0)
    assert b.micro.value == pytest.approx(3 / 4)
    assert b.item_mean.value == pytest.approx((1 + 1 / 2) / 2)
    assert a.chance == b.chance == 0.25
    (test,) = pair_tests(counted)
    # Query 0 is shared: difference 0; query 1: 1/3 - 1/2.
    assert test.difference == pytest.approx((0 + 1 / 3 - 1 / 2) / 2)
    assert (test.compared, test.queries, test.left_out, test.p_value, test.p_corrected) == (2, 2, 0, None, None)
    assert test.refusal, "two queries are too few for a verdict"


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
    assert a.value == a.item_mean.value == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert b.value == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert c.value == pytest.approx((1 / 4 + 1 / 3) / 2)
    total = (2 / 4 + 2 / 3 + 1 / 4 + 2 / 3 + 1 / 4 + 1 / 3) / 2
    assert a.normalised.value == pytest.approx((2 / 4 + 2 / 3) / 2 / total)
    assert sum(v.normalised.value for v in found.variants) == pytest.approx(1.0)
    assert a.micro.value == pytest.approx(4 / 7)
    assert a.chance == b.chance == c.chance == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert [v.interval for v in found.variants] == [None] * 3, "one query alone has no interval"
    ab, ac, bc = pair_tests(counted)
    assert ab.difference == pytest.approx((2 / 4 - 1 / 4 + 0) / 2)
    assert ac.difference == pytest.approx((2 / 4 - 1 / 4 + 2 / 3 - 1 / 3) / 2)
    assert all(test.refusal and test.p_value is None for test in (ab, ac, bc)), "one query is too few for a verdict"
    assert bc.difference == pytest.approx((0 + 2 / 3 - 1 / 3) / 2)
    assert (fifty.k, ac.compared, ac.queries, ac.left_out) == (50, 2, 1, 0)


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
            assert (variant.micro, variant.item_mean, variant.normalised) == (None, None, None)
            assert (variant.interval, variant.chance, variant.votes) == (None, None, 0)
        assert all(test.p_value is None for test in pair_tests(tally(items, cast)))
        assert most_missed(tally(items, cast), 0) == []


def test_a_rater_of_several_sessions_has_one_vote_per_item() -> None:
    items = intruder_set(2)
    cast = [*votes([("Ann", 0, 1)], "one"), *votes([("ANN", 0, 2), ("ann", 1, 3)], "two")]
    counted = tally(items, cast)
    assert counted.raters == ("Ann",)
    assert counted.chosen.tolist() == [[1], [3], [NO_VOTE]]
    assert counted.repeated == 1


@each(("item", "option"), [(99, 0), (0, 4), (0, -1)])
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
    by_k = breakdown(counted, By.K)
    assert [g.name for g in by_k] == ["1", "5", "50"]
    for group in by_k:
        alone = replace(items, items=tuple(i for i in items.items if str(i.k) == group.name))
        numbers = {i.item_no for i in alone.items}
        assert group.scores == scores(tally(alone, [v for v in cast if v.item_no in numbers]))
    assert [g.name for g in breakdown(counted, By.BAND)] == ["rare", "medium", "frequent"]
    assert [g.name for g in breakdown(counted, By.PART_OF_SPEECH)] == [
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


# --- intervals and tests against slow loops


Votes = list[tuple[str, int, float, float]]  # query, rater, weight, hit


def slow_mean(votes_cast: Votes) -> float:
    return sum(weight * hit for _, _, weight, hit in votes_cast)


def slow_spread(influence: Votes, population: Population, *, of_share: bool = False) -> tuple[float, float]:
    """Variance and degrees of freedom, vote by vote; of votes the last number is the influence."""

    def one_way(place: int) -> tuple[float, float]:
        sums: dict[object, float] = {}
        weights: dict[object, float] = {}
        for vote in influence:
            sums[vote[place]] = sums.get(vote[place], 0.0) + vote[3]
            weights[vote[place]] = weights.get(vote[place], 0.0) + vote[2]
        k = len(sums)
        variance = (k - 1) / k * sum((sums[unit] / (1 - weights[unit])) ** 2 for unit in sums)
        return variance, max(1 / sum(w**2 for w in weights.values()) - 1, 1.0)

    by_query, query_free = one_way(0)
    by_rater, rater_free = one_way(1)
    cells: dict[tuple[str, int], list[float]] = {}
    for query, rater, weight, own in influence:
        cell = cells.setdefault((query, rater), [0.0, 0.0])
        cell[0] += weight
        cell[1] += own
    rows: dict[object, list[float]] = {}
    for (query, rater), (weight, own) in cells.items():
        for unit in (("query", query), ("rater", rater)):
            row = rows.setdefault(unit, [0.0, 0.0])
            row[0] += weight
            row[1] += own
    chance = left = 0.0
    for (query, rater), (weight, own) in cells.items():
        of_query, of_rater = rows["query", query], rows["rater", rater]
        chance += (own - weight * of_rater[1] / of_rater[0]) ** 2
        left += (own - weight * (of_query[1] / of_query[0] + of_rater[1] / of_rater[0])) ** 2
    if population is Population.THESE:
        if not of_share:
            return by_query, query_free
        queries = len({query for query, _ in cells})
        excess = max(by_query - chance * queries / (queries - 1), 0.0)
        return chance + excess, (chance + excess) ** 2 * query_free / excess**2 if excess else np.inf
    free = len(cells) - len(rows) + 1
    both = left * len(cells) / free
    variance, uncertain = both, both**2 / free
    for over, own_free in ((by_query, query_free), (by_rater, rater_free)):
        if over > both:
            variance += over - both
            uncertain += (over - (0.5 * both if of_share else -both)) ** 2 / own_free
    return variance, max(variance**2 / uncertain, 1.0)


def slow_votes(t: Tally, variant: int, *, micro: bool) -> Votes:
    """All votes on a variant's items, with what each weighs in its micro average or in the mean of its items."""
    of_item = {
        i: [(r, t.chosen[i, r] == item.own[variant]) for r in range(len(t.raters)) if t.chosen[i, r] >= 0]
        for i, item in enumerate(t.items)
        if item.own[variant] != NOT_ASKED
    }
    of_item = {i: cast for i, cast in of_item.items() if cast}
    total = sum(map(len, of_item.values()))
    return [
        (t.items[i].query.text, r, 1 / total if micro else 1 / len(cast) / len(of_item), float(hit))
        for i, cast in of_item.items()
        for r, hit in cast
    ]


def influences(votes_cast: Votes) -> Votes:
    mean = slow_mean(votes_cast)
    return [(query, rater, weight, weight * (hit - mean)) for query, rater, weight, hit in votes_cast]


def slow_interval(value: float, influence: Votes, population: Population, most: float) -> tuple[float, float]:
    """Wilson's formula with Student's t, for so many votes as have the variance, at most so many as there are."""
    variance, free = slow_spread(influence, population, of_share=True)
    z = student.ppf(0.975, free)
    n = min(value * (1 - value) / variance, most)
    middle = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def equal_votes(t: Tally) -> float:
    """How many votes of equal weight there are for the normalised scores: a vote on an item counts for its variants."""
    weights: dict[tuple[int, int], float] = {}
    for v in range(len(t.variants)):
        about = [i for i, item in enumerate(t.items) if item.own[v] != NOT_ASKED and (t.chosen[i] >= 0).any()]
        for i in about:
            raters = [r for r in range(len(t.raters)) if t.chosen[i, r] >= 0]
            for r in raters:
                weights[i, r] = weights.get((i, r), 0.0) + 1 / len(raters) / len(about) / len(t.variants)
    return 1 / sum(weight**2 for weight in weights.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("raters", [3, 6])
def test_intervals_are_those_of_a_slow_loop(seed: int, raters: int) -> None:
    t = random_tally(seed, items=26, raters=raters)
    found = scores(t)
    rare = min(min(v.micro.value, 1 - v.micro.value) for v in found.variants)
    assert found.population is (Population.RATERS if raters >= 5 and raters * rare >= 1.5 else Population.THESE)
    of_items = [slow_votes(t, v, micro=False) for v in range(3)]
    total = sum(slow_mean(own) for own in of_items)
    for v, score in enumerate(found.variants):
        for estimate, votes_cast in (
            (score.micro, slow_votes(t, v, micro=True)),
            (score.item_mean, of_items[v]),
        ):
            mean = slow_mean(votes_cast)
            assert estimate.value == pytest.approx(mean, abs=1e-12)
            most = 1 / sum(weight**2 for _, _, weight, _ in votes_cast)
            low, high = slow_interval(mean, influences(votes_cast), found.population, most)
            assert estimate.interval is not None
            assert (estimate.interval.low, estimate.interval.high) == pytest.approx((low, high), abs=1e-10)
        share = slow_mean(of_items[v]) / total
        assert score.normalised.value == pytest.approx(share, abs=1e-12)
        together = [
            (query, rater, weight / 3, ((other == v) - share) * moves / total)
            for other, votes_cast in enumerate(of_items)
            for query, rater, weight, moves in influences(votes_cast)
        ]
        low, high = slow_interval(share, together, found.population, equal_votes(t))
        assert score.normalised.interval is not None
        assert (score.normalised.interval.low, score.normalised.interval.high) == pytest.approx((low, high), abs=1e-10)


def test_a_query_left_out_moves_a_share_as_far_as_it_is_said_to() -> None:
    """The variance over queries is the jackknife's: each query left out, the share computed anew."""
    t = random_tally(5, items=26, raters=3)
    votes_cast = slow_votes(t, 0, micro=True)
    queries = {query for query, _, _, _ in votes_cast}
    moved = []
    for left_out in queries:
        rest = [hit for query, _, _, hit in votes_cast if query != left_out]
        moved.append(sum(rest) / len(rest) - slow_mean(votes_cast))
    expected = (len(queries) - 1) / len(queries) * sum(m**2 for m in moved)
    assert slow_spread(influences(votes_cast), Population.THESE)[0] == pytest.approx(expected, rel=1e-12)


def complete_tally(seed: int, queries: int, raters: int) -> tuple[Tally, np.ndarray]:
    rng = np.random.default_rng(seed)
    items = tuple(Item(q, Query(f"q{q}"), "", None, tuple("abcd"), (0,)) for q in range(queries))
    hits = rng.random((queries, raters)) < chance_of(rng.normal(size=(queries, 1)) + rng.normal(size=raters))
    chosen = np.where(hits, 0, 1)
    return Tally(Task.INTRUDER, (A,), items, tuple(f"r{r}" for r in range(raters)), chosen), hits.astype(float)


def chance_of(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def test_of_complete_votes_the_variance_is_that_of_the_two_way_analysis_of_variance() -> None:
    """Mean squares of queries, raters and what is left: (MSQ + MSR - MSE) / (Q R); over queries alone statsmodels'."""
    import statsmodels.api as sm

    t, x = complete_tally(1, 30, 8)
    queries, raters = x.shape
    mean, of_query, of_rater = x.mean(), x.mean(axis=1, keepdims=True), x.mean(axis=0)
    ms_query = raters * ((of_query - mean) ** 2).sum() / (queries - 1)
    ms_rater = queries * ((of_rater - mean) ** 2).sum() / (raters - 1)
    ms_left = ((x - of_query - of_rater + mean) ** 2).sum() / ((queries - 1) * (raters - 1))
    assert min(ms_query, ms_rater) > ms_left
    variance, free = slow_spread(influences(slow_votes(t, 0, micro=True)), Population.RATERS)
    assert variance == pytest.approx((ms_query + ms_rater - ms_left) / (queries * raters), rel=1e-12)
    satterthwaite = (ms_query + ms_rater - ms_left) ** 2 / (
        (ms_query + ms_left) ** 2 / (queries - 1)
        + (ms_rater + ms_left) ** 2 / (raters - 1)
        + ms_left**2 / ((queries - 1) * (raters - 1))
    )
    assert free == pytest.approx(satterthwaite, rel=1e-12)
    groups = np.repeat(np.arange(queries), raters)
    fitted = sm.OLS(x.ravel(), np.ones(x.size)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    variance, _ = slow_spread(influences(slow_votes(t, 0, micro=True)), Population.THESE)
    assert np.sqrt(variance) == pytest.approx(float(fitted.bse[0]), rel=1e-12)


def test_votes_all_alike_have_an_interval_of_some_width() -> None:
    items = intruder_set(12)
    cast = votes([(name, i.item_no, max(i.own)) for name in ("ann", "bob") for i in items.items])
    for variant in scores(tally(items, cast)).variants:
        assert (variant.micro.value, variant.micro.interval.high) == (1.0, 1.0)
        assert variant.micro.interval.low == pytest.approx(24 / (24 + Z_95**2), abs=1e-12)  # of 24 votes


def test_few_queries_have_neither_interval_nor_verdict() -> None:
    for queries in (FEWEST_QUERIES - 1, FEWEST_QUERIES):
        items = intruder_set(queries)
        cast = votes([(name, i.item_no, i.item_no % 4) for name in "abcdef" for i in items.items])
        refused = queries < FEWEST_QUERIES
        counted = tally(items, cast)
        for estimate in (v.micro for v in scores(counted).variants):
            assert (estimate.interval is None) == refused == bool(estimate.refusal)
        (test,) = pair_tests(counted)
        assert (test.p_value is None) == (test.interval is None) == refused == bool(test.refusal)


def test_whom_results_speak_of() -> None:
    """Five raters speak of raters in general; four, and five of whom one gave most of the votes, of themselves."""
    items = intruder_set(40)
    hit = {i.item_no: max(i.own) if i.item_no % 5 < 3 else other_than(max(i.own)) for i in items.items}

    def population(answered: list[int]) -> Population:
        cast = [(f"r{r}", item.item_no, hit[item.item_no]) for r, n in enumerate(answered) for item in items.items[:n]]
        return scores(tally(items, votes(cast))).population

    assert population([30] * 5) is Population.RATERS
    assert population([30, 30, 30, 30, 20, 10]) is Population.RATERS
    assert population([30] * 4) is Population.THESE
    assert population([79, 5, 5, 5, 5]) is Population.THESE
    hit = {i.item_no: max(i.own) for i in items.items}
    assert population([30] * 12) is Population.THESE, "all right: a few hopeless raters would not show"


# --- tests of two variants


@pytest.mark.heavy
@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10_000), st.sampled_from(Task), st.sampled_from([3, 6]))
@example(3514, Task.INTRUDER, 3)  # votes so alike that one vote's influence is more than their spread
def test_a_test_is_that_of_a_slow_loop(seed: int, task: Task, raters: int) -> None:
    """The mean over queries and ranks of the difference of shares, by loops, over its standard error."""
    t = random_tally(seed, task, items=36, raters=raters)
    t = replace(t, items=tuple(replace(item, k=(1, 5)[item.item_no % 2]) for item in t.items))
    corrected = []
    for test in pair_tests(t):
        a, b = t.variants.index(test.first), t.variants.index(test.second)
        units: dict[tuple[str, int], list[int]] = {}
        for i, item in enumerate(t.items):
            units.setdefault((item.query.text, item.k), []).append(i)

        def with_votes(unit: list[int], v: int) -> list[int]:
            return [i for i in unit if t.items[i].own[v] != NOT_ASKED and (t.chosen[i] >= 0).any()]

        both = [u for u in units.values() if with_votes(u, a) and with_votes(u, b)]
        assert test.compared == len(both)
        parts: list[Votes] = []
        of_votes: dict[tuple[int, int], float] = {}  # a vote counts for both variants
        for v in (a, b):
            cast = []
            for unit in both:
                items = with_votes(unit, v)
                for i in items:
                    own = [(r, t.chosen[i, r] == t.items[i].own[v]) for r in range(raters) if t.chosen[i, r] >= 0]
                    weight = 1 / len(own) / len(items) / len(both)
                    cast += [(t.items[i].query.text, r, weight, float(hit)) for r, hit in own]
                    for r, _ in own:
                        of_votes[i, r] = of_votes.get((i, r), 0.0) + weight / 2
            parts.append(cast)
        difference = slow_mean(parts[0]) - slow_mean(parts[1])
        assert test.difference == pytest.approx(difference, abs=1e-12)
        queries = len({query for query, _, _, _ in parts[0]})
        assert test.queries == queries
        if queries < FEWEST_QUERIES:
            assert test.p_value is None
            continue
        influence = [(q, r, w / 2, m) for q, r, w, m in influences(parts[0])]
        influence += [(q, r, w / 2, -m) for q, r, w, m in influences(parts[1])]
        variance, free = slow_spread(influence, test.population)
        variance = max(variance, sum(weight**2 for weight in of_votes.values()) ** 2)  # one vote's influence
        p = 2 * student.sf(abs(difference) / np.sqrt(variance), free)
        assert test.p_value == pytest.approx(p, abs=1e-9)
        half = student.ppf(0.975, free) * np.sqrt(variance)
        assert test.interval is not None
        assert test.interval.high == pytest.approx(min(1.0, difference + half), abs=1e-9)
        corrected.append((test.p_value, test.p_corrected))
    if corrected:
        expected = multipletests([p for p, _ in corrected], method="holm")[1]
        assert [c for _, c in corrected] == pytest.approx(list(expected))


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


def test_p_is_uniform_where_two_variants_are_alike() -> None:
    """Here of these raters alone; test_promises.py has raters in general."""
    rng = np.random.default_rng(2)
    p = np.array([pair_tests(simulated(rng, [0.6, 0.6], 25, 3, 1.0))[0].p_value for _ in range(150)])
    assert kstest(p, "uniform").pvalue > 0.01


def test_p_is_small_where_two_variants_differ() -> None:
    rng = np.random.default_rng(4)
    (test,) = pair_tests(simulated(rng, [0.8, 0.4], 25, 10, 0.5))
    assert test.difference > 0.2
    assert test.p_corrected < 0.01
