"""The pipeline of every computation: ``run`` takes a request (``requesting``) through its stages. They are load and
plan, which identify the run (``planning``), prepare the embeddings, compute, store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.kinds.base import Dataset, Part
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import (
    DiagnosticResult,
)
from blindspot.encoders.base import EncoderInfo, VocabularyEncoder
from blindspot.encoders.cache import Embedded
from blindspot.encoders.device import device_for_ranking
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.self_check import Placement, place_ranking
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.errors import naming_extras
from blindspot.numerics.ranking.rescoring import Twice
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.threads import undisturbed_blas
from blindspot.runs import manifests, planning
from blindspot.runs.at_work import at_work
from blindspot.runs.inputs import fitting
from blindspot.runs.inputs.roles import rows_of_part, transformed
from blindspot.runs.log import FOUND, JobLine
from blindspot.runs.planning import Planned, Results, Work
from blindspot.runs.requests import EncodeRequest, RunRequest
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.transforms.chain import FittedChain
from blindspot.transforms.trained_flows import TrainedFlows
from blindspot.types import Bool, CancelToken, Float32, Float64, Progress, no_progress

KEPT_BYTES = 1 << 27  # of transformed embeddings: a hundred thousand of 300 dimensions


@dataclass(frozen=True)
class RunOutcome:
    """A finished run.

    Attributes:
        computed: False if the store had it already.
        changed: (stored, new) scores that differ when a stored run is computed again. The stored ones stay.
    """

    record: RunRecord
    computed: bool
    changed: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def run(
    request: RunRequest,
    settings: Settings,
    repository: Results,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    keep_embeddings: bool = False,
    again: bool = False,
    encoders: EncodersInARow | None = None,
) -> RunOutcome:
    """Compute a run and store it, or find it in the store.

    Nothing is locked while it computes. Embeddings from before a cancel or a crash are reused.

    Args:
        keep_embeddings: for a stored run, encode again if its embeddings are gone (pages read them).
        again: compute a stored run again, and compare.
        encoders: of the runs before it and after it, with the same settings; None for a run alone.

    Raises:
        BlindspotError: the run failed and is not stored.
    """
    line = JobLine("run", request.diagnostic, request.variant.label, request.dataset)
    with at_work(settings, line), naming_extras(request.variant.label):
        prepare_runtime(settings)
        work = Work(encoders or EncodersInARow(settings), repository, progress, cancel or CancelToken())
        named = planning.load(request, work)
        planned = planning.plan(named, work)
        line.run_id = planned.plan.run_id
        stored = _stored(planned, work)
        if stored:
            repository.remember_own_columns(named.dataset)
        if stored and not again:
            _keep(planned, work, keep_embeddings)
            line.outcome = FOUND
            return RunOutcome(stored, computed=False)
        if stored:
            _LAST_TRANSFORMED.clear()
            result = _compute(_prepare(planned, work), work)
            return RunOutcome(stored, computed=True, changed=_changed(stored.metrics, result.metrics))
        with repository.running(planned.plan) as run_seq:
            inputs = _prepare(planned, work)
            result = _compute(inputs, work)
            _store(run_seq, inputs, result, work)
    return RunOutcome(repository.runs(run_id=planned.plan.run_id)[0], computed=True)


@dataclass(frozen=True, eq=False)
class _Vectors:
    """``embeddings [n, d]`` of the ranked items, transformed; ``finer`` ones that the best are compared with again."""

    embedded: Embedded
    embeddings: Float32 | Float64
    transform: FittedChain
    finer: Float32 | None = None


@dataclass(frozen=True, eq=False)
class _Inputs:
    """What is computed on; ``vectors`` is None for a ranking, which then has ``encoded`` what it needs."""

    planned: Planned
    vectors: _Vectors | None
    encoded: Sequence[tuple[EncoderInfo, Embedded]]

    @property
    def ranked(self) -> Dataset:
        """The part of the dataset that is ranked, or all of it."""
        return self.planned.part.dataset if self.planned.part else self.planned.named.dataset


def _stored(planned: Planned, work: Work) -> RunRecord | None:
    runs = work.repository.runs(run_id=planned.plan.run_id, state=RunState.DONE)
    if runs and runs[0].plan.dataset != planned.plan.dataset:  # a copy of a file
        work.repository.remember_alias(planned.plan.dataset, planned.plan.dataset_digest)
    return runs[0] if runs else None


def _keep(planned: Planned, work: Work, keep_embeddings: bool) -> None:
    """Restore what pages read of a stored run if it was deleted: embeddings, trained flow."""
    named = planned.named
    is_trained = named.request.variant.chain.is_trained
    if named.ranking or not (keep_embeddings or is_trained):
        return
    embedded = work.encoded_by_role(named.encoded)
    if is_trained and not named.held_out:
        _transformed(planned, embedded, None, work)


def _prepare(planned: Planned, work: Work) -> _Inputs:
    named, corpus, embedded = planned.named, None, planned.embedded
    if named.ranking:
        inputs = _Inputs(planned, None, ())
        with work.watch.measure("encode"):
            return replace(inputs, encoded=named.ranking.encode(_queries_of(inputs.ranked), work.progress, work.cancel))
    if embedded is None:
        with work.watch.measure("encode"):
            embedded = work.encoded_by_role(named.encoded)
    if named.held_out:
        with work.watch.measure("encode"):
            corpus = named.held_out.vectors(named.encoded.of_documents, work.settings, work.progress, work.cancel)
    with work.watch.measure("transform"), undisturbed_blas():
        vectors = _Vectors(embedded, *_transformed(planned, embedded, corpus, work))
        if vectors.transform.chain.rescored:
            vectors = replace(vectors, finer=_made(vectors.transform.finer, planned, _of_part(planned, embedded)))
        return _Inputs(planned, vectors, [(named.encoder.info, embedded)])


def _compute(inputs: _Inputs, work: Work) -> DiagnosticResult:
    planned, entry = inputs.planned, inputs.planned.named.entry
    params, ranking, vectors = planned.plan.params, planned.named.ranking, inputs.vectors
    with work.watch.measure("compute"), undisturbed_blas():
        if vectors and vectors.finer is not None:
            twice = Twice(
                np.asarray(vectors.embeddings, dtype=np.float32), vectors.finer, vectors.transform.chain.rescored
            )
            return entry.compute_twice(twice, inputs.ranked, params, work.progress, work.cancel)
        if vectors:
            placed = _place_ranking(vectors, inputs.ranked, work.settings) if entry.computes_on_gpu else Placement()
            result = entry.on(placed.device)(vectors.embeddings, inputs.ranked, params, work.progress, work.cancel)
            return replace(result, device_note=placed.note) if placed.note else result
        if ranking is None:
            raise TypeError(f"{entry.id} cannot compute on {planned.named.request.variant}")
        return entry.rank(ranking, inputs.ranked, params, work.progress, work.cancel)


def _place_ranking(vectors: _Vectors, dataset: Dataset, settings: Settings) -> Placement:
    if settings.device != "auto" or not isinstance(dataset, PairSet):
        return Placement(device_for_ranking(settings.device))
    return place_ranking(float(len(dataset.queries)) * vectors.embeddings.size, settings.cache / self_check.FOLDER)


def _store(run_seq: int, inputs: _Inputs, result: DiagnosticResult, work: Work) -> None:
    work.cancel.check()  # a short computation may be over before it looks
    planned, named, vectors = inputs.planned, inputs.planned.named, inputs.vectors
    covered = named.covered(vectors.embedded if vectors else None)
    result = with_coverage(result, named.dataset, covered, planned.part)
    manifest = manifests.manifest_of(
        planned.plan,
        named.model,
        (vectors.embedded, vectors.transform) if vectors else None,
        named.dataset,
        named.dataset_entry,
        fetch.checksums(named.dataset_entry, work.settings),
        result,
        named.held_out.facts(named.encoded.of_documents, work.settings) if named.held_out else None,
        named.ranking.facts(_queries_of(inputs.ranked)) if named.ranking else None,
        work.settings.device,
    )
    work.progress("storing", 0, 1)
    for info, embedded in inputs.encoded:
        work.repository.remember_embedding(embedded.facts, info)
    work.repository.finish(run_seq, named.entry, named.dataset, result, work.watch.seconds, manifest, planned.part)
    work.progress("storing", 1, 1)


# --- the parts of its stages


def _queries_of(dataset: Dataset) -> RetrievalDataset:
    if not isinstance(dataset, RetrievalDataset):
        raise TypeError(f"{dataset.id} has no documents to rank")
    return dataset


def with_coverage(result: DiagnosticResult, dataset: Dataset, covered: Bool, ranked: Part | None) -> DiagnosticResult:
    """The result with its coverage, and with item numbers of the whole dataset if only a part was ranked."""
    if not dataset.has_parts:
        return result
    result = replace(result, coverage=dataset.coverage(covered if ranked is None else ranked.covered))
    if ranked is None or not dataset.by_rows:
        return result
    numbers = ranked.rows if result.item_numbers is None else ranked.rows[result.item_numbers]
    return replace(result, item_numbers=numbers)


_LAST_TRANSFORMED: dict[tuple[str, ...], tuple[Float32, FittedChain]] = {}


def _transformed(
    planned: Planned, embedded: Embedded, corpus: Float32 | None, work: Work
) -> tuple[Float32 | Float64, FittedChain]:
    """The ranked items' embeddings after the fitted transform, and the transform.

    ``corpus [m, d]`` are the vectors to fit on; None for the ranked ones.
    """
    named, part = planned.named, planned.part
    chain = named.request.variant.chain
    flows = TrainedFlows(work.settings.flows, work.progress, work.cancel)
    if named.preparation:
        vocabulary = named.encoder.vocabulary() if isinstance(named.encoder, VocabularyEncoder) else None
        metric = Similarity(planned.plan.params["metric"])
        return named.preparation.vectors(
            embedded.matrix, embedded.covered, named.dataset.items, vocabulary, chain, metric, flows
        )
    # In a grid, runs that differ only in the similarity follow each other, so the last fit is kept in memory. A trained
    # flow is kept on disk, where pages look for it.
    key = (embedded.facts.digest, str(chain), part.digest if part else "")
    may_keep = corpus is None and not (chain.is_trained or chain.is_one_sided or chain.rescored)
    kept = _LAST_TRANSFORMED.get(key) if may_keep else None
    if kept is not None:
        return kept
    vectors = _of_part(planned, embedded)
    fitted = chain.fit(vectors if corpus is None else corpus, flows)
    embeddings = _made(fitted.searched, planned, vectors)
    _LAST_TRANSFORMED.clear()
    if may_keep and fitted.steps and embeddings.nbytes <= KEPT_BYTES:
        _LAST_TRANSFORMED[key] = embeddings, fitted
    return embeddings, fitted


def _of_part(planned: Planned, embedded: Embedded) -> Float32:
    """The embeddings of what is ranked."""
    part, matrix = planned.part, embedded.matrix
    return matrix if part is None else matrix[rows_of_part(part, planned.named.dataset, len(matrix))]


def _made(fitted: FittedChain, planned: Planned, vectors: Float32) -> Float32:
    """The embeddings of what is ranked, ``vectors``, after a transform."""
    return transformed(fitted, vectors, planned.part.dataset if planned.part else planned.named.dataset)


def find(request: RunRequest, settings: Settings, repository: Repository) -> RunRecord | None:
    """The stored run of a request, without encoding or downloading anything.

    None also if that cannot be known: the dataset is not here, or embeddings that decide which items are ranked.

    Raises:
        BlindspotError: something cannot be read.
    """
    if request.variant not in repository.variants():
        return None  # without looking up a model
    dataset_entry = request.dataset.entry()
    if fetch.dataset_state(dataset_entry, settings) is fetch.DataState.MISSING:
        return None
    held_out = fitting.load_here(request.fit_on, settings)
    if request.fit_on and held_out is None:
        return None
    work = Work(EncodersInARow(settings), repository)
    dataset = fetch.load(dataset_entry, settings)
    named = planning.named_by(request, dataset_entry, dataset, held_out, work.encoders)
    if named.may_rank_a_part:
        others = (work.encoders.get(other).identity for other in request.covered_by)
        needed = [other.embedding_digest(named.dataset.texts_digest) for other in others]
        if any(work.cache.read(digest) is None for digest in (*([] if named.ranking else [named.digest]), *needed)):
            return None
    run_id = planning.plan(named, work).plan.run_id
    return next(iter(repository.runs(run_id=run_id, state=RunState.DONE)), None)


def encode(
    request: EncodeRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    encoders: EncodersInARow | None = None,
) -> Embedded:
    """Encode a dataset's texts, or find them in the cache; raises ``BlindspotError``."""
    work = Work(encoders or EncodersInARow(settings), repository, progress, cancel or CancelToken())
    line = JobLine("encode", "", request.encoder, request.dataset)
    with at_work(settings, line), naming_extras(request.encoder):
        encoder, dataset = planning.to_encode(request, work.encoders, progress, work.cancel)
        embedded = work.encoded(encoder, dataset)
        if embedded.encoded_now or embedded.copied_now:
            repository.remember_embedding(embedded.facts, encoder.info)
        else:
            line.outcome = FOUND
    return embedded


def _changed(stored: Mapping[str, float], now: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    both = {name: (stored.get(name, float("nan")), now.get(name, float("nan"))) for name in {**stored, **now}}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}
