"""The toolkit's ranks, against its arithmetic one pair at a time and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blindspot.diagnostics.evalrank.toolkit import rank_pairs_as_toolkit
from blindspot.errors import Cancelled
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, no_progress

NOTHING = Exclusions(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def plainly(matrix: Float32, query: int, match: int, metric: str) -> int:
    """Sort everybody's scores and search for the match's, as the toolkit's users do."""
    x, y = matrix[query], matrix[match]
    if metric == "cos":
        one, scores = np.dot(x, y), np.dot(matrix, x)
    else:
        one, scores = 1 / (np.linalg.norm(x - y) + 1), 1 / (np.linalg.norm(matrix - x, axis=1) + 1)
    return max(len(scores) - int(np.searchsorted(np.sort(scores), one, side="right")), 1)


def ranks(matrix: Float32, queries: list[int], matches: list[int], metric: str, exclusions: Exclusions = NOTHING):
    q, m = np.array(queries, dtype=np.int32), np.array(matches, dtype=np.int32)
    return rank_pairs_as_toolkit(matrix, q, m, Similarity(metric), exclusions, no_progress, CancelToken())


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_rank_equals_the_plain_way(metric: str, dtype: type) -> None:
    draw = np.random.default_rng(0)
    matrix = draw.standard_normal((5_000, 50)).astype(dtype)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix[1_000:1_100] = matrix[7]  # many items with one vector, as unknown words have
    queries, matches = draw.integers(0, 5_000, (2, 300))
    queries[:50], matches[:40] = 7, np.arange(1_000, 1_040)
    raw, filtered, _ = ranks(matrix, queries.tolist(), matches.tolist(), metric)
    expected = [plainly(matrix, q, m, metric) for q, m in zip(queries, matches, strict=True)]
    np.testing.assert_array_equal(raw.shown, expected)
    np.testing.assert_array_equal(filtered.shown, expected)


@settings(max_examples=60, deadline=None)
@given(
    matrix=arrays(np.float32, (12, 3), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])),
    queries=arrays(np.int32, 8, elements=st.integers(0, 11)),
    matches=arrays(np.int32, 8, elements=st.integers(0, 11)),
    metric=st.sampled_from(["cos", "l2"]),
)
def test_small_worlds(matrix: Float32, queries: Int32, matches: Int32, metric: str) -> None:
    raw, _, _ = ranks(matrix, queries.tolist(), matches.tolist(), metric)
    assert raw.shown.tolist() == [plainly(matrix, q, m, metric) for q, m in zip(queries, matches, strict=True)]


def test_by_hand_the_query_counts_and_zero_becomes_one() -> None:
    line = np.float32([[0.0], [1.0], [3.0], [10.0]])  # distances from item 0: 0, 1, 3, 10
    raw, _, above_itself = ranks(line, [0, 0, 0, 0], [1, 2, 3, 0], "l2")
    # above the match: the query alone; query and item 1; query, 1 and 2; and for a pair with itself nobody
    assert raw.shown.tolist() == [1, 2, 3, 1]
    assert raw.similarity.tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 11, 1])
    assert not above_itself.any()


def test_excluded_items_leave_the_filtered_rank_only() -> None:
    line = np.float32([[0.0], [1.0], [3.0], [10.0]])
    exclusions = Exclusions(np.array([1, 1]), np.array([1, 3]))
    raw, filtered, _ = ranks(line, [0, 0, 0], [3, 3, 3], "l2", exclusions)
    assert raw.shown.tolist() == [3, 3, 3]
    assert filtered.shown.tolist() == [3, 2, 3]


def test_rounding_puts_matches_above_themselves() -> None:
    """What the protocol exists for: on unit rows in float32 the two products differ in a good part of the pairs."""
    draw = np.random.default_rng(1)
    matrix = draw.standard_normal((3_000, 384)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    queries = np.arange(400)
    matches = queries + 1_000
    matrix[matches] = matrix[queries] + 0.1 * matrix[matches]  # surely the nearest
    matrix[matches] /= np.linalg.norm(matrix[matches], axis=1, keepdims=True)
    raw, _, above_itself = ranks(matrix, queries.tolist(), matches.tolist(), "cos")
    expected = np.array([plainly(matrix, q, m, "cos") for q, m in zip(queries, matches, strict=True)])
    np.testing.assert_array_equal(raw.shown, expected)
    np.testing.assert_array_equal(above_itself, expected > 1)  # nobody but the query and the match is so near


def test_cancel() -> None:
    token = CancelToken()
    token.cancel()
    pairs = np.zeros(1, dtype=np.int32)
    with pytest.raises(Cancelled):
        rank_pairs_as_toolkit(np.eye(2, dtype=np.float32), pairs, pairs, Similarity.COS, NOTHING, no_progress, token)
