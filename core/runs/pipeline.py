"""The one path of every computation.

A request is checked (``request``); ``run`` then takes it through its stages, each a function of the one before: load
what it names, plan what identifies it, prepare the embeddings, compute, store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from core import diagnostic as diagnostics
from core import policy
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds import KINDS
from core.datasets.kinds.base import Dataset, Part
from core.diagnostic import FIT_ON, DiagnosticEntry, DiagnosticResult, Preparation
from core.encoders import catalog as encoders
from core.encoders.base import Encoder, VocabularyEncoder
from core.encoders.cache import Embedded, EmbeddingCache
from core.encoders.device import device_for_ranking
from core.errors import InputError
from core.numerics.similarity import Metric
from core.numerics.threads import undisturbed_blas
from core.runs import coverage, fitting, manifests
from core.runs.at_work import at_work
from core.runs.fitting import FitDataset
from core.runs.log import FOUND, JobLine
from core.runs.requests import EncodeRequest as EncodeRequest  # noqa: PLC0414 - everybody knows these from here
from core.runs.requests import Repetition as Repetition  # noqa: PLC0414
from core.runs.requests import RunRequest as RunRequest  # noqa: PLC0414
from core.runs.requests import plan_of
from core.settings import Settings, prepare_runtime
from core.store.records import RunPlan, RunRecord, RunState
from core.store.repository import Repository
from core.transforms.chain import FittedChain, TransformChain
from core.transforms.trained_flows import TrainedFlows
from core.types import Bool, CancelToken, Float32, Float64, Progress, Stopwatch, Variant, no_progress

KEPT_BYTES = 1 << 27  # of transformed embeddings, at most: a hundred thousand of 300 dimensions


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
    """Check everything that can be checked before any work, and make the request canonical.

    Args:
        params: of the diagnostic; ``fit_on`` among them is as good as the argument.
        support: encoders that it is to be compared with; those that have a vector for every text change nothing.
        fit_on: the dataset to fit the transform on, instead of the items that are ranked (held out).

    Raises:
        InputError: an unknown id, parameter or value, or a diagnostic that does not fit the dataset; a dataset to fit
            on where that cannot be (``fitting.checked``).
    """
    entry = diagnostics.find(diagnostic)
    for reference in (encoder, *support):
        policy.check_encoder(reference, settings)
    for reference in (dataset, fit_on, params.get(FIT_ON, "")):
        policy.check_dataset(reference, settings)
    dataset_entry = datasets.find(dataset)
    if dataset_entry.kind is not entry.dataset_kind:
        raise InputError(
            f"{entry.id} does not run on '{dataset}', a {dataset_entry.kind}", expected=f"a {entry.dataset_kind}"
        )
    reference = encoders.canonical(encoder)
    resolved = encoders.resolve(reference, settings)
    chain = TransformChain.parse(transform)
    policy.check_transform(str(chain), settings)
    checked = entry.check_params({name: value for name, value in params.items() if name != FIT_ON})
    preparation = entry.preparation(checked)
    own_protocol = checked["protocol"] if preparation else ""
    if held_out := fitting.checked(fit_on or params.get(FIT_ON, ""), chain, dataset_entry.id, resolved, own_protocol):
        checked[FIT_ON] = held_out
    others = {encoders.canonical(other) for other in support if encoders.may_leave_out(other)} - {reference}
    for other in others:
        encoders.resolve(other, settings)
    ranks_a_part = KINDS[entry.dataset_kind].has_parts and preparation is None
    return RunRequest(
        diagnostic,
        Variant(reference, str(chain)),
        dataset_entry.id,
        tuple(sorted(checked.items())),
        tuple(sorted(others)) if ranks_a_part else (),  # a protocol that prepares vectors itself ranks everything
    )


def with_transform(request: RunRequest, transform: str, fit_on: str = "") -> RunRequest:
    """A request with another transform chain (canonical); ``fit_on`` is what it was asked for with.

    A transform changes nothing else that a request is checked for.
    """
    params = {name: value for name, value in request.params if name != FIT_ON}
    if held_out := fitting.needed(fit_on, TransformChain.parse(transform), request.dataset):
        params[FIT_ON] = held_out
    return replace(request, variant=Variant(request.variant.encoder, transform), params=tuple(sorted(params.items())))


def request_of(record: RunRecord, settings: Settings) -> RunRequest:
    """The request that led to a stored run, for doing it again.

    Raises:
        InputError: it names something that this version of Blindspot no longer has.
    """
    plan = record.plan
    variant = plan.variant
    return request(
        plan.diagnostic, variant.encoder, variant.transform, plan.dataset, plan.params, settings, plan.support
    )


def demo_requests(settings: Settings) -> list[RunRequest]:
    """What the app offers on an empty store: no download, well under a minute on two cores."""
    return [
        request(diagnostic, "minilm", transform, dataset, {}, settings)
        for diagnostic, dataset in (("evalrank", "demo-pairs"), ("heros", "demo-minimal"))
        for transform in ("none", "center")
    ]


@dataclass(frozen=True)
class RunOutcome:
    """A finished run.

    Attributes:
        computed: False where the store had it already.
        changed: of a run that the store had and that was computed again: the scores that came out otherwise, stored
            and new. The stored ones stay.
    """

    record: RunRecord
    computed: bool
    changed: Mapping[str, tuple[float, float]] = field(default_factory=dict)


# --- the way of a run, from top to bottom


def run(
    request: RunRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    keep_embeddings: bool = False,
    again: bool = False,
) -> RunOutcome:
    """Compute a run and store it, or find it in the store.

    Nothing is locked while computing. What was encoded before a cancel or a crash is used again.

    Args:
        keep_embeddings: encode also for a run that is found, if its embeddings are no longer cached
            (the pages read them).
        again: compute also a run that is found, and compare.

    Raises:
        BlindspotError: with what went wrong; the store then has no trace of a finished run.
    """
    line = JobLine("run", request.diagnostic, request.variant.label, request.dataset)
    with at_work(settings, line):
        prepare_runtime(settings)
        work = _Work(settings, repository, progress, cancel or CancelToken())
        named = _load(request, work)
        planned = _plan(named, work)
        line.run_id = planned.plan.run_id
        stored = _stored(planned, work)
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
    """Where a run's things are kept, who listens, and what its stages took."""

    settings: Settings
    repository: Repository
    progress: Progress
    cancel: CancelToken
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def cache(self) -> EmbeddingCache:
        return EmbeddingCache(self.settings.embeddings)


