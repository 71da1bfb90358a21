"""The one path of every computation: load -> encode -> transform -> compute -> store."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import core
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.diagnostics import catalog as diagnostics
from core.encoders import catalog as encoders
from core.encoders.base import Encoder, library_versions
from core.encoders.cache import Embedded, EmbeddingCache
from core.errors import InputError
from core.settings import Settings, prepare_runtime
from core.store.repository import Repository, RunPlan, RunRecord, RunState
from core.transforms import FittedChain, TransformChain
from core.types import CancelToken, PairSet, Progress, Stopwatch, Variant, digest_of_strings, no_progress


@dataclass(frozen=True)
class RunRequest:
    """Something to compute, in the user's words. Equal requests are the same run.

    ``params`` are name-value pairs in order of name, all of the diagnostic's parameters.
    """

    diagnostic: str
    variant: Variant
    dataset: str
    params: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        return f"{diagnostics.find(self.diagnostic).title} of {self.variant.label} on {self.dataset}"


def request(
    diagnostic: str, encoder: str, transform: str, dataset: str, params: Mapping[str, str], settings: Settings
) -> RunRequest:
    """Check everything that can be checked before any work, and make the request canonical.

    Raises:
        InputError: an unknown id, parameter or value, or a diagnostic that does not fit the dataset.
    """
    entry = diagnostics.find(diagnostic)
    dataset_entry = datasets.find(dataset)
    if dataset_entry.kind is not entry.dataset_kind:
        raise InputError(
            f"{entry.id} does not run on '{dataset}', a {dataset_entry.kind}", expected=f"a {entry.dataset_kind}"
        )
    reference = encoders.canonical(encoder)
    encoders.resolve(reference, settings)
    chain = TransformChain.parse(transform)
    checked = entry.check_params(params)
    return RunRequest(diagnostic, Variant(reference, str(chain)), dataset_entry.id, tuple(sorted(checked.items())))


def request_of(record: RunRecord, settings: Settings) -> RunRequest:
    """The request that led to a stored run, for doing it again.

    Raises:
        InputError: it names something that this version of Blindspot no longer has.
    """
    plan = record.plan
    return request(plan.diagnostic, plan.variant.encoder, plan.variant.transform, plan.dataset, plan.params, settings)


def demo_requests(settings: Settings) -> list[RunRequest]:
    """What the app offers on an empty store: no download, well under a minute on two cores."""
    return [request("evalrank", "minilm", transform, "demo-pairs", {}, settings) for transform in ("none", "center")]


@dataclass(frozen=True)
class RunOutcome:
    """A finished run; ``computed`` is False where the store had it already."""

    record: RunRecord
    computed: bool


def run(
    request: RunRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    keep_embeddings: bool = False,
) -> RunOutcome:
    """Compute a run and store it, or find it in the store.

    Nothing is locked while computing. What was encoded before a cancel or a crash is used again.

    Args:
        keep_embeddings: encode also for a run that is found, if its embeddings are no longer cached
            (the pages look into them).

    Raises:
        BlindspotError: with what went wrong; the store then has no trace of a finished run.
    """
    prepare_runtime(settings)
    cancel = cancel or CancelToken()
    watch = Stopwatch()
    entry = diagnostics.find(request.diagnostic)
    dataset_entry = datasets.find(request.dataset)
    with watch.measure("load"):
        dataset = fetch.load(dataset_entry, settings, progress, cancel)
        encoder = encoders.resolve(request.variant.encoder, settings)
    embedding_digest = encoder.identity.embedding_digest(dataset.texts_digest)
    plan = RunPlan(
        run_id=_run_id(request, entry.version, embedding_digest, dataset.content_digest),
        diagnostic=entry.id,
        diagnostic_version=entry.version,
        variant=request.variant,
        dataset=request.dataset,
        dataset_digest=dataset.content_digest,
        params=dict(request.params),
        embedding_digest=embedding_digest,
    )
    cache = EmbeddingCache(settings.embeddings)
    if found := repository.runs(run_id=plan.run_id, state=RunState.DONE):
        if keep_embeddings:
            cache.encode(encoder, dataset.items, dataset.texts_digest, progress, cancel)
        return RunOutcome(found[0], computed=False)
    with repository.running(plan) as run_seq:
        with watch.measure("encode"):
            embedded = cache.encode(encoder, dataset.items, dataset.texts_digest, progress, cancel)
        with watch.measure("transform"):
            transform = TransformChain.parse(request.variant.transform).fit(embedded.matrix)
            embeddings = transform.apply(embedded.matrix)
        with watch.measure("compute"):
            result = entry.compute(embeddings, dataset, plan.params, progress, cancel)
        manifest = _manifest(plan, encoder, embedded, transform, dataset, dataset_entry)
        progress("storing", 0, 1)
        repository.remember_embedding(embedded.facts, encoder.info)
        repository.finish(run_seq, entry, dataset, result, watch.seconds, manifest)
        progress("storing", 1, 1)
    return RunOutcome(repository.runs(run_id=plan.run_id)[0], computed=True)


def _manifest(
    plan: RunPlan,
    encoder: Encoder,
    embedded: Embedded,
    transform: FittedChain,
    dataset: PairSet,
    entry: DatasetEntry,
) -> dict[str, Any]:
    """What another person needs to get the same numbers."""
    files = {f.path: f.sha256 for f in entry.files}
    reading: dict[str, Any] = {}
    if entry.own:
        files = {str(entry.own.path): entry.own.sha256}
        reading = {"reading": entry.own.as_manifest()}
    return {
        "blindspot": core.__version__,
        "python": platform.python_version(),
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        "libraries": list(library_versions("numpy", "scipy", "numba", "duckdb", "torch", "transformers")),
        "encoder": {**asdict(encoder.identity), "device": embedded.facts.device, "dimension": transform.d_out},
        "embeddings": {
            "digest": plan.embedding_digest,
            "encoded_now": embedded.encoded_now,
            "truncated_share": embedded.facts.truncated_share,
        },
        "dataset": {
            "id": dataset.id,
            "digest": plan.dataset_digest,
            "revision": entry.revision,
            "files": files,
            **reading,
        },
        "transform": {**transform.record(), "fitted_on": f"the {len(dataset.items)} items"},
        "params": dict(plan.params),
        "seeds": {},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _run_id(request: RunRequest, version: int, embedding_digest: str, dataset_digest: str) -> str:
    """Digest of everything that decides the numbers. All items are ranked, so the dataset is the support."""
    return digest_of_strings(
        [
            request.diagnostic,
            str(version),
            embedding_digest,
            request.variant.transform,
            dataset_digest,
            json.dumps(request.params),
        ]
    )[:16]
