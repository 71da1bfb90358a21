"""From a request to the plan that identifies its run: what it names is loaded, and encoded where that decides what is
ranked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, Unpack

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.base import Dataset, Part
from blindspot.diagnostic import (
    Diagnostic,
    DiagnosticResult,
    Preparation,
    find_diagnostic,
)
from blindspot.encoders.base import Encoder, EncoderInfo, VerifiedEncoder
from blindspot.encoders.cache import Embedded, EmbeddingCache, EmbeddingFacts
from blindspot.encoders.catalog import variant_named
from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.encoders.rankings.base import Ranking
from blindspot.encoders.transformer.passages import in_passages
from blindspot.errors import InputError
from blindspot.references import ModelRef
from blindspot.runs.inputs import fitting
from blindspot.runs.inputs.fitting import FitDataset
from blindspot.runs.inputs.rankings import ranking_of
from blindspot.runs.inputs.roles import Texts, texts_of
from blindspot.runs.requests import EncodeRequest, RunRequest, plan_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunPlan, RunQuery, RunRecord
from blindspot.types import Bool, CancelToken, Progress, Stopwatch, no_progress


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


@dataclass(frozen=True)
class Work:
    """Context of a run: its encoders, store, progress, cancellation, and its timings."""

    encoders: EncodersInARow
    repository: Results
    progress: Progress = no_progress
    cancel: CancelToken = field(default_factory=CancelToken)
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def settings(self) -> Settings:
        return self.encoders.settings

    @property
    def cache(self) -> EmbeddingCache:
        return EmbeddingCache(self.settings.embeddings)

    def encoded(self, encoder: Encoder, dataset: Dataset) -> Embedded:
        """A dataset's texts."""
        return self.cache.encode(encoder, dataset.encoded, dataset.encoded_digest, self.progress, self.cancel)

    def encoded_by_role(self, texts: Texts) -> Embedded:
        """Texts that are queries or documents."""
        return self.cache.encode(texts.encoder, texts.texts, texts.digest, self.progress, self.cancel)


@dataclass(frozen=True, eq=False)
class Named:
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
        """Which items have a vector, ``[n] bool``, whatever their roles; all of a ranking, and where other texts are
        encoded: models that cut leave nothing out, and diagnostics that make texts say what they leave out."""
        n = len(self.dataset.items)
        is_other = self.dataset.whole is not self.dataset
        return np.ones(n, dtype=np.bool_) if embedded is None or is_other else embedded.covered[:n]

    @property
    def may_rank_a_part(self) -> bool:
        """Whether the covered items are part of the run's identity."""
        return self.preparation is None and bool(self.request.covered_by or self.model.info.is_partial)


@dataclass(frozen=True, eq=False)
class Planned:
    """The plan that identifies a run; ``embedded`` and ``part`` (of the dataset) if only covered items are ranked."""

    named: Named
    plan: RunPlan
    embedded: Embedded | None = None
    part: Part | None = None


def load(request: RunRequest, work: Work) -> Named:
    with work.watch.measure("load"):
        dataset_entry = request.dataset.entry()
        dataset = fetch.load(dataset_entry, work.settings, work.progress, work.cancel)
        held_out = fitting.load(request.fit_on, work.settings, work.progress, work.cancel)
        _verify(request.variant.encoder, work.encoders, work.progress, work.cancel)
        return named_by(request, dataset_entry, dataset, held_out, work.encoders)


def named_by(
    request: RunRequest,
    dataset_entry: DatasetEntry,
    dataset: Dataset,
    held_out: FitDataset | None,
    encoders: EncodersInARow,
) -> Named:
    """All that a request names; its datasets are loaded already."""
    entry = find_diagnostic(request.diagnostic)
    preparation = entry.preparation(dict(request.params))
    model, reference = request.variant.encoder, request.variant.encoder
    texts: Texts | Ranking
    if not model.has_vectors:
        texts = ranking_of(model, encoders.settings, dataset.asked)
    else:
        encoder = encoders.get(reference)
        dataset = entry.as_read(in_passages(dataset, reference, encoder), encoder)
        encoder = preparation.look_up(encoder) if preparation else encoder
        texts = texts_of(entry, dict(request.params), encoder, dataset)
    return Named(request, entry, preparation, dataset_entry, dataset, texts, held_out)


def _verify(model: ModelRef, encoders: EncodersInARow, progress: Progress, cancel: CancelToken) -> None:
    """Ask servers which models they have now, also those of a fusion: a run's identity depends on it."""
    for part in model.models:
        encoder = encoders.get(part) if part.has_vectors else None
        if isinstance(encoder, VerifiedEncoder):
            progress("asking the server", 0, 1)
            encoder.verify(cancel)


def plan(named: Named, work: Work) -> Planned:
    if not named.may_rank_a_part:
        return Planned(named, plan_of(named.request, named.digest, named.dataset, None, True, named.held_out))
    with work.watch.measure("encode"):
        embedded = None if named.ranking else work.encoded_by_role(named.encoded)
        part, own_covered = _covered(named, named.covered(embedded), work)
    plan = plan_of(named.request, named.digest, named.dataset, part, own_covered, named.held_out)
    return Planned(named, plan, embedded, part)


def _covered(named: Named, has_vector: Bool, work: Work) -> tuple[Part | None, bool]:
    """The part that can be ranked, and whether it is all that the encoder covers (``own [n] bool``).

    Raises:
        InputError: nothing is left, or the encoder lacks a text of a dataset without parts (minimal pairs).
    """
    request, dataset = named.request, named.dataset
    if not dataset.has_parts:
        if has_vector.all():
            return None, True
        raise InputError(
            f"'{request.variant.encoder}' has a vector for {np.count_nonzero(has_vector):,} of the {len(has_vector):,} "
            f"texts of '{dataset.id}', and none for '{dataset.items[int(np.argmin(has_vector))]}'",
            expected=f"an encoder that has one for every text, since {request.diagnostic} compares each original with "
            "all its rewrites",
        )
    covered = has_vector
    for reference in request.covered_by:
        covered = covered & work.encoded(work.encoders.get(reference), dataset.whole).covered
    part = dataset.part(covered)
    if not len(part.rows):
        whose = f"'{request.variant.encoder}'" if not request.covered_by else "all the encoders that are compared"
        raise dataset.nothing_left(len(part.items), whose)
    return part, bool(np.array_equal(has_vector, covered))


def to_encode(
    request: EncodeRequest, encoders: EncodersInARow, progress: Progress, cancel: CancelToken
) -> tuple[Encoder, Dataset]:
    """The encoder of a request, and the dataset whose ``encoded`` texts it encodes; raises ``BlindspotError``."""
    prepare_runtime(encoders.settings)
    dataset = fetch.load(request.dataset.entry(), encoders.settings, progress, cancel)
    model = variant_named(request.encoder).encoder
    _verify(model, encoders, progress, cancel)
    encoder = encoders.get(model)
    return encoder, in_passages(dataset, model, encoder)
