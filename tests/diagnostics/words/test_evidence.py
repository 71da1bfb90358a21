"""Evidence on analogies and categories: each kind where it is there and where it is not, and false ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.words import analogy, categorization
from blindspot.diagnostics.words.evidence import against_baseline, of_analogies, of_categories
from blindspot.diagnostics.words.item_scores import scores_of_categories
from blindspot.numerics.statistics.compare import compare
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.pairs import ALLOWING, Dependence, p_values
from blindspot.runs.findings import Level
from blindspot.runs.findings.baselines import AgainstBaseline
from blindspot.runs.findings.rule import Compared, Rival
from blindspot.store.repository import Repository
from tests.support.finding_runs import run_record
from tests.support.made_up_store import MadeUp, false_alarms, shown

PAIRS = {"capital": 12, "opposite": 12, "plural": 12}


def questions(pairs: Mapping[str, int] = PAIRS) -> MadeUp:
    rows = [
        {"section": section, "a": f"{section}{i}", "b": f"{section}{i}s", "c": f"{section}{j}", "d": f"{section}{j}s"}
        for section, n in pairs.items()
        for i in range(n)
        for j in range(n)
        if i != j
    ]
    return MadeUp(analogy.ENTRY, pd.DataFrame(rows).assign(item_no=range(len(rows))))


def answer(store: MadeUp, encoder: str, rates: Mapping[str, float], rng: np.random.Generator) -> None:
    """Answers with the share that is right by section; a pair of words is easy or hard in all of its questions."""
    about = store.about
    own = {word: rng.normal() for word in sorted({*about["a"], *about["c"]})}
    ease = np.array([own[a] + own[c] for a, c in zip(about["a"], about["c"], strict=True)])
    at = np.array([_quantile(rates[section]) for section in about["section"]])
    right = ease + rng.normal(size=len(about)) < np.sqrt(3) * at
    rows = {
        "greater": np.where(right, 0, 3),
        "ties": np.zeros(len(about), dtype=int),
        "predicted": np.where(right, about["d"], "wrong"),
        "score": 0.0,
        "best": 0.0,
    }
    store.add(encoder, rows, {"accuracy": float(right.mean())})


@cache
def _quantile(share: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(share))


ALL = dict.fromkeys(PAIRS, 0.5)


def test_a_relation_that_a_model_does_not_know() -> None:
    store = questions(PAIRS | {"opposite": 25})
    answer(store, "model", {"capital": 0.9, "plural": 0.9, "opposite": 1e-9}, np.random.default_rng(0))
    (found,) = shown(store, of_analogies, "relation-unknown")
    assert found.level is Level.CAUTION, "no worse than chance"
    assert found.kind == "relation-unknown-opposite"
    assert found.n == 25
    assert found.address["analogy_section"] == "opposite"
    assert [text for role, text in found.examples[0].texts if role == "answer"] == ["wrong"]
    assert len({dict(example.texts)["right"] for example in found.examples}) == 3
    (weakest,) = shown(store, of_analogies, "weakest")
    assert "'opposite'" in weakest.sentence
    answer(store, "lsa", ALL | {"opposite": 0.5}, np.random.default_rng(1))
    (found,) = [one for one in shown(store, of_analogies, "relation-unknown") if one.variants[0].encoder == "model"]
    assert found.level is Level.BLIND_SPOT, "the baseline knows it"


def test_of_few_words_it_is_counted() -> None:
    store = questions({"capital": 4, "opposite": 4})
    answer(store, "model", {"capital": 0.9, "opposite": 1e-9}, np.random.default_rng(0))
    (found,) = shown(store, of_analogies, "relation-unknown")
    assert (found.level, found.p, found.n) == (Level.CAUTION, None, 4)


def test_a_model_that_knows_all_relations_alike() -> None:
    store = questions()
    answer(store, "model", ALL, np.random.default_rng(1))
    assert [one.kind for one in shown(store, of_analogies)] == ["analogies"]
    (found,) = shown(store, of_analogies)
    assert found.level is Level.STRENGTH
    assert found.value == pytest.approx(store.runs[0].metrics["accuracy"])


def test_analogies_that_a_baseline_answers_better_or_as_well() -> None:
    for rate, kind, level in (
        (0.05, "worse-than", Level.BLIND_SPOT),
        (0.99, "better-than", Level.STRENGTH),
        (0.5, "no-better", Level.CAUTION),
    ):
        store = questions()
        rng = np.random.default_rng(2)
        answer(store, "model", dict.fromkeys(PAIRS, rate), rng)
        answer(store, "lsa", ALL, rng)
        found = [one for one in shown(store, of_analogies, kind) if one.variants[0].encoder == "model"]
        assert [one.level for one in found] == [level]


def test_no_better_is_not_said_where_the_interval_is_above_the_baseline() -> None:
    """With few classes the exact test may not find what the interval shows."""
    run, best = run_record("analogy", "model"), run_record("analogy", "lsa")
    for low, kinds in (
        (0.01, ["better-than-baseline"]),
        (0.0, ["better-than-baseline", "no-better-than-baseline"]),
        (None, ["better-than-baseline", "no-better-than-baseline"]),
    ):
        interval = None if low is None else Interval(low, 0.3)
        difference = Estimate(0.1, interval, "t", Unit.CLASSES, 6, 6.0, refusal="" if interval else "too few")
        chance = Compared(Rival.CHANCE, 0.3, 0.01)
        made = against_baseline(AgainstBaseline(0.6, 0.5, difference, 0.2, chance, run, best))
        assert [evidence.kind for evidence in made] == kinds, low


@pytest.mark.slow
def test_false_blind_spots_of_analogies_are_rare() -> None:
    """At the least that is asked for of a relation, and as good as the baseline."""
    found = questions({"capital": 9, "plural": 9})

    def null(seed: int) -> MadeUp:
        store, rng = MadeUp(analogy.ENTRY, found.about), np.random.default_rng([3, seed])
        for encoder in ("model", "lsa"):
            answer(store, encoder, dict.fromkeys(("capital", "plural"), 0.25), rng)
        return store

    assert false_alarms(null, of_analogies) <= 10


# --- categories


CLASSES, SIZE = 12, 8


def categories() -> MadeUp:
    rows = [{"class": f"class{i // SIZE}", "word": f"word{i}"} for i in range(CLASSES * SIZE)]
    return MadeUp(categorization.ENTRY, pd.DataFrame(rows).assign(item_no=range(len(rows))))


def cluster(store: MadeUp, encoder: str, rates: Sequence[float], rng: np.random.Generator, chance: float = 0.2) -> None:
    """Each word is in a cluster of its class at the class's rate, else in one of another class."""
    true = np.arange(CLASSES * SIZE) // SIZE
    right = rng.uniform(size=len(true)) < np.array(rates)[true]
    other = (true + rng.integers(1, CLASSES, len(true))) % CLASSES
    named = np.where(right, true, other)
    # Of a class with a rate of 0 there is no cluster.
    known = np.flatnonzero(np.array(rates) > 0)
    named = np.where(np.isin(named, known), named, known[0])
    rows = {"cluster": named, "cluster_class": [f"class{i}" for i in named]}
    store.add(encoder, rows, {"purity": float((named == true).mean()), "chance": chance})