@dataclass(frozen=True, eq=False)
class _Named:
    """What a request names, loaded.

    Attributes:
        encoder: as the request's protocol looks texts up.
        held_out: the dataset to fit the transform on, where that is not the request's own.
    """

    request: RunRequest
    entry: DiagnosticEntry
    preparation: Preparation | None
    dataset_entry: DatasetEntry
    dataset: Dataset
    encoder: Encoder
    held_out: FitDataset | None

    @property
    def may_rank_a_part(self) -> bool:
        """Whether it has to be known which items have a vector before it is known what the run is."""
        return self.preparation is None and bool(self.request.support or self.encoder.info.is_partial)


@dataclass(frozen=True, eq=False)
class _Planned:
    """What identifies a run.

    Attributes:
        embedded: the embeddings, where it takes them to tell which items are ranked.
        part: of the dataset, that is ranked; None for all of it.
    """

    named: _Named
    plan: RunPlan
    embedded: Embedded | None = None
    part: Part | None = None


@dataclass(frozen=True, eq=False)
class _Inputs:
    """What a diagnostic computes on: ``embeddings [n, d]`` of the ranked items after the fitted ``transform``."""

    planned: _Planned
    embedded: Embedded
    embeddings: Float32 | Float64
    transform: FittedChain


def _load(request: RunRequest, work: _Work) -> _Named:
    with work.watch.measure("load"):
        dataset = fetch.load(datasets.find(request.dataset), work.settings, work.progress, work.cancel)
        held_out = fitting.load(dict(request.params), work.settings, work.progress, work.cancel)
        return _named(request, dataset, held_out, work.settings)


def _named(request: RunRequest, dataset: Dataset, held_out: FitDataset | None, settings: Settings) -> _Named:
    entry = diagnostics.find(request.diagnostic)
    preparation = entry.preparation(dict(request.params))
    encoder = encoders.resolve(request.variant.encoder, settings)
    if preparation:
        encoder = preparation.look_up(encoder)
    return _Named(request, entry, preparation, datasets.find(request.dataset), dataset, encoder, held_out)


