"""The pipeline of every computation.

``request`` validates a request. ``run`` takes it through its stages: load, plan (identify the run), prepare the
embeddings, compute, store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Unpack

import numpy as np

from blindspot import names, policy
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, dataset_for, find_dataset
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import Dataset, DatasetKind, Part
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import (
    FIT_ON,
    Diagnostic,
    DiagnosticResult,
    Preparation,
    all_diagnostics,
    find_diagnostic,
)
from blindspot.encoders.base import Encoder, EncoderInfo, VerifiedEncoder, VocabularyEncoder
from blindspot.encoders.cache import Embedded, EmbeddingCache, EmbeddingFacts
from blindspot.encoders.catalog import canonical_encoder, may_leave_out, passages_of, resolve_encoder, variant_named
from blindspot.encoders.device import device_for_ranking
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.self_check import Placement, place_ranking
from blindspot.encoders.rankings.base import Ranking
from blindspot.encoders.transformer.passages import in_passages, without_documents
from blindspot.errors import InputError, naming_extras
from blindspot.numerics.ranking.rescoring import Twice
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.threads import undisturbed_blas
from blindspot.references import FusionRef, ModelRef
from blindspot.runs import manifests
from blindspot.runs.at_work import at_work
from blindspot.runs.inputs import fitting
from blindspot.runs.inputs.fitting import FitDataset
from blindspot.runs.inputs.rankings import ranking_of
from blindspot.runs.inputs.repaired import check_repair
from blindspot.runs.inputs.roles import Texts, check_sides, rows_of_part, texts_of, transformed
from blindspot.runs.log import FOUND, JobLine
from blindspot.runs.requests import EncodeRequest, RunRequest, plan_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunPlan, RunQuery, RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.transforms.chain import FittedChain
from blindspot.transforms.trained_flows import TrainedFlows
from blindspot.types import Bool, CancelToken, Float32, Float64, Progress, Stopwatch, no_progress
from blindspot.variants import Variant

KEPT_BYTES = 1 << 27  # of transformed embeddings: a hundred thousand of 300 dimensions


def request(
    diagnostic: str,
    encoder: str,
    transform: str,
    dataset: str,
    params: Mapping[str, str],
    settings: Settings,
    support: Iterable[str] = (),
    fit_on: str = "",
) -> RunRequest:
    """Check everything that can be checked without work, and make the request canonical.

    Args:
        params: of the diagnostic; may contain ``fit_on``.
        support: encoders to compare with; those with a vector for every text change nothing.
        fit_on: the dataset to fit the transform on instead of the ranked items (held out).

    Raises:
        InputError: an unknown id, parameter or value; a diagnostic that does not fit the dataset; a dataset that cannot
            be fitted on (``fitting.checked``).
    """
    entry = find_diagnostic(diagnostic)
    for reference in (encoder, *support):
        policy.check_encoder(reference, settings)
    for reference in (dataset, fit_on, params.get(FIT_ON, "")):
        policy.check_dataset(reference, settings)
    dataset_entry = find_dataset(dataset_for(dataset, entry.dataset_kind))
    if dataset_entry.kind is not entry.dataset_kind:
        raise InputError(
            f"{entry.id} does not run on '{dataset}', a {dataset_entry.kind.in_words}",
            expected=f"a {entry.dataset_kind.in_words}",
            remedy=dataset_entry.own.instead(entry.dataset_kind) if dataset_entry.own else "",
        )
    variant = variant_named(encoder, transform)
    reference, chain = variant.encoder, variant.chain
    if passages_of(reference) and entry.dataset_kind is not DatasetKind.RETRIEVAL:
        raise without_documents(reference, entry.id)
    policy.check_transform(variant.transform, settings)
    checked = entry.check_params({name: value for name, value in params.items() if name != FIT_ON})
    preparation = entry.preparation(checked)
    check_sides(entry, checked, chain)
    if not variant.model.has_vectors:
        _check_ranking(variant, entry, settings)
    else:
        resolved, protocol = resolve_encoder(reference, settings), checked["protocol"] if preparation else ""
        check_repair(chain, resolved, settings)
        if held_out := fitting.checked(fit_on or params.get(FIT_ON, ""), chain, dataset_entry.id, resolved, protocol):
            checked[FIT_ON] = held_out
    others = {canonical_encoder(other) for other in support if may_leave_out(other)} - {reference}
    for other in others:
        resolve_encoder(other, settings)
    ranks_a_part = KINDS[entry.dataset_kind].has_parts and preparation is None
    return RunRequest(
        diagnostic,
        variant,
        dataset_entry.id,
        tuple(sorted(checked.items())),
        tuple(sorted(others)) if ranks_a_part else (),  # a protocol that prepares vectors itself ranks everything
    )


def _check_ranking(variant: Variant, entry: Diagnostic, settings: Settings) -> None:
    """Raise ``InputError`` unless the ranking can be used, and by this diagnostic."""
    name = names.current().model(variant.encoder)
    if not entry.takes_rankings:
        able = ", ".join(one.id for one in all_diagnostics().values() if one.takes_rankings)
        raise InputError(
            f"{entry.id} compares vectors, and {name} ranks documents without any",
            expected="a model with vectors",
            remedy=f"use {name} in {able}",
        )
    if variant.chain.steps:
        raise InputError(
            f"{name} has no vectors that {variant.transform} could change",
            expected="the transform none",
            remedy="a fusion names transforms in its models: fuse:minilm~center+bm25"
            if isinstance(variant.model, FusionRef)
            else "",
        )
    ranking_of(variant.model, settings)


def with_transform(request: RunRequest, transform: str, fit_on: str = "") -> RunRequest:
    """The request with another (canonical) transform chain; ``fit_on`` as originally asked for."""
    params = {name: value for name, value in request.params if name != FIT_ON}
    variant = Variant(request.variant.encoder, transform)
    check_sides(find_diagnostic(request.diagnostic), params, variant.chain)
    if held_out := fitting.needed(fit_on, variant.chain, request.dataset):
        params[FIT_ON] = held_out
    return replace(request, variant=variant, params=tuple(sorted(params.items())))


def request_of(record: RunRecord, settings: Settings) -> RunRequest:
    """The request of a stored run; raises ``InputError`` if this version lacks something that it names."""
    plan, variant = record.plan, record.plan.variant
    return request(
        plan.diagnostic, variant.encoder, variant.transform, plan.dataset, plan.params, settings, plan.support
    )


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


# --- the stages of a run


class Results(Protocol):
    """Where finished runs are kept: a store, or a folder of result packs. Methods as of ``Repository``."""

    def runs(self, **wanted: Unpack[RunQuery]) -> list[RunRecord]: ...

    def running(self, plan: RunPlan) -> AbstractContextManager[int]: ...

    def finish(
        self,
        run_seq: int,
        entry: Diagnostic,
        dataset: Dataset,
        result: DiagnosticResult,
        timings: Mapping[str, float],
        manifest: Mapping[str, Any],
        ranked: Part | None = None,
    ) -> None: ...

    def remember_embedding(self, facts: EmbeddingFacts, info: EncoderInfo) -> None: ...

    def remember_alias(self, dataset: str, dataset_digest: str) -> None: ...

    def remember_own_columns(self, dataset: Dataset) -> None: ...


def run(
    request: RunRequest,
    settings: Settings,
    repository: Results,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    keep_embeddings: bool = False,
    again: bool = False,
) -> RunOutcome:
    """Compute a run and store it, or find it in the store.

    Computing holds no lock. Embeddings from before a cancel or a crash are reused.

    Args:
        keep_embeddings: for a stored run, encode again if its embeddings are gone (pages read them).
        again: compute a stored run again, and compare.

    Raises:
        BlindspotError: the run failed and is not stored.
    """
    line = JobLine("run", request.diagnostic, request.variant.label, request.dataset)
    with at_work(settings, line), naming_extras(request.variant.label):
        prepare_runtime(settings)
        work = _Work(settings, repository, progress, cancel or CancelToken())
        named = _load(request, work)
        planned = _plan(named, work)
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


@dataclass(frozen=True)
class _Work:
    """Context of a run: settings, store, progress, cancellation, and its timings."""

    settings: Settings
    repository: Results
    progress: Progress
    cancel: CancelToken
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def cache(self) -> EmbeddingCache:
        return EmbeddingCache(self.settings.embeddings)


@dataclass(frozen=True, eq=False)
class _Named:
    """A request with everything it names loaded; ``held_out`` is the other dataset to fit the transform on."""

    request: RunRequest
    entry: Diagnostic
    preparation: Preparation | None
    dataset_entry: DatasetEntry
    dataset: Dataset
    texts: Texts | Ranking
    held_out: FitDataset | None

    @property
    def ranking(self) -> Ranking | None:
        """The model if it has no vectors."""
        return self.texts if isinstance(self.texts, Ranking) else None

    @property
    def encoded(self) -> Texts:
        """What is encoded."""
        if isinstance(self.texts, Ranking):
            raise TypeError(f"{self.request.variant.encoder} has no vectors")
        return self.texts

    @property
    def encoder(self) -> Encoder:
        return self.encoded.encoder

    @property
    def model(self) -> Encoder | Ranking:
        return self.ranking or self.encoder

    @property
    def digest(self) -> str:
        """Key of the model's embeddings, or of its ranking."""
        ranking = self.ranking
        return ranking.digest(self.dataset.texts_digest) if ranking else self.encoded.embedding_digest

    def covered(self, embedded: Embedded | None) -> Bool:
        """Which items have a vector, ``[n] bool``, whatever their roles; all of a ranking, and where documents are cut,
        since models that cut leave nothing out."""
        n = len(self.dataset.items)
        is_cut = self.dataset.whole is not self.dataset
        return np.ones(n, dtype=np.bool_) if embedded is None or is_cut else embedded.covered[:n]

    @property
    def may_rank_a_part(self) -> bool:
        """Whether the covered items are part of the run's identity."""
        return self.preparation is None and bool(self.request.support or self.model.info.is_partial)


