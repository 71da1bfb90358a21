"""HEROS by hand and against loops in float64: similarities, orderings, intervals, and the accuracy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.diagnostics.heros.definition import (
    ENTRY,
    ORDERINGS,
    SUBSETS,
    baseline,
    compute,
    ordering_outcomes,
    picks,
)
from blindspot.diagnostics.heros.dependence import of_dataset, of_singles
from blindspot.diagnostics.heros.intervals import intervals
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.intervals import wilson_interval
from blindspot.types import CancelToken, Float64, no_progress
from tests.support.tables import each

FEWEST = 8  # originals that share no text, for an interval of a mean


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
    of_means = {f"{s}_{end}" for s in (*SUBSETS, "cos_avg") for end in ("low", "high")}
    of_paraphrases = {"accuracy", "accuracy_low", "accuracy_high", "accuracy_chance"}
    lacking = {m.name for m in ENTRY.metrics} - of_paraphrases - set(result.metrics)
    assert lacking == (of_means if n < FEWEST else set())
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


@each(("difference", "rate"), [(2e-6, 1.0), (0.9e-6, 0.5), (0.0, 0.5), (-0.9e-6, 0.5), (-2e-6, 0.0)])
def test_what_rounding_can_turn_round_is_a_tie(difference: float, rate: float) -> None:
    assert ordering_outcomes(np.array([0.5 + difference]), np.array([0.5])).tolist() == [rate]


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


# --- intervals


def cosines_of(embeddings: np.ndarray, dataset: MinimalPairSet) -> np.ndarray:
    return np.array(
        [
            [cosine(embeddings[i], embeddings[j]) for i, j in zip(dataset.originals, rewrites, strict=True)]
            for rewrites in dataset.rewrites.values()
        ]
    ).T


def neighbors(dataset: MinimalPairSet, d: int, seed: int) -> np.ndarray:
    """Embeddings whose originals have something in common, and whose rewrites are near them."""
    rng = np.random.default_rng(seed)
    embeddings = rng.standard_normal((len(dataset.items), d)) + 0.7
    for rewrites in dataset.rewrites.values():
        embeddings[rewrites] = embeddings[dataset.originals] + 0.5 * embeddings[rewrites]
    return embeddings


@pytest.mark.parametrize("n", [9, 30])
def test_the_intervals_come_from_leaving_each_original_out(n: int) -> None:
    """To first order what an original does to a score is what is missing without it (a jackknife within the halves)."""
    dataset = minimal_pairs(n, ("synonym", "typo"))
    embeddings = neighbors(dataset, 6, seed=2)
    cosines = cosines_of(embeddings, dataset)
    found = intervals(embeddings, dataset, cosines, of_singles(n))
    assert found is not None
    rows = embeddings[dataset.originals]
    half, originals = n // 2, np.arange(n)

    def scores(kept: np.ndarray, weight: np.ndarray) -> np.ndarray:
        first, second = kept[kept < half], kept[kept >= half]
        cos_avg = np.average(
            [cosine(rows[i], rows[j]) for i in first for j in second],
            weights=[weight[i] * weight[j] for i in first for j in second],
        )
        return np.r_[cos_avg, (np.average(cosines[kept], axis=0, weights=weight[kept]) - cos_avg) / (1 - cos_avg)]

    value, moved = scores(originals, np.ones(n)), np.empty((n, 3))
    for i in originals:
        weight = np.ones(n)
        weight[i] += 1e-6
        moved[i] = n * (scores(originals, weight) - value) / 1e-6
    for column, interval in enumerate((found.cos_avg, *found.similarities)):
        own = moved[:, column]
        parts = [(own[part] - own[part].mean(), k) for part, k in ((slice(half), half), (slice(half, None), n - half))]
        variance = sum((p**2).sum() * k / (k - 1) for p, k in parts) / n**2
        carried = (own**2).sum() ** 2 / (own**4).sum()
        t = scipy_stats.t.ppf(0.975, min(n - 2, 1.5 * carried - 1))
        middle = value[column]
        if column == 0:  # less what both halves count: a little narrower
            reach = t * np.sqrt(variance)
            assert 0.5 * reach < interval.high - middle < reach
            assert interval.high - middle == pytest.approx(middle - interval.low)
            continue
        reach = t * np.sqrt(variance) / (1 - middle)
        expected = [1 - (1 - middle) * np.exp(sign * reach) for sign in (1, -1)]
        assert [interval.low, interval.high] == pytest.approx(expected, abs=1e-4)


def test_few_originals_have_no_interval() -> None:
    for n in (FEWEST - 1, FEWEST):
        dataset = minimal_pairs(n, ("synonym", "typo"))
        metrics = run(neighbors(dataset, 4, seed=1), dataset).metrics
        assert ({"synonym_low", "typo_high", "cos_avg_low"} <= set(metrics)) == (n == FEWEST)
        assert {"synonym", "synonym_sd", "synonym>typo_low"} <= set(metrics)


@given(st.integers(FEWEST, 20), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_originals_that_are_there_several_times_count_once(n: int, times: int, seed: int) -> None:
    """Of an even number, so that all of one are in one half."""
    dataset = minimal_pairs(2 * n, ("synonym", "typo"))
    embeddings = neighbors(dataset, 4, seed)
    again = MinimalPairSet(
        "again",
        dataset.items,
        np.repeat(dataset.originals, times),
        {subset: np.repeat(rewrites, times) for subset, rewrites in dataset.rewrites.items()},
    )
    once, often = (run(embeddings, of).metrics for of in (dataset, again))
    for name in ("synonym", "typo", "cos_avg"):
        for end in ("", "_low", "_high"):
            assert often[name + end] == pytest.approx(once[name + end], rel=1e-9, abs=1e-12)
    for end in ("low", "high"):  # Student's t in place of the normal quantile
        assert often[f"synonym>typo_{end}"] == pytest.approx(once[f"synonym>typo_{end}"], abs=0.1)


def in_groups(sizes: list[int], seed: int) -> MinimalPairSet:
    """Every text is an original, and its rewrites are the next two of its group, as in SemAntoNeg; in random order."""
    start = np.cumsum([0, *sizes[:-1]])
    rows = [[s + (i + k) % size for k in range(3)] for s, size in zip(start, sizes, strict=True) for i in range(size)]
    originals, near, far = np.random.default_rng(seed).permutation(np.array(rows, dtype=np.int32)).T
    items = tuple(f"text {i}" for i in range(sum(sizes)))
    return MinimalPairSet("in groups", items, originals.copy(), {"synonym": near.copy(), "antonym": far.copy()})


def coverage_of_groups(sizes: list[int], common: float, simulations: int) -> tuple[float, float]:
    """How often the intervals of cos_avg and of a similarity hold the truth, the mean over all simulations."""
    rng, d = np.random.default_rng([len(sizes), simulations]), 16
    dataset = in_groups(sizes, seed=3)
    known = of_dataset(dataset)
    assert known.units == len(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes)
    found, values = [], []
    for _ in range(simulations):
        centre = rng.standard_normal((len(sizes), d)) + common * np.sqrt(d) * np.eye(1, d)
        change = 0.6 * np.exp(0.4 * rng.standard_normal((len(sizes), 1)))
        embeddings = centre[group] + change[group] * rng.standard_normal((len(group), d))
        unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
        cosines = np.stack([(unit[dataset.originals] * unit[r]).sum(axis=1) for r in dataset.rewrites.values()], axis=1)
        sure = intervals(embeddings, dataset, cosines, known)
        assert sure is not None
        cos_avg = baseline(embeddings, dataset)
        values.append((cos_avg, (cosines[:, 0].mean() - cos_avg) / (1 - cos_avg)))
        found.append((sure.cos_avg, sure.similarities[0]))
    truth = np.mean(values, axis=0)
    held = [np.mean([one[i].low <= truth[i] <= one[i].high for one in found]) for i in range(2)]
    return float(held[0]), float(held[1])


@pytest.mark.parametrize("sizes", [pytest.param([7] * 12, marks=pytest.mark.heavy), [3] * 20])
def test_intervals_of_originals_that_share_texts_hold_the_truth(sizes: list[int]) -> None:
    """Over rows, the interval of the similarity held it in 57 and 81% of cases."""
    assert all(0.91 <= share <= 0.99 for share in coverage_of_groups(sizes, 1.0, 400))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[7] * 8, [7] * 12, [7] * 40, [2] * 8, [3] * 20])
def test_coverage_of_groups(sizes: list[int]) -> None:
    for common in (0.0, 0.3, 1.0):
        of_cos_avg, of_similarity = coverage_of_groups(sizes, common, 3_000)
        what = f"HEROS, {len(sizes)} groups of {sizes[0]}, {common} in common"
        print(f"{what}: cos_avg {of_cos_avg}, similarity {of_similarity}", flush=True)
        assert 0.92 <= of_similarity <= 0.98
        assert 0.92 <= of_cos_avg <= (0.98 if common == 1.0 else 1.0)


def test_too_few_groups_have_no_interval_of_a_mean_and_wide_ones_of_shares() -> None:
    dataset = in_groups([5] * 7, seed=0)
    metrics = run(neighbors(minimal_pairs(35, ()), 4, seed=1), dataset).metrics
    assert not {"synonym_low", "cos_avg_high"} & set(metrics)
    rate = metrics["synonym>antonym"]
    expected = wilson_interval(rate, 7)
    assert metrics["synonym>antonym_low"] == pytest.approx(expected.low)
    assert metrics["synonym>antonym_high"] == pytest.approx(expected.high)


def coverage(n: int, common: float, seed: int, simulations: int) -> tuple[float, float]:
    """How often the intervals of cos_avg and of a similarity hold the truth, where originals have so much in common."""
    rng, d = np.random.default_rng([n, seed]), 16
    dataset = minimal_pairs(n, ("synonym",))

    def drawn(count: int) -> np.ndarray:
        originals = rng.standard_normal((count, d)) + common * np.sqrt(d) * np.eye(1, d)
        change = 0.6 * np.exp(0.4 * rng.standard_normal((count, 1))) * rng.standard_normal((count, d))
        return np.concatenate([originals, originals + change])

    many = 200_000
    unit = drawn(many)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    mean = unit[:many].mean(axis=0)
    cos_avg = (many * mean @ mean - 1) / (many - 1)
    truth = ((unit[:many] * unit[many:]).sum(axis=1).mean() - cos_avg) / (1 - cos_avg)
    held = np.zeros(2)
    for _ in range(simulations):
        embeddings = drawn(n)
        unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
        found = intervals(embeddings, dataset, (unit[:n] * unit[n:]).sum(axis=1)[:, np.newaxis], of_singles(n))
        assert found is not None
        for place, (interval, true) in enumerate(((found.cos_avg, cos_avg), (found.similarities[0], truth))):
            held[place] += interval.low <= true <= interval.high
    of_cos_avg, of_similarity = held / simulations
    return float(of_cos_avg), float(of_similarity)


@pytest.mark.parametrize("n", [pytest.param(FEWEST, marks=pytest.mark.heavy), 20])
def test_intervals_hold_the_truth(n: int) -> None:
    """Percentiles of a bootstrap held it in 83 and 91% of cases."""
    assert all(0.91 <= share <= 0.99 for share in coverage(n, 1.0, 1, 400))


@pytest.mark.slow
@pytest.mark.parametrize("n", [FEWEST, 10, 20, 50, 200])
def test_coverage(n: int) -> None:
    """Where originals have nothing in common cos_avg is 0 whichever are drawn, and its interval is too wide."""
    for common in (0.0, 0.3, 1.0):
        of_cos_avg, of_similarity = coverage(n, common, 2, 3_000)
        print(f"HEROS, {n} originals, {common} in common: cos_avg {of_cos_avg}, similarity {of_similarity}", flush=True)
        assert 0.92 <= of_similarity <= 0.98
        assert 0.92 <= of_cos_avg <= (0.98 if common == 1.0 else 0.995)


# --- the accuracy of picking the paraphrase


TIES = [0.0, TAU / 2, 0.5, 0.5 + TAU / 2, 0.9]  # values that are alike and values that are not


def slow_picks(options: Float64, right: int) -> list[float]:
    out = []
    for row in options.tolist():
        first = [i for i, value in enumerate(row) if value >= max(row) - TAU]
        out.append(1 / len(first) if right in first else 0.0)
    return out


@st.composite
def tables(draw: st.DrawFn) -> tuple[Float64, int]:
    n, k = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    values = draw(st.lists(st.sampled_from(TIES), min_size=n * k, max_size=n * k))
    return np.array(values).reshape(n, k), draw(st.integers(0, k - 1))


def test_picks_by_hand() -> None:
    options = np.array([[0.9, 0.1, 0.2], [0.1, 0.9, 0.2], [0.9, 0.9, 0.2], [0.5, 0.5, 0.5]])
    assert picks(options, right=0) == pytest.approx([1, 0, 1 / 2, 1 / 3])


@given(tables(), st.integers(0, 2**32 - 1))
def test_a_loop_agrees_whatever_the_seed(table: tuple[Float64, int], seed: int) -> None:
    options, right = table
    assert picks(options, right, seed).tolist() == slow_picks(options, right)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_options_changes_nothing(table: tuple[Float64, int], random) -> None:  # type: ignore[no-untyped-def]
    options, right = table
    order = list(range(options.shape[1]))
    random.shuffle(order)
    assert picks(options[:, order], order.index(right)).tolist() == picks(options, right).tolist()


def test_an_encoder_that_tells_no_rewrite_from_another_gets_chance() -> None:
    """Each sentence and its rewrites have one vector: the first, the last, or any place would be as good."""
    for subsets in (("paraphrase", "antonym", "negation"), ("a", "b", "c", "paraphrase"), ("a", "paraphrase")):
        vectors = np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32)
        metrics = run(np.tile(vectors, (1 + len(subsets), 1)), minimal_pairs(40, subsets)).metrics
        assert metrics["accuracy"] == metrics["accuracy_chance"] == pytest.approx(1 / len(subsets), abs=1e-15)
        interval = wilson_interval(metrics["accuracy"], 40)
        assert metrics["accuracy_low"] == pytest.approx(interval.low, abs=1e-15)
        assert metrics["accuracy_high"] == pytest.approx(interval.high, abs=1e-15)


def test_it_is_that_of_a_loop_over_the_stored_cosines_and_of_any_order_of_columns() -> None:
    subsets = ("antonym", "paraphrase", "negation")
    vectors = np.random.default_rng(0).standard_normal((4, 40, 5))
    result = run(vectors.reshape(160, 5), minimal_pairs(40, subsets))
    turned = run(vectors[[0, 3, 2, 1]].reshape(160, 5), minimal_pairs(40, subsets[::-1]))
    cosines = np.array(result.items["cosine"]).reshape(40, 3)
    assert result.metrics["accuracy"] == pytest.approx(np.mean(slow_picks(cosines, 1)), abs=1e-15)
    assert 0.1 < result.metrics["accuracy"] < 0.6
    assert turned.metrics["accuracy"] == result.metrics["accuracy"]
    assert result.seeds == {"options": 2022}


@pytest.mark.parametrize("subsets", [("synonym", "antonym"), ("paraphrase",)])
def test_without_a_paraphrase_or_anything_beside_it_there_is_none(subsets: tuple[str, ...]) -> None:
    result = run(np.random.default_rng(0).standard_normal((40 * (1 + len(subsets)), 5)), minimal_pairs(40, subsets))
    assert not [name for name in result.metrics if name.startswith("accuracy")]
    assert result.seeds == {}


def test_the_headline_metric_of_a_run() -> None:
    assert ENTRY.headline_of({"synonym>antonym": 0.5, "accuracy": 0.5}) == "synonym>antonym"
    assert ENTRY.headline_of({"accuracy": 0.5, "formal": 0.2}) == "accuracy"
    assert ENTRY.headline_of({"formal": 0.2}) == ""
    assert [m.name for m in ENTRY.metrics_of(["formal", "synonym", "odd", "accuracy"])] == [
        "synonym",
        "accuracy",
        "formal",
        "odd",
    ]