def _plan(named: _Named, work: _Work) -> _Planned:
    if not named.may_rank_a_part:
        return _Planned(named, plan_of(named.request, named.encoder, named.dataset, None, True, named.held_out))
    with work.watch.measure("encode"):
        embedded = _encoded(named.encoder, named.dataset, work)
        part, own_support = _support(named, embedded.covered, work)
    plan = plan_of(named.request, named.encoder, named.dataset, part, own_support, named.held_out)
    return _Planned(named, plan, embedded, part)


def _stored(planned: _Planned, work: _Work) -> RunRecord | None:
    """The finished run, where the store has it."""
    found = work.repository.runs(run_id=planned.plan.run_id, state=RunState.DONE)
    if found and found[0].plan.dataset != planned.plan.dataset:  # a copy of a file
        work.repository.remember_alias(planned.plan.dataset, planned.plan.dataset_digest)
    return found[0] if found else None


def _keep(planned: _Planned, work: _Work, keep_embeddings: bool) -> None:
    """Make what pages read of a stored run, where it was deleted: its embeddings, its trained flow."""
    named = planned.named
    is_trained = TransformChain.parse(named.request.variant.transform).is_trained
    if not (keep_embeddings or is_trained):
        return
    embedded = _encoded(named.encoder, named.dataset, work)
    if is_trained and not named.held_out:
        _transformed(planned, embedded, None, work)


def _prepare(planned: _Planned, work: _Work) -> _Inputs:
    named, corpus, embedded = planned.named, None, planned.embedded
    if embedded is None:
        with work.watch.measure("encode"):
            embedded = _encoded(named.encoder, named.dataset, work)
    if named.held_out:
        with work.watch.measure("encode"):
            corpus = named.held_out.vectors(named.encoder, work.settings, work.progress, work.cancel)
    with work.watch.measure("transform"), undisturbed_blas():
        return _Inputs(planned, embedded, *_transformed(planned, embedded, corpus, work))


def _compute(inputs: _Inputs, work: _Work) -> DiagnosticResult:
    planned, entry = inputs.planned, inputs.planned.named.entry
    ranked = planned.part.dataset if planned.part else planned.named.dataset
    with work.watch.measure("compute"), undisturbed_blas():
        compute = entry.on(device_for_ranking(work.settings.device) if entry.compute_on else "cpu")
        return compute(inputs.embeddings, ranked, planned.plan.params, work.progress, work.cancel)


def _store(run_seq: int, inputs: _Inputs, result: DiagnosticResult, work: _Work) -> None:
    planned, named = inputs.planned, inputs.planned.named
    result = coverage.with_coverage(result, named.dataset, inputs.embedded.covered, planned.part)
    manifest = manifests.manifest_of(
        planned.plan,
        named.encoder,
        inputs.embedded,
        inputs.transform,
        named.dataset,
        named.dataset_entry,
        fetch.checksums(named.dataset_entry, work.settings),
        result,
        named.held_out.facts(named.encoder, work.settings) if named.held_out else None,
    )
    work.progress("storing", 0, 1)
    work.repository.remember_embedding(inputs.embedded.facts, named.encoder.info)
    work.repository.finish(run_seq, named.entry, named.dataset, result, work.watch.seconds, manifest, planned.part)
    work.progress("storing", 1, 1)


# --- the parts of its stages


def _encoded(encoder: Encoder, dataset: Dataset, work: _Work) -> Embedded:
    return work.cache.encode(encoder, dataset.items, dataset.texts_digest, work.progress, work.cancel)


def _support(named: _Named, own: Bool, work: _Work) -> tuple[Part | None, bool]:
    """What can be ranked, and whether that is all that the encoder covers (``own``, ``[n] bool``).

    What the other encoders cover is encoded where it is not cached. All kinds but minimal pairs have parts.

    Raises:
        InputError: no pair or word is left; or the encoder lacks a text of a dataset of another kind.
    """
    request, dataset = named.request, named.dataset
    if not dataset.has_parts:
        coverage.check_covers_all(request.variant.encoder, dataset, own, request.diagnostic)
        return None, True
    support = own
    for reference in request.support:
        support = support & _encoded(encoders.resolve(reference, work.settings), dataset, work).covered
    whose = f"'{request.variant.encoder}'" if not request.support else "all the encoders that are compared"
    return coverage.part_of(dataset, support, whose), bool(np.array_equal(own, support))


