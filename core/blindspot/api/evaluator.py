"""Evaluator of a training: a sentence-transformers evaluator that keeps every item at every step."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from blindspot.api import data as given
from blindspot.api import models
from blindspot.api.place import place_of
from blindspot.api.results import Frames, Run, Score, as_frame
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders import in_process
from blindspot.errors import InputError, naming_extras
from blindspot.references import step_of
from blindspot.runs import pipeline, requesting
from blindspot.studies.training import steps as training

if TYPE_CHECKING:
    import pandas as pd

    from blindspot.api.figures import Figure

PAIRS, MINIMAL = "evalrank", "heros"
_BASES = (
    ("sentence_transformers.base.evaluation", "BaseEvaluator"),
    ("sentence_transformers.evaluation", "SentenceEvaluator"),
)
_FOR_TRAINER: dict[type, type] = {}
_TAKEN: set[tuple[str, str]] = set()  # names of this process's trainings, each with its store


class Evaluator:
    """Evaluate a model during its training, and keep the rank of every pair at every step.

    ``SentenceTransformerTrainer(evaluator=...)`` calls it; so may any loop: ``evaluator(model, epoch=0, steps=20)``.
    Every call runs EvalRank on the pairs and HEROS on the minimal pairs. The results are runs of the models
    ``python:NAME/step-20`` and so on; with a ``store``, the app's page *Compare* shows them during
    the training.

    >>> import blindspot as bs
    >>> evaluator = bs.Evaluator([("a cat", "the cat"), ("a dog", "the dog"), ("one bird", "two birds")])
    >>> metrics = evaluator(lambda texts: [[len(text), text.count("d") + 1] for text in texts], steps=0)
    >>> metrics = evaluator(lambda texts: [[text.count(c) + 1 for c in "acdgirt"] for text in texts], steps=20)
    >>> evaluator.steps
    ('step-0', 'step-20')
    >>> list(evaluator.pairs())
    ['item_no', 'query', 'match', 'step-0', 'step-20']
    >>> evaluator.changed()[["before", "after"]].values.tolist()
    [[3.0, 1.0]]

    Args:
        pairs: data as ``evalrank`` takes them.
        minimal: minimal pairs as ``heros`` takes them.
        name: of the training; if the store has one of that name, the first free of ``NAME-2``, ``NAME-3``, ...
        store: a cache folder; None for results that end with the program.
        columns: of the pairs, by role.
        prefix: put before the names of the metrics, with a ``_``: for several evaluators in one training.

    Attributes:
        primary_metric: name of the metric that ``load_best_model_at_end`` goes by: MRR.
        greater_is_better: True.

    Raises:
        InputError: the data are wrong; here, not at the first step.
    """

    greater_is_better = True

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Evaluator:
        evaluator: Evaluator = object.__new__(_for_trainer(cls))
        return evaluator

    def __init__(
        self,
        pairs: Any,
        minimal: Any = None,
        *,
        name: str = "training",
        store: str | os.PathLike[str] | None = None,
        columns: Mapping[str, str] | None = None,
        prefix: str = "",
    ) -> None:
        in_process.reference_of(f"{name}/step-0")
        self._place = place_of(store, None)
        self._asked, self._name, self._prefix = name, "", f"{prefix}_" if prefix else ""
        self._datasets = {PAIRS: self._reference(pairs, PAIRS, columns)}
        if minimal is not None:
            self._datasets[MINIMAL] = self._reference(minimal, MINIMAL, None)
        self._runs: dict[str, dict[str, Run]] = {}
        self._weights: dict[str, str] = {}
        self._calls = 0
        self.primary_metric = self._metric(PAIRS, find_diagnostic(PAIRS).headline)

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Evaluate the model as it is now.

        Args:
            model: a SentenceTransformer, or a function from a list of texts to an array.
            output_path: for the trainer's sake; nothing is written there.
            epoch, steps: as the trainer gives them; -1 for unknown.

        Returns:
            The main scores, as ``evalrank_mrr`` and ``heros_synonym>antonym``; ``runs`` has all.

        Raises:
            InputError: this is no model.
            BlindspotError: the model failed, or gave no finite vectors.
        """
        del output_path
        self._calls += 1
        self._claim()
        with _as_it_is(model):
            revision, variant = self._variant(model, epoch, steps)
            try:
                runs = {
                    diagnostic: self._run(diagnostic, variant.encoder, dataset)
                    for diagnostic, dataset in self._datasets.items()
                }
            finally:
                in_process.forget(variant.encoder)  # the next step gives it other weights
        label = step_of(variant.encoder)[1]
        self._runs[label], self._weights[label] = runs, revision
        metrics = {
            self._metric(diagnostic, name): float(score)
            for diagnostic, run in runs.items()
            for name, score in _main(run).items()
            if not math.isnan(score.value)
        }
        if hasattr(self, "store_metrics_in_model_card_data") and hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    # --- what the trainer asks for

    @property
    def description(self) -> str:
        return "EvalRank" if MINIMAL not in self._datasets else "EvalRank and HEROS"

    @property
    def name(self) -> str:
        """Name of the training; it is settled by the first call."""
        return self._name or self._asked

    def get_config_dict(self) -> dict[str, Any]:
        """The facts about the evaluator that a model card names."""
        return {"pairs": self._datasets[PAIRS].entry().title}

    # --- results

    @property
    def steps(self) -> tuple[str, ...]:
        """Labels of the steps in the order of evaluation: ``step-20``; without a number ``epoch-1`` or ``call-3``."""
        return tuple(self._runs)

    @property
    def runs(self) -> Mapping[str, Mapping[str, Run]]:
        """Per step the runs, by diagnostic: ``evaluator.runs["step-20"]["evalrank"]``."""
        return {label: dict(runs) for label, runs in self._runs.items()}

    def scores(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per step and main score: ``step, diagnostic, score, value, low, high``; NaN without an interval."""
        import pandas as pd

        rows = [
            (label, diagnostic, name, score.value, _number(score.low), _number(score.high))
            for label, runs in self._runs.items()
            for diagnostic, run in runs.items()
            for name, score in _main(run).items()
        ]
        return as_frame(pd.DataFrame(rows, columns=["step", "diagnostic", "score", "value", "low", "high"]), as_)

    def pairs(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per pair: ``item_no``, ``query``, ``match``, and the rank of the match in a column per step."""
        frame = self._evaluated(PAIRS).frame().drop(columns="text")
        rows = next(iter(self._runs.values()))[PAIRS].pairs()
        return as_frame(rows[["item_no", "query", "match"]].merge(frame, on="item_no"), as_)

    def minimal_pairs(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per original and a column per step: 1 if the headline's order is right, 0 if it is wrong, 0.5 for a
        tie."""
        return as_frame(self._evaluated(MINIMAL).frame(), as_)

    def changed(
        self, before: str = "", after: str = "", *, diagnostic: str = PAIRS, as_: Frames = "pandas"
    ) -> pd.DataFrame | Any:
        """The pairs that were lost and won between two steps, the largest loss first.

        A row has ``item_no``, ``text``, the ranks ``before`` and ``after`` and the ``gain`` of the score whose mean the
        metric is: 1/rank, so that a match which falls from first to second place loses 0.5.

        Args:
            before, after: labels of steps; the first and the last if they are not named.
            diagnostic: ``evalrank``, or ``heros`` for minimal pairs.

        Raises:
            InputError: there is no such step.
        """
        training_run = self._evaluated(diagnostic)
        labels = training_run.series.labels
        return as_frame(training_run.changed(before or labels[0], after or labels[-1]), as_)

    def turns(self, *, diagnostic: str = PAIRS, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """The rows of ``changed`` from every step to the next, with the columns ``from`` and ``to``."""
        import pandas as pd

        training_run = self._evaluated(diagnostic)
        labels = training_run.series.labels
        frames = []
        for before, after in pairwise(labels):
            frame = training_run.changed(before, after)
            frame.insert(0, "from", before)
            frame.insert(1, "to", after)
            frames.append(frame)
        if not frames:
            raise InputError(f"{self.name} was evaluated once", expected="two steps or more")
        return as_frame(pd.concat(frames, ignore_index=True), as_)

    def figure(self, *, diagnostic: str = PAIRS) -> Figure:
        """Plotly figure of the score over the steps, with 95% intervals; raises ``LibraryMissing`` without plotly."""
        with naming_extras("a figure"):
            from blindspot.figures.theme import Scheme
            from blindspot.studies.training.figures import score_over_steps

        return score_over_steps(self._evaluated(diagnostic), Scheme.LIGHT)

    def _repr_html_(self) -> str:
        from blindspot.api.tables import as_html_table

        rows = [
            (label, diagnostic, name, score.value, score.low, score.high)
            for label, runs in self._runs.items()
            for diagnostic, run in runs.items()
            for name, score in list(_main(run).items())[:1]
        ]
        return as_html_table(self.name, rows, ("step", "diagnostic", "score", "value", "low", "high"))

    # --- inside

    def _reference(self, data: Any, diagnostic: str, columns: Mapping[str, str] | None) -> DatasetRef:
        """The reference of data that can be evaluated on."""
        reference = given.reference_of(data, find_diagnostic(diagnostic).dataset_kind, columns, self._place.settings)
        requesting.request(diagnostic, "random-projection", "none", reference, {}, self._place.settings)
        fetch.load(reference.entry(), self._place.settings)
        return reference

    def _texts(self) -> tuple[str, ...]:
        return fetch.load(self._datasets[PAIRS].entry(), self._place.settings).items

    def _claim(self) -> None:
        """Settle the name, only at the first call, since every process of a distributed training makes an evaluator."""
        if self._name:
            return
        store, stored = str(self._place.settings.store), training.trainings(self._place.repository)
        name, number = self._asked, 1
        while name in stored or (store, name) in _TAKEN:
            number += 1
            name = f"{self._asked}-{number}"
        _TAKEN.add((store, name))
        self._name = name

    def _variant(self, model: Any, epoch: float, steps: int) -> tuple[str, Any]:
        """The revision of the model's weights, and the model's variant, registered for this process."""
        if isinstance(model, str):
            raise InputError(f"'{model}' is no model in training", expected="a SentenceTransformer or a function")
        probe = models.variant_of(model, f"{self._name}/{self._label(epoch, steps)}", self._texts)
        revision = in_process.registered(probe.encoder).identity.revision
        label = step_of(probe.encoder)[1]
        if self._weights.get(label, revision) == revision:
            return revision, probe
        in_process.forget(probe.encoder)  # another model had this label: the steps of epochs are counted anew
        again = f"epoch-{int(epoch)}-{label}" if epoch >= 0 and label.startswith("step") else f"call-{self._calls}"
        return revision, models.variant_of(model, f"{self._name}/{self._free(again, revision)}", self._texts)

    def _free(self, label: str, revision: str) -> str:
        return label if self._weights.get(label, revision) == revision else f"call-{self._calls}"

    def _label(self, epoch: float, steps: int) -> str:
        if steps >= 0:
            return f"step-{steps}"
        return f"epoch-{int(epoch)}" if epoch >= 0 else f"call-{self._calls}"

    def _run(self, diagnostic: str, encoder: str, dataset: str) -> Run:
        settings, repository = self._place.settings, self._place.repository
        request = requesting.request(diagnostic, encoder, "none", dataset, {}, settings)
        return Run.of(pipeline.run(request, settings, repository).record, self._place)

    def _metric(self, diagnostic: str, name: str) -> str:
        return f"{self._prefix}{diagnostic}_{name}"

    def _evaluated(self, diagnostic: str) -> training.Evaluated:
        if diagnostic not in self._datasets:
            raise InputError(f"there are no results of '{diagnostic}'", expected=f"one of {', '.join(self._datasets)}")
        if not self._runs:
            raise InputError(f"{self.name} was not evaluated yet", remedy="call the evaluator with a model")
        steps = tuple(training.Step(label, runs[diagnostic]._record) for label, runs in self._runs.items())
        return training.evaluated(training.Series(self.name, steps), self._place.repository)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _main(run: Run) -> dict[str, Score]:
    """The scores that the Overview shows, the headline first."""
    shown = find_diagnostic(run.diagnostic).overview.columns
    scores = run.scores
    return {name: score for name, score in scores.items() if name in shown or name == next(iter(scores))}


@contextmanager
def _as_it_is(model: Any) -> Iterator[None]:
    """Context that keeps the model in its mode: encoding would end its training mode."""
    was = getattr(model, "training", None)
    try:
        yield
    finally:
        if isinstance(was, bool) and hasattr(model, "train"):
            model.train(was)


def _for_trainer(cls: type[Evaluator]) -> type[Evaluator]:
    """The class with sentence-transformers' evaluator, which its trainers look for, as a base, if that is installed."""
    if cls not in _FOR_TRAINER:
        _FOR_TRAINER[cls] = cls
        base = _base()
        if base is not None and not issubclass(cls, base):
            _FOR_TRAINER[cls] = type(cls.__name__, (cls, base), {"__module__": cls.__module__})
    return _FOR_TRAINER[cls]


def _base() -> type | None:
    for module, name in _BASES:
        with suppress(ImportError, AttributeError):
            base: type = getattr(import_module(module), name)
            return base
    return None
