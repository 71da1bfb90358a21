"""Classifiers on embeddings: logistic regression and a small multilayer perceptron (SentEval; Eger 2019, section 4).

Both choose one thing by their accuracy on a dev part: the strength C, and the epoch to stop after. Of equal ones the
more cautious is taken: the smaller C, the earlier epoch. Everything runs on one BLAS thread, which makes the same seed
give the same bits on any number of cores; and where other programs want the cores, threads that wait for each other
made it ten times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.types import CancelToken, Float32, Float64, Int32, Int64

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier

STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2)  # C, on features whose mean variance is 1
ALWAYS = 5  # of them are tried in any case, the next where the last one is the best so far: they take longest
MOST_STEPS = 2_000  # of L-BFGS: some hundred are enough
HIDDEN = 50  # units, SentEval's nhid
BATCH = 64
LOOKS = 40  # at dev, at most: one after each epoch, in small tasks after as many as make some fifty steps
PATIENCE = 5  # looks that find no better accuracy
STEPS_PER_LOOK = 50  # with fewer, what takes a while to be learned is given up before it shows
_SLICE = 8_192  # examples between two looks at whether the work was cancelled


@dataclass(frozen=True, eq=False)
class Examples:
    """Scaled features ``[m, f] float32`` and the numbers of the classes ``[m]``."""

    features: Float32
    labels: Int32

    def __len__(self) -> int:
        return len(self.labels)

    def beside(self, other: Examples) -> Examples:
        """These and those."""
        return Examples(np.concatenate([self.features, other.features]), np.concatenate([self.labels, other.labels]))


@dataclass(frozen=True, eq=False)
class Answers:
    """What a classifier said.

    Attributes:
        predicted: ``[k] int32``, the number of the class with the highest probability.
        probability: ``[k] float64``, that probability.
        chosen: the strength C, or the number of epochs.
        unconverged: fits that were stopped at ``MOST_STEPS``.
    """

    predicted: Int32
    probability: Float64
    chosen: float
    unconverged: int = 0


Report = Callable[[float], None]


def logistic_regression(
    fit: Examples, dev: Examples, test: Float32, *, with_dev: bool, report: Report, cancel: CancelToken
) -> Answers:
    """Multinomial logistic regression with an L2 penalty: minimises ``C * sum of the log losses + |w|^2 / 2``.

    C is that of ``STRENGTHS`` which is best on dev; every fit starts from the one before. Those after the first
    ``ALWAYS`` are tried only as long as the one before is the best of all.

    Args:
        fit: all classes of dev among them.
        test: features ``[k, f]``.
        with_dev: whether to learn from dev too, once C is chosen.
        report: told which share of the work is done.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=MOST_STEPS, warm_start=True)
    model.set_callbacks(_Cancelling(cancel))
    steps = len(STRENGTHS) + with_dev
    tried: list[_Tried] = []
    unconverged = 0
    for done, strength in enumerate(STRENGTHS):
        report(done / steps)
        model.set_params(C=strength).fit(fit.features, fit.labels)
        unconverged += int(model.n_iter_[0] >= MOST_STEPS)
        tried.append(_Tried(strength, _right(model, dev), model.coef_.copy(), model.intercept_.copy()))
        best = max(tried, key=lambda one: one.right)  # the first of those that are best
        if done + 1 >= ALWAYS and best.chosen != strength:
            break
    model.coef_, model.intercept_ = best.weights, best.intercepts
    if with_dev:
        report(len(STRENGTHS) / steps)
        both = fit.beside(dev)
        model.set_params(C=best.chosen).fit(both.features, both.labels)
        unconverged += int(model.n_iter_[0] >= MOST_STEPS)
    return _answers(model, test, best.chosen, unconverged)


def perceptron(
    fit: Examples, dev: Examples, test: Float32, *, seed: int, report: Report, cancel: CancelToken
) -> Answers:
    """One hidden layer of 50 rectified units, learned by Adam; weights are those at the best look at dev.

    Args:
        fit: all classes of dev among them.
        test: features ``[k, f]``.
        seed: of the weights and of the order of the examples.
        report: told which share of the work is done.
    """
    from sklearn.neural_network import MLPClassifier

    classes = np.unique(fit.labels)
    rng = np.random.default_rng(seed)
    model = MLPClassifier((HIDDEN,), shuffle=False, random_state=seed)
    per_look = max(1, round(STEPS_PER_LOOK * BATCH / len(fit)))
    best = _Tried(0, -1, [], [])
    for look in range(1, LOOKS + 1):
        report((look - 1) / LOOKS)
        _learn(model, fit, classes, np.concatenate([rng.permutation(len(fit)) for _ in range(per_look)]), cancel)
        right, epoch = _right(model, dev), look * per_look
        if right > best.right:  # Adam goes on in the same arrays
            best = _Tried(epoch, right, [w.copy() for w in model.coefs_], [w.copy() for w in model.intercepts_])
        elif epoch - best.chosen >= PATIENCE * per_look:
            break
    model.coefs_, model.intercepts_ = best.weights, best.intercepts
    return _answers(model, test, best.chosen)


def _learn(model: MLPClassifier, fit: Examples, classes: Int32, order: Int64, cancel: CancelToken) -> None:
    """Step over examples in this order."""
    for part in np.array_split(order, -(-len(order) // _SLICE)):
        cancel.check()
        model.set_params(batch_size=min(BATCH, len(part)))  # it warns where a batch is larger than all there is
        model.partial_fit(fit.features[part], fit.labels[part], classes=classes)


@dataclass(frozen=True, eq=False)
class _Tried:
    """A strength or an epoch, how many of dev were then right, and scikit-learn's weights."""

    chosen: float
    right: int
    weights: Any
    intercepts: Any


def _right(model: Any, dev: Examples) -> int:
    return int(np.count_nonzero(model.predict(dev.features) == dev.labels))


def _answers(model: Any, test: Float32, chosen: float, unconverged: int = 0) -> Answers:
    probabilities = model.predict_proba(test).astype(np.float64)
    best = probabilities.argmax(axis=1)
    return Answers(
        model.classes_[best].astype(np.int32), probabilities[np.arange(len(best)), best], float(chosen), unconverged
    )


@dataclass(frozen=True)
class _Cancelling:
    """Looks at every step of scikit-learn's optimiser whether the work was cancelled."""

    cancel: CancelToken

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to set up."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to tear down."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:  # noqa: ARG002 - their names
        self.cancel.check()

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> None:
        """Nothing to do at the end of a step."""