@dataclass(frozen=True, eq=False)
class _Planned:
    """The plan that identifies a run; ``embedded`` and ``part`` (of the dataset) if only covered items are ranked."""

    named: _Named
    plan: RunPlan
    embedded: Embedded | None = None
    part: Part | None = None


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

    planned: _Planned
    vectors: _Vectors | None
    encoded: Sequence[tuple[EncoderInfo, Embedded]]

    @property
    def ranked(self) -> Dataset:
        """The part of the dataset that is ranked, or all of it."""
        return self.planned.part.dataset if self.planned.part else self.planned.named.dataset


def _load(request: RunRequest, work: _Work) -> _Named:
    with work.watch.measure("load"):
        dataset = fetch.load(find_dataset(request.dataset), work.settings, work.progress, work.cancel)
        held_out = fitting.load(dict(request.params), work.settings, work.progress, work.cancel)
        _verify(request.variant.model, work.settings, work.progress, work.cancel)
        return _named(request, dataset, held_out, work.settings)


def _named(request: RunRequest, dataset: Dataset, held_out: FitDataset | None, settings: Settings) -> _Named:
    entry = find_diagnostic(request.diagnostic)
    preparation = entry.preparation(dict(request.params))
    model, reference = request.variant.model, request.variant.encoder
    texts: Texts | Ranking
    if not model.has_vectors:
        texts = ranking_of(model, settings, dataset.asked)
    else:
        encoder = resolve_encoder(reference, settings)
        dataset = in_passages(dataset, reference, encoder)
        encoder = preparation.look_up(encoder) if preparation else encoder
        texts = texts_of(entry, dict(request.params), encoder, dataset)
    return _Named(request, entry, preparation, find_dataset(request.dataset), dataset, texts, held_out)


