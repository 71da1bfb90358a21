"""Views of a task, on toy runs and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.diagnostics.transfer.outcomes import Measure, Outcomes
from blindspot.diagnostics.transfer.view import MEAN, Crossed, choices, crossed, mean_of, mistakes, per_class
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.variants import Variant
from tests.support import transfer_world as toy
from tests.support.world import World

A, B, C = (Variant(name, "none") for name in "abc")


def test_models_by_classifiers_have_no_gaps(toys: World) -> None:
    runs = {
        name: {(run := toys.run("transfer", model, toy.SPLIT, classifier=name)).plan.variant: run for model in models}
        for name, models in (("logreg", ("trigrams", "bigrams")), ("mlp", ("trigrams", "bigrams")))
    }
    one = crossed(toy.SPLIT, runs, list(runs["mlp"]), Measure.ACCURACY, overlap=True)
    assert one is not None
    assert (one.classifiers, one.pairs) == (("logreg", "mlp"), 1)
    scores = [[runs[name][v].metrics["accuracy"] for name in one.classifiers] for v in one.variants]
    assert one.values.tolist() == scores
    assert one.run_ids(one.variants[1:], ["mlp"]) == [[runs["mlp"][one.variants[1]].run_id]]
    strengths = [runs["logreg"][v].metrics["c"] for v in one.variants]
    assert [row["C, logreg"] for row in choices(one)] == strengths  # a perceptron has none
    assert choices(Crossed(MEAN, one.variants, one.classifiers, [], one.values)) == []
    alone = {"logreg": runs["logreg"], "mlp": dict(list(runs["mlp"].items())[:1])}
    assert crossed(toy.SPLIT, alone, list(runs["logreg"]), Measure.ACCURACY, overlap=True) is None


def test_the_mean_is_over_what_all_tasks_have() -> None:
    first = Crossed("x", (A, B, C), ("p", "q"), [], np.array([[0.1, 0.6], [0.3, 0.4], [0.9, 0.9]]))
    second = Crossed("y", (B, A), ("q", "p"), [], np.array([[0.6, 0.1], [0.2, 0.5]]))
    mean = mean_of([first, second])
    assert mean is not None
    assert (mean.task, mean.variants, mean.classifiers) == (MEAN, (A, B), ("p", "q"))
    assert mean.values == pytest.approx(np.array([[0.3, 0.4], [0.2, 0.5]]))
    assert (mean.turned, mean.places.tolist()) == (1, [[1, 2], [2, 1]])
    assert mean.agreement.kendall == -1
    assert mean_of([first]) is None


def test_classes_and_mistakes() -> None:
    labels, predicted = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 1], np.int32)
    found = Outcomes(
        np.arange(4), ("no", "yes"), labels, Dependence.of_examples(np.arange(4)), np.zeros(4, np.bool_), list("abcd"),
        (), {"x": predicted, "y": 1 - labels}, {"x": np.ones(4), "y": np.ones(4)},
    )  # fmt: skip
    rows = per_class(found, {"A": "x", "B": "y"}).set_index("class")
    assert rows["examples"].tolist() == [2, 2]
    assert rows["precision A"].tolist() == pytest.approx([1, 2 / 3])
    assert rows["recall A"].tolist() == [0.5, 1.0]
    assert rows["F1, A − B"].tolist() == pytest.approx([2 / 3, 0.8])
    assert list(per_class(found, {"A": "x"})) == ["class", "examples", "precision", "recall", "F1"]
    assert mistakes(found, {"A": "x", "B": "y"}, 1).to_numpy().tolist() == [["no", "yes", 1, 2]]
    assert mistakes(found, {"A": "x"}, 9)["A"].tolist() == [1]
