"""Learning curve: accuracy by the number of training examples, over several draws (Eger 2019, section 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN, LabeledTexts
from blindspot.diagnostic import Column, Cost, Diagnostic, DiagnosticResult, Overview, Score, Work
from blindspot.diagnostics.transfer import definition as transfer
from blindspot.diagnostics.transfer import features as made
from blindspot.diagnostics.transfer.classifiers import STRENGTHS
from blindspot.diagnostics.transfer.splits import grouped_folds
from blindspot.errors import InputError
from blindspot.numerics.statistics import votes
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.resampling import components
from blindspot.numerics.statistics.votes import Population
from blindspot.texts import counted
from blindspot.types import Bool, CancelToken, Float32, Float64, Int32, Int64, Progress

if TYPE_CHECKING:
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence

SIZES = (10, 30, 100, 300, 1_000)
DRAWS = 10
SEED = 1
TRIED = STRENGTHS[1:5]  # C
INNER_FOLDS = 3  # that choose C
STEPS = 300  # most steps of L-BFGS: there are hundreds of fits, and those with the C that wins need fewer
UNKNOWN = 1.0  # C where a class has a single example


def compute(
    embeddings: Float32 | Float64,
    dataset: LabeledTexts,
    params: Mapping[str, str],  # noqa: ARG001 - it has none
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """See ``Diagnostic.compute``. A row per tested example.

    Raises:
        InputError: as of Transfer, or too few examples to draw from.
        BlindspotError: embeddings that are not finite.
    """
    from threadpoolctl import threadpool_limits

    transfer.check_classes(dataset)
    features = made.features(embeddings, dataset.firsts, dataset.seconds)
    transfer.check_finite(features, dataset)
    features = made.compact(features)
    pool, tested, groups = parts(dataset)
    labels = dataset.labels
    classes = len(np.unique(labels[pool]))
    sizes = [size for size in SIZES if classes <= size <= len(pool)]
    if not sizes:
        raise InputError(
            f"'{dataset.id}' has {counted(len(pool), 'example')} of {classes} classes to draw from",
            expected=f"at least {next((size for size in SIZES if size >= classes), classes)}",
        )
    metrics: dict[str, float] = {
        "tested": float(len(tested)),
        "pool": float(len(pool)),
        "draws": float(DRAWS),
        "classes": float(len(dataset.classes)),
        "majority": float((labels[tested] == np.bincount(labels[pool]).argmax()).mean()),
    }
    rows: dict[str, Any] = {"depends": groups.astype(np.int32)}
    with threadpool_limits(1, user_api="blas"):
        for done, size in enumerate(sizes):
            right = np.empty((len(tested), DRAWS), dtype=np.bool_)
            for draw in range(DRAWS):
                cancel.check()
                progress("training", done * DRAWS + draw, len(sizes) * DRAWS)
                chosen = drawn(labels, pool, size, draw)
                right[:, draw] = _predicted(features, labels, chosen, tested) == labels[tested]
            estimate = accuracy(right, groups)
            metrics[f"accuracy@{size}"] = estimate.value
            if estimate.interval is not None:
                metrics |= {
                    f"accuracy@{size}_low": estimate.interval.low,
                    f"accuracy@{size}_high": estimate.interval.high,
                }
            rows[f"right_{size}"] = right @ (1 << np.arange(DRAWS))
    progress("training", len(sizes) * DRAWS, len(sizes) * DRAWS)
    nothing = np.zeros(len(tested), dtype=np.int32)
    columns = {name: pa.array(rows.get(name, nothing), pa.int32()) for name in ENTRY.schema.names}
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(columns, schema=ENTRY.schema),
        coverage={"examples": len(labels), "examples_covered": len(labels)},
        item_numbers=tested,
        seeds={"draws": SEED},
    )


def parts(dataset: LabeledTexts) -> tuple[Int64, Int64, Int64]:
    """Examples to draw from ``[p]`` and to test ``[m]``, and numbers ``[m]`` that dependent tested examples share.

    These are the prescribed training and test parts, or two halves with about equally many of each class. No text is in
    both halves, unless more than half of all pairs are connected: then no pair is in both.
    """
    linked = components(*dataset.texts) if dataset.has_pairs else dataset.same
    if dataset.is_split:
        pool, tested = (np.flatnonzero(dataset.splits == part) for part in (TRAIN, TEST))
    else:
        apart = linked if 2 * np.bincount(linked).max() <= len(linked) else dataset.same
        is_tested = grouped_folds(dataset.labels, apart, 2, SEED) == 1
        pool, tested = np.flatnonzero(~is_tested), np.flatnonzero(is_tested)
    depends: Int64 = np.unique(linked[tested], return_inverse=True)[1]
    return pool, tested, depends


def shares(counts: Int64, size: int) -> Int64:
    """How many examples a stratified draw of ``size`` takes from classes of ``counts [k]``, ``[k]``: in proportion, but
    at least one from each class that has any."""
    quota = size * counts / counts.sum()
    taken: Int64 = np.minimum(np.maximum(np.floor(quota), 1), counts).astype(np.int64)
    while (left := size - int(taken.sum())) != 0:
        step = 1 if left > 0 else -1
        free = taken < counts if left > 0 else taken > 1
        taken[int(np.argmax(np.where(free, step * (quota - taken), -np.inf)))] += step
    return taken


def drawn(labels: Int32, pool: Int64, size: int, draw: int) -> Int64:
    """The examples of a draw, ascending. All sizes of a draw take the first of each class in one random order, so that
    the curves of all models go through the same examples."""
    order = np.random.default_rng([SEED, draw]).permutation(pool)
    taken = shares(np.bincount(labels[pool]), size)
    return np.sort(np.concatenate([order[labels[order] == k][:count] for k, count in enumerate(taken.tolist())]))


def _predicted(features: Any, labels: Int32, chosen: Int64, tested: Int64) -> Int32:
    """The classes of ``tested`` by a regression on ``chosen``; its C is the best one over folds within these."""
    from sklearn.linear_model import LogisticRegression

    scaling = made.Scaling.fit(features, chosen, each=False)
    rows, y = scaling.apply(features, chosen, sparse=True), labels[chosen]
    model = LogisticRegression(max_iter=STEPS, C=UNKNOWN)
    fewest = min(INNER_FOLDS, int(np.bincount(y)[np.unique(y)].min()))
    if fewest > 1:
        fold = grouped_folds(y, np.arange(len(y)), fewest, SEED)
        right = np.zeros(len(TRIED), dtype=np.int64)
        for out in range(fewest):
            fit, dev = (np.flatnonzero(here) for here in (fold != out, fold == out))
            for i, strength in enumerate(TRIED):
                fitted = model.set_params(C=strength).fit(rows[fit], y[fit])
                right[i] += np.count_nonzero(fitted.predict(rows[dev]) == y[dev])
        model.set_params(C=TRIED[int(np.argmax(right))])
    predicted: Int32 = model.fit(rows, y).predict(scaling.apply(features, tested, sparse=True))
    return predicted


def accuracy(right: Bool, groups: Int64) -> Estimate:
    """Mean of ``right [m, draws]`` with its interval over examples and draws, like queries and raters (``votes``)."""
    mean = votes.micro(right.astype(np.float64), np.ones(right.shape))
    assert mean is not None  # noqa: S101 - there are votes
    return votes.share(mean, groups, Population.RATERS)


def _units(work: Work) -> float:
    return float(sum(size for size in SIZES if size <= work.pairs) + work.pairs) * work.dimension


class LearningCurve(Diagnostic):
    """The diagnostic Learning curve."""

    id = "learning_curve"
    version = 1
    title = "Learning curve"
    question = "How good is a classifier on the embeddings when training examples are scarce?"
    how = rf"""
