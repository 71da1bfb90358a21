"""Learning curves: what is drawn, by hand; a fit, with scikit-learn; intervals, by simulation; where two cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN, UNSPLIT, LabeledTexts
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer import crossing, learning_curve
from blindspot.diagnostics.transfer.crossing import Curve
from blindspot.diagnostics.transfer.learning_curve import DRAWS, TRIED, accuracy, drawn, shares
from blindspot.errors import InputError
from blindspot.runs.findings import Material
from blindspot.types import Bool, CancelToken, Float32, Int64, no_progress
from tests.support.finding_runs import run_record
from tests.support.small_world import GramEncoder
from tests.support.tables import each

ENTRY = find_diagnostic("learning_curve")
WORDS = {"food": "bread cheese apple butter".split(), "music": "violin drum melody chord".split()}


def dataset_of(examples: Sequence[Example]) -> LabeledTexts:
    return labeled_texts("topics", tuple(WORDS), examples)


def part(label: str, first: str, split: int = UNSPLIT) -> Example:
    return Example(label, first, split=split)


def texts(seed: int, size: int = 180) -> list[Example]:
    """Three words each, two of them of the text's topic."""
    rng = np.random.default_rng(seed)
    every = [word for words in WORDS.values() for word in words]
    labels = [list(WORDS)[i % 2] for i in range(size)]
    return [part(label, " ".join([*rng.choice(WORDS[label], 2), *rng.choice(every, 1)])) for label in labels]


def embedded(dataset: LabeledTexts) -> Float32:
    return GramEncoder().encode(dataset.items, CancelToken())


@each(
    ("counts", "size", "expected"),
    [
        ([50, 50], 10, [5, 5]),
        ([90, 9, 1], 10, [8, 1, 1]),  # 9, 0.9 and 0.1: at least one of each
        ([60, 30, 10], 10, [6, 3, 1]),
        ([10, 0, 10], 5, [3, 0, 2]),
        ([5, 5], 10, [5, 5]),
        ([1, 9], 9, [1, 8]),
    ],
)
def test_a_draw_has_the_shares_of_the_classes(counts: list[int], size: int, expected: list[int]) -> None:
    assert shares(np.array(counts), size).tolist() == expected


def test_draws_are_stratified_and_larger_ones_go_on_in_the_same_order() -> None:
    labels, pool = np.repeat([0, 1], [80, 40]).astype(np.int32), np.arange(0, 120, 2)
    small, large = drawn(labels, pool, 9, 0), drawn(labels, pool, 30, 0)
    assert set(small) < set(large) < set(pool)
    assert np.bincount(labels[large]).tolist() == [20, 10]
    assert set(drawn(labels, pool, 9, 1)) != set(small)


def test_a_run_is_what_scikit_learn_predicts_after_choosing_c_within_the_draw() -> None:
    dataset = dataset_of(texts(3))
    vectors = embedded(dataset)
    result = ENTRY.compute(vectors, dataset, {}, no_progress, CancelToken())
    pool, tested, _ = learning_curve.parts(dataset)
    assert not set(dataset.same[pool]) & set(dataset.same[tested])
    assert sorted([*pool, *tested]) == list(range(len(dataset.labels)))
    assert result.item_numbers is not None
    assert result.item_numbers.tolist() == tested.tolist()
    chosen = drawn(dataset.labels, pool, 30, 2)
    rows = vectors[dataset.firsts].astype(np.float64)
    rows = (rows - rows[chosen].mean(axis=0)) / np.sqrt(rows[chosen].var(axis=0).mean())
    y = dataset.labels[chosen]
    fold = learning_curve.grouped_folds(y, np.arange(30), 3, learning_curve.SEED)

    def right(c: float) -> int:
        return sum(
            int((LogisticRegression(C=c, max_iter=2_000).fit(rows[chosen][fold != f], y[fold != f])
                 .predict(rows[chosen][fold == f]) == y[fold == f]).sum())
            for f in range(3)
        )  # fmt: skip

    model = LogisticRegression(C=max(TRIED, key=right), max_iter=2_000).fit(rows[chosen], y)
    expected = model.predict(rows[tested]) == dataset.labels[tested]
    found = result.items["right_30"].to_numpy() >> 2 & 1
    assert (found == expected).mean() > 0.98  # L-BFGS stops elsewhere
    shares_right = [
        np.mean([bits >> draw & 1 for draw in range(DRAWS)]) for bits in result.items["right_30"].to_pylist()
    ]
    assert result.metrics["accuracy@30"] == pytest.approx(np.mean(shares_right))
    assert "accuracy@1000" not in result.metrics
    assert set(result.items["right_1000"].to_pylist()) == {0}


