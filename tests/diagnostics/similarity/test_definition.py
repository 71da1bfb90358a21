"""The diagnostic similarity: by hand and by loops, through the pipeline and the store, with pairs left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published import scored_pairs
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.similarity import definition as similarity
from blindspot.errors import BlindspotError
from blindspot.store.records import RunRecord
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("similarity")
DEFINITION = {"metric": "cos", "protocol": "definition"}
# Cosines by hand: a and b are orthogonal, a and ab (equal lengths) have 1/sqrt 2, c points against a.
VECTORS = np.array([[1, 0], [0, 2], [3, 3], [-1, 0]], dtype=np.float32)
ROOT_HALF = 0.707107


def sample(rows: dict[str, list[scored_pairs.Row]] | None = None) -> ScoredPairs:
    return scored_pairs.scored_pairs(
        "toy",
        rows
        or {"one": [("a", "b", 2.0), ("a", "ab", 4.0), ("a", "c", 2.0)], "two": [("b", "ab", 1.0), ("c", "ab", 0.0)]},
    )


def computed(dataset: ScoredPairs, vectors: Float32, **params: str) -> dict[str, float]:
    return dict(similarity.compute(vectors, dataset, DEFINITION | params, no_progress, CancelToken()).metrics)


def in_order(dataset: ScoredPairs) -> Float32:
    return VECTORS[[("a", "b", "ab", "c").index(item) for item in dataset.items]]


def test_by_hand() -> None:
    dataset = sample()
    result = similarity.compute(in_order(dataset), dataset, DEFINITION, no_progress, CancelToken())
    predicted = [0.0, ROOT_HALF, -1.0, ROOT_HALF, -ROOT_HALF]
    assert result.items["similarity"].to_pylist() == predicted
    assert result.coverage == {"pairs": 5, "pairs_covered": 5, "items": 4, "items_covered": 4}
    m = result.metrics
    # Ranks of the similarities 3 4.5 1 4.5 2, of the scores 3.5 5 3.5 2 1: products of deviations from 3 are
    # 0 + 3 - 1 - 1.5 + 2 = 2.5, squares 9.5 and 9.5.
    assert m["spearman"] == pytest.approx(2.5 / 9.5)
    # Of ten pairs of pairs one is tied in the similarities and one in the scores; five go together, three do not.
    assert m["kendall"] == pytest.approx(2 / 9)
    assert m["pearson"] == pytest.approx(stats.pearsonr(predicted, dataset.scores)[0])
    assert m["n"] == 5
    assert m["pearson@two"] == pytest.approx(1.0)
    first = stats.spearmanr(predicted[:3], [2, 4, 2])[0]
    assert m["spearman@one"] == pytest.approx(first)
    assert m["spearman_weighted_mean"] == pytest.approx((3 * first + 2 * 1.0) / 5)


def test_l2_by_hand() -> None:
    dataset = sample()
    result = similarity.compute(in_order(dataset), dataset, DEFINITION | {"metric": "l2"}, no_progress, CancelToken())
    distances = [5**0.5, 13**0.5, 2.0, 10**0.5, 5.0]
    assert result.items["similarity"].to_pylist() == pytest.approx([1 / (1 + d) for d in distances], abs=1e-6)


def test_one_set_has_no_mean_and_no_scores_of_its_own() -> None:
    dataset = sample({"only": [("a", "b", 1.0), ("a", "ab", 2.0), ("b", "c", 0.0)]})
    assert set(computed(dataset, in_order(dataset))) == {"pearson", "spearman", "kendall", "n"}


def test_a_set_in_which_nothing_is_defined_leaves_no_mean() -> None:
    dataset = sample({"one": [("a", "b", 2.0), ("a", "ab", 4.0)], "flat": [("b", "ab", 1.0), ("c", "ab", 1.0)]})
    metrics = computed(dataset, in_order(dataset))
    assert "spearman@one" in metrics
    assert not [name for name in metrics if name.endswith("@flat") or "weighted_mean" in name]


def test_similarities_that_differ_by_rounding_are_tied() -> None:
    dataset = sample({"only": [("a", "b", 1.0), ("a", "ab", 2.0), ("a", "c", 3.0)]})
    turned = np.array([[1, 0], [1, 1], [1, 1 + 1e-8], [1, 2]], dtype=np.float64)
    predicted = similarity.compute(turned, dataset, DEFINITION, no_progress, CancelToken()).items["similarity"]
    assert predicted[0].as_py() == predicted[1].as_py() > predicted[2].as_py()


@pytest.mark.parametrize(
    ("rows", "told"),
    [([("a", "b", 1.0)], "one pair only"), ([("a", "b", 1.0), ("a", "ab", 1.0)], "the same score for all pairs")],
)
def test_what_has_no_correlation_is_said(rows: list[scored_pairs.Row], told: str) -> None:
    dataset = sample({"only": rows})
    with pytest.raises(BlindspotError, match=told):
        computed(dataset, in_order(dataset))


def test_covered_pairs_keep_their_numbers() -> None:
    dataset = sample()
    covered = np.array([item != "b" for item in dataset.items])
    part = dataset.part(covered)
    assert part.rows.tolist() == [1, 2, 4]
    got = part.dataset
    texts = [(got.items[i], got.items[j]) for i, j in zip(got.firsts, got.seconds, strict=True)]
    assert texts == [("a", "ab"), ("a", "c"), ("c", "ab")]
    assert (got.scores.tolist(), got.set_numbers.tolist(), got.sets) == ([4.0, 2.0, 0.0], [0, 0, 1], ("one", "two"))
    everything = dataset.part(np.ones(4, dtype=np.bool_))
    assert everything.dataset is dataset
    assert len(dataset.part(np.array([item == "a" for item in dataset.items])).rows) == 0
    assert "no pair of 'toy' can be compared" in str(dataset.nothing_left(1, "'x'"))


# --- through the pipeline


ROWS = {
    "one": [("dogs run", "dogs ran", 4.5), ("cats sleep", "dogs run", 0.5), ("it rains", "it rained", 4.0)],
    "two": [("it rains", "dogs run", 0.0), ("cats sleep", "cats slept", 4.25), ("dogs ran", "the dogs ran", 5.0)],
}


@pytest.fixture(scope="module")
def runs(module_world: World) -> dict[str, RunRecord]:
    lacks = GramEncoder("lacks", lacks=lambda text: text.startswith("cat"))
    module_world.add(sample(ROWS), GramEncoder(), lacks)
    return {name: module_world.run("similarity", name, "toy") for name in ("trigrams", "lacks")}


def test_stored_rows_are_the_pairs_with_their_texts(module_world: World, runs: dict[str, RunRecord]) -> None:
    rows = module_world.repository.items(ENTRY, [runs["trigrams"].run_id], texts=True)
    flat = [(name, *row) for name, found in ROWS.items() for row in found]
    assert list(zip(rows["set_name"], rows["first"], rows["second"], rows["gold"], strict=True)) == flat
    assert rows["item_no"].tolist() == list(range(6))
    assert runs["trigrams"].metrics["spearman"] == pytest.approx(stats.spearmanr(rows["similarity"], rows["gold"])[0])


def test_pairs_without_a_vector_are_left_out_and_counted(module_world: World, runs: dict[str, RunRecord]) -> None:
    run = runs["lacks"]
    items = {text for rows in ROWS.values() for row in rows for text in row[:2]}
    assert run.coverage == {
        "pairs": 6,
        "pairs_covered": 4,
        "items": len(items),
        "items_covered": len([text for text in items if not text.startswith("cat")]),
    }
    assert run.metrics["n"] == 4
    both = module_world.repository.items(ENTRY, [runs["trigrams"].run_id, run.run_id], texts=True)
    own = both[both["run_id"] == run.run_id].set_index("item_no")
    assert own.index.tolist() == [0, 2, 3, 5]
    whole = both[both["run_id"] != run.run_id].set_index("item_no")
    assert own["similarity"].tolist() == whole.loc[own.index, "similarity"].tolist()
