"""The one path of every computation: load -> encode -> transform -> compute -> store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from core import coverage, fitting, manifests, policy
from core.at_work import at_work
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.diagnostics import catalog as diagnostics
from core.diagnostics.base import FIT_ON
from core.diagnostics.evalrank import TOOLKIT
from core.encoders import catalog as encoders
from core.encoders.base import Encoder, VocabularyEncoder
from core.encoders.cache import Embedded, EmbeddingCache
from core.encoders.device import device_for_ranking
from core.errors import InputError
from core.flows.store import TrainedFlows
from core.joblog import FOUND, JobLine
from core.numerics.similarity import Metric
from core.numerics.threads import undisturbed_blas
from core.plans import EncodeRequest as EncodeRequest  # noqa: PLC0414 - everybody knows these from here
from core.plans import Repetition as Repetition  # noqa: PLC0414
from core.plans import RunRequest as RunRequest  # noqa: PLC0414
from core.plans import plan_of
from core.settings import Settings, prepare_runtime
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.toolkit import prepare
from core.transforms import FittedChain, FlowSource, TransformChain
from core.types import (
    Bool,
    CancelToken,
    Dataset,
    DatasetKind,
    Float32,
    Float64,
    Part,
    Progress,
    Stopwatch,
    Variant,
    no_progress,
)

KEPT_BYTES = 1 << 27  # of transformed embeddings, at most: a hundred thousand of 300 dimensions
# Kinds of which items without a vector can be left out.
_IN_PARTS = (
    DatasetKind.PAIR_SET,
    DatasetKind.SCORED_PAIRS,
    DatasetKind.VOCABULARY,
    DatasetKind.ANALOGIES,
    DatasetKind.CATEGORIES,
    DatasetKind.LABELLED_TEXTS,
)


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
    if held_out := fitting.checked(fit_on or params.get(FIT_ON, ""), chain, dataset_entry.id, resolved, checked):
        checked[FIT_ON] = held_out
    others = {encoders.canonical(other) for other in support if encoders.may_leave_out(other)} - {reference}
    for other in others:
        encoders.resolve(other, settings)
    ranks_a_part = entry.dataset_kind in _IN_PARTS and checked.get("protocol") != TOOLKIT
    return RunRequest(
        diagnostic,
        Variant(reference, str(chain)),
        dataset_entry.id,
        tuple(sorted(checked.items())),
        tuple(sorted(others)) if ranks_a_part else (),  # the toolkit ranks everything
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
            (the pages look into them).
        again: compute also a run that is found, and compare.

    Raises:
        BlindspotError: with what went wrong; the store then has no trace of a finished run.
    """
    line = JobLine("run", request.diagnostic, request.variant.label, request.dataset)
    with at_work(settings, line):
        cancel = cancel or CancelToken()
        outcome = _run(request, settings, repository, progress, cancel, keep_embeddings, again, line)
        if not outcome.computed:
            line.outcome = FOUND
    return outcome


def _run(
    request: RunRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress,
    cancel: CancelToken,
    keep_embeddings: bool,
    again: bool,
    line: JobLine,
) -> RunOutcome:
    prepare_runtime(settings)
    watch = Stopwatch()
    entry = diagnostics.find(request.diagnostic)
    dataset_entry = datasets.find(request.dataset)
    with watch.measure("load"):
        dataset = fetch.load(dataset_entry, settings, progress, cancel)
        encoder = _encoder(request, settings)
        held_out = fitting.load(dict(request.params), settings, progress, cancel)
    cache = EmbeddingCache(settings.embeddings)
    embedded, ranked, own_support = None, None, True
    if _may_rank_a_part(request, encoder):
        with watch.measure("encode"):
            embedded = cache.encode(encoder, dataset.items, dataset.texts_digest, progress, cancel)
            ranked, own_support = _support(request, embedded.covered, dataset, settings, cache, progress, cancel)
    plan = plan_of(request, encoder, dataset, ranked, own_support, held_out)
    line.run_id = plan.run_id
    found = repository.runs(run_id=plan.run_id, state=RunState.DONE)
    if found and found[0].plan.dataset != request.dataset:  # a copy of a file
        repository.remember_alias(request.dataset, plan.dataset_digest)
    corpus, flows = None, TrainedFlows(settings.flows, progress, cancel)
    is_trained = TransformChain.parse(request.variant.transform).is_trained
    if found and not again:
        if keep_embeddings or is_trained:
            embedded = cache.encode(encoder, dataset.items, dataset.texts_digest, progress, cancel)
        if is_trained and embedded and not held_out:  # a flow that was deleted is trained again, to look into its space
            _transformed(request, encoder, dataset, embedded, ranked, corpus, flows)
        return RunOutcome(found[0], computed=False)
    if again:
        _LAST_TRANSFORMED.clear()
    with nullcontext(found[0].run_seq) if found else repository.running(plan) as run_seq:
        if embedded is None:
            with watch.measure("encode"):
                embedded = cache.encode(encoder, dataset.items, dataset.texts_digest, progress, cancel)
        if held_out:
            with watch.measure("encode"):
                corpus = held_out.vectors(encoder, settings, progress, cancel)
        part = dataset if ranked is None else ranked.dataset
        with watch.measure("transform"), undisturbed_blas():
            embeddings, transform = _transformed(request, encoder, dataset, embedded, ranked, corpus, flows)
        with watch.measure("compute"), undisturbed_blas():
            compute = entry.on(device_for_ranking(settings.device) if entry.compute_on else "cpu")
            result = compute(embeddings, part, plan.params, progress, cancel)
        if found:
            return RunOutcome(found[0], computed=True, changed=_changed(found[0].metrics, result.metrics))
        result = coverage.with_coverage(result, dataset, embedded.covered, ranked)
        fitted_on = held_out.facts(encoder, settings) if held_out else None
        manifest = manifests.manifest_of(
            plan,
            encoder,
            embedded,
            transform,
            dataset,
            dataset_entry,
            fetch.checksums(dataset_entry, settings),
            result,
            fitted_on,
        )
        progress("storing", 0, 1)
        repository.remember_embedding(embedded.facts, encoder.info)
        repository.finish(run_seq, entry, dataset, result, watch.seconds, manifest, ranked)
        progress("storing", 1, 1)
    return RunOutcome(repository.runs(run_id=plan.run_id)[0], computed=True)


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


