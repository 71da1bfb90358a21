"""Chance over the collection as a whole: models in which nothing is to be found, under all diagnostics at once.

Rows that are made up: the models are as good as the baseline, and as good as is asked for. Real runs
(``tests.support.null_stores``): random vectors, shuffled labels, a model against itself. Findings of all diagnostics
are corrected together, as on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from blindspot.diagnostics.evalrank import evidence as evalrank
from blindspot.diagnostics.evalrank.evidence import Ranked, axes_of
from blindspot.diagnostics.evalrank.outranking import FirstRanked, Pairs
from blindspot.diagnostics.evalrank.pairs import RunRows
from blindspot.diagnostics.frequency.definition import ENTRY as FREQUENCY
from blindspot.diagnostics.frequency.evidence import evidence as of_frequency
from blindspot.diagnostics.geometry.definition import ENTRY as GEOMETRY
from blindspot.diagnostics.geometry.evidence import evidence as of_geometry
from blindspot.diagnostics.heros import evidence as heros
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.diagnostics.similarity.definition import ENTRY as SIMILARITY
from blindspot.diagnostics.similarity.evidence import evidence as of_similarity
from blindspot.diagnostics.transfer.definition import ENTRY as TRANSFER
from blindspot.diagnostics.transfer.evidence import evidence as of_transfer
from blindspot.diagnostics.words import analogy, categorization
from blindspot.diagnostics.words.evidence import of_analogies, of_categories
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.statistics.confusion import estimates
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.findings import Finding, Level
from blindspot.studies.findings import wording
from blindspot.studies.findings.collection import discoveries
from tests.support.finding_runs import run_record
from tests.support.made_up_store import MadeUp
from tests.support.null_stores import Null, null_world

STORES = 200
LEVEL_OF_A_TEST = 0.05
MODELS = ("one", "other")
ALL = (*MODELS, "random-projection")
RUNS = {d: {name: run_record(d, name, metrics={"background": 1_000.0}) for name in ALL} for d in ("evalrank", "heros")}

Rng = np.random.Generator


# --- EvalRank: ranks that have nothing to do with the pairs

M, BACKGROUND = 100, 1_000
_NUMBERS = np.arange(M, dtype=np.int64)
_LONG = ["one two three four five six seven " if i % 2 else "" for i in range(M)]
PAIRS = Pairs(
    _NUMBERS,
    _NUMBERS,
    _NUMBERS + M,
    [f"{long}some words about {i}" for i, long in enumerate(_LONG)],
    [f"{long}{'others about' if i % 4 > 1 else 'some words about'} {i}" for i, long in enumerate(_LONG)],
)
AXES = axes_of(PAIRS)


def of_evalrank(rng: Rng) -> Iterable[Finding]:
    runs = RUNS["evalrank"]
    rows = {run.run_id: _ranks(rng) for run in runs.values()}
    own = [runs[name] for name in MODELS]
    found = Ranked(own, [runs[ALL[-1]]], PAIRS, rows, AXES)
    for run in own:
        missed = np.flatnonzero(rows[run.run_id].filtered.greater > 0)
        items = rng.integers(0, BACKGROUND, len(missed))
        texts = {int(item): f"words about {rng.integers(M)}" for item in items}
        yield from wording.findings(evalrank.of_run(run, found, FirstRanked(missed, items, texts, BACKGROUND)))
    yield from wording.findings(evalrank.of_baselines(found))


def _ranks(rng: Rng) -> RunRows:
    above = np.where(rng.random(M) < 0.5, 0, rng.integers(1, BACKGROUND, M))
    counts = RankCounts(np.zeros(M), above, np.zeros_like(above))
    return RunRows(_NUMBERS, counts, counts)


# --- HEROS: orderings that are coin tosses, half of the noise shared by the models

SUBSETS = ("synonym", "antonym", "negation_main", "negation_antonym", "random_mlm", "typo")


def of_heros(rng: Rng) -> Iterable[Finding]:
    common = rng.normal(size=(60, len(SUBSETS)))
    runs = RUNS["heros"]
    given = {
        run.run_id: Cosines(SUBSETS, 0.8 + 0.01 * (common + rng.normal(size=common.shape))) for run in runs.values()
    }
    own = [runs[name] for name in MODELS]
    for run in own:
        yield from wording.findings(heros.of_run(run, given[run.run_id]))
    yield from wording.findings(heros.of_baselines(own, [runs[ALL[-1]]], given))


# --- the others, as rows of a made-up store

N = 100


def similarity(rng: Rng) -> MadeUp:
    """Models that follow people as little as is asked for, and texts that pairs share; few pairs are at either end."""
    first = rng.integers(0, N, N)
    second = (first + rng.integers(1, N, N)) % N
    gold = np.append(rng.uniform(1.1, 3.9, N - 2), (0.0, 5.0))
    negated = rng.uniform(size=N) < 0.2
    about = pd.DataFrame({"item_no": np.arange(N), "set_name": "all", "gold": gold, "first_no": first})
    about["first"] = [f"text {i} is {'not ' if n else ''}here" for i, n in zip(first, negated, strict=True)]
    store = MadeUp(SIMILARITY, about.assign(second_no=second, second=[f"text {i} is here" for i in second]))
    for name in ALL:
        seen = 0.21 * (gold - gold.mean()) / gold.std() + np.sqrt(1 - 0.21**2) * rng.normal(size=N)
        rho = float(pd.Series(seen).corr(pd.Series(gold), method="spearman"))
        store.add(name, {"similarity": 0.5 + 0.1 * seen}, {"spearman": rho}, {"pairs": N, "pairs_covered": N})
    return store


def geometry(rng: Rng) -> MadeUp:
    """Matches as near as is asked for, and as often far apart."""
    about = pd.DataFrame({"item_no": np.arange(N), "query_no": np.arange(N), "match_no": N + np.arange(N)})
    store = MadeUp(GEOMETRY, about.assign(query="a query", match="a match"))
    scores = {"anisotropy": 0.0, "background": 2.0 * N, "sampled_items": 2.0 * N, "hubness_cos_sample": 1.0}
    for name in ALL:
        is_far = rng.uniform(size=N) < 0.1
        apart = np.where(is_far, 2.2, (2 * 0.9 - 0.1 * 2.2) / 0.9) + 0.1 * rng.normal(size=N) * ~is_far
        store.add(name, {"squared_distance": apart}, {**scores, "zero_vectors": 0.0})
    return store


def frequency(rng: Rng) -> MadeUp:
    """Vectors that know no frequency."""
    store = MadeUp(FREQUENCY, pd.DataFrame({"item_no": []}))
    for name in ALL:
        accuracy = rng.binomial(500, 0.5) / 500
        store.add(name, {"threshold": []}, {"accuracy": accuracy, "words_per_class": 250})
    return store


def transfer(rng: Rng) -> MadeUp:
    """Models a tenth of the way from the most frequent class to all right."""
    label = (rng.uniform(size=N) < 0.5).astype(np.int32)
    classes = np.array(["no", "yes"])
    about = pd.DataFrame({"item_no": np.arange(N), "label": classes[label], "split": ""})
    store = MadeUp(TRANSFER, about.assign(first=[f"text {i}" for i in range(N)], second=None), "task")
    majority = float(max(label.mean(), 1 - label.mean()))
    for name in ALL:
        answered = np.where(rng.uniform(size=N) < majority + 0.1 * (1 - majority), label, 1 - label).astype(np.int32)
        accuracy, _ = estimates(label, answered, Dependence.of_examples(np.arange(N)), 2)
        assert accuracy.interval is not None
        scores = {
            "accuracy": accuracy.value,
            "accuracy_low": accuracy.interval.low,
            "accuracy_high": accuracy.interval.high,
            "majority": majority,
            "tested": float(N),
            "trained": float(N),
            "overlap": 0.0,
        }
        rows = {"predicted": classes[answered], "probability": np.linspace(0.5, 1, N), "fold": 0, "repeated": 0}
        counts = {"examples": N, "examples_covered": N, "items": N, "items_covered": N}
        store.add(name, rows, scores, counts)
    return store


PER_SECTION = 9
QUESTIONS = pd.DataFrame(
    [
        {"section": section, "a": f"{section}{i}", "b": f"{section}{i}s", "c": f"{section}{j}", "d": f"{section}{j}s"}
        for section in ("capital", "plural")
        for i in range(PER_SECTION)
        for j in range(PER_SECTION)
        if i != j
    ]
)
QUESTIONS["item_no"] = range(len(QUESTIONS))


def analogies(rng: Rng) -> MadeUp:
    """Relations at the least that is asked for; a pair of words is easy or hard in all of its questions."""
    store = MadeUp(analogy.ENTRY, QUESTIONS)
    n = len(QUESTIONS)
    for name in ALL:
        own = {word: rng.normal() for word in sorted({*QUESTIONS["a"], *QUESTIONS["c"]})}
        ease = QUESTIONS["a"].map(own).to_numpy() + QUESTIONS["c"].map(own).to_numpy()
        right = ease + rng.normal(size=n) < np.sqrt(3) * float(norm.ppf(0.25))
        rows = {"greater": np.where(right, 0, 3), "ties": 0, "score": 0.0, "best": 0.0}
        rows["predicted"] = np.where(right, QUESTIONS["d"], "wrong")
        store.add(name, rows, {"accuracy": float(right.mean())})
    return store


CLASSES, SIZE = 12, 8
WORDS = pd.DataFrame({"class": [f"class{i // SIZE}" for i in range(CLASSES * SIZE)], "item_no": range(CLASSES * SIZE)})
WORDS["word"] = [f"word{i}" for i in range(CLASSES * SIZE)]


def categories(rng: Rng) -> MadeUp:
    """As pure as is asked for; some classes are easy and some hard."""
    store, true = MadeUp(categorization.ENTRY, WORDS), np.arange(CLASSES * SIZE) // SIZE
    for name in ALL:
        right = rng.uniform(size=len(true)) < rng.beta(0.28 * 3, 0.72 * 3, CLASSES)[true]
        cluster = np.where(right, true, (true + rng.integers(1, CLASSES, len(true))) % CLASSES)
        rows = {"cluster": cluster, "cluster_class": [f"class{i}" for i in cluster]}
        store.add(name, rows, {"purity": float((cluster == true).mean()), "chance": 0.2})
    return store


MADE_UP = (
    (similarity, of_similarity),
    (geometry, of_geometry),
    (frequency, of_frequency),
    (transfer, of_transfer),
    (analogies, of_analogies),
    (categories, of_categories),
)


@pytest.mark.slow
def test_chance_shows_something_in_at_most_one_of_twenty_stores_of_all_diagnostics() -> None:
    shown = uncorrected = 0
    for seed in range(STORES):
        found = _findings(np.random.default_rng([22, seed]))
        shown += any(one.finding.level is not Level.CAUTION for one in discoveries(found))
        uncorrected += any(
            one.level is not Level.CAUTION and one.p is not None and one.p <= LEVEL_OF_A_TEST for one in found
        )
    assert shown <= STORES / 20
    assert uncorrected > STORES / 4, "the models are too good for chance to matter"


def _findings(rng: Rng) -> Sequence[Finding]:
    found = [*of_evalrank(rng), *of_heros(rng)]
    for store, find in MADE_UP:
        material = store(rng).material()
        runs = [run for run in material.runs if run not in material.baselines]
        found += [one for one in wording.findings(find(material)) if one.runs[0] in runs]
    return found


# --- real runs

# Worlds of make trust, and stores in each, which share data and baselines: 200 stores. Of random vectors it is the
# model that is dealt, of shuffled labels mostly the data, and of a model against itself the data alone.
WORLDS = {Null.RANDOM_VECTORS: (5, 24), Null.SHUFFLED_LABELS: (10, 7), Null.ITSELF: (10, 1)}


def false_findings(null: Null, worlds: range, stores: int, folder: Path) -> list[bool]:
    """Whether each store shows a false strength or blind spot: of random vectors on true labels, a strength."""
    false = {Level.STRENGTH} if null is Null.RANDOM_VECTORS else {Level.STRENGTH, Level.BLIND_SPOT}
    out = []
    for seed in worlds:
        with null_world(null, seed, folder / f"{null.name}-{seed}", stores) as made:
            out += [any(one.level in false for one in found) for found in made.found()]
    return out


@pytest.mark.heavy
@pytest.mark.parametrize(
    "null", [null if null is next(iter(Null)) else pytest.param(null, marks=pytest.mark.slow) for null in Null]
)
def test_nothing_is_shown_of_a_store_in_which_there_is_nothing(null: Null, tmp_path: Path) -> None:
    assert false_findings(null, range(1), 1, tmp_path) == [False]


@pytest.mark.slow
def test_something_is_shown_of_at_most_one_of_twenty_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        null: false_findings(null, range(100, 100 + worlds), stores, tmp_path)
        for null, (worlds, stores) in WORLDS.items()
    }
    said = ", ".join(f"{null}: {sum(shown)} of {len(shown)}" for null, shown in found.items())
    with capsys.disabled():
        print(f"\nStores with something false shown: {said}", end="")
    assert sum(map(len, found.values())) == STORES
    assert sum(map(sum, found.values())) <= STORES // 20
