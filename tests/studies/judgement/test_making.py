"""Making a set of items, from the request to the store: against float64 and loops, and every way in which it ends."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from core.encoders.cache import EmbeddingCache
from core.errors import BlindspotError, Cancelled, InputError
from core.numerics.similarity import Metric
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.runs.spaces import open_spaces
from core.settings import Settings
from core.store.repository import Repository
from core.studies.judgement import making
from core.studies.judgement.inventories import Inventory, Ready
from core.studies.judgement.making import ItemsRequest, make
from core.studies.judgement.rules import Closeness, Rule
from core.studies.judgement.store import Judgements
from core.studies.judgement.types import NOT_ASKED, Item, Query, Task
from core.texts import near_duplicate_key
from core.types import CancelToken, Float64
from tests.support.making_world import (
    CENTERED,
    COUNTS,
    NEITHER,
    OWN,
    WORDS,
    WORDS_300,
    A,
    B,
    register,
)
from tests.support.small_world import SMALL_PAIRS, register_dataset

INTRUDER = ItemsRequest(Task.INTRUDER, (A, B), "words-300", inventory=OWN)
COMPARATIVE = dataclasses.replace(INTRUDER, task=Task.COMPARATIVE)


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def float64_vectors(settings: Settings) -> list[Float64]:
    return [s.vectors.astype(np.float64) for s in open_spaces([A, B], WORDS_300, settings)]


def slow_lists(vectors: list[Float64], query: int, metric: Metric) -> list[list[int]]:
    """Per variant the neighbours of a word, the nearest first, twins passed over."""
    usable = [i for i in range(len(WORDS)) if metric is Metric.L2 or all(np.abs(v[i]).any() for v in vectors)]
    out = []
    for v in vectors:

        def similarity(i: int, v: Float64 = v) -> float:
            if metric is Metric.L2:
                return 1 / (1 + float(np.sqrt(((v[i] - v[query]) ** 2).sum())))
            return float(v[i] @ v[query] / np.sqrt((v[i] @ v[i]) * (v[query] @ v[query])))

        near: list[int] = []
        seen = {near_duplicate_key(WORDS[query])}
        for i in sorted((i for i in usable if i != query), key=lambda i: (-round(similarity(i), 12), i)):
            if near_duplicate_key(WORDS[i]) not in seen:
                seen.add(near_duplicate_key(WORDS[i]))
                near.append(i)
        out.append(near)
    return out


def slow_intruder(near: list[int], query: int, rule: Rule) -> tuple[set[str], str] | None:
    """The four words and the intruder."""
    mean = float(np.mean([COUNTS[i] for i in (query, *near[:2])]))
    for i in near[99:]:
        apart = abs(np.log10(COUNTS[i]) - np.log10(mean)) if rule.closeness == "log10" else abs(COUNTS[i] - mean)
        if apart <= rule.tolerance:
            return {WORDS[j] for j in (query, *near[:2], i)}, WORDS[i]
    return None


@pytest.mark.parametrize(
    ("metric", "rule"),
    [(Metric.COS, Rule()), (Metric.L2, Rule(Closeness.LOG10, 0.01)), (Metric.COS, Rule.of(Closeness.COUNT))],
)
def test_intruder_items_are_those_of_loops(
    settings: Settings, repository: Repository, metric: Metric, rule: Rule
) -> None:
    made = make(dataclasses.replace(INTRUDER, metric=metric, rule=rule), settings, repository)
    vectors = float64_vectors(settings)
    expected: dict[tuple[str, int], tuple[set[str], str]] = {}
    skipped = 0
    short = 0
    for query in range(60):
        if metric is Metric.COS and not all(np.abs(v[query]).any() for v in vectors):
            short += 1  # "of" has no trigrams, so no direction
            continue
        found = [slow_intruder(near, query, rule) for near in slow_lists(vectors, query, metric)]
        if None in found:
            skipped += 1
        else:
            expected |= {(WORDS[query], v): one for v, one in enumerate(found) if one is not None}
    got = {
        (item.query.text, v): (set(item.options), item.options[own])
        for item in made.items
        for v, own in enumerate(item.own)
        if own != NOT_ASKED
    }
    assert got == expected
    assert len(got) >= 10
    assert sum(made.manifest["skipped"].values()) == skipped
    assert skipped > 0 or rule == Rule()
    assert made.manifest["unknown_total"] == short + 2
    assert made.manifest["queries"] == 60 - short


def test_comparative_items_are_those_of_loops(settings: Settings, repository: Repository) -> None:
    made = make(COMPARATIVE, settings, repository)
    vectors = float64_vectors(settings)
    got = {(i.query.text, i.k): [i.options[own] for own in i.own] for i in made.items}
    same = 0
    for query in range(60):
        if not all(np.abs(v[query]).any() for v in vectors):
            continue
        one, other = slow_lists(vectors, query, Metric.COS)
        for k in (1, 5, 50):
            words = [WORDS[one[k - 1]], WORDS[other[k - 1]]]
            same += words[0] == words[1]
            assert got.pop((WORDS[query], k), None) == (words if words[0] != words[1] else None)
    assert not got
    assert made.manifest["skipped"] == {"all variants give the same": same}


def test_a_set_says_what_decided_it_and_is_stored(settings: Settings, repository: Repository) -> None:
    request = dataclasses.replace(INTRUDER, queries=20, seed=5)
    made = make(request, settings, repository)
    store = Judgements(repository.database)
    stored = store.find_set(made.set_id)
    assert stored is not None
    assert (stored.items, stored.manifest, stored.set_id) == (made.items, made.manifest, made.set_id)
    facts = {
        "version": 2,
        "dataset": "words-300",
        "dataset_digest": WORDS_300.content_digest,
        "metric": "cos",
        "inventory": "Mine",
        "rule": {"log10": 0.1},
        "seed": 5,
        "queries": 20,
        "frequencies": "words-300",
        "corpus_size": 1e9,
    }
    assert {name: made.manifest[name] for name in facts} == facts
    assert list(made.manifest["embeddings"]) == [str(A), str(B)]
    assert made.manifest["support"] < 300, "words of two letters have no trigrams"
    assert set(NEITHER) < set(made.manifest["unknown"])
    assert made.title == "Mine · words-300", "raters see the title: it names no encoder"
    assert "zebra" in making.told(made)
    assert making.told(made).startswith(f"{len(made.items)} items of 20 queries.")


def test_the_same_request_is_the_same_set(settings: Settings, repository: Repository) -> None:
    first = make(INTRUDER, settings, repository)
    again = make(dataclasses.replace(INTRUDER, title="Another title"), settings, repository)
    assert (again.set_id, again.created_at, again.title) == (first.set_id, first.created_at, first.title)
    others = [
        dataclasses.replace(INTRUDER, seed=1),
        dataclasses.replace(INTRUDER, variants=(B, A)),
        dataclasses.replace(INTRUDER, variants=(A, CENTERED)),
        dataclasses.replace(INTRUDER, metric=Metric.L2),
        dataclasses.replace(INTRUDER, rule=Rule.of(Closeness.COUNT)),
        dataclasses.replace(INTRUDER, queries=30),
        COMPARATIVE,
    ]
    ids = {make(other, settings, repository).set_id for other in others}
    assert len(ids | {first.set_id}) == 8
    assert len(Judgements(repository.database).sets()) == 8


def test_one_variant_asks_alone_and_bands_are_of_the_query(settings: Settings, repository: Repository) -> None:
    made = make(dataclasses.replace(INTRUDER, variants=(A,)), settings, repository)
    assert all(len(i.own) == 1 and i.own[0] != NOT_ASKED for i in made.items)

    def band(item: Item) -> str:
        per_billion = COUNTS[WORDS.index(item.query.text)]
        return "rare" if per_billion < 2_500 else "medium" if per_billion < 25_000 else "frequent"

    assert [i.band for i in made.items] == [band(i) for i in made.items]
    assert len({i.band for i in made.items}) == 3


def test_far_intruders_are_found_as_if_all_words_were_ranked_at_once(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    whole = make(INTRUDER, settings, repository)
    monkeypatch.setattr(making, "FIRST_LOOK", 110)
    monkeypatch.setattr(making, "AT_ONCE", 7)
    assert make(INTRUDER, settings, repository).set_id == whole.set_id


def test_sentences_are_matched_by_length(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    request = ItemsRequest(Task.INTRUDER, (A, B), "demo-pairs", inventory=Ready.SENTENCES, queries=12)
    made = make(request, settings, repository)
    assert made.manifest["queries"] == 12
    assert made.manifest["corpus_size"] is None
    assert made.manifest["frequencies"] == "lengths in words"
    asked = Counter(i.query.text for i in made.items)
    assert 0 < len(asked) <= 12
    for item in made.items:
        assert len({near_duplicate_key(text) for text in item.options}) == 4
        for own in set(item.own) - {NOT_ASKED}:
            lengths = [len(text.split()) for text in item.options]
            mean = (sum(lengths) - lengths[own]) / 3
            assert abs(np.log10(lengths[own]) - np.log10(mean)) <= 0.1
    assert {i.band for i in made.items} <= {"short", "medium", "long"}
    with pytest.raises(InputError, match="the rule of counts is for words, and 'demo-pairs' has sentences"):
        make(dataclasses.replace(request, rule=Rule.of(Closeness.COUNT)), settings, repository)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"variants": ()}, "0 variants chosen; expected at least 1"),
        ({"variants": (A, A), "task": Task.COMPARATIVE}, "1 variant chosen; expected at least 2"),
        ({"variants": (dataclasses.replace(A, encoder="trigram"),)}, "did you mean 'trigrams'"),
        ({"variants": (dataclasses.replace(A, transform="centre"),)}, "did you mean 'center'"),
        ({"dataset": "words-30"}, "did you mean 'words-300'"),
        ({"queries": 0}, "0 queries are asked for"),
        ({"ranks": (0,)}, "the ranks are 0"),
        ({"seed": -1}, "the seed is -1"),
        ({"rule": Rule(Closeness.LOG10, -1.0)}, "the tolerance is -1"),
        ({"title": "x" * 121}, "the title has 121 characters"),
        ({"inventory": Inventory("own", "M", (Query("zebra"),), "")}, "none of the 1 queries of 'M' is an item"),
        ({"inventory": Ready.SENTENCES}, "'words-300' has no item of at least 4 words"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_encoded(
    settings: Settings, repository: Repository, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        make(dataclasses.replace(INTRUDER, **changes), settings, repository)  # type: ignore[arg-type]
    assert not EmbeddingCache(settings.embeddings).inventory().embeddings
    assert not Judgements(repository.database).sets()


def test_too_few_neighbours_are_counted_and_said(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    request = ItemsRequest(Task.INTRUDER, (A,), "small-pairs", inventory=Ready.SENTENCES)
    with pytest.raises(BlindspotError, match=r"none of the \d+ queries gives an item \(too few neighbours: \d+\)"):
        make(request, settings, repository)
    made = make(dataclasses.replace(request, task=Task.COMPARATIVE, variants=(A, B)), settings, repository)
    assert {i.k for i in made.items} <= {1, 5}
    assert made.manifest["skipped"]["too few neighbours"] >= made.manifest["queries"], "nothing is at rank 50"


def test_cancelled_work_leaves_no_set(settings: Settings, repository: Repository) -> None:
    for variant in (A, B):
        pipeline.encode(EncodeRequest(variant.encoder, "words-300"), settings, repository)
    cancel = CancelToken()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if stage.startswith("neighbours by bigrams"):
            cancel.cancel()

    with pytest.raises(Cancelled):
        make(INTRUDER, settings, repository, progress, cancel)
    assert not Judgements(repository.database).sets()
