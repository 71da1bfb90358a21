"""Probing: accuracy of a classifier that reads a property of a sentence from its embedding (Conneau et al. 2018).

Training, splits, scores and intervals are those of Transfer; the tasks are others, with up to some 1,000 classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.labeled_texts import TRAIN, LabeledTexts
from blindspot.datasets.kinds.probing import PROBES
from blindspot.diagnostic import Cost, DiagnosticResult, Done, Overview, Page, Picker, Reading, Score, Work
from blindspot.diagnostics.transfer import classifiers
from blindspot.diagnostics.transfer import definition as transfer
from blindspot.types import CancelToken, Float32, Float64, Progress

FREE_CLASSES = 200  # so many classes take about as long as the part that does not depend on their number


def compute(
    embeddings: Float32 | Float64,
    dataset: LabeledTexts,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """See ``blindspot.diagnostics.transfer.definition.compute``."""
    result = transfer.compute(embeddings, dataset, params, progress, cancel)
    trained = np.unique(dataset.labels[dataset.splits == TRAIN])  # no other class can be an answer
    return replace(result, metrics={**result.metrics, "chance": 1 / len(trained)})


def _trained_numbers(pairs: int, dimension: int, classes: float) -> float:
    return float(pairs) * dimension * (1 + classes / FREE_CLASSES)


def _units(work: Work) -> float:
    return _trained_numbers(work.pairs, work.dimension, work.classes)


def _units_of_run(run: Done) -> float:
    return _trained_numbers(run.coverage["examples_covered"], run.dimension, run.metrics.get("classes", 0.0))


_TASKS = "\n".join(f"| {p.title} | `{p.id}.txt` | {p.property} | {p.question} |" for p in PROBES.values())
_OF_TRANSFER = transfer.ENTRY


class Probing(transfer.Transfer):
    """The diagnostic Probing."""

    id = "probing"
    version = 3
    title = "Probing"
    question = "Which properties of a sentence can a classifier read from its embedding?"
    how = rf"""
The embeddings are frozen; a classifier learns a property of sentences from those of the training part, and is tested on
the test part. SentEval's ten tasks (Conneau et al. 2018):

| task | file | kind | question |
|---|---|---|---|
{_TASKS}

Their files are not part of Blindspot. Whoever has them names one, `file:sentence_length.txt`, or adds it on the page
*Data*: a sentence per line, after `tr`, `va` or `te` and its class, with tabs between, no header. The name of the file
tells the task; other tasks in the same format are taken too.

**Classifiers, scaling, scores and intervals** are those of *Transfer*: a multinomial logistic regression whose $C$ is
chosen on `va`, and a perceptron with one hidden layer of {classifiers.HIDDEN} units, trained for as many epochs as are
best there; accuracy and macro F1 on `te` with Wilson intervals over distinct sentences. `va` is never trained on.

**Many classes.** Of {classifiers.MANY_CLASSES} classes or more (word content has 1,000), the regression is trained by
Adam in batches of {classifiers.BATCH} and stops by its accuracy on `va`, as SentEval's is by default: to choose $C$
with L-BFGS takes ten times as long. `va` is asked after at least as many steps as there are classes. F1 of single
classes is then shown on the page, and not stored as scores.

**Baselines**: *chance* is 1 over the number of classes in `tr`, *majority* always predicts the most frequent of them.

**What differs from SentEval**: the scaling of the features, the choice of $C$, rectified in place of sigmoid units, and
word content has a perceptron here, for which SentEval always takes the regression. Published accuracies are near, but
not the same.
"""
    how_to_read = """
- A property that is read far above the majority baseline is in the embedding, in a form that a simple classifier finds.
  It need not be used by anything, and a good model may have thrown it away.
- Where the perceptron reads much more than the regression, the property is there, but not along a direction.
- Surface tasks are easy for models that count words; the others ask for structure.
"""
    limits = """
- A classifier may learn the task instead of reading the property: more so the perceptron, and with much training data.
- Probing scores do not tell how a model does on tasks. Over 11 encoders their mean Spearman correlation with transfer
  tasks was 0.64, from 0.04 (word content) to 0.83 (sentence length) (Eger et al. 2019). The view *transfer* has yours.
- English sentences of books, in SentEval's files.
"""
    citation = (
        "Conneau, Kruszewski, Lample, Barrault and Baroni 2018, What you can cram into a single vector; Eger, "
        "Rücklé and Gurevych 2019, Pitfalls in the Evaluation of Sentence Embeddings, figure 3; Conneau and "
        "Kiela 2018, "
        "SentEval"
    )
    dataset_kind = DatasetKind.PROBING
    metrics = (
        *_OF_TRANSFER.metrics,
        Score("chance", "accuracy of guessing, 1 over the number of trained classes", None),
    )
    overview = Overview(
        "Accuracy of a logistic regression that reads a property of sentences (higher is better)",
        {"accuracy": "accuracy", "macro_f1": "macro F1", "majority": "majority baseline", "chance": "chance"},
        "See which sentences they get wrong",
        counted=("tested", "tested sentences"),
    )
    page = Page(
        "probing",
        "Probing",
        ":material/search:",
        (Picker.DATASET, Picker.MODELS, Picker.POSTPROCESSED, Picker.BASELINE),
        part_of="classification",
    )
    readings = (Reading("accuracy", "probing"),)
    cost = Cost(units=_units, units_of_run=_units_of_run, seconds_per_unit={"": 1e-6}, way="classifier")
    compute = staticmethod(compute)


ENTRY = Probing()