def test_a_prescribed_split_is_kept_and_too_few_examples_are_refused() -> None:
    learned = [part(label, f"{label} {i}", TRAIN) for label in ("food", "music") for i in range(6)]
    dataset = dataset_of([*learned, part("food", "z", TEST), part("music", "w", TEST)])
    pool, tested, _ = learning_curve.parts(dataset)
    assert (len(pool), tested.tolist()) == (12, [12, 13])
    few = dataset_of([part(label, f"{label} {i}") for label in ("food", "music") for i in range(5)])
    with pytest.raises(InputError, match="5 examples of 2 classes"):
        ENTRY.compute(embedded(few), few, {}, no_progress, CancelToken())


# --- intervals and crossings


def simulated(rng: np.random.Generator, mean: float, examples: int = 300) -> tuple[Bool, Int64]:
    """Examples of unequal difficulty by draws of unequal luck."""
    difficulty, luck = rng.normal(0, 1.2, (examples, 1)), rng.normal(0, 0.25, (1, DRAWS))
    return rng.random((examples, DRAWS)) < 1 / (1 + np.exp(-(mean + difficulty + luck))), np.arange(examples)


def test_intervals_hold_over_new_examples_and_new_draws() -> None:
    rng = np.random.default_rng(3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float((weights / (1 + np.exp(-(1 + np.hypot(1.2, 0.25) * nodes)))).sum() / weights.sum())
    intervals = [accuracy(*simulated(rng, 1.0)).interval for _ in range(400)]
    inside = np.mean([i is not None and i.low <= truth <= i.high for i in intervals])
    assert 0.93 <= inside <= 0.985


def curve(name: str, right: Mapping[int, Bool]) -> Curve:
    metrics = {f"accuracy@{size}": float(of.mean()) for size, of in right.items()}
    return Curve(run_record("learning_curve", name, metrics=metrics), right, np.arange(len(right[10])))


def test_two_models_cross_where_each_is_significantly_better_somewhere() -> None:
    rng = np.random.default_rng(5)

    def of(low: float, high: float) -> dict[int, Bool]:
        return {size: rng.random((200, DRAWS)) < p for size, p in ((10, low), (30, (low + high) / 2), (100, high))}

    a, b, c = curve("minilm", of(0.7, 0.75)), curve("lsa", of(0.55, 0.9)), curve("minilm-cls", of(0.7, 0.75))
    first, same, _ = crossing.crossings([a, b, c])
    assert [gap.sign for gap in first.gaps][::2] == [1, -1]
    assert first.between in {(10, 100), (30, 100), (10, 30)}
    assert first.gaps[0].difference.value == pytest.approx(a.right[10].mean() - b.right[10].mean())
    said = crossing.in_words(first, "A", "B")
    assert said.startswith("A is better than B with 10 (+")
    assert "The curves cross between" in said
    assert same.between is None
    assert crossing.in_words(same, "A", "C") == "A and C do not differ significantly with any number of examples."


def test_evidence_names_the_model_that_is_ahead_with_few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    early, late = (
        curve(name, {10: rng.random((200, DRAWS)) < p, 100: rng.random((200, DRAWS)) < q})
        for name, p, q in (("minilm", 0.7, 0.7), ("lsa", 0.5, 0.9))
    )
    monkeypatch.setattr(crossing, "curves", lambda *_: [late, early])
    (found,) = crossing.evidence(Material([late.run, early.run], [], None, None))  # type: ignore[arg-type]
    assert found.runs == (early.run, late.run)
    assert found["before"] == pytest.approx(early.right[10].mean() - late.right[10].mean())
    assert found["value"] == pytest.approx(late.right[100].mean() - early.right[100].mean())
    assert (found["early"], found["late"]) == (10, 100)
    assert found.p is not None
    assert found.p < 0.001
