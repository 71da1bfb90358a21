"""Transfer: the accuracy of a simple classifier on an encoder's embeddings (Wang 2022, section 5.1; SentEval)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN, LabeledTexts
from blindspot.diagnostic import (
    NOT_NEGATIVE,
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    Overview,
    Page,
    Parameter,
    Picker,
    Score,
    Work,
)
from blindspot.diagnostics.transfer import classifiers, splits
from blindspot.diagnostics.transfer import features as made
from blindspot.diagnostics.transfer.classifiers import Answers, Examples, Report
from blindspot.diagnostics.transfer.splits import Split
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.statistics import confusion as tables
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.resampling import components
from blindspot.numerics.threads import in_threads, one_blas_thread
from blindspot.texts import counted
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

CHOSEN = "logreg-chosen"
CLASSIFIERS = ("logreg", "logreg-znorm", CHOSEN, "mlp", "mlp-znorm")
SEEDS = tuple(str(seed) for seed in range(1, 6))
FOLDS = splits.FOLDS
AT_ONCE = 100_000_000  # numbers of features in folds that are trained at the same time; each makes copies of its own
LEAST_TEXTS = 3  # different texts that a class needs without a split: one to train on, one to choose by, one to test
CLEAN = "_without_overlap"


def compute(
    embeddings: Float32 | Float64,
    dataset: LabeledTexts,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Train and test; see ``Diagnostic.compute``. A row per tested example, in the dataset's order.

    Raises:
        InputError: too few classes, or too few examples of one.
        BlindspotError: embeddings that are not finite.
    """
    from threadpoolctl import threadpool_limits

    seed = int(params["seed"])
    check_classes(dataset)
    plan = _splits(dataset, seed)
    features = made.features(embeddings, dataset.firsts, dataset.seconds)
    check_finite(features, dataset)
    features = made.compact(features)
    # One BLAS thread each: see blindspot.diagnostics.transfer.classifiers.
    with one_blas_thread() as threads, threadpool_limits(1, user_api="blas"):
        outcome = _outcome(features, dataset, plan, params["classifier"], seed, progress, cancel, threads)
        tested = np.flatnonzero(outcome.fold >= 0)
        cancel.check()
        metrics = _scores_of(outcome, dataset, tested, "")
        overlaps = dataset.overlaps[tested]
        shared = _shares_text(dataset, plan)[tested] & ~overlaps
        if not overlaps.all():
            metrics |= _scores_of(outcome, dataset, tested[~overlaps], CLEAN)
    if len(dataset.classes) < classifiers.MANY_CLASSES:  # of more, the rows tell
        counts = tables.confusion(dataset.labels[tested], outcome.predicted[tested], len(dataset.classes))
        f1 = tables.class_scores(counts).f1
        metrics |= {f"f1@{name}": float(f) for name, f in zip(dataset.classes, f1, strict=True) if not np.isnan(f)}
    if outcome.znorm:
        metrics["znorm"] = float(np.mean(outcome.znorm))
    metrics |= {
        "epochs" if outcome.by_epochs else "c": float(np.median(outcome.chosen)),
        "tested": float(len(tested)),
        "trained": float(len(plan[0].training) if dataset.is_split else len(dataset.labels)),
        "overlap": float(overlaps.sum()),
        "shared_text": float(shared.sum()),
        "classes": float(len(dataset.classes)),
        "folds": float(len(plan)),
        "unconverged": float(outcome.unconverged),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "predicted": [dataset.classes[i] for i in outcome.predicted[tested]],
                "probability": outcome.probability[tested],
                "fold": outcome.fold[tested],
                "repeated": overlaps.astype(np.int32),
            },
            schema=ENTRY.schema,
        ),
        coverage={"examples": len(dataset.labels), "examples_covered": len(dataset.labels)},
        item_numbers=tested,
        seeds={"folds and weights": seed},
        chosen={f"{'epochs' if outcome.by_epochs else 'C'}, fold {i}": value for i, value in enumerate(outcome.chosen)}
        | {f"z-norm, fold {i}": value for i, value in enumerate(outcome.znorm)},
    )


# --- training parts


