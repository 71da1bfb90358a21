"""Making a set of items, from the request to the store: against float64 and loops, and every way in which it ends."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.numerics.similarity import Similarity
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments import making
from blindspot.studies.judgments.inventories import Inventory, Ready
from blindspot.studies.judgments.making import ItemsRequest, make
from blindspot.studies.judgments.rules import Closeness, Quartet, Reason, Rule
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import NOT_ASKED, Item, Query, Task
from blindspot.texts import near_duplicate_key
from blindspot.types import CancelToken
from tests.support.judgment_slow import Slow
from tests.support.making_world import CENTERED, COUNTS, NEITHER, OWN, WORDS, WORDS_300, A, B, register
from tests.support.small_world import SMALL_PAIRS, register_dataset
from tests.support.tables import each

INTRUDER = ItemsRequest(Task.INTRUDER, (A, B), DatasetRef("words-300"), inventory=OWN)
COMPARATIVE = dataclasses.replace(INTRUDER, task=Task.COMPARATIVE)


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def slow_spaces(settings: Settings, metric: Similarity = Similarity.COS) -> list[Slow]:
    """Of A and B. A word without n-grams, as "of" without trigrams, is a zero vector, which has no cosine."""
    vectors = [s.vectors.astype(np.float64) for s in open_spaces([A, B], WORDS_300, settings)]
    usable = [i for i in range(len(WORDS)) if metric is Similarity.L2 or all(v[i].any() for v in vectors)]
    return [Slow(WORDS, COUNTS.tolist(), v, metric, usable) for v in vectors]


def test_seeds_begin_at_0(settings: Settings) -> None:
    assert making.check(dataclasses.replace(INTRUDER, seed=0), settings).seed == 0


def test_a_zero_vector_has_no_cosine_and_is_asked_about_by_distance() -> None:
    vectors = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.float32)
    space = Space(A, WORDS_300, np.arange(3), vectors, "")
    assert making._nonzero_rows([space], Similarity.COS).tolist() == [0, 2]
    assert making._nonzero_rows([space], Similarity.L2).tolist() == [0, 1, 2]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        (Similarity.COS, Rule()),
        (Similarity.L2, Rule(Closeness.LOG10, 0.01)),
        (Similarity.COS, Rule.of(Closeness.COUNT)),
    ],
)
def test_intruder_items_are_those_of_loops(
    settings: Settings, repository: Repository, metric: Similarity, rule: Rule
) -> None:
    made = make(dataclasses.replace(INTRUDER, metric=metric, rule=rule), settings, repository)
    spaces = slow_spaces(settings, metric)
    asked = [query for query in range(60) if query in (spaces[0].usable or ())]
    expected: dict[tuple[str, int], tuple[set[str], str]] = {}
    skipped = 0
    for query in asked:
        found = [space.intruder(query, rule, 100) for space in spaces]
        if any(isinstance(one, Reason) for one in found):
            skipped += 1
            continue
        for v, one in enumerate(found):
            assert isinstance(one, Quartet)
            shown = {WORDS[i] for i in (query, *one.neighbors, one.intruder)}
            expected[WORDS[query], v] = (shown, WORDS[one.intruder])
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
    assert made.manifest["unknown_total"] == 60 - len(asked) + len(NEITHER)
    assert made.manifest["queries"] == len(asked)


@pytest.mark.heavy
def test_comparative_items_are_those_of_loops(settings: Settings, repository: Repository) -> None:
    made = make(COMPARATIVE, settings, repository)
    spaces = slow_spaces(settings)
    got = {(i.query.text, i.k): [i.options[own] for own in i.own] for i in made.items}
    same = 0
    for query in sorted(set(range(60)).intersection(spaces[0].usable or ())):
        one, other = (space.neighbors(query) for space in spaces)
        for k in (1, 5, 50):
            words = [WORDS[one[k - 1]], WORDS[other[k - 1]]]
            same += words[0] == words[1]
            assert got.pop((WORDS[query], k), None) == (words if words[0] != words[1] else None)
    assert not got
    assert list(made.manifest["skipped"].values()) == [same]


def test_a_set_says_what_decided_it_and_is_stored(settings: Settings, repository: Repository) -> None:
    request = dataclasses.replace(INTRUDER, queries=20, seed=5)
    made = make(request, settings, repository)
    store = Judgments(repository.database)
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
    assert "zebra" in making.in_words(made)
    assert making.in_words(made).startswith(f"{len(made.items)} items of 20 queries.")


def test_the_title_of_a_set_of_own_texts_has_no_path(
    settings: Settings, repository: Repository, tmp_path: Path
) -> None:
    """Raters and everybody with a link read it."""
    path = tmp_path / "tickets.csv"
    rows = (f"{query},{match}" for query, match in zip(WORDS[::2], WORDS[1::2], strict=False))
    path.write_text("\n".join(["query,match", *rows]), encoding="utf-8")
    asked = dataclasses.replace(COMPARATIVE, dataset=DatasetRef(f"file:{path}"))
    assert make(asked, settings, repository).title == "Mine · tickets"


def test_the_same_request_is_the_same_set(settings: Settings, repository: Repository) -> None:
    first = make(INTRUDER, settings, repository)
    again = make(dataclasses.replace(INTRUDER, title="Another title"), settings, repository)
    assert (again.set_id, again.created_at, again.title) == (first.set_id, first.created_at, first.title)
    others = [
        dataclasses.replace(INTRUDER, seed=1),
        dataclasses.replace(INTRUDER, variants=(B, A)),
        dataclasses.replace(INTRUDER, variants=(A, CENTERED)),
        dataclasses.replace(INTRUDER, metric=Similarity.L2),
        dataclasses.replace(INTRUDER, rule=Rule.of(Closeness.COUNT)),
        dataclasses.replace(INTRUDER, queries=30),
        COMPARATIVE,
    ]
    ids = {make(other, settings, repository).set_id for other in others}
    assert len(ids | {first.set_id}) == 8
    assert len(Judgments(repository.database).sets()) == 8


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
    request = ItemsRequest(Task.INTRUDER, (A, B), DatasetRef("demo-pairs"), inventory=Ready.SENTENCES, queries=12)
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


@each(
    ("changes", "said"),
    [
        ({"variants": ()}, "0 variants chosen; expected at least 1"),
        ({"variants": (A, A), "task": Task.COMPARATIVE}, "1 variant chosen; expected at least 2"),
        ({"variants": (dataclasses.replace(A, encoder="trigram"),)}, "did you mean 'trigrams'"),
        ({"variants": (dataclasses.replace(A, transform="centre"),)}, "did you mean 'center'"),
        ({"dataset": DatasetRef("words-30")}, "did you mean 'words-300'"),
        ({"queries": 0}, "0 queries are asked for"),
        ({"ranks": (0,)}, "the ranks are 0"),
        ({"seed": -1}, "the seed is -1"),
        ({"rule": Rule(Closeness.LOG10, -1.0)}, "the tolerance is -1"),
        ({"title": "x" * 121}, "the title has 121 characters"),
        ({"inventory": Inventory("own", "M", (Query("zebra"),), "")}, "none of the 1 queries of 'M' is an item"),
        ({"inventory": Ready.SENTENCES}, "'words-300' .* at least 4 words"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_encoded(
    settings: Settings, repository: Repository, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        make(dataclasses.replace(INTRUDER, **changes), settings, repository)  # type: ignore[arg-type]
    assert not EmbeddingCache(settings.embeddings).inventory().embeddings
    assert not Judgments(repository.database).sets()


def test_too_few_neighbors_are_counted_and_said(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    request = ItemsRequest(Task.INTRUDER, (A,), DatasetRef("small-pairs"), inventory=Ready.SENTENCES)
    with pytest.raises(BlindspotError, match=r"none of the \d+ queries gives an item \(too few neighbors: \d+\)"):
        make(request, settings, repository)
    made = make(dataclasses.replace(request, task=Task.COMPARATIVE, variants=(A, B)), settings, repository)
    assert {i.k for i in made.items} <= {1, 5}
    assert made.manifest["skipped"]["too few neighbors"] >= made.manifest["queries"], "nothing is at rank 50"


def test_cancelled_work_leaves_no_set(settings: Settings, repository: Repository) -> None:
    for variant in (A, B):
        pipeline.encode(EncodeRequest(variant.encoder, DatasetRef("words-300")), settings, repository)
    cancel = CancelToken()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if stage.endswith("by bigrams"):
            cancel.cancel()

    with pytest.raises(Cancelled):
        make(INTRUDER, settings, repository, progress, cancel)
    assert not Judgments(repository.database).sets()
