"""Blindspot for programs: diagnostics, comparisons, findings and reports as functions.

>>> import blindspot as bs
>>> run = bs.evalrank("random-projection", "demo-pairs")
>>> f"{run.scores['mrr'].value:.3f}"
'0.418'
>>> len(run.pairs())
400

A model is a reference such as ``minilm`` or ``dir:PATH``, a SentenceTransformer, a function from a list of texts to an
array, or an array with a row for each of ``texts_of(data)``. Data are a dataset's id, a path, a data frame, a dict of
columns, a list of tuples, or a dict of ``queries``, ``documents`` and ``judgments``. Without a ``store``, results end
with the program; with one (a cache folder, as in ``BLINDSPOT_CACHE``) they are kept, found again, and seen in the app.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from blindspot import names
from blindspot.api import data as given
from blindspot.api import models
from blindspot.api.checks import Check, Checked, check
from blindspot.api.evaluator import Evaluator
from blindspot.api.papers import Published, published
from blindspot.api.place import Place, place_of
from blindspot.api.results import Comparison, Findings, Found, Run, Score
from blindspot.api.sentences import try_sentence
from blindspot.api.series import Matched, Series, layers, matched, prompts
from blindspot.api.spaces import Neighbors, neighbors
from blindspot.api.thresholds import Threshold, threshold
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.errors import BlindspotError, InputError, LibraryMissing
from blindspot.files.writing import write_atomically
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import compare_runs
from blindspot.space.neighbors.view import Neighbor
from blindspot.studies.findings import collection
from blindspot.studies.findings.collection import Selection
from blindspot.studies.gate import sides, untrained, verdict
from blindspot.studies.gate.verdict import Verdict

__all__ = [
    "BlindspotError",
    "Check",
    "Checked",
    "Comparison",
    "Evaluator",
    "Findings",
    "Found",
    "InputError",
    "LibraryMissing",
    "Matched",
    "Neighbor",
    "Neighbors",
    "Published",
    "Run",
    "Score",
    "Series",
    "Threshold",
    "Verdict",
    "analogy",
    "categorization",
    "check",
    "chunking",
    "compare",
    "evalrank",
    "findings",
    "frequency",
    "gate",
    "geometry",
    "heros",
    "layers",
    "learning_curve",
    "long_texts",
    "matched",
    "neighbors",
    "outliers",
    "probing",
    "prompts",
    "published",
    "record",
    "report",
    "retrieval",
    "run",
    "similarity",
    "texts_of",
    "thematic_fit",
    "threshold",
    "transfer",
    "try_sentence",
]

BASELINE = "baseline"  # name of an old model that is no reference
Store = str | os.PathLike[str] | None


class Diagnose(Protocol):
    """A diagnostic as a function: ``run`` with its id."""

    def __call__(
        self,
        model: Any,
        data: Any,
        *,
        transform: str = "",
        name: str = "",
        columns: Mapping[str, str] | None = None,
        store: Store = None,
        device: str | None = None,
        **params: str,
    ) -> Run: ...


if TYPE_CHECKING:
    analogy: Diagnose
    categorization: Diagnose
    chunking: Diagnose
    evalrank: Diagnose
    frequency: Diagnose
    geometry: Diagnose
    heros: Diagnose
    learning_curve: Diagnose
    long_texts: Diagnose
    outliers: Diagnose
    probing: Diagnose
    retrieval: Diagnose
    similarity: Diagnose
    thematic_fit: Diagnose
    transfer: Diagnose


def run(
    diagnostic: str,
    model: Any,
    data: Any,
    *,
    transform: str = "",
    name: str = "",
    columns: Mapping[str, str] | None = None,
    store: Store = None,
    device: str | None = None,
    **params: str,
) -> Run:
    """Run a diagnostic, or find its stored run; ``evalrank(model, data)`` is short for ``run("evalrank", ...)``.

    Args:
        diagnostic: its id, such as ``evalrank``, ``heros``, ``similarity``, ``retrieval``, ``transfer``.
        transform: chain of transforms, such as ``center+whiten:128``.
        name: of a model that is no reference.
        columns: of the data, by role, such as ``{"query": "question", "match": "answer"}``; of queries, documents and
            judgments such as ``{"queries.id": "no", "queries.text": "question"}``.
        store: a cache folder; None for results that end with the program.
        device: ``auto`` (a GPU that passed its self-check, for large jobs), ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
        params: of the diagnostic, such as ``metric="l2"``.

    Raises:
        InputError: something of this is wrong; the message says what was expected.
        LibraryMissing: the model or the data need an extra that is not installed.
        BlindspotError: it failed despite correct input.
    """
    entry, place = find_diagnostic(diagnostic), place_of(store, device)
    dataset = given.reference_of(data, entry.dataset_kind, columns, place.settings)
    variant = models.variant_of(model, name, partial(_texts, dataset, place))
    chain = transform or variant.transform
    request = requesting.request(entry.id, variant.encoder, chain, dataset, params, place.settings)
    record = pipeline.run(request, place.settings, place.repository).record
    stored = record.plan.dataset
    if stored == request.dataset:
        return Run.of(record, place)
    called, file = names.current().dataset, request.dataset.entry().own  # a copy of a file, read in its own way
    is_named = isinstance(data, str | os.PathLike)
    same = [f"{called(request.dataset)} has the same content as {called(stored)}, whose run this is."]
    reading = [f"{file.assumptions}."] if file and file.assumptions else []
    return Run.of(record, place, (*(same if is_named else ()), *reading))


def texts_of(data: Any, *, columns: Mapping[str, str] | None = None, store: Store = None) -> tuple[str, ...]:
    """The distinct texts of a dataset, in the order of the rows of an array of vectors."""
    place = place_of(store, None)
    return _texts(given.reference_of(data, None, columns, place.settings), place)


def _texts(reference: DatasetRef, place: Place) -> tuple[str, ...]:
    return fetch.load(reference.entry(), place.settings).items


def compare(a: Run, b: Run, *, filtered: bool = False) -> Comparison:
    """Paired differences of two runs of one diagnostic on the same data, with intervals and p after Holm.

    Args:
        filtered: compare EvalRank's filtered ranks.

    Raises:
        InputError: the runs cannot be compared.
    """
    first, second, place = _in_one_place(a, b)
    view = compare_runs(first, second, place.repository, filtered=filtered)
    return Comparison(
        view.title,
        view.said,
        tuple(view.cells[0]),
        tuple(tuple(cells.values()) for cells in view.cells),
        tuple(MappingProxyType(fields) for fields in view.fields),
    )


def gate(
    model: Any,
    data: Any,
    baseline: Any,
    *,
    score: str = "",
    max_drop: float = 0.02,
    alpha: float = 0.05,
    allow_easy: bool = False,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    store: Store = None,
    device: str | None = None,
    **params: str,
) -> Verdict:
    """Whether a new model may replace an old one on a golden set: passed, failed or undecided; see ``blindspot gate``.

    Args:
        baseline: the old model, or the path of a .json file that ``record`` or ``blindspot gate --record`` wrote.
        score: to decide by; the headline of the diagnostic if left out.
        max_drop: largest drop of the score that is accepted.
        alpha: probability of a false alarm if the drop is exactly ``max_drop``.
        allow_easy: a model may pass although the old one is at the ceiling of the score, or an untrained model solves
            the golden set.
        name, columns, store, device, params: as for ``run``; the diagnostic follows from the data.

    Raises:
        InputError: something of this is wrong, or the golden set is too small to say anything.
    """
    verdict.check_limits(max_drop, alpha)
    is_recorded = isinstance(baseline, os.PathLike) or (isinstance(baseline, str) and baseline.endswith(".json"))
    old = sides.read(Path(baseline).expanduser()) if is_recorded else None  # before anything that takes long
    new = _of_golden_set(model, data, name, columns, store, device, params)
    scores = new._item_scores
    asked = sides.score_named(score, new._entry, new.metrics, scores)
    if old is None:
        theirs = _of_golden_set(baseline, data, BASELINE, columns, store, device, params)
        old = sides.recorded(theirs._record, theirs._item_scores, theirs._place.settings)

    def easy(value: float) -> str:
        if allow_easy:
            return ""
        return untrained.why_run_is_easy(new._record, asked, value, new._place.settings, new._place.repository)

    side = sides.recorded(new._record, scores, new._place.settings)
    doubts = new._entry.doubts([new._record], new._place.repository)
    return verdict.judge(old, side, scores, asked, max_drop, alpha, easy, doubts)


def record(
    model: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    texts: bool = False,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    store: Store = None,
    device: str | None = None,
    **params: str,
) -> Run:
    """Write a model's scores on a golden set, item by item, to a .json file: the baseline of ``gate``.

    Args:
        texts: also write the texts of the golden set.

    Raises:
        InputError: something of this is wrong.
    """
    out = Path(path)
    if out.suffix != ".json":
        raise InputError(f"cannot write a baseline as '{out}'", expected="a name that ends in .json")
    stored = _of_golden_set(model, data, name, columns, store, device, params)
    sides.write(out, stored._record, stored._item_scores, stored._place.settings, texts=texts)
    return stored


def _of_golden_set(
    model: Any,
    data: Any,
    name: str,
    columns: Mapping[str, str] | None,
    store: Store,
    device: str | None,
    params: Mapping[str, str],
) -> Run:
    kind = given.reference_of(data, None, columns, place_of(store, device).settings).entry().kind
    entry = sides.diagnostic_of(kind)
    return run(entry.id, model, data, name=name, columns=columns, store=store, device=device, **params)


def findings(*runs: Run) -> Findings:
    """What these runs show: blind spots, cautions and strengths, the worst first, at a false discovery rate of 5%."""
    *_, place = _in_one_place(*runs)
    selection = Selection(runs=tuple(run.id for run in runs))
    collected = collection.collect(place.repository, place.settings, selection)
    return Findings(
        tuple(
            Found(
                discovery.finding.level.value,
                discovery.finding.said(),
                discovery.finding.test,
                discovery.finding.n,
                discovery.adjusted,
            )
            for discovery in collected.discoveries
        ),
        collected.hypotheses,
        collected.failures,
    )


def report(runs: list[Run], path: str | os.PathLike[str]) -> Path:
    """Write a report on some runs as one file: .html, or its tables as .md or .tex.

    Raises:
        InputError: the runs are in different stores, or the file's name has another ending.
    """
    from blindspot.studies.report.content import gather
    from blindspot.studies.report.making import FORMATS

    *_, place = _in_one_place(*runs)
    out = Path(path)
    if out.suffix not in FORMATS:
        raise InputError(f"cannot write a report as '{out}'", expected=f"a name that ends in {', '.join(FORMATS)}")
    report_view = gather(place.repository, place.settings, Selection(runs=tuple(run.id for run in runs)))
    write_atomically(out, lambda file: file.write(FORMATS[out.suffix](report_view).encode("utf-8", "replace")))
    return out


def _in_one_place(*runs: Run) -> tuple[Any, ...]:
    """The records of runs, and the place of results that they share."""
    if not runs:
        raise InputError("there are no runs", expected="one or more")
    for run_given in runs:
        if not isinstance(run_given, Run):
            raise InputError(f"a {type(run_given).__name__} is no run", expected="what evalrank and the others return")
    places = {stored._place.settings.store: stored._place for stored in runs}
    if len(places) > 1:
        raise InputError(
            f"the runs are in {len(places)} stores", expected="runs of one store", remedy="give all the same store="
        )
    return (*(stored._record for stored in runs), next(iter(places.values())))


if not TYPE_CHECKING:  # a type checker knows them from above, and that there are no others

    def __getattr__(name: str) -> Diagnose:
        """A function for every diagnostic: ``evalrank``, ``heros``, ..."""
        if name in all_diagnostics():
            return partial(run, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *all_diagnostics()})
