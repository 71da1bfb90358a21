"""HEROS: an example by hand, and a double loop in float64 on random embeddings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnostics.heros import ENTRY, ORDERINGS, SUBSETS, baseline, compute, ordering_rate
from core.errors import BlindspotError, Cancelled
from core.types import CancelToken, MinimalPairSet, no_progress


def minimal_pairs(n: int, subsets: tuple[str, ...] = tuple(SUBSETS)) -> MinimalPairSet:
    """``n`` originals, texts 0 to n-1; the rewrites of subset s are the next n texts, and so on."""
    numbers = np.arange(n, dtype=np.int32)
    items = tuple(f"text {i}" for i in range(n * (1 + len(subsets))))
    return MinimalPairSet(
        "made-up", items, numbers, {s: numbers + np.int32(n * (k + 1)) for k, s in enumerate(subsets)}
    )


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """One at a time, in Python's floats."""
    dot = math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))
    lengths = [math.sqrt(math.fsum(float(a) ** 2 for a in v)) for v in (x, y)]
    return dot / (lengths[0] * lengths[1]) if all(lengths) else 0.0


def run(embeddings: np.ndarray, dataset: MinimalPairSet):
    return compute(embeddings, dataset, {}, no_progress, CancelToken())


def test_an_example_by_hand() -> None:
    """Two originals at 60 degrees: cos_avg is 1/2, so that a cosine of c becomes 2c - 1."""
    half, root = 0.5, math.sqrt(3) / 2
    dataset = minimal_pairs(2, ("synonym", "antonym"))
    embeddings = np.array(
        [
            [1, 0],
            [half, root],
            [3, 0],  # synonym of the first: cosine 1
            [0.8 * half - 0.6 * root, 0.8 * root + 0.6 * half],  # of the second: 0.8
            [0, 2],  # antonym of the first: 0
            [0.8 * half + 0.6 * root, 0.8 * root - 0.6 * half],  # of the second: 0.8 too, a tie
        ],
        dtype=np.float64,
    )
    result = run(embeddings, dataset)
    assert result.metrics["cos_avg"] == pytest.approx(0.5)
    assert result.metrics["synonym"] == pytest.approx((1 + 0.6) / 2)
    assert result.metrics["synonym_sd"] == pytest.approx(math.sqrt(0.2**2 + 0.2**2))
    assert result.metrics["antonym"] == pytest.approx((-1 + 0.6) / 2)
    assert result.metrics["synonym>antonym"] == 0.75  # once more similar, once tied
    assert result.metrics["originals"] == 2
    rows = result.items.to_pylist()
    assert [r["subset"] for r in rows] == ["synonym", "antonym"] * 2
    assert [r["cosine"] for r in rows] == pytest.approx([1, 0, 0.8, 0.8])
    assert [r["similarity"] for r in rows] == pytest.approx([1, -1, 0.6, 0.6])
    assert result.item_numbers.tolist() == [0, 0, 1, 1]
    assert result.coverage == {"pairs": 4, "pairs_covered": 4, "items": 6, "items_covered": 6}


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_a_double_loop_in_float64(n: int, d: int, seed: int, with_zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    dataset = minimal_pairs(n)
    embeddings = rng.standard_normal((len(dataset.items), d)).astype(np.float32)
    if with_zeros:
        embeddings[rng.random(len(embeddings)) < 0.3] = 0
    originals = dataset.originals.tolist()
    first, second = originals[: n // 2], originals[n // 2 :]
    cos_avg = math.fsum(cosine(embeddings[i], embeddings[j]) for i in first for j in second) / (
        len(first) * len(second)
    )
    assert baseline(embeddings, dataset) == pytest.approx(cos_avg, abs=1e-12)
    if cos_avg > 1 - 1e-6:  # in one dimension all may point the same way
        return
    result = run(embeddings, dataset)
    assert set(result.metrics) == {m.name for m in ENTRY.metrics}
    assert result.items.schema == ENTRY.schema
    cosines = {
        s: [cosine(embeddings[i], embeddings[j]) for i, j in zip(originals, dataset.rewrites[s].tolist(), strict=True)]
        for s in SUBSETS
    }
    rows = result.items.to_pylist()
    for row, number in zip(rows, result.item_numbers.tolist(), strict=True):
        expected = cosines[row["subset"]][number]
        assert row["cosine"] == pytest.approx(expected, abs=1e-12)
        assert row["similarity"] == pytest.approx((expected - cos_avg) / (1 - cos_avg), rel=1e-6, abs=1e-9)
    for s in SUBSETS:
        normalised = [row["similarity"] for row in rows if row["subset"] == s]
        assert result.metrics[s] == pytest.approx(math.fsum(normalised) / n)
        assert result.metrics[f"{s}_sd"] == pytest.approx(np.std(normalised, ddof=1))
    for one, other in ORDERINGS:
        wins = sum(
            0.5 if abs(a - b) <= 1e-6 else float(a > b) for a, b in zip(cosines[one], cosines[other], strict=True)
        )
        rate = result.metrics[f"{one}>{other}"]
        assert rate == pytest.approx(wins / n)
        assert 0 <= result.metrics[f"{one}>{other}_low"] <= rate <= result.metrics[f"{one}>{other}_high"] <= 1


def test_of_an_odd_number_no_original_is_left_out() -> None:
    """999 of 1,000: 499 against 500."""
    embeddings = np.zeros((21, 2))
    embeddings[:, 0] = 1
    embeddings[2] = [0, 1]  # the last of three
    assert baseline(embeddings, minimal_pairs(3)) == pytest.approx(0.5)
    embeddings[1] = [0, 1]  # the middle one is in the second half
    assert baseline(embeddings, minimal_pairs(3)) == pytest.approx(0.0)


@pytest.mark.parametrize(("difference", "rate"), [(2e-6, 1.0), (0.9e-6, 0.5), (0.0, 0.5), (-0.9e-6, 0.5), (-2e-6, 0.0)])
def test_what_rounding_can_turn_round_is_a_tie(difference: float, rate: float) -> None:
    assert ordering_rate(np.array([0.5 + difference]), np.array([0.5])) == rate


def test_lengths_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    dataset = minimal_pairs(6)
    embeddings = rng.standard_normal((len(dataset.items), 4))
    scaled = embeddings * rng.uniform(0.1, 10, (len(embeddings), 1))
    one, other = run(embeddings, dataset), run(scaled, dataset)
    assert one.metrics == pytest.approx(other.metrics)


def test_only_the_subsets_that_there_are() -> None:
    rng = np.random.default_rng(1)
    dataset = minimal_pairs(4, ("typo", "synonym", "of my own"))
    metrics = run(rng.standard_normal((16, 3)), dataset).metrics
    assert {"typo", "synonym", "of my own", "of my own_sd", "synonym>typo", "synonym>typo_low"} <= set(metrics)
    assert "antonym" not in metrics
    assert "synonym>antonym" not in metrics


def test_an_encoder_that_tells_nothing_apart_is_refused() -> None:
    with pytest.raises(BlindspotError, match="all 3 originals of 'made-up' have the same embedding"):
        run(np.full((21, 4), 0.3, dtype=np.float32), minimal_pairs(3))


def test_it_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        compute(np.random.default_rng(0).standard_normal((14, 2)), minimal_pairs(2), {}, no_progress, cancel)