def _transformed(
    request: RunRequest,
    encoder: Encoder,
    dataset: Dataset,
    embedded: Embedded,
    ranked: Part | None,
    corpus: Float32 | None,
    flows: FlowSource,
) -> tuple[Float32 | Float64, FittedChain]:
    """The embeddings of what is ranked after the request's transform, and that as it was fitted.

    Args:
        corpus: the vectors to fit it on, ``[m, d]``; None for those that are ranked.
    """
    chain = TransformChain.parse(request.variant.transform)
    if _is_toolkit(request):
        vocabulary = encoder.vocabulary() if isinstance(encoder, VocabularyEncoder) else None
        metric = Metric(dict(request.params)["metric"])
        return prepare(embedded.matrix, embedded.covered, dataset.items, vocabulary, chain, metric, flows)
    # Of a grid, the runs by one similarity and then by the other follow each other: what is fitted is kept until the
    # next is. A trained flow is kept on disk, where pages look for it.
    key = (embedded.facts.digest, str(chain), ranked.digest if ranked else "")
    may_keep = corpus is None and not chain.is_trained
    kept = _LAST_TRANSFORMED.get(key) if may_keep else None
    if kept is not None:
        return kept
    vectors = embedded.matrix if ranked is None else embedded.matrix[ranked.items]
    fitted = chain.fit(vectors if corpus is None else corpus, flows)
    embeddings = fitted.apply(vectors)
    _LAST_TRANSFORMED.clear()
    if may_keep and fitted.steps and embeddings.nbytes <= KEPT_BYTES:
        _LAST_TRANSFORMED[key] = embeddings, fitted
    return embeddings, fitted


_LAST_TRANSFORMED: dict[tuple[str, ...], tuple[Float32, FittedChain]] = {}


def _changed(stored: Mapping[str, float], now: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Scores that are not the same to the last bit."""
    nothing = float("nan")
    both = {name: (stored.get(name, nothing), now.get(name, nothing)) for name in {**stored, **now}}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


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
    dataset = fetch.load(dataset_entry, settings)
    encoder, ranked, own_support = _encoder(request, settings), None, True
    held_out = fitting.load_here(dict(request.params), settings)
    if request.fit_on and held_out is None:
        return None
    if _may_rank_a_part(request, encoder):
        cache = EmbeddingCache(settings.embeddings)
        needed = [encoder, *(encoders.resolve(other, settings) for other in request.support)]
        stored = [cache.read(e.identity.embedding_digest(dataset.texts_digest)) for e in needed]
        if stored[0] is None or None in stored:
            return None
        ranked, own_support = _support(request, stored[0].covered, dataset, settings, cache, no_progress, CancelToken())
    run_id = plan_of(request, encoder, dataset, ranked, own_support, held_out).run_id
    return next(iter(repository.runs(run_id=run_id, state=RunState.DONE)), None)


def _is_toolkit(request: RunRequest) -> bool:
    return dict(request.params).get("protocol") == TOOLKIT


def _encoder(request: RunRequest, settings: Settings) -> Encoder:
    """The request's encoder, looking words up as its protocol does."""
    encoder = encoders.resolve(request.variant.encoder, settings)
    return encoder.as_toolkit() if _is_toolkit(request) and isinstance(encoder, VocabularyEncoder) else encoder


def _may_rank_a_part(request: RunRequest, encoder: Encoder) -> bool:
    """Whether it has to be known which items have a vector before it is known what the run is."""
    return not _is_toolkit(request) and bool(request.support or encoder.info.is_partial)


def _support(
    request: RunRequest,
    own: Bool,
    dataset: Dataset,
    settings: Settings,
    cache: EmbeddingCache,
    progress: Progress,
    cancel: CancelToken,
) -> tuple[Part | None, bool]:
    """What can be ranked, and whether that is all that the encoder covers (``own``, ``[n] bool``).

    What the other encoders cover is encoded where it is not cached. All kinds but minimal pairs have parts.

    Raises:
        InputError: no pair or word is left; or the encoder lacks a text of a dataset of another kind.
    """
    if dataset.kind not in _IN_PARTS:
        coverage.check_covers_all(request.variant.encoder, dataset, own, request.diagnostic)
        return None, True
    support = own
    for reference in request.support:
        other = encoders.resolve(reference, settings)
        support = support & cache.encode(other, dataset.items, dataset.texts_digest, progress, cancel).covered
    whose = f"'{request.variant.encoder}'" if not request.support else "all the encoders that are compared"
    return coverage.part_of(dataset, support, whose), bool(np.array_equal(own, support))
