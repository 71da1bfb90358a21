"""Neighbors in several spaces, against sorts of all similarities; texts of one's own among them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.encoders import resident
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.word_vectors.encoder import WordVectors
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity, similarity_to_all
from blindspot.runs import pipeline
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.space.neighbors import free_text
from blindspot.space.neighbors import lists as neighbors
from blindspot.store.repository import Repository
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.retrieval_world import made
from tests.support.small_world import DOG, DOG_IS, DOG_THE, SMALL_PAIRS, GramEncoder, register_encoder
from tests.support.world import World

VARIANTS = [Variant(*names) for names in (("trigrams", "none"), ("bigrams", "none"), ("trigrams", "center+whiten:5"))]


@pytest.fixture(scope="module")
def settings(module_world: World) -> Settings:
    module_world.add(SMALL_PAIRS, GramEncoder(), GramEncoder("bigrams", size=2))
    for encoder in ("trigrams", "bigrams", "lsa"):
        module_world.encode(encoder, SMALL_PAIRS.id)
    return module_world.settings


@pytest.fixture(scope="module")
def spaces(settings: Settings) -> tuple[Space, ...]:
    return open_spaces(VARIANTS, SMALL_PAIRS, settings)


@pytest.mark.parametrize("metric", Similarity)
@pytest.mark.parametrize("approximate", [False, True])
def test_the_neighbors_of_an_item(spaces: tuple[Space, ...], metric: Similarity, approximate: bool) -> None:
    n = len(SMALL_PAIRS.items)
    for space in spaces:
        truth = similarity_to_all(np.asarray(space.vectors), 3, metric)
        others = sorted((i for i in range(n) if i != 3), key=lambda i: (-truth[i], i))
        found = neighbors.of_item(space, metric, 3, n - 1, approximate=approximate)
        np.testing.assert_allclose(found.similarity, truth[others], atol=1e-12)
        assert found.variant == space.variant
        assert sorted(found.items.tolist()) == sorted(others)
        if not approximate:
            # float32 vectors of equal texts are equal, so ties are in order of the numbers
            assert found.items.tolist()[:3] == others[:3]


@pytest.mark.parametrize("metric", Similarity)
def test_of_a_retrieval_set_only_documents_are_found(metric: Similarity) -> None:
    """Against sorted loops; a text that is both a query and a document is no neighbor of its own."""
    random = np.random.default_rng(3)
    documents = ["a shared text", *(f"document {number}" for number in range(9))]
    data = made("small", ["query one", "a shared text", "query two"], documents, [{1: 1}, {0: 1}, {}])
    covered = np.array([0, 1, *range(4, 12)])  # one query, one document have no vector
    spaces = [
        Space(Variant(name, "none"), data, covered, random.normal(size=(10, 5)).astype(np.float32), name)
        for name in ("one", "two")
    ]
    found_in = [number for number in covered.tolist() if data.items[number] in documents]
    assert neighbors.candidates(spaces[0]).tolist() == found_in
    assert [data.items[covered[row]] for row in neighbors.sample(spaces[0])] == ["query one", "a shared text"]
    for space in spaces:
        many = neighbors.of_many(space, metric, np.arange(10), 4)
        for row, item in enumerate(covered.tolist()):
            truth = dict(zip(covered.tolist(), similarity_to_all(np.asarray(space.vectors), row, metric), strict=True))
            expected = sorted((n for n in found_in if n != item), key=lambda n: (-truth[n], n))
            found = neighbors.of_item(space, metric, item, neighbors.depth(spaces))
            assert found.items.tolist() == expected[: neighbors.depth(spaces)]
            np.testing.assert_allclose(found.similarity, [truth[n] for n in found.items.tolist()], atol=1e-6)
            assert many[row].tolist() == expected[:4]
            assert neighbors.of_vector(space, metric, space.vectors[row], 1).items[0] in found_in


def test_an_items_own_text_lands_where_the_item_is(spaces: tuple[Space, ...], settings: Settings) -> None:
    for space, placed in zip(spaces, free_text.place(DOG, spaces, settings), strict=True):
        item = SMALL_PAIRS.items.index(DOG)
        assert placed.vector is not None
        np.testing.assert_allclose(placed.vector, space.vectors[item], atol=1e-5)
        found = neighbors.of_vector(space, Similarity.L2, placed.vector, 2)
        assert item in found.items
        assert found.similarity[0] == pytest.approx(1.0, abs=1e-4)


def test_a_transform_is_applied_as_it_was_fitted_on_the_items(spaces: tuple[Space, ...], settings: Settings) -> None:
    raw = np.asarray(spaces[0].vectors)
    own = resolve_encoder("trigrams", settings).encode(["A park far away"], CancelToken())
    expected = TransformChain.parse("center+whiten:5").fit(raw).apply(own)[0]
    placed = free_text.place("A park far away", spaces, settings)
    np.testing.assert_array_equal(placed[2].vector, expected)
    assert placed[2].variant == VARIANTS[2]


def test_what_is_fitted_on_the_dataset_is_fitted_on_it_again(settings: Settings) -> None:
    (space,) = open_spaces([Variant("lsa", "none")], SMALL_PAIRS, settings)
    (placed,) = free_text.place(DOG_IS, [space], settings)
    np.testing.assert_allclose(placed.vector, space.vectors[SMALL_PAIRS.items.index(DOG_IS)], atol=1e-5)


def test_a_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch, settings: Settings, spaces: tuple[Space, ...]) -> None:
    encoder = register_encoder(monkeypatch, GramEncoder())
    for _ in range(2):
        free_text.place("never seen before", spaces[:1], settings)
    assert encoder.encoded <= 1


@pytest.mark.parametrize(("text", "message"), [("", "empty"), (" \n\t", "empty"), ("a" * 20_001, "20,001 characters")])
def test_texts_that_cannot_be_placed(spaces: tuple[Space, ...], settings: Settings, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        free_text.place(text, spaces, settings)


def test_word_vectors_name_what_they_do_not_know(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("dog 1 0\nruns 0 1\nin 1 1\n", "utf-8")
    reference = WordVectors.at(path).identity.reference
    repository = Repository.at(settings.store)
    pipeline.encode(EncodeRequest(reference, DatasetRef(SMALL_PAIRS.id)), settings, repository)
    (space,) = open_spaces([Variant(reference, "none")], SMALL_PAIRS, settings)
    known, part, nothing = (
        free_text.place(text, [space], settings)[0] for text in ("DOG runs", "a dog a wug", "wugs blick")
    )
    np.testing.assert_allclose(known.vector, [0.5, 0.5])
    assert known.unknown == ()
    assert (part.unknown, nothing.unknown) == (("a", "wug"), ("wugs", "blick"))
    np.testing.assert_allclose(part.vector, [1, 0])
    assert nothing.vector is None


@pytest.mark.heavy
def test_poolings_of_one_model_take_one_pass_and_say_what_is_cut_off(settings: Settings) -> None:
    """The real model: one is loaded, the vectors are those of each pooling on its own."""
    free_text._ENCODED.clear()
    resident._LOADED.clear()
    names = ("minilm", "minilm-cls", "minilm-static")
    spaces = [
        Space(Variant(name, "none"), SMALL_PAIRS, np.arange(1), np.zeros((1, 384), np.float32), name) for name in names
    ]
    placed = free_text.place("word " * 2_000, spaces, settings)  # 10,000 characters
    assert len(resident._LOADED) == 1
    assert [one.truncated for one in placed] == [True] * 3
    for name, one in zip(names, free_text.place(DOG, spaces, settings), strict=True):
        alone = resolve_encoder(name, settings).encode([DOG], CancelToken())[0]
        np.testing.assert_allclose(one.vector, alone, atol=1e-5)
        assert not one.truncated


def test_overlaps_of_one_query_are_those_of_many(spaces: tuple[Space, ...]) -> None:
    rows = neighbors.sample(spaces[0])
    assert rows.tolist() == list(range(len(SMALL_PAIRS.items)))
    many = {space.variant: neighbors.of_many(space, Similarity.COS, rows, 6) for space in spaces}
    of_many = neighbors.agreements(many, 4)
    assert [(f.a, f.b) for f in of_many] == list(combinations(VARIANTS, 2))
    for item in (0, 5):
        lists = [neighbors.of_item(space, Similarity.COS, item, 6) for space in spaces]
        for one, many_queries in zip(neighbors.overlaps(lists, 4), of_many, strict=True):
            first, second = (set(found.items[:4].tolist()) for found in lists if found.variant in {one.a, one.b})
            assert one.shared == len(first & second) == many_queries.shared[item]
            assert one.jaccard == len(first & second) / len(first | second) == many_queries.jaccard[item]
            assert one.rbo == pytest.approx(many_queries.rbo[item], abs=1e-12)
    worst = of_many[0].worst_first()
    assert (np.diff(of_many[0].jaccard[worst]) >= 0).all()


def test_a_sample_of_many_is_seeded_and_without_repetition(spaces: tuple[Space, ...]) -> None:
    large = replace(spaces[0], items=np.arange(30_000))
    rows = neighbors.sample(large)
    assert len(set(rows.tolist())) == neighbors.SAMPLE
    assert rows.tolist() == sorted(neighbors.sample(large).tolist())
    assert rows.max() > 25_000


def test_equally_similar_items_are_noticed(spaces: tuple[Space, ...]) -> None:
    flat = Space(VARIANTS[0], SMALL_PAIRS, spaces[0].items, np.ones((len(spaces[0].items), 3), np.float32), "flat")
    found = neighbors.of_item(flat, Similarity.COS, 2, 5)
    assert found.are_alike(5)
    assert found.items.tolist() == [0, 1, 3, 4, 5]
    assert not neighbors.of_item(spaces[0], Similarity.COS, 0, 5).are_alike(5)
    assert np.isnan(neighbors.cka(flat, spaces[0]))
    assert neighbors.cka(spaces[0], spaces[0]) == pytest.approx(1.0)


def test_what_the_dataset_says_of_items() -> None:
    numbers = {text: SMALL_PAIRS.items.index(text) for text in (DOG, DOG_IS, DOG_THE)}
    assert SMALL_PAIRS.related(numbers[DOG]) == {numbers[DOG_IS]: "match", numbers[DOG_THE]: "match"}
    assert SMALL_PAIRS.related(numbers[DOG_THE]) == {}
    minimal = MinimalPairSet(
        "m",
        ("a", "b", "c"),
        originals=np.array([0, 2], np.int32),
        rewrites={"typo": np.array([1, 1], np.int32), "negation": np.array([1, 2], np.int32)},
    )
    assert minimal.related(0) == {1: "typo, negation"}
    assert minimal.related(1) == {0: "original", 2: "original"}
    assert minimal.related(2) == {1: "typo"}


def test_a_partial_encoder_without_the_text(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    register_encoder(monkeypatch, GramEncoder("nothing", lacks=lambda _text: True))
    space = Space(Variant("nothing", "none"), SMALL_PAIRS, np.arange(1), np.zeros((1, 96), np.float32), "nothing")
    (placed,) = free_text.place("anything", [space], settings)
    assert (placed.vector, placed.unknown) == (None, ())


def test_pairs_with_themselves_are_no_relation() -> None:
    data = loaders.pair_set("self", pairs=[("a", "a"), ("a", "b")], background=[])
    assert data.related(0) == {1: "match"}