def test_clusters_no_purer_than_chance_and_pure_ones() -> None:
    for rate, of_baseline, level in (
        (0.15, None, Level.CAUTION),
        (0.15, 0.7, Level.BLIND_SPOT),
        (0.8, None, Level.STRENGTH),
        (0.8, 0.3, Level.STRENGTH),
    ):
        store = categories()
        cluster(store, "model", [rate] * CLASSES, np.random.default_rng(4))
        if of_baseline is not None:
            cluster(store, "lsa", [of_baseline] * CLASSES, np.random.default_rng(5))
        (found,) = [one for one in shown(store, of_categories, "purity") if one.variants[0].encoder == "model"]
        assert found.level is level
        assert found.value == pytest.approx(store.runs[0].metrics["purity"])
        assert not shown(store, of_categories, "categories-lost")


def test_classes_without_a_cluster_are_named() -> None:
    store = categories()
    cluster(store, "model", [0.9] * (CLASSES - 2) + [0, 0], np.random.default_rng(5))
    (found,) = shown(store, of_categories, "categories-lost")
    assert found.value == pytest.approx(2 / CLASSES)
    assert "'class10', 'class11'" in found.sentence
    assert "word80" in found.examples[0].texts[1][1]


def test_a_baseline_that_sorts_words_better_or_as_well() -> None:
    for rate, kind, level in (
        (0.3, "worse-than", Level.BLIND_SPOT),
        (0.99, "better-than", Level.STRENGTH),
        (0.7, "no-better", Level.CAUTION),
    ):
        store, rng = categories(), np.random.default_rng(6)
        cluster(store, "model", [rate] * CLASSES, rng)
        cluster(store, "lsa", [0.7] * CLASSES, rng)
        found = [one for one in shown(store, of_categories, kind) if one.variants[0].encoder == "model"]
        assert [one.level for one in found] == [level]


def test_two_clusterings_are_compared_over_classes_as_findings_compare_them() -> None:
    """A word of two classes counts with the first."""
    store = categories()
    for encoder, rate, seed in (("model", 0.5, 1), ("other", 0.7, 2)):
        cluster(store, encoder, [rate] * CLASSES, np.random.default_rng(seed))
    again = store.about[store.about["item_no"] == 0].assign(**{"class": "zoo"})
    store.about = pd.concat([store.about, again], ignore_index=True)
    a, b = (own["purity"] for own in scores_of_categories(store.runs, cast(Repository, store)))
    (test,) = compare([(a, b)])
    assert (test.n, test.unit, test.test) == (CLASSES, "classes", f"sign flips of classes, {ALLOWING}")
    known = Dependence.of_groups(np.arange(CLASSES * SIZE) // SIZE, Unit.CLASSES)
    assert test.p == p_values((a.parts - b.parts)[:, np.newaxis], known)[0]
    assert a.value == a.parts.mean() == store.runs[0].metrics["purity"]


@pytest.mark.heavy
def test_false_blind_spots_of_categories_are_rare() -> None:
    """As good as the least that is asked for, and as the baseline; some classes are easy and some hard."""

    def null(seed: int) -> MadeUp:
        store, rng = categories(), np.random.default_rng([7, seed])
        for encoder in ("model", "lsa", "random-projection"):
            cluster(store, encoder, rng.beta(0.28 * 3, 0.72 * 3, CLASSES), rng)
        return store

    assert false_alarms(null, of_categories) <= 10


def test_words_without_a_vector_are_counted() -> None:
    store = categories()
    cluster(store, "model", [0.9] * CLASSES, np.random.default_rng(8))
    run = store.runs[0]
    store.add("part", store.rows[run.run_id].drop(columns="item_no"), run.metrics, {"items": 100, "items_covered": 60})
    assert [one.value for one in shown(store, of_categories, "low-coverage")] == [0.6]
