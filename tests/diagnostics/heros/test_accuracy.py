"""The accuracy of picking the paraphrase: by hand, against a loop, and whatever the order of the options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros.definition import ENTRY, compute, picks
from core.numerics.ranking.problem import TAU
from core.numerics.statistics.intervals import wilson_interval
from core.types import CancelToken, Float64, no_progress

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


def test_an_example_by_hand() -> None:
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


def dataset(subsets: tuple[str, ...], n: int = 40) -> MinimalPairSet:
    return minimal_pair_set("x", [f"o{i}" for i in range(n)], {s: [f"{s} {i}" for i in range(n)] for s in subsets})


def run(embeddings: np.ndarray, minimal: MinimalPairSet):  # type: ignore[no-untyped-def]
    return compute(embeddings, minimal, {}, no_progress, CancelToken())


def test_an_encoder_that_tells_no_rewrite_from_another_gets_chance() -> None:
    """Each sentence and its rewrites have one vector: the first, the last, or any place would be as good."""
    for subsets in (("paraphrase", "antonym", "negation"), ("a", "b", "c", "paraphrase"), ("a", "paraphrase")):
        minimal = dataset(subsets)
        number = {text: int(text.removeprefix("o").split()[-1]) for text in minimal.items}
        vectors = np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32)
        metrics = run(np.stack([vectors[number[text]] for text in minimal.items]), minimal).metrics
        assert metrics["accuracy"] == metrics["accuracy_chance"] == pytest.approx(1 / len(subsets), abs=1e-15)
        interval = wilson_interval(metrics["accuracy"], 40)
        assert (metrics["accuracy_low"], metrics["accuracy_high"]) == (interval.low, interval.high)


def test_it_is_that_of_a_loop_over_the_stored_cosines_and_of_any_order_of_columns() -> None:
    subsets = ("antonym", "paraphrase", "negation")
    minimal, other = dataset(subsets), dataset(subsets[::-1])
    vectors = dict(zip(minimal.items, np.random.default_rng(0).standard_normal((160, 5)), strict=True))
    result, turned = (run(np.stack([vectors[text] for text in d.items]), d) for d in (minimal, other))
    cosines = np.array(result.items["cosine"]).reshape(40, 3)
    assert result.metrics["accuracy"] == pytest.approx(np.mean(slow_picks(cosines, 1)), abs=1e-15)
    assert 0.1 < result.metrics["accuracy"] < 0.6
    assert turned.metrics["accuracy"] == result.metrics["accuracy"]
    assert result.seeds == {"bootstrap": 2023, "options": 2022}


@pytest.mark.parametrize("subsets", [("synonym", "antonym"), ("paraphrase",)])
def test_without_a_paraphrase_or_anything_beside_it_there_is_none(subsets: tuple[str, ...]) -> None:
    minimal = dataset(subsets)
    result = run(np.random.default_rng(0).standard_normal((len(minimal.items), 5)), minimal)
    assert not [name for name in result.metrics if name.startswith("accuracy")]
    assert result.seeds == {"bootstrap": 2023}


def test_which_metric_stands_for_a_run() -> None:
    assert ENTRY.headline_of({"synonym>antonym": 0.5, "accuracy": 0.5}) == "synonym>antonym"
    assert ENTRY.headline_of({"accuracy": 0.5, "formal": 0.2}) == "accuracy"
    assert ENTRY.headline_of({"formal": 0.2}) == ""
    assert [m.name for m in ENTRY.metrics_of(["formal", "synonym", "odd", "accuracy"])] == [
        "synonym",
        "accuracy",
        "formal",
        "odd",
    ]
    assert ENTRY.version == 2, "the numbers of datasets that there were are what they were"