def _verify(model: ModelRef, settings: Settings, progress: Progress, cancel: CancelToken) -> None:
    """Ask servers which models they have now, also those of a fusion: a run's identity depends on it."""
    for one in model.models:
        encoder = resolve_encoder(one.text, settings) if one.has_vectors else None
        if isinstance(encoder, VerifiedEncoder):
            progress("asking the server", 0, 1)
            encoder.verify(cancel)


def _plan(named: _Named, work: _Work) -> _Planned:
    if not named.may_rank_a_part:
        return _Planned(named, plan_of(named.request, named.digest, named.dataset, None, True, named.held_out))
    with work.watch.measure("encode"):
        embedded = None if named.ranking else _encoded_by_role(named.encoded, work)
        part, own_support = _support(named, named.covered(embedded), work)
    plan = plan_of(named.request, named.digest, named.dataset, part, own_support, named.held_out)
    return _Planned(named, plan, embedded, part)


def _stored(planned: _Planned, work: _Work) -> RunRecord | None:
    found = work.repository.runs(run_id=planned.plan.run_id, state=RunState.DONE)
    if found and found[0].plan.dataset != planned.plan.dataset:  # a copy of a file
        work.repository.remember_alias(planned.plan.dataset, planned.plan.dataset_digest)
    return found[0] if found else None