def check_classes(dataset: LabeledTexts) -> None:
    """Check that a classifier can be trained and tested on a dataset.

    Raises:
        InputError: a single class, a class that only the test part has, or one with too few different texts.
    """
    if dataset.is_split:
        train, test = dataset.splits == TRAIN, dataset.splits == TEST
        for part, name in ((train, "training"), (test, "test")):
            if not part.any():
                raise InputError(
                    f"'{dataset.id}' has no example in its {name} part that all its texts have a vector for",
                    expected="examples in the training part and in the test part",
                )
        least = 1 if (~train & ~test).any() else 2  # without a dev part, one text to choose by
    else:
        train, test = np.ones(len(dataset.labels), dtype=np.bool_), np.zeros(len(dataset.labels), dtype=np.bool_)
        least = LEAST_TEXTS
    texts = {k: len(np.unique(dataset.same[train & (dataset.labels == k)])) for k in range(len(dataset.classes))}
    if sum(count > 0 for count in texts.values()) < 2:
        classes = ", ".join(f"'{dataset.classes[k]}'" for k, count in texts.items() if count)
        raise InputError(
            f"all examples of '{dataset.id}' to learn from are of one class, {classes}",
            expected="examples of two classes or more",
        )
    for k, count in texts.items():
        asked = bool((test & (dataset.labels == k)).any())
        if count < least and (count or asked):
            raise InputError(
                f"class '{dataset.classes[k]}' of '{dataset.id}' has {counted(count, 'different text')} to learn from",
                expected=f"at least {least} of each class that is tested",
                remedy="add examples of it, leave it out or join it with another class",
            )


def _splits(dataset: LabeledTexts, seed: int) -> list[Split]:
    """The prescribed split, or ten folds.

    Raises:
        InputError: a class has so few different texts that some training part has none of them.
    """
    plan = _plan(dataset, seed)
    if (missing := _missing_class(plan, dataset)) is not None:
        raise InputError(
            f"class '{dataset.classes[missing]}' of '{dataset.id}' is in too few different texts for every training "
            "part to have one",
            expected="a class in more different texts",
            remedy="add examples of it, leave it out or join it with another class",
        )
    return plan


def _plan(dataset: LabeledTexts, seed: int) -> list[Split]:
    """Folds keep pairs together that share a text, directly or through other pairs.

    If that leaves a class out, or links more pairs than fit in a fold (a few queries paired with many documents each),
    they only keep equal pairs together.
    """
    labels, same = dataset.labels, dataset.same
    if dataset.is_split:
        return [splits.prescribed(dataset.splits, labels, same, seed)]
    linked = components(*dataset.texts)
    if dataset.has_pairs and FOLDS * np.bincount(linked).max() <= len(labels):
        plan = splits.folds(labels, linked, seed, FOLDS)
        if _missing_class(plan, dataset) is None:
            return plan
    return splits.folds(labels, same, seed, FOLDS)


def _missing_class(plan: Sequence[Split], dataset: LabeledTexts) -> int | None:
    """The first class, in the training or test part of a split, that has no example to fit on; None without any."""
    for split in plan:
        asked = np.union1d(dataset.labels[split.training], dataset.labels[split.test])
        if len(missing := np.setdiff1d(asked, dataset.labels[split.fit])):
            return int(missing[0])
    return None


def _shares_text(dataset: LabeledTexts, plan: Sequence[Split]) -> Bool:
    """Whether one of an example's texts is also in the training part of its split, ``[m] bool``."""
    first, second = dataset.texts
    out = np.zeros(len(first), dtype=np.bool_)
    for split in plan:
        learned = np.union1d(first[split.training], second[split.training])
        out[split.test] = np.isin(first[split.test], learned) | np.isin(second[split.test], learned)
    return out


def check_finite(features: Float32, dataset: LabeledTexts) -> None:
    finite = np.isfinite(features.sum(axis=1, dtype=np.float64))
    if not finite.all():
        first = dataset.items[dataset.firsts[int(np.argmin(finite))]]
        raise BlindspotError(
            f"the embeddings of {np.count_nonzero(~finite):,} of {len(finite):,} examples of '{dataset.id}' hold "
            f"something that is no number, first that of '{first[:80]}'",
            expected="finite numbers",
            remedy="choose another transform or encoder",
        )


# --- training