The embeddings are frozen, and features are those of *Transfer*. {DRAWS} times, {SIZES[0]} examples are drawn from the
training part, with each class's share and at least one of each class, and a logistic regression is trained on them;
likewise {", ".join(f"{size:,}" for size in SIZES[1:])}, as far as there are so many. A larger size of a draw keeps the
smaller one's examples but for rounding. All models get the same draws.

**Training on the draw alone.** Scaling, and $C$ of {", ".join(f"{c:g}" for c in TRIED)} by cross-validation with
{INNER_FOLDS} folds within the drawn examples (fewer where a class has fewer; {UNKNOWN:g} where one has a single
example).

**Test.** The task's test part. Without a split, half of the examples are drawn from and the other half is tested, with
about equally many of each class and no text in both.

**Intervals** take in both choices: of test examples, of which those with the same text count as one, and of training
examples (two-way clustering, Cameron, Gelbach and Miller 2011). So do those of the difference of two models at a size.
"""
    how_to_read = """
- Which model is best with as many labels as you have? Curves that cross say that the answer of *Transfer*, which trains
  on all examples, is another one than yours.
"""
    limits = """
- A draw keeps the classes' shares; labels that come in as they are found may not have them.
- Only a logistic regression is trained. A model that is fine-tuned may need fewer examples or more.
"""
    citation = (
        "Eger, Rücklé and Gurevych 2019, Pitfalls in the Evaluation of Sentence Embeddings, section 1; Conneau and "
        "Kiela 2018, SentEval"
    )
    dataset_kind = DatasetKind.LABELED_TEXTS
    columns = (
        Column("depends", pa.int32(), "examples with the same number have the same text, or pairs of them share one"),
        *(
            Column(
                f"right_{size}",
                pa.int32(),
                f"draws of {size:,} that got it right, a bit each",
            )
            for size in SIZES
        ),
    )
    metrics = (
        *(
            score
            for size in SIZES
            for score in (
                Score(f"accuracy@{size}", f"mean accuracy with {size:,} training examples", True),
                Score(f"accuracy@{size}_low", f"lower end of its 95% interval, {size:,}", True, is_end=True),
                Score(f"accuracy@{size}_high", f"upper end of its 95% interval, {size:,}", True, is_end=True),
            )
        ),
        Score("majority", "accuracy of always saying the most frequent class of the training part", None),
        *(
            Score(name, what, None, is_count=True)
            for name, what in (
                ("tested", "examples that were tested"),
                ("pool", "examples that were drawn from"),
                ("draws", "draws of each size"),
                ("classes", "classes"),
            )
        ),
    )
    headline = "accuracy@100"
    headline_instead = "accuracy@10"
    overview = Overview(
        "Accuracy with 100 training examples (higher is better)",
        {f"accuracy@{size}": f"Accuracy, {size:,} examples" for size in SIZES[:4]} | {"majority": "majority baseline"},
        "See where models cross",
        "transfer",
        counted=("tested", "tested examples"),
    )
    cost = Cost(
        units=_units,
        units_of_run=lambda run: _units(run.work) if run.work else 0.0,
        seconds_per_unit={"": 5e-6},
    )
    compute = staticmethod(compute)

    @property
    def place(self) -> tuple[str, dict[str, str]]:
        return "transfer", {"view": "scarce"}

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.transfer.crossing import evidence

        return evidence(material)


ENTRY = LearningCurve()