def _keep(planned: _Planned, work: _Work, keep_embeddings: bool) -> None:
    """Restore what pages read of a stored run if it was deleted: embeddings, trained flow."""
    named = planned.named
    is_trained = named.request.variant.chain.is_trained
    if named.ranking or not (keep_embeddings or is_trained):
        return
    embedded = _encoded_by_role(named.encoded, work)
    if is_trained and not named.held_out:
        _transformed(planned, embedded, None, work)


def _prepare(planned: _Planned, work: _Work) -> _Inputs:
    named, corpus, embedded = planned.named, None, planned.embedded
    if named.ranking:
        inputs = _Inputs(planned, None, ())
        with work.watch.measure("encode"):
            return replace(inputs, encoded=named.ranking.encode(_queries_of(inputs.ranked), work.progress, work.cancel))
    if embedded is None:
        with work.watch.measure("encode"):
            embedded = _encoded_by_role(named.encoded, work)
    if named.held_out:
        with work.watch.measure("encode"):
            corpus = named.held_out.vectors(named.encoded.of_documents, work.settings, work.progress, work.cancel)
    with work.watch.measure("transform"), undisturbed_blas():
        vectors = _Vectors(embedded, *_transformed(planned, embedded, corpus, work))
        if vectors.transform.chain.rescored:
            vectors = replace(vectors, finer=_made(vectors.transform.finer, planned, _of_part(planned, embedded)))
        return _Inputs(planned, vectors, [(named.encoder.info, embedded)])


def _compute(inputs: _Inputs, work: _Work) -> DiagnosticResult:
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


def _store(run_seq: int, inputs: _Inputs, result: DiagnosticResult, work: _Work) -> None:
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


def _encoded_by_role(texts: Texts, work: _Work) -> Embedded:
    return work.cache.encode(texts.encoder, texts.texts, texts.digest, work.progress, work.cancel)


def _encoded(encoder: Encoder, dataset: Dataset, work: _Work) -> Embedded:
    return work.cache.encode(encoder, dataset.encoded, dataset.encoded_digest, work.progress, work.cancel)


def _support(named: _Named, own: Bool, work: _Work) -> tuple[Part | None, bool]:
    """The part that can be ranked, and whether it is all that the encoder covers (``own [n] bool``).

    Raises:
        InputError: nothing is left, or the encoder lacks a text of a dataset without parts (minimal pairs).
    """
    request, dataset = named.request, named.dataset
    if not dataset.has_parts:
        if own.all():
            return None, True
        raise InputError(
            f"'{request.variant.encoder}' has a vector for {np.count_nonzero(own):,} of the {len(own):,} texts "
            f"of '{dataset.id}', and none for '{dataset.items[int(np.argmin(own))]}'",
            expected=f"an encoder that has one for every text, since {request.diagnostic} compares each original with "
            "all its rewrites",
        )
    support = own
    for reference in request.support:
        support = support & _encoded(resolve_encoder(reference, work.settings), dataset.whole, work).covered
    part = dataset.part(support)
    if not len(part.rows):
        whose = f"'{request.variant.encoder}'" if not request.support else "all the encoders that are compared"
        raise dataset.nothing_left(len(part.items), whose)
    return part, bool(np.array_equal(own, support))


