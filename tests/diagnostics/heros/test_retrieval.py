"""Ranks of rewrites among all sentences, against a loop over the embeddings in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros import retrieval
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.diagnostics.heros.retrieval import RewriteRank, neighbors, rank_of
from blindspot.encoders.cache import EmbeddingCache
from blindspot.numerics.ranking.problem import TAU, Relation
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import TransformChain
from tests.support.small_world import GramEncoder
from tests.support.world import World

ORIGINALS = ["The cat is big.", "It rains a lot here.", "A dog runs home.", "Nobody came."]
REWRITES = {
    "synonym": ["The cat is large.", "It pours a lot here.", "A dog runs home.", "No one came."],  # one is unchanged
    "twin": ["the CAT is big", "it rains, a lot here", "a dog runs home!", "nobody came"],  # with the same vectors
    "antonym": ["The cat is small.", "It snows a lot here.", "A dog walks home.", "Everybody came."],
}
TRANSFORMS = ("none", "center", "abtt:1")


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    module_world.add(GramEncoder(), minimal_pair_set("some", ORIGINALS, REWRITES))
    return {transform: module_world.run("heros", f"trigrams~{transform}", "some") for transform in TRANSFORMS}


def cosine(x: list[float], y: list[float]) -> float:
    norms = math.sqrt(sum(v * v for v in x)) * math.sqrt(sum(v * v for v in y))
    return sum(v * w for v, w in zip(x, y, strict=True)) / norms if norms else 0.0


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_ranks_are_those_of_a_loop(module_world: World, runs: dict[str, RunRecord], transform: str) -> None:
    settings, run = module_world.settings, runs[transform]
    matrix = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest).matrix
    vectors = TransformChain.parse(transform).fit(matrix).apply(matrix).astype(np.float64).tolist()
    ties = 0
    for row in module_world.repository.items(ENTRY, [run.run_id], texts=True).to_dict("records"):
        x, y = row["original_no"], row["rewrite_no"]
        own = cosine(vectors[x], vectors[y])
        others = [cosine(vectors[x], vectors[j]) for j in range(len(vectors)) if j not in (x, y)]
        g, t = sum(s > own + TAU for s in others), sum(abs(s - own) <= TAU for s in others)
        found = retrieval.cosines_to_all(run, x, settings, module_world.repository)
        rank = rank_of(found, x, y)
        assert (rank.greater, rank.ties, rank.rank) == (g, t, 1 + g + t / 2)
        assert rank.cosine == pytest.approx(row["cosine"], abs=1e-12)
        ties += t
    assert ties, "the twins are tied with the rewrites that left their original as it was"


def test_ranks_by_hand() -> None:
    cosines = np.array([1.0, 0.9, 0.9 + 0.5 * TAU, 0.95, 0.2])
    assert rank_of(cosines, 0, 1) == RewriteRank(greater=1, ties=1, cosine=0.9)
    assert rank_of(cosines, 0, 1).rank == 2.5
    assert rank_of(cosines, 0, 3).rank == 1
    assert rank_of(cosines, 0, 0) == RewriteRank(greater=0, ties=0, cosine=1.0)


@given(
    st.lists(st.sampled_from([0.1, 0.5, 0.5 + 0.4 * TAU, 0.5 + 5 * TAU, 0.9, 1.0]), min_size=2, max_size=12), st.data()
)
def test_the_list_of_neighbors_agrees_with_the_rank(values: list[float], data: st.DataObject) -> None:
    cosines = np.array(values)
    numbers = st.integers(0, len(values) - 1)
    original, rewrite = data.draw(numbers), data.draw(numbers)
    everything = neighbors(cosines, original, rewrite, limit=100, below=100)
    rank = rank_of(cosines, original, rewrite)
    assert {n.item_no for n in everything} == set(range(len(values))) - {original} | {rewrite}
    assert [n.position for n in everything] == list(range(1, len(everything) + 1))
    relations = [n.relation for n in everything]
    assert relations.count(Relation.ABOVE) == rank.greater == relations.index(Relation.MATCH)
    assert relations.count(Relation.TIED) == rank.ties
    assert all(n.cosine == cosines[n.item_no] for n in everything)
    few = neighbors(cosines, original, rewrite, limit=2, around=1, below=1)
    assert set(few) <= set(everything)
    place = relations.index(Relation.MATCH)
    expected = {*range(min(2, place)), *range(max(place - 1, 0), min(place + 2, len(everything)))}
    assert [n.position - 1 for n in few] == sorted(expected)


def test_vectors_that_are_too_many_to_keep_give_the_same(
    module_world: World, runs: dict[str, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = retrieval.cosines_to_all(runs["abtt:1"], 0, module_world.settings, module_world.repository)
    monkeypatch.setattr(retrieval, "MOST_KEPT", 0)
    assert (
        retrieval.cosines_to_all(runs["abtt:1"], 0, module_world.settings, module_world.repository).tolist()
        == kept.tolist()
    )


def test_embeddings_that_are_gone_are_named_with_the_remedy(
    module_world: World, runs: dict[str, RunRecord], settings: Settings
) -> None:
    """Also after they were looked at: what is kept in memory is not shown for them."""
    with pytest.raises(EmbeddingsGone, match="'trigrams' on 'some' are no longer in the cache; run it again"):
        retrieval.cosines_to_all(runs["none"], 0, settings, module_world.repository)