_LAST_TRANSFORMED: dict[tuple[str, ...], tuple[Float32, FittedChain]] = {}


def _transformed(
    planned: _Planned, embedded: Embedded, corpus: Float32 | None, work: _Work
) -> tuple[Float32 | Float64, FittedChain]:
    """The embeddings of what is ranked after the request's transform, and that as it was fitted.

    Args:
        corpus: the vectors to fit it on, ``[m, d]``; None for those that are ranked.
    """
    named, part = planned.named, planned.part
    chain = TransformChain.parse(named.request.variant.transform)
    flows = TrainedFlows(work.settings.flows, work.progress, work.cancel)
    if named.preparation:
        vocabulary = named.encoder.vocabulary() if isinstance(named.encoder, VocabularyEncoder) else None
        metric = Metric(planned.plan.params["metric"])
        return named.preparation.vectors(
            embedded.matrix, embedded.covered, named.dataset.items, vocabulary, chain, metric, flows
        )
    # Of a grid, the runs by one similarity and then by the other follow each other: what is fitted is kept until the
    # next is. A trained flow is kept on disk, where pages look for it.
    key = (embedded.facts.digest, str(chain), part.digest if part else "")
    may_keep = corpus is None and not chain.is_trained
    kept = _LAST_TRANSFORMED.get(key) if may_keep else None
    if kept is not None:
        return kept
    vectors = embedded.matrix if part is None else embedded.matrix[part.items]
    fitted = chain.fit(vectors if corpus is None else corpus, flows)
    embeddings = fitted.apply(vectors)
    _LAST_TRANSFORMED.clear()
    if may_keep and fitted.steps and embeddings.nbytes <= KEPT_BYTES:
        _LAST_TRANSFORMED[key] = embeddings, fitted
    return embeddings, fitted


def find(request: RunRequest, settings: Settings, repository: Repository) -> RunRecord | None:
    """The finished run of a request, where the store has it; for this look nothing is encoded or downloaded.

    None also where it cannot be told without: the dataset is not here, or embeddings are gone that decide which of
    its items are ranked.

    Raises:
        BlindspotError: what is here cannot be read.
    """
    if request.variant not in repository.variants():
        return None  # so that no model is looked up that was never here
    dataset_entry = datasets.find(request.dataset)
    if fetch.dataset_state(dataset_entry, settings) is fetch.DataState.MISSING:
        return None
    held_out = fitting.load_here(dict(request.params), settings)
    if request.fit_on and held_out is None:
        return None
    work = _Work(settings, repository, no_progress, CancelToken())
    named = _named(request, fetch.load(dataset_entry, settings), held_out, settings)
    if named.may_rank_a_part:
        needed = [named.encoder, *(encoders.resolve(other, settings) for other in request.support)]
        digest = named.dataset.texts_digest
        if any(work.cache.read(encoder.identity.embedding_digest(digest)) is None for encoder in needed):
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
    """Encode a dataset's texts, or find them in the cache; what was encoded before a cancel or a crash is used again.

    Raises:
        BlindspotError: with what went wrong.
    """
    prepare_runtime(settings)
    cancel = cancel or CancelToken()
    with at_work(settings, JobLine("encode", "", request.encoder, request.dataset)) as line:
        dataset = fetch.load(datasets.find(request.dataset), settings, progress, cancel)
        encoder = encoders.resolve(encoders.canonical(request.encoder), settings)
        embedded = EmbeddingCache(settings.embeddings).encode(
            encoder, dataset.items, dataset.texts_digest, progress, cancel
        )
        if embedded.encoded_now:
            repository.remember_embedding(embedded.facts, encoder.info)
        else:
            line.outcome = FOUND
    return embedded


def _changed(stored: Mapping[str, float], now: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Scores that are not the same to the last bit."""
    nothing = float("nan")
    both = {name: (stored.get(name, nothing), now.get(name, nothing)) for name in {**stored, **now}}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}
