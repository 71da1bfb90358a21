"""HEROS: an example by hand, and a double loop in float64 on random embeddings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.diagnostics.heros.definition import (
    ENTRY,
    ORDERINGS,
    SEED,
    SUBSETS,
    WEIGHTS_AT_ONCE,
    Resampled,
    baseline,
    bootstrap,
    compute,
    ordering_outcomes,
)
from core.errors import BlindspotError, Cancelled
from core.numerics.statistics.intervals import RESAMPLES
from core.types import CancelToken, no_progress


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
    of_means = {f"{s}_{end}" for s in SUBSETS for end in ("low", "high")}
    of_paraphrases = {"accuracy", "accuracy_low", "accuracy_high", "accuracy_chance"}
    lacking = {m.name for m in ENTRY.metrics} - of_paraphrases - set(result.metrics)
    assert lacking in (set(), of_means)  # where draws of very few originals may all point the same way
    assert set(result.metrics) <= {m.name for m in ENTRY.metrics}
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
    assert ordering_outcomes(np.array([0.5 + difference]), np.array([0.5])).tolist() == [rate]


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


# --- the bootstrap


def slow_bootstrap(embeddings: np.ndarray, dataset: MinimalPairSet, resamples: int, seed: int) -> Resampled:
    """Rows are really drawn, and the plain formula is applied to them."""
    half = len(dataset.originals) // 2
    numbers = np.arange(len(dataset.originals))
    halves = numbers[:half], numbers[half:]
    generators = np.random.default_rng(seed).spawn(2)
    cos_avg, means = [], []
    for _ in range(resamples):
        first, second = (
            part[rng.integers(len(part), size=len(part))] for part, rng in zip(halves, generators, strict=True)
        )
        originals = dataset.originals
        between = [cosine(embeddings[originals[i]], embeddings[originals[j]]) for i in first for j in second]
        cos_avg.append(math.fsum(between) / len(between))
        drawn = [*first, *second]
        means.append(
            [
                math.fsum(cosine(embeddings[originals[i]], embeddings[rewrites[i]]) for i in drawn) / len(drawn)
                for rewrites in dataset.rewrites.values()
            ]
        )
    return Resampled(np.array(cos_avg), np.array(means))


def cosines_of(embeddings: np.ndarray, dataset: MinimalPairSet) -> np.ndarray:
    return np.array(
        [
            [cosine(embeddings[i], embeddings[j]) for i, j in zip(dataset.originals, rewrites, strict=True)]
            for rewrites in dataset.rewrites.values()
        ]
    ).T


def neighbours(dataset: MinimalPairSet, d: int, seed: int) -> np.ndarray:
    """Embeddings whose originals have something in common, and whose rewrites are near them."""
    rng = np.random.default_rng(seed)
    embeddings = rng.standard_normal((len(dataset.items), d)) + 0.7
    for rewrites in dataset.rewrites.values():
        embeddings[rewrites] = embeddings[dataset.originals] + 0.5 * embeddings[rewrites]
    return embeddings


@pytest.mark.parametrize("n", [2, 7, 12])
def test_every_resample_is_the_plain_formula_on_rows_that_were_drawn(n: int) -> None:
    dataset = minimal_pairs(n, ("synonym", "typo", "antonym"))
    embeddings = neighbours(dataset, 5, seed=n)
    fast = bootstrap(embeddings, dataset, cosines_of(embeddings, dataset), no_progress, CancelToken(), 40, seed=9)
    slow = slow_bootstrap(embeddings, dataset, 40, seed=9)
    np.testing.assert_allclose(fast.cos_avg, slow.cos_avg, atol=1e-12)
    np.testing.assert_allclose(fast.mean_cosine, slow.mean_cosine, atol=1e-12)
    if n > 2:  # with one original per half there is one draw only
        assert len(np.unique(fast.cos_avg.round(9))) > 20


def test_the_interval_is_the_percentiles_of_normalised_means() -> None:
    resampled = Resampled(np.linspace(0, 0.5, 1001), np.stack([np.full(1001, 0.8), np.linspace(0, 0.5, 1001)], axis=1))
    falling, zero = resampled.similarity_intervals()
    # (0.8 - c) / (1 - c) falls with c: at the 97.5th and 2.5th percentile of c.
    assert (falling.low, falling.high) == pytest.approx(((0.8 - 0.4875) / (1 - 0.4875), (0.8 - 0.0125) / (1 - 0.0125)))
    assert (zero.low, zero.high) == (0, 0)


def test_the_intervals_are_scipys() -> None:
    """scipy draws each half's numbers on its own and is given the whole formula: other draws, the same intervals."""
    dataset = minimal_pairs(30, ("synonym", "typo"))
    embeddings = neighbours(dataset, 6, seed=2)
    metrics = run(embeddings, dataset).metrics
    cosines = cosines_of(embeddings, dataset)
    between = np.array([[cosine(embeddings[i], embeddings[j]) for j in range(30)] for i in range(30)])

    def formula(first: np.ndarray, second: np.ndarray) -> list[float]:
        cos_avg = between[np.ix_(first, second)].mean()
        means = cosines[np.concatenate([first, second])].mean(axis=0)
        return [cos_avg, *((means - cos_avg) / (1 - cos_avg))]

    def scipys(which: int, method: str = "percentile") -> tuple[float, float]:
        return scipy_stats.bootstrap(
            (np.arange(15), np.arange(15, 30)),
            lambda first, second: formula(first, second)[which],
            vectorized=False,
            n_resamples=4_000,
            method=method,
            rng=np.random.default_rng(1),
        ).confidence_interval

    for which, name in enumerate(("cos_avg", "synonym", "typo")):
        low, high = scipys(which)
        width = high - low
        assert width > 0.03
        assert metrics[f"{name}_low"] == pytest.approx(low, abs=0.06 * width)
        assert metrics[f"{name}_high"] == pytest.approx(high, abs=0.06 * width)
        assert metrics[f"{name}_low"] < metrics[name] < metrics[f"{name}_high"]