def with_coverage(result: DiagnosticResult, dataset: Dataset, covered: Bool, ranked: Part | None) -> DiagnosticResult:
    """The result with its coverage, and with item numbers of the whole dataset if only a part was ranked."""
    if not dataset.has_parts:
        return result
    result = replace(result, coverage=dataset.coverage(covered if ranked is None else ranked.support))
    if ranked is None or not dataset.by_rows:
        return result
    numbers = ranked.rows if result.item_numbers is None else ranked.rows[result.item_numbers]
    return replace(result, item_numbers=numbers)


_LAST_TRANSFORMED: dict[tuple[str, ...], tuple[Float32, FittedChain]] = {}


def _transformed(
    planned: _Planned, embedded: Embedded, corpus: Float32 | None, work: _Work
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


def _of_part(planned: _Planned, embedded: Embedded) -> Float32:
    """The embeddings of what is ranked."""
    part, matrix = planned.part, embedded.matrix
    return matrix if part is None else matrix[rows_of_part(part, planned.named.dataset, len(matrix))]


def _made(fitted: FittedChain, planned: _Planned, vectors: Float32) -> Float32:
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
    dataset_entry = find_dataset(request.dataset)
    if fetch.dataset_state(dataset_entry, settings) is fetch.DataState.MISSING:
        return None
    held_out = fitting.load_here(dict(request.params), settings)
    if request.fit_on and held_out is None:
        return None
    work = _Work(settings, repository, no_progress, CancelToken())
    named = _named(request, fetch.load(dataset_entry, settings), held_out, settings)
    if named.may_rank_a_part:
        others = (resolve_encoder(other, settings).identity for other in request.support)
        needed = [other.embedding_digest(named.dataset.texts_digest) for other in others]
        if any(work.cache.read(digest) is None for digest in (*([] if named.ranking else [named.digest]), *needed)):
            return None
    run_id = _plan(named, work).plan.run_id
    return next(iter(repository.runs(run_id=run_id, state=RunState.DONE)), None)


def encode(
    request: EncodeRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> Embedded:
    """Encode a dataset's texts, or find them in the cache; raises ``BlindspotError``."""
    work = _Work(settings, repository, progress, cancel or CancelToken())
    line = JobLine("encode", "", request.encoder, request.dataset)
    with at_work(settings, line), naming_extras(request.encoder):
        encoder, dataset = to_encode(request, settings, progress, work.cancel)
        embedded = _encoded(encoder, dataset, work)
        if embedded.encoded_now or embedded.copied_now:
            repository.remember_embedding(embedded.facts, encoder.info)
        else:
            line.outcome = FOUND
    return embedded


def to_encode(
    request: EncodeRequest, settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None
) -> tuple[Encoder, Dataset]:
    """The encoder of a request, and the dataset whose ``encoded`` texts it encodes; raises ``BlindspotError``."""
    prepare_runtime(settings)
    cancel = cancel or CancelToken()
    dataset = fetch.load(find_dataset(request.dataset), settings, progress, cancel)
    reference = canonical_encoder(request.encoder)
    _verify(ModelRef.parse(reference), settings, progress, cancel)
    encoder = resolve_encoder(reference, settings)
    return encoder, in_passages(dataset, reference, encoder)


def _changed(stored: Mapping[str, float], now: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    both = {name: (stored.get(name, float("nan")), now.get(name, float("nan"))) for name in {**stored, **now}}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}
