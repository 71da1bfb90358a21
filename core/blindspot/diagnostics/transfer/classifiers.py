"""Classifiers on embeddings: logistic regression and a small multilayer perceptron (SentEval; Eger 2019, section 4).

Both choose one setting by their accuracy on a dev part: C, or the epoch to stop after. Ties go to the smaller C and the
earlier epoch. With many classes the regression is trained like the perceptron, as in SentEval, since L-BFGS takes about
ten times as long on the 1,000 classes of word content. Everything runs on one BLAS thread, so that the same seed gives
the same bits on any number of cores; on busy cores, threads that wait for each other also made it ten times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blindspot.types import CancelToken, Float64, Int32, Int64

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier

IN_WORDS = {
    "logreg": "logistic regression",
    "logreg-znorm": "logistic regression, z-normalized",
    "logreg-chosen": "logistic regression, z-normalized where that is better on dev",
    "mlp": "perceptron",
    "mlp-znorm": "perceptron, z-normalized",
}
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2)  # C, on features whose mean variance is 1
ALWAYS = 5  # so many are always tried; larger ones are slow and tried only while the largest so far is the best
MOST_STEPS = 2_000  # of L-BFGS; some hundreds are usual
HIDDEN = 50  # units, SentEval's nhid
BATCH = 64
LOOKS = 40  # evaluations on dev, at most: after each epoch, in small tasks after enough epochs for fifty steps
PATIENCE = 5  # evaluations without a better accuracy
MANY_CLASSES = 100  # from so many on
STEPS_PER_LOOK = 50  # with fewer, training stops before slow progress shows
_SLICE = 8_192  # examples between two checks for a cancel


@dataclass(frozen=True, eq=False)
class Examples:
    """Scaled features ``[m, f] float32``, sparse or not, and the numbers of the classes ``[m]``."""

    features: Any
    labels: Int32

    def __len__(self) -> int:
        return len(self.labels)

    def and_also(self, other: Examples) -> Examples:
        from scipy.sparse import vstack

        features = [self.features, other.features]
        both = np.concatenate(features) if isinstance(self.features, np.ndarray) else vstack(features, format="csr")
        return Examples(both, np.concatenate([self.labels, other.labels]))


@dataclass(frozen=True, eq=False)
class Answers:
    """The predicted classes ``[k]`` and their probabilities ``[k]``."""

    predicted: Int32
    probability: Float64
    chosen: float  # C, or the number of epochs
    by_epochs: bool  # which of the two
    right: int  # of dev
    unconverged: int = 0  # fits that were stopped at ``MOST_STEPS``
    has_znorm: bool = False  # where dev chose


Report = Callable[[float], None]


def logistic_regression(
    fit: Examples, dev: Examples, test: Any, *, with_dev: bool, report: Report, cancel: CancelToken
) -> Answers:
    """Multinomial logistic regression with an L2 penalty: minimizes ``C * sum of the log losses + |w|^2 / 2``.

    C is the one of ``STRENGTHS`` that is best on dev; every fit starts from the previous one.

    Args:
        fit: has all the classes of dev.
        test: features ``[k, f]``.
        with_dev: whether to train on dev too once C is chosen.
        report: receives the share of the work that is done.
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
        best = max(tried, key=lambda candidate: candidate.right)  # the first of several
        if done + 1 >= ALWAYS and best.chosen != strength:
            break
    model.coef_, model.intercept_ = best.weights, best.intercepts
    if with_dev:
        report(len(STRENGTHS) / steps)
        both = fit.and_also(dev)
        model.set_params(C=best.chosen).fit(both.features, both.labels)
        unconverged += int(model.n_iter_[0] >= MOST_STEPS)
    return _answers(model, test, best, False, unconverged)


def perceptron(
    fit: Examples,
    dev: Examples,
    test: Any,
    *,
    seed: int,
    report: Report,
    cancel: CancelToken,
    hidden: tuple[int, ...] = (HIDDEN,),
) -> Answers:
    """One hidden layer of 50 rectified units, trained by Adam, with the weights that were best on dev.

    ``seed`` decides the weights and the order of the examples; see ``logistic_regression`` for the rest. Without a
    ``hidden`` layer it is a multinomial logistic regression, which stops early instead of choosing C.
    """
    from sklearn.neural_network import MLPClassifier

    classes = np.unique(fit.labels)
    rng = np.random.default_rng(seed)
    model = MLPClassifier(hidden, shuffle=False, random_state=seed)
    steps = len(classes) if len(classes) >= MANY_CLASSES else STEPS_PER_LOOK  # each class needs some steps
    per_look = max(1, round(steps * BATCH / len(fit)))
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
    return _answers(model, test, best, True)


def _learn(model: MLPClassifier, fit: Examples, classes: Int32, order: Int64, cancel: CancelToken) -> None:
    for part in np.array_split(order, -(-len(order) // _SLICE)):
        cancel.check()
        model.set_params(batch_size=min(BATCH, len(part)))  # a batch larger than the data gives a warning
        model.partial_fit(fit.features[part], fit.labels[part], classes=classes)


@dataclass(frozen=True, eq=False)
class _Tried:
    """scikit-learn's weights for one C or epoch."""

    chosen: float
    right: int  # of dev
    weights: Any
    intercepts: Any


def _right(model: Any, dev: Examples) -> int:
    return int(np.count_nonzero(model.predict(dev.features) == dev.labels))


def _answers(model: Any, test: Any, best: _Tried, by_epochs: bool, unconverged: int = 0) -> Answers:
    probabilities = model.predict_proba(test).astype(np.float64)
    likeliest = probabilities.argmax(axis=1)
    return Answers(
        model.classes_[likeliest].astype(np.int32),
        probabilities[np.arange(len(likeliest)), likeliest],
        float(best.chosen),
        by_epochs,
        best.right,
        unconverged,
    )


@dataclass(frozen=True)
class _Cancelling:
    """A scikit-learn callback that checks for a cancel at every step of the optimizer."""

    cancel: CancelToken

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:  # noqa: ARG002 - their names
        self.cancel.check()

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> None: ...
