"""Intervals and tests of shares of words and cases, by simulation: the lines of the table in ``docs/statistics.md``.

Cases share words: an agent does something to several things, an outlier stands in several groups. What a model makes of
a word is the same in all of its cases, and drawn anew for each model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from blindspot.diagnostics.words.cases import EVENTS, OUTLIERS
from blindspot.diagnostics.words.categorization import categorise
from blindspot.diagnostics.words.item_scores import by_class
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence, p_values, share
from blindspot.types import CancelToken, Float64, Int64, no_progress

Rng = np.random.Generator
Draw = Callable[[], Float64]


def kept(draw: Draw, known: Dependence, truth: float, repetitions: int) -> tuple[float, float]:
    """How often the interval of a share holds the truth, and how often one of two models alike is called better."""
    held = called = 0
    for _ in range(repetitions):
        one, other = draw(), draw()
        found = share(one, known).interval
        assert found is not None
        held += found.low <= truth <= found.high
        called += p_values((one - other)[:, np.newaxis], known)[0] < 0.05
    return held / repetitions, called / repetitions


def test_cases_that_share_a_word_are_dependent() -> None:
    """A common agent joins the events of two verbs, and a common word the cases of two groups."""
    alone = pd.DataFrame({"verb": list("abcdefghijklmn") * 2, "agent": [f"agent {n}" for n in range(28)]})
    assert EVENTS.share(np.tile([0.0, 1.0], 14), alone).independent == "14 independent groups of events"
    alone.loc[1, "agent"] = "agent 0"
    assert EVENTS.dependence(alone).units == 13
    groups = pd.DataFrame({"group_name": list("abcdefghijklmn"), "outlier": [str(n) for n in range(14)]})
    groups["words"] = [f"{name} one; {name} two" for name in groups["group_name"]]
    assert OUTLIERS.share(np.zeros(14), groups).independent == "14 independent groups of cases"
    groups.loc[13, "words"] = "a One; n two"
    assert OUTLIERS.dependence(groups).units == 13
    groups.loc[8, "outlier"] = "4"
    assert OUTLIERS.dependence(groups).units == 12


def test_eight_groups_that_share_an_outlier_or_three_are_enough() -> None:
    """As in 8-8-8: where texts are what is independent, they are worth as many as they are said to be."""
    cases = pd.DataFrame({"group_name": np.repeat(list("abcdefgh"), 8), "outlier": [str(n) for n in range(64)]})
    cases["words"] = cases["group_name"] + " one; " + cases["group_name"] + " two"
    cases.loc[[8, 16, 17], "outlier"] = ["0", "1", "2"]
    found = OUTLIERS.share(np.tile([0.0, 1.0], 32), cases)
    assert found.interval is not None
    assert found.independent == "69 independent groups and outliers, worth 8 of equal size"
    uneven = Dependence.of_groups(np.repeat(np.arange(8), (10, 8, 8, 8, 8, 8, 8, 7)), Unit.EXAMPLES)
    assert uneven.refusal.startswith("they are worth 7 "), "not 8, and fewer than 8"


# --- events, as many as DTFit has


def of_events(rng: Rng) -> tuple[Int64, Int64, pd.DataFrame]:
    """Verbs and agents of 395 events, about as often as in DTFit."""
    verbs, agents = (rng.choice(n, 395, p=rng.dirichlet(np.full(n, 2.0))) for n in (96, 167))
    rows = pd.DataFrame({"verb": [f"verb {v}" for v in verbs], "agent": [f"agent {a}" for a in agents]})
    return verbs, agents, rows


@pytest.mark.slow
@pytest.mark.parametrize(("of_verbs", "of_agents"), [(0.5, 0.0), (0.3, 0.3), (0.0, 0.4)])
def test_events_of_a_verb_or_an_agent_are_dependent(of_verbs: float, of_agents: float) -> None:
    rng = np.random.default_rng([len("events"), int(10 * of_verbs), int(10 * of_agents)])
    verbs, agents, rows = of_events(rng)

    def draw() -> Float64:
        effects = of_verbs**0.5 * rng.normal(size=96)[verbs] + of_agents**0.5 * rng.normal(size=167)[agents]
        return np.asarray(effects + (1 - of_verbs - of_agents) ** 0.5 * rng.normal(size=395) > -0.5, dtype=np.float64)

    covered, called = kept(draw, EVENTS.dependence(rows), float(norm.cdf(0.5)), 1_000)
    print(f"events, {of_verbs:g} the verbs', {of_agents:g} the agents': {covered:.3f}, {called:.3f}")
    assert 0.92 <= covered <= 0.98
    assert called <= 0.065


# --- outliers: vectors that differ in how near all others they are


def of_outliers(rng: Rng, groups: int, outliers: int, words: int, strays: int) -> tuple[Int64, pd.DataFrame]:
    """Words of the cases of some groups of eight, the outlier first ``[m, 9]``; drawn from so many words and strays."""
    members = np.stack([rng.choice(words, 8, replace=False) for _ in range(groups)])
    strange = words + np.stack([rng.choice(strays, outliers, replace=False) for _ in range(groups)])
    cases = np.column_stack([strange.ravel(), np.repeat(members, outliers, axis=0)])
    rows = pd.DataFrame(
        {
            "group_name": [f"group {place // outliers}" for place in range(len(cases))],
            "outlier": [f"word {number}" for number in cases[:, 0]],
            "words": ["; ".join(f"word {number}" for number in row) for row in cases[:, 1:].tolist()],
        }
    )
    return cases.astype(np.int64), rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "outliers", "words", "strays"), [(8, 8, 2_000, 600), (120, 5, 20_000, 250), (120, 5, 5_000, 250)]
)
def test_cases_of_a_group_or_an_outlier_are_dependent(groups: int, outliers: int, words: int, strays: int) -> None:
    rng = np.random.default_rng([groups, outliers, words])
    cases, rows = of_outliers(rng, groups, outliers, words, strays)

    def draw() -> Float64:
        vectors = rng.normal(size=(words + strays, 20))
        vectors[:, 0] += rng.normal(1, 1, size=len(vectors)) * np.sqrt(5)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        own = vectors[cases]
        near = np.einsum("mkd,md->mk", own, own.sum(axis=1))
        return (near[:, 0] < near[:, 1:].min(axis=1)).astype(np.float64)

    known = OUTLIERS.dependence(rows)
    assert not known.refusal
    covered, called = kept(draw, known, 1 / 9, 500)
    print(f"outliers, {groups} groups, {words} words, {known.independent}: {covered:.3f}, {called:.3f}")
    assert 0.92 <= covered <= 0.99
    assert called <= 0.065


# --- categories


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "both"), [(8, 0.0), (20, 0.0), (20, 0.1)])
def test_words_of_a_class_are_dependent(classes: int, both: float) -> None:
    """Some words are of two classes. Classes differ in how close their words are."""
    rng = np.random.default_rng([classes, int(10 * both)])
    each = classes  # words
    n = classes * each
    of, other = np.repeat(np.arange(classes), each), rng.integers(classes, size=n)
    other = np.where(rng.random(n) < both, other, of)
    membership = np.zeros((n, classes), dtype=np.bool_)
    membership[np.arange(n), of] = membership[np.arange(n), other] = True

    def draw() -> Float64:
        middles, wide = rng.normal(size=(classes, 20)), 0.9 * np.exp(0.5 * rng.normal(size=classes))
        vectors = (middles[of] + middles[other]) / 2 + wide[of][:, np.newaxis] * rng.normal(size=(n, 20))
        found = categorise(vectors, membership, no_progress, CancelToken())
        return membership[np.arange(n), found.named[found.clusters]].astype(np.float64)

    truth = float(np.mean([draw().mean() for _ in range(150)]))
    covered, called = kept(draw, by_class(of.astype(str)), truth, 150)
    print(f"purity of {classes} classes, {both:g} of the words in two: {covered:.3f}, {called:.3f}")
    assert 0.90 <= covered <= 0.99
    assert called <= 0.065
