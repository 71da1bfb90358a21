"""Models without any training: if one of them solves a golden set, a pass says little about a trained model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.diagnostics.retrieval.definition import BM25
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import declared
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.gate.audit import Reached, why_easy
from blindspot.types import Progress, no_progress
from blindspot.variants import Variant

MODELS = ("random-projection", "lsa")
KEYWORD_SEARCH = "Keyword search (BM25)"
Shown = Callable[[str], AbstractContextManager[Progress]]


def _silently(_title: str) -> AbstractContextManager[Progress]:
    return nullcontext(no_progress)


def reached(
    run: RunRecord, score: str, settings: Settings, repository: Repository, shown: Shown = _silently
) -> list[Reached]:
    """What each of these models reaches with the parameters of a finished run.

    Args:
        shown: the progress of a run with this title.
    """
    easy_scores = []
    for model in MODELS:
        params = {name: value for name, value in run.plan.params.items() if name != FIT_ON}
        wanted = requesting.request(run.plan.diagnostic, model, "none", run.plan.dataset, params, settings)
        with shown(wanted.label) as progress:
            record = pipeline.run(wanted, settings, repository, progress).record
        easy_scores.append(Reached(Variant(model, "none").label, record.metrics[score]))
    return [*easy_scores, *_by_keywords(run, score)]


def why_run_is_easy(
    run: RunRecord, score: str, old: float, settings: Settings, repository: Repository, shown: Shown = _silently
) -> str:
    """``why_easy`` for the new model's finished run and the old model's score.

    For retrieval, the baseline is keyword search, which the run includes. Otherwise these models are run, unless the
    old model is at the ceiling.
    """
    low, high = declared(find_diagnostic(run.plan.diagnostic), score).range
    high = run.metrics.get(f"{score}_ceiling", high)
    if run.plan.diagnostic == "retrieval":
        high = _ideal(run, score, settings, high)

    def others() -> Iterable[Reached]:
        yield from _by_keywords(run, score) or reached(run, score, settings, repository, shown)

    return why_easy(score, old, low, high, others())


def _by_keywords(run: RunRecord, score: str) -> list[Reached]:
    name = f"{BM25}{score}"
    return [Reached(KEYWORD_SEARCH, run.metrics[name])] if name in run.metrics else []


def _ideal(run: RunRecord, score: str, settings: Settings, otherwise: float) -> float:
    """The value of the best ranking if it depends on the number of relevant documents, else ``otherwise``."""
    name, _, k = score.partition("@")
    if name not in {"p", "recall"}:
        return otherwise
    dataset = fetch.load(run.plan.dataset.entry(), settings)
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{run.plan.dataset} is a {dataset.kind}")
    judged = (dataset.judgments_of(query)[1] for query in range(len(dataset.queries)))
    relevant = np.array([np.count_nonzero(grades >= RELEVANT) for grades in judged])
    relevant = relevant[relevant > 0]
    hits = np.minimum(relevant, int(k))
    return float((hits / (int(k) if name == "p" else relevant)).mean())
