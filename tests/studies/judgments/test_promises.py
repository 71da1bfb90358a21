"""What intervals and tests of votes promise, by simulation: raters and queries differ, and have tastes of their own.

Raters find intruders with the chance of a logistic model: a skill, how hard the query is, how good the rater is, and
per variant a taste of the rater and a fit of the query. Cells of ``make trust`` print what docs/statistics.md shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from blindspot.numerics.statistics import votes as voting
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.votes import FEWEST_VOTES, Population
from blindspot.studies.judgments.scoring import pair_tests, scores
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import NOT_ASKED, Item, Query, Task
from blindspot.types import Float64
from blindspot.variants import Variant

NORMAL = norm.ppf((np.arange(4_001) + 0.5) / 4_001)  # a standard normal, as equally likely values
FEW_NORMAL = norm.ppf((np.arange(201) + 0.5) / 201)
MOST_FALSE = 0.065


@dataclass(frozen=True)
class World:
    """Standard deviations on the logistic scale: of queries, of raters, of a rater's taste and a query's fit."""

    easy: float = 0.0
    good: float = 0.0
    taste: float = 0.0
    fit: float = 0.0

    @property
    def all_of_them(self) -> float:
        return float(np.sqrt(self.easy**2 + self.good**2 + self.taste**2 + self.fit**2))


def chance(logit: Float64) -> Float64:
    return np.asarray(1 / (1 + np.exp(-logit)))


@cache
def skill_for(precision: float, spread: float) -> float:
    """The skill with which so large a share is found, over all raters and queries."""
    return float(brentq(lambda skill: chance(skill + spread * NORMAL).mean() - precision, -20, 20))


@cache
def intruder_tally(variants: int, queries: int, raters: int) -> Tally:
    """Items without votes, one per query and variant."""
    items = [
        Item(q * variants + v, Query(f"q{q}"), "", None, tuple("abcd"), tuple(0 if v == o else NOT_ASKED for o in own))
        for q in range(queries)
        for own in [range(variants)]
        for v in own
    ]
    names = tuple(Variant(f"v{v}", "none") for v in range(variants))
    empty = np.full((len(items), raters), -2, dtype=np.int64)
    return Tally(Task.INTRUDER, names, tuple(items), tuple(f"r{r}" for r in range(raters)), empty)


def voted(rng: np.random.Generator, empty: Tally, chances: Sequence[Float64]) -> Tally:
    """Votes with these chances ``[q, r]`` per variant."""
    found = np.stack([rng.random(c.shape) < c for c in chances], axis=1).reshape(empty.chosen.shape)
    return replace(empty, chosen=np.where(found, 0, 1))


# --- intervals


def share_of(hits: Float64) -> tuple[Estimate, Population]:
    """The interval of complete votes ``[q, r]``, as ``scores`` computes it."""
    votes = np.ones_like(hits)
    mean = voting.micro(hits, votes)
    assert mean is not None
    population, _ = voting.population([votes], [mean.value])
    return voting.share(mean, np.arange(len(hits)), population), population


def coverage(precision: float, world: World, queries: int, raters: int, simulations: int) -> float:
    """How often the interval holds the truth of whom it speaks: raters in general, or these raters."""
    rng = np.random.default_rng([queries, raters, round(1_000 * precision)])
    skill = skill_for(precision, world.all_of_them)
    easiness = world.easy * FEW_NORMAL[:, np.newaxis]
    held = 0
    for _ in range(simulations):
        good = world.good * rng.normal(size=raters)
        easy = world.easy * rng.normal(size=(queries, 1))
        chances = chance(skill + easy + good)
        found, population = share_of((rng.random(chances.shape) < chances).astype(np.float64))
        these = population is Population.THESE
        truth = float(chance(skill + good + easiness).mean()) if these else precision
        assert found.interval is not None
        assert found.interval.high > found.interval.low
        held += found.interval.low <= truth <= found.interval.high
    return held / simulations


def coverage_of_best(variants: int, queries: int, raters: int, world: World, simulations: int) -> float:
    """The same of the best of some variants that are alike."""
    rng = np.random.default_rng([variants, queries, raters])
    skill, empty = skill_for(0.6, world.all_of_them), intruder_tally(variants, queries, raters)
    easiness = np.sqrt(world.easy**2 + world.fit**2) * FEW_NORMAL[:, np.newaxis]
    held = 0
    for _ in range(simulations):
        good = world.good * rng.normal(size=raters)
        both = skill + good + world.easy * rng.normal(size=(queries, 1))
        fits = world.fit * rng.normal(size=(variants, queries, 1))
        found = scores(voted(rng, empty, [chance(both + fit) for fit in fits]))
        truth = 0.6 if found.population is Population.RATERS else float(chance(skill + good + easiness).mean())
        best = max((one.as_best for one in found.variants if one.as_best), key=lambda one: one.value)
        assert best.interval is not None
        held += best.interval.low <= truth <= best.interval.high
    return held / simulations


WORLDS = (World(), World(easy=1), World(easy=1, good=1), World(easy=1, good=1.5))


@pytest.mark.parametrize(
    ("precision", "world", "queries", "raters"),
    [
        (0.6, World(), 25, 5),  # alike
        (0.6, World(easy=1, good=1), 25, 5),
        (0.9, World(easy=1, good=1.5), 25, 5),  # a few hopeless ones among many good raters: for these raters
        (0.6, World(easy=1, good=1), 25, 2),  # a bootstrap over two raters held it in 81% of cases
        (0.97, World(easy=1), 60, 1),
    ],
)
def test_intervals_hold_the_truth_of_whom_they_speak(precision: float, world: World, queries: int, raters: int) -> None:
    assert 0.91 <= coverage(precision, world, queries, raters, 400) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("raters", [1, 2, 3, 5, 12, 20])
@pytest.mark.parametrize("precision", [0.6, 0.9, 0.97])
def test_coverage(precision: float, raters: int) -> None:
    for queries in (10, 25, 60):
        if queries * raters < FEWEST_VOTES:
            assert share_of(np.ones((queries, raters)))[0].refusal, "so few votes take too few values"
            continue
        cells = [coverage(precision, world, queries, raters, 4_000) for world in WORLDS]
        print(f"Judgment, precision {precision}, {raters} raters, {queries} queries: coverage {cells}", flush=True)
        assert min(cells) >= 0.92
        assert max(cells) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("variants", [2, 3, 6])
def test_coverage_of_the_best(variants: int) -> None:
    cells = [
        coverage_of_best(variants, queries, raters, world, 400)
        for queries, raters in ((10, 3), (25, 8))
        for world in (World(fit=1), World(easy=0.5, good=0.5, fit=0.5))
    ]
    print(f"Judgment, best of {variants}: coverage {cells}", flush=True)
    assert min(cells) >= 0.92


# --- tests


def false_verdicts(precision: float, world: World, queries: int, raters: int, simulations: int) -> float:
    """How often two variants of one precision are told apart."""
    rng = np.random.default_rng([queries, raters, round(1_000 * precision)])
    skill = skill_for(precision, world.all_of_them)
    empty = intruder_tally(2, queries, raters)
    false = 0
    for _ in range(simulations):
        both = skill + world.easy * rng.normal(size=(queries, 1)) + world.good * rng.normal(size=raters)
        tastes = world.taste * rng.normal(size=(2, raters))
        if raters < 5:  # of these raters: to them the two are alike
            tastes[1] = tastes[0]
        fits = world.fit * rng.normal(size=(2, queries, 1))
        drawn = voted(rng, empty, [chance(both + taste + fit) for taste, fit in zip(tastes, fits, strict=True)])
        (test,) = pair_tests(drawn)
        assert test.p_value is not None
        assert test.interval is not None
        assert (test.p_value < ALPHA) == (not test.interval.low <= 0 <= test.interval.high), "one rule"
        false += test.p_value < ALPHA
    return false / simulations


TASTES = (World(0.5, 0.5), World(0.5, 0.5, fit=1), World(0.5, 0.5, taste=1), World(0.5, 0.5, taste=1.5, fit=0.5))


def test_raters_with_tastes_of_their_own_are_no_difference() -> None:
    """Labels exchanged within items told the two apart in 44% of such cases."""
    assert false_verdicts(0.6, World(0.5, 0.5, taste=1.5, fit=0.5), 25, 8, 250) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("raters", [1, 3, 5, 8, 20])
@pytest.mark.parametrize("precision", [0.6, 0.9])
def test_false_verdicts(precision: float, raters: int) -> None:
    for queries in (10, 25, 60):
        cells = [false_verdicts(precision, world, queries, raters, 2_000) for world in TASTES]
        print(f"Judgment, test, precision {precision}, {raters} raters, {queries} queries: false {cells}", flush=True)
        assert max(cells) <= MOST_FALSE


@cache
def comparative_tally(queries: int, raters: int) -> Tally:
    """Two variants with a candidate each, at three ranks of every query."""
    items = [
        Item(3 * q + place, Query(f"q{q}"), "", k, ("a", "b"), (0, 1))
        for q in range(queries)
        for place, k in enumerate((1, 5, 50))
    ]
    names = tuple(Variant(name, "none") for name in "ab")
    empty = np.full((len(items), raters), -2, dtype=np.int64)
    return Tally(Task.COMPARATIVE, names, tuple(items), tuple(f"r{r}" for r in range(raters)), empty)


def false_of_ranks(queries: int, raters: int, world: World, simulations: int) -> float:
    """Which of two is preferred goes with the query, at all its three ranks alike, and with the rater."""
    rng = np.random.default_rng([queries, raters])
    empty = comparative_tally(queries, raters)
    false = 0
    for _ in range(simulations):
        of_query = np.repeat(world.fit * rng.normal(size=queries), 3)[:, np.newaxis]
        taste = world.taste * rng.normal(size=raters) * (raters >= 5)
        drawn = replace(empty, chosen=(rng.random((3 * queries, raters)) < chance(of_query + taste)).astype(np.int64))
        (test,) = pair_tests(drawn)
        assert (test.compared, test.queries) == (3 * queries, queries)
        assert test.p_value is not None
        false += test.p_value < ALPHA
    return false / simulations


def test_three_ranks_of_a_query_are_not_independent() -> None:
    """Taken for independent they told apart in 21% of the cases what is alike."""
    assert false_of_ranks(25, 4, World(fit=2), 250) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("raters", [1, 4, 5, 12])
def test_false_verdicts_over_ranks(raters: int) -> None:
    for queries in (10, 25, 60):
        cells = [false_of_ranks(queries, raters, world, 2_000) for world in (World(), World(fit=1, taste=1))]
        print(f"Judgment, test, three ranks, {raters} raters, {queries} queries: false {cells}", flush=True)
        assert max(cells) <= MOST_FALSE