@dataclass(eq=False)
class _Outcome:
    """Arrays are ``[m]``, one value per example; ``fold`` is -1 for examples that were not tested."""

    predicted: Int32
    probability: Float64
    fold: Int32
    chosen: list[float] = field(default_factory=list)  # per fold, C or the number of epochs
    by_epochs: bool = False
    unconverged: int = 0
    znorm: list[float] = field(default_factory=list)  # per fold, 0 or 1, where dev chose


def _outcome(
    features: Any,
    dataset: LabeledTexts,
    plan: Sequence[Split],
    classifier: str,
    seed: int,
    progress: Progress,
    cancel: CancelToken,
    threads: int,
) -> _Outcome:
    """Train and test on each split, in so many threads; the answers are the same with any number."""
    m = len(dataset.labels)
    out = _Outcome(np.full(m, -1, np.int32), np.zeros(m), np.full(m, -1, np.int32))
    many = len(dataset.classes) >= classifiers.MANY_CLASSES
    shares = np.zeros(len(plan))
    answers_of: dict[int, Answers] = {}

    def train(number: int) -> None:
        def report(share: float) -> None:
            cancel.check()
            shares[number] = share
            progress("training", len(answers_of), len(plan), float(shares.mean()))

        report(0.0)
        answers_of[number] = _answers(features, dataset.labels, plan[number], classifier, many, seed, report, cancel)
        shares[number] = 1.0

    at_once = max(1, AT_ONCE // math.prod(features.shape))
    in_threads(range(len(plan)), train, min(threads, len(plan), at_once))
    for number, split in enumerate(plan):
        answers = answers_of[number]
        out.predicted[split.test], out.probability[split.test] = answers.predicted, answers.probability
        out.fold[split.test] = number
        out.chosen.append(answers.chosen)
        if classifier == CHOSEN:
            out.znorm.append(float(answers.has_znorm))
        out.by_epochs = answers.by_epochs
        out.unconverged += answers.unconverged
    progress("training", len(plan), len(plan))
    return out


def _answers(
    features: Any,
    labels: Int32,
    split: Split,
    classifier: str,
    many: bool,
    seed: int,
    report: Report,
    cancel: CancelToken,
) -> Answers:
    if classifier == CHOSEN:
        plain, scaled = (
            _answers(features, labels, split, name, many, seed, partial(_half, report, first), cancel)
            for name, first in (("logreg", 0.0), ("logreg-znorm", 0.5))
        )
        return replace(scaled, has_znorm=True) if scaled.right > plain.right else plain
    scaling = made.Scaling.fit(features, split.training, each=classifier.endswith("znorm"))
    sparse = classifier.startswith("logreg") and not many
    fit, dev = (Examples(scaling.apply(features, rows, sparse=sparse), labels[rows]) for rows in (split.fit, split.dev))
    test = scaling.apply(features, split.test, sparse=sparse)
    if classifier.startswith("mlp"):
        return classifiers.perceptron(fit, dev, test, seed=seed, report=report, cancel=cancel)
    if many:
        return classifiers.perceptron(fit, dev, test, seed=seed, report=report, cancel=cancel, hidden=())
    with_dev = not split.is_prescribed
    return classifiers.logistic_regression(fit, dev, test, with_dev=with_dev, report=report, cancel=cancel)


def _half(report: Report, first: float, share: float) -> None:
    report(first + share / 2)


def _scores_of(outcome: _Outcome, dataset: LabeledTexts, which: Int64, suffix: str) -> dict[str, float]:
    """Scores and intervals over the examples ``which [k]``; their names end in ``suffix``."""
    labels, predicted = dataset.labels[which], outcome.predicted[which]
    first, second = dataset.texts
    dependence = Dependence.of_examples(first[which], second[which] if dataset.has_pairs else None)
    accuracy, macro_f1 = tables.estimates(labels, predicted, dependence, len(dataset.classes))
    learned = dataset.labels[dataset.splits == TRAIN] if dataset.is_split else dataset.labels
    out = {f"majority{suffix}": float((labels == np.bincount(learned).argmax()).mean())}
    for name, estimate in (("accuracy", accuracy), ("macro_f1", macro_f1)):
        out[f"{name}{suffix}"] = estimate.value
        if estimate.interval is not None:
            out |= {f"{name}{suffix}_low": estimate.interval.low, f"{name}{suffix}_high": estimate.interval.high}
    return out


# --- the declaration


def _metrics() -> Sequence[Score]:
    out = []
    for suffix, of in (("", ""), (CLEAN, ", without examples that are also in training or repeat")):
        for name, what in (
            ("accuracy", "share of tested examples whose class is predicted"),
            ("macro_f1", "mean over classes of F1"),
        ):
            out.append(Score(f"{name}{suffix}", f"{what}{of}", True))
            out.append(Score(f"{name}{suffix}_low", f"lower end of its 95% interval{of}", True, is_end=True))
            out.append(Score(f"{name}{suffix}_high", f"upper end of its 95% interval{of}", True, is_end=True))
        what = "accuracy of always saying the most frequent class of the training part (of all folds)"
        out.append(Score(f"majority{suffix}", f"{what}{of}", None))
    counts = {
        "tested": "examples that were tested",
        "trained": "examples of the training part (of all folds)",
        "overlap": "tested examples that are also in training, or repeat",
        "shared_text": "other tested pairs with a text that is in training, in another pair",
        "classes": "classes",
        "folds": "folds; 1 with a prescribed split",
        "unconverged": "fits of the regression that were stopped before they converged",
    }
    out += [Score(name, what, None, is_count=True) for name, what in counts.items()]
    for name, what in (
        ("c", "strength of the regression as dev chose it"),
        ("epochs", "epochs of the perceptron as dev chose them"),
    ):
        out.append(Score(name, f"{what}, median over the folds", None, range=NOT_NEGATIVE))
    out.append(Score("znorm", "share of the folds whose dev chose z-norm, where it was to choose", None))
    return out


def _trained_numbers(work: Work) -> float:
    return float(work.pairs) * (1 if work.is_split else FOLDS) * work.dimension


class Transfer(Diagnostic):
    """The diagnostic Transfer."""

    id = "transfer"
    version = 3
    title = "Transfer"
    question = "How well do the embeddings work as features for classification?"
    how = rf"""
The embeddings are frozen; a classifier is trained on those of the training part and tested on the test part.

**Features** are SentEval's: a single text's embedding $u$; for two texts $|u - v|$ and $u * v$, element by element. The
mean of the training part is subtracted. Then all features are divided by one number, the root of their mean variance
$s^2$, or, with *znorm*, every feature by its own standard deviation, both computed on the training part. So the
length and location of the vectors do not change regularization or learning speed; for the regression without z-norm
this only means that $C$ is in units of $1/s^2$.

**Logistic regression**, multinomial, minimizes

$$C \sum_i -\log p(y_i \mid x_i) + \tfrac12 \lVert W \rVert^2$$

(the intercept goes free) by L-BFGS, with $C$ of
{", ".join(f"{c:g}" for c in classifiers.STRENGTHS[: classifiers.ALWAYS])}, and as long as the largest is the best of
{" and ".join(f"{c:g}" for c in classifiers.STRENGTHS[classifiers.ALWAYS :])} too. Of {classifiers.MANY_CLASSES} classes
or more it is trained like the MLP, without a hidden layer. *logreg-chosen* also takes from dev whether features are
z-normalized, as Eger et al. 2019 recommend for each model and task (section 3): without, where both have as many right.
The **MLP** has one hidden layer of
{classifiers.HIDDEN} rectified units, learned by Adam (rate 0.001, batches of {classifiers.BATCH},
$\alpha = 10^{{-4}}$). After every epoch, in small tasks after as many as make some {classifiers.STEPS_PER_LOOK} steps,
its accuracy on dev is checked, at most {classifiers.LOOKS} times; training stops after {classifiers.PATIENCE} checks
without improvement, and the best weights are kept.

**Splits.** A task's own split is used; its dev part chooses $C$ and the epoch. Without a dev part, a tenth of the
training part chooses. Without a split there are {FOLDS} folds with about equally many of
each class, drawn with the run's seed: every example is tested once; the fold after the tested one chooses. The
regression is then trained on the choosing fold too, unless it is a prescribed dev part. No fold is trained and tested
on the same text; case, white space and Unicode form (é as one character or as two) are ignored. The order of two texts
is ignored, since the features are the same. Pairs that share one text stay together too, directly or through other
pairs, unless more than a tenth of all are connected or a class would be missing: then only identical pairs stay
together, and pairs that share one text with training are counted. A prescribed split is not changed.

**Scores.** Accuracy and macro F1, the mean over classes of $F_1 = 2TP/(2TP + FP + FN)$, over all tested examples; a
class that is neither present nor predicted has no F1. The *majority* baseline always predicts the most frequent class
of the training part (with folds, of all examples). Intervals are Wilson's with the effective number of tested examples:
those with the same text count as one, and pairs that share a text depend on each other, as in all diagnostics of pairs.
They cover the choice of test examples, not of training examples.

**Overlap.** Some prescribed test parts contain examples of the training part (pairs in either order), and some tasks
repeat examples. All scores are also given without them. Pairs with only one text in training are counted and kept.

**What differs from SentEval.** It assigns texts to folds without checking for repeats, and averages the folds'
accuracies; it tries $C$ from $2^{{-2}}$ to $2^{{5}}$ on features that are not scaled, by a cross-validation within the
training part; its MLP has sigmoid units, and a weight decay that is chosen like $C$. Published scores of these tasks
are near, but not the same.
"""
    how_to_read = """
- Accuracy or macro F1 of a simple classifier on frozen embeddings, against the majority class. Macro F1 is fairer where
  classes differ in size.
- Look at the difference between two models with its interval, then at the examples that only one of them gets right.
"""
    limits = """
- A simple classifier finds what is linearly readable. A model that is fine-tuned may do better.
- Classifier, regularization and normalization change the order of models (Eger et al. 2019): compare under
  one protocol, and see whether the order holds under another.
- Scores without what overlaps between training and test are shown beside the usual ones.
"""
    citation = (
        "Conneau and Kiela 2018, SentEval; Wang, Kuo and Li 2022, Just Rank, section 5.1; Eger, Rücklé and "
        "Gurevych 2019, Pitfalls in the Evaluation of Sentence Embeddings"
    )
    dataset_kind = DatasetKind.LABELED_TEXTS
    parameters = (
        Parameter(
            "classifier",
            CLASSIFIERS,
            CLASSIFIERS[0],
            "logistic regression or a small multilayer perceptron, on embeddings as they are or z-normalized",
            "of transfer: logreg, mlp, or either with -znorm; logreg-chosen: with z-norm where that is better on dev",
            is_of_use=True,
        ),
        Parameter(
            "seed",
            SEEDS,
            SEEDS[0],
            "seed of folds and of the perceptron's weights",
            f"of transfer: seed of folds and weights, {SEEDS[0]} to {SEEDS[-1]}",
            is_of_use=True,
        ),
    )
    columns = (
        Column("predicted", pa.string(), "the class that was predicted"),
        Column("probability", pa.float64(), "the classifier's probability of it"),
        Column("fold", pa.int32(), "in which fold it was tested, from 0; 0 with a prescribed split"),
        Column("repeated", pa.int32(), "1 where its text is also in the training part, or occurs more than once"),
    )
    metrics = tuple(_metrics())
    headline = "accuracy"
    overview = Overview(
        "Accuracy of a logistic regression on the embeddings (higher is better)",
        {
            "accuracy": "accuracy",
            "accuracy_without_overlap": "without repeated examples",
            "macro_f1": "macro F1",
            "majority": "majority baseline",
        },
        "See which examples they get wrong",
        counted=("tested", "tested examples"),
    )
    page = Page(
        "transfer",
        "Transfer",
        ":material/category:",
        (Picker.DATASET, Picker.MODELS, Picker.POSTPROCESSED, Picker.BASELINE),
        part_of="classification",
    )
    won = ("examples", "finds the right class")
    item_in_address = {
        "view": "items",
        "item": "{number}",
        "a": "{a}",
        "b": "{b}",
    }
    is_gate = True
    two_in_address = {"view": "items", "a": "{a}", "b": "{b}"}
    families = (Score("f1@", "F1 of one class", True),)
    cost = Cost(
        units=_trained_numbers,
        units_of_run=lambda run: _trained_numbers(run.work) if run.work else 0.0,
        seconds_per_unit={"": 3e-7, CHOSEN: 6e-7},
        way="classifier",
    )
    compute = staticmethod(compute)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.transfer.item_scores import item_scores

        return item_scores(runs, repository)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.transfer.evidence import evidence

        return evidence(material)


ENTRY = Transfer()