def test_with_halves_at_right_angles_it_is_scipys_bootstrap_of_a_mean() -> None:
    """There cos_avg is 0 in every resample, and the similarity a mean of cosines."""
    dataset = minimal_pairs(40, ("synonym",))
    embeddings = neighbours(dataset, 4, seed=4)
    embeddings[:20, 2:] = 0  # the first half of the originals
    embeddings[20:40, :2] = 0
    metrics = run(embeddings, dataset).metrics
    assert (metrics["cos_avg_low"], metrics["cos_avg_high"]) == (0, 0)
    first, second = cosines_of(embeddings, dataset)[:, 0].reshape(2, 20)
    low, high = scipy_stats.bootstrap(
        (first, second),
        lambda a, b, axis: (a.mean(axis=axis) + b.mean(axis=axis)) / 2,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert metrics["synonym_low"] == pytest.approx(low, abs=0.04 * (high - low))
    assert metrics["synonym_high"] == pytest.approx(high, abs=0.04 * (high - low))


def test_the_seed_is_fixed_and_recorded() -> None:
    dataset = minimal_pairs(9)
    embeddings = neighbours(dataset, 4, seed=1)
    one, other = run(embeddings, dataset), run(embeddings, dataset)
    assert one.metrics == other.metrics
    assert one.seeds == {"bootstrap": SEED}
    assert f"percentile of {RESAMPLES:,}\n  resamples" in ENTRY.how


def test_drawn_some_at_a_time_it_is_the_same() -> None:
    """Of so many originals that a batch of resamples holds few."""
    n = WEIGHTS_AT_ONCE // 64
    dataset = minimal_pairs(n, ("typo",))
    embeddings = neighbours(dataset, 2, seed=1)
    told: list[tuple[str, int, int]] = []
    cosines = np.random.default_rng(0).standard_normal((n, 1))
    fast = bootstrap(
        embeddings, dataset, cosines, lambda stage, done, total, fraction=None: told.append((stage, done, total)),
        CancelToken(), 250, seed=3,
    )  # fmt: skip
    assert told == [("resampling", done, 250) for done in (0, 128, 250)]
    generators = np.random.default_rng(3).spawn(2)
    means = []
    for _ in range(250):
        drawn = np.concatenate([rng.integers(n // 2, size=n // 2) + k * (n // 2) for k, rng in enumerate(generators)])
        means.append(cosines[drawn, 0].mean())
    np.testing.assert_allclose(fast.mean_cosine[:, 0], means, atol=1e-12)


def test_an_encoder_with_few_directions_gets_no_interval_of_the_means() -> None:
    """Two of the three originals are alike: some draws have no other, and nothing to normalise by."""
    dataset = minimal_pairs(3, ("synonym", "typo"))
    embeddings = np.random.default_rng(0).standard_normal((9, 4))
    embeddings[1] = embeddings[0]
    metrics = run(embeddings, dataset).metrics
    assert {"synonym", "synonym_sd", "cos_avg_low", "cos_avg_high", "synonym>typo_low"} <= set(metrics)
    assert not {"synonym_low", "typo_high"} & set(metrics)
    assert metrics["cos_avg_high"] == pytest.approx(1.0)


def test_resampling_can_be_cancelled() -> None:
    cancel = CancelToken()

    def listener(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        assert done < RESAMPLES
        if stage == "comparing" and done == total:
            cancel.cancel()

    with pytest.raises(Cancelled):
        compute(np.random.default_rng(0).standard_normal((14, 2)), minimal_pairs(2), {}, listener, cancel)


def test_it_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        compute(np.random.default_rng(0).standard_normal((14, 2)), minimal_pairs(2), {}, no_progress, cancel)
