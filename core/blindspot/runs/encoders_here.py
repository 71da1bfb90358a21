"""Library of encoders: from the catalog, from runs, and added by users, with their costs.

Listing them loads no model and uses no network: facts come from the last check or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from blindspot import policy
from blindspot.datasets.user_data import rankings
from blindspot.encoders.base import EncoderIdentity, EncoderInfo, RolePrompts, VerifiedEncoder
from blindspot.encoders.cache import EmbeddingCache, EmbeddingFacts, StoredEmbeddings
from blindspot.encoders.catalog import (
    ENCODERS,
    RANKINGS,
    SCHEMES,
    canonical_encoder,
    encoder_of,
    entry_of,
    variant_named,
)
from blindspot.encoders.named import encoder_named
from blindspot.encoders.roles import role_prompts, without_prompt
from blindspot.encoders.served.encoder import Connection, ServedEncoder, tested
from blindspot.encoders.served.reference import ServedReference
from blindspot.encoders.uploads import delete_upload, store_upload, upload_of
from blindspot.errors import BlindspotError, InputError
from blindspot.names import name_of_model
from blindspot.references import BM25, ModelRef, RankingRef, made_of, version_of
from blindspot.runs.default_models import is_own
from blindspot.runs.inputs.rankings import ranking_of
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState, Speed, StoredReference
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.variants import Variant

CATALOG = "catalog"
WITH_PARAMETERS = "parameters"
UNKNOWN = "unknown"
_T = TypeVar("_T")
_Fact = TypeVar("_Fact")
_Facts = TypeVar("_Facts", EncoderIdentity, EncoderInfo)


@dataclass(frozen=True)
class EncoderSummary:
    """Everything known about an encoder without opening it.

    Attributes:
        kind: ``catalog``, also with ``parameters``, the reference's scheme, or ``unknown`` to this version.
        description: of the encoder, or of its kind.
        info: from the catalog or the last check; None if it was only run.
        identity: from the last check or run, if any.
        dimension, parameters, memory_bytes: None if unknown.
        runs: finished ones, newest first.
        stored: its embeddings on disk.
        speeds: one per device, the device that encoded most first; empty if it was never run.
        shares_pass_with: encoders from the same forward passes, whose speed is measured together.
        datasets: per digest of its embeddings, the datasets they are known to belong to.
    """

    reference: ModelRef
    kind: str
    description: str
    info: EncoderInfo | None
    identity: EncoderIdentity | None
    dimension: int | None
    parameters: int | None
    memory_bytes: int | None
    runs: tuple[RunRecord, ...]
    is_running: bool
    stored: tuple[StoredEmbeddings, ...]
    speeds: tuple[Speed, ...]
    shares_pass_with: tuple[str, ...]
    datasets: Mapping[str, tuple[str, ...]]

    @property
    def unused_prompts(self) -> Mapping[str, str]:
        """Declared prompts that are not applied, from the last check, else the newest run."""
        if self.info:
            return dict(self.info.unused_prompts)
        return self.runs[0].manifest.get("encoder", {}).get("prompts_not_applied", {}) if self.runs else {}

    @property
    def role_prompts(self) -> RolePrompts | None:
        """Prompts of queries and documents, from the last check, else from runs."""
        if self.info:
            return self.info.role_prompts
        used = (run.manifest.get("encoder", {}).get("prompts") for run in self.runs)
        if prompts := next(filter(None, used), None):
            return RolePrompts(**prompts, given="_prompt=" in self.reference)
        return role_prompts(self.unused_prompts, None, None, None)

    @property
    def assumed(self) -> Sequence[str]:
        """``EncoderInfo.assumed``, from the newest run, which may have found more, else from the last check."""
        return self._of_newest_run("assumed", self.info.assumed if self.info else ())

    @property
    def similarity(self) -> str:
        """The similarity that the model declares, from the newest run, else from the last check."""
        return self._of_newest_run("similarity", self.info.similarity if self.info else "cosine")

    @property
    def encoded_by(self) -> str:
        """The library that encoded the texts of the newest run; "" for Blindspot."""
        return self._of_newest_run("encoded_by", "")

    def _of_newest_run(self, fact: str, otherwise: _Fact) -> _Fact:
        value: _Fact = self.runs[0].manifest.get("encoder", {}).get(fact, otherwise) if self.runs else otherwise
        return value

    @property
    def title(self) -> str:
        """The name from the last check, else the last part of the reference; for several models as one, their names."""
        if self.info and self.info.title:
            return self.info.title
        if len(self.reference.models) > 1:
            return name_of_model(self.reference)
        target = self.reference.partition(":")[2].partition("?")[0]
        return Path(target).name if Path(target).is_absolute() else target

    @property
    def size(self) -> int:
        """Bytes of its embeddings on disk."""
        return sum(stored.size for stored in self.stored)

    @property
    def is_served(self) -> bool:
        """Whether texts are sent to a server."""
        return self.kind == "api"

    @property
    def is_of_catalog(self) -> bool:
        return self.kind == CATALOG


@dataclass(frozen=True)
class Library:
    """All encoders, those of users first; ``removed`` ones that still have runs; ``damaged`` files of the cache."""

    encoders: tuple[EncoderSummary, ...]
    removed: tuple[str, ...]
    damaged: tuple[Path, ...]

    def find(self, reference: str) -> EncoderSummary | None:
        return next((e for e in self.encoders if e.reference == reference), None)


def read_library(settings: Settings, repository: Repository) -> Library:
    """Everything known about encoders from the store and the cache."""
    runs = repository.runs()
    added = {stored.reference: stored for stored in repository.references()}
    inventory = EmbeddingCache(settings.embeddings).inventory()
    costs = {facts.digest: facts for facts in repository.embeddings()}
    costs |= {stored.facts.digest: stored.facts for stored in inventory.embeddings}
    passes = _passes(costs.values())
    datasets = _datasets(passes, runs)
    # Each once by its model: a look through all of them for every model took seconds with hundreds of models.
    runs_of = _by(runs, lambda run: _model(run.plan.variant))
    stored_of = _by(inventory.embeddings, lambda stored: stored.facts.encoder)
    costs_of = _by(costs.values(), lambda facts: facts.encoder)
    speeds_of = _by(repository.speeds(), lambda speed: speed.encoder)
    passes_of: dict[str, list[list[EmbeddingFacts]]] = {}
    for group in passes:
        for name in {facts.encoder for facts in group}:
            passes_of.setdefault(name, []).append(group)
    listed = _listed(added.values(), [*_was_run(repository), *runs_of], stored_of.keys())
    summaries = tuple(
        _summary(
            reference,
            settings,
            added.get(reference),
            runs_of.get(reference, ()),
            stored_of.get(reference, ()),
            costs_of.get(reference, ()),
            passes_of.get(reference, ()),
            datasets,
            speeds_of.get(reference, ()),
        )
        for reference in listed
    )
    return Library(summaries, tuple(sorted(runs_of.keys() - set(listed))), inventory.damaged)


def _by(things: Iterable[_T], model: Callable[[_T], str]) -> dict[str, list[_T]]:
    grouped: dict[str, list[_T]] = {}
    for thing in things:
        grouped.setdefault(model(thing), []).append(thing)
    return grouped


def known_references(settings: Settings, repository: Repository, *, rankings: bool = True) -> list[ModelRef]:
    """References offered: those of users, except on a demo, then the catalog; ``rankings``, also without vectors."""
    return [
        known_reference
        for known_reference in _known_references(settings, repository)
        if rankings or known_reference.has_vectors
    ]


def _known_references(settings: Settings, repository: Repository) -> list[ModelRef]:
    if not policy.of(settings).own_encoders:
        return _of_catalog()
    on_disk = {stored.facts.encoder for stored in EmbeddingCache(settings.embeddings).inventory().embeddings}
    return [r for r in _listed(repository.references(), _was_run(repository), on_disk) if _kind(r) != UNKNOWN]


def _was_run(repository: Repository) -> list[str]:
    """Models with finished runs, the one whose first run is the latest in front; a changed one is as new as its newest
    version."""
    encoders = dict.fromkeys(variant.encoder for variant in repository.variants())
    return list(dict.fromkeys(version_of(encoder)[0] for encoder in reversed(encoders)))


def own_references(references: Iterable[ModelRef], settings: Settings) -> list[ModelRef]:
    """Those ``known_references`` that a user added or ran and that can encode, the newest first.

    Variants by layer, by prompt or joined with others are left out if the model itself is there."""
    user_models = list(takewhile(is_own, references))
    return [
        reference
        for reference in user_models
        if set(user_models).isdisjoint(made_of(reference)) and can_encode(reference, settings)
    ]


def can_encode(model: ModelRef, settings: Settings) -> bool:
    """Whether it is a model with vectors whose files are here and unchanged."""
    try:
        encoder_of(model, settings)
    except BlindspotError:
        return False
    return True


@dataclass(frozen=True)
class CheckedEncoder:
    """An encoder that was inspected but not loaded."""

    reference: ModelRef
    identity: EncoderIdentity
    info: EncoderInfo


def check(reference: str, settings: Settings) -> CheckedEncoder:
    """Inspect the encoder of a reference; downloads a hub model's files.

    Raises:
        InputError: a malformed reference, or it cannot be used.
        BlindspotError: a failed download, damaged files.
    """
    model = variant_named(reference.strip()).encoder
    if not model.has_vectors:
        ranking = ranking_of(model, settings)
        return CheckedEncoder(model, ranking.identity, ranking.info)
    for part in (encoder_of(part, settings) for part in model.models):
        if isinstance(part, VerifiedEncoder):
            part.verify(CancelToken())
            part.load()
    encoder = encoder_of(model, settings)
    return CheckedEncoder(model, encoder.identity, encoder.info)


def connect(reference: str, settings: Settings) -> Connection:
    """Ask a served model for a vector; raises ``BlindspotError``, as ``check``."""
    policy.of(settings).check_change("encoders cannot be added or removed")
    encoder = encoder_of(canonical_encoder(reference), settings)
    if not isinstance(encoder, ServedEncoder):
        raise InputError(f"'{reference}' is on no server", expected="api:URL#MODEL")
    return tested(encoder, CancelToken())


def add(reference: str, settings: Settings, repository: Repository) -> CheckedEncoder:
    """Check a reference, or what ``encoder_named`` understands, and remember it; raises what ``check`` does."""
    policy.of(settings).check_change("encoders cannot be added or removed")
    checked = check(encoder_named(reference), settings)
    if _kind(checked.reference) != CATALOG:
        facts = {"identity": asdict(checked.identity), "info": asdict(checked.info)}
        repository.remember_reference(checked.reference, facts)
    return checked


def add_upload(
    files: Sequence[tuple[str, bytes | memoryview]], settings: Settings, repository: Repository
) -> CheckedEncoder:
    """Store uploaded files, as (name, content), and add their encoder. They are read to the end first.

    Raises:
        InputError: the files make no encoder.
        BlindspotError: the disk is full.
    """
    policy.of(settings).check_change("encoders cannot be added or removed")
    upload = store_upload(files, settings)
    try:
        if (model := canonical_encoder(upload.reference)).has_vectors:
            encoder_of(model, settings).load()
        else:
            rankings.check(Path(upload.reference.partition(":")[2]))
        return add(upload.reference, settings, repository)
    except BlindspotError:
        if upload.is_new:
            delete_upload(upload.folder, settings)
        raise


@dataclass(frozen=True)
class Removal:
    """What removing an encoder deletes: sets of embeddings, bytes in all, and the folder of its upload.

    ``upload`` is None if there is none or another encoder uses it.
    """

    embeddings: int
    size: int
    upload: Path | None


def removal_of(encoder: EncoderSummary, library: Library, settings: Settings) -> Removal:
    """What ``remove`` would delete now."""
    upload = upload_of(encoder.reference, settings)
    others = (upload_of(e.reference, settings) for e in library.encoders if e.reference != encoder.reference)
    if upload is not None and upload in others:
        upload = None
    files = sum(file.stat().st_size for file in upload.iterdir()) if upload else 0
    return Removal(len(encoder.stored), encoder.size + files, upload)


def remove(reference: str, settings: Settings, repository: Repository) -> Removal:
    """Delete an encoder's embeddings and, unless it is in the catalog, the encoder with its upload. Its runs stay.

    Raises:
        InputError: no such encoder, or this is a demo.
        BlindspotError: it is in use, or cannot be deleted.
    """
    policy.of(settings).check_change("encoders cannot be added or removed")
    library = read_library(settings, repository)
    encoder = library.find(reference)
    if encoder is None:
        raise InputError(f"there is no encoder '{reference}' here", remedy="it may have been removed meanwhile")
    if encoder.is_running:
        raise BlindspotError(
            f"'{reference}' is in use: a run with it is being computed", remedy="cancel that run or wait for it"
        )
    removal = removal_of(encoder, library, settings)
    cache = EmbeddingCache(settings.embeddings)
    for stored in encoder.stored:
        cache.delete(stored.facts.digest)
    begun = {run.plan.embedding_digest for run in repository.runs() if _model(run.plan.variant) == reference}
    cache.delete_unfinished(begun | {stored.facts.digest for stored in encoder.stored})
    if removal.upload:
        delete_upload(removal.upload, settings)
    if repository.database.path.exists():
        repository.forget_embeddings(reference)
        if not encoder.is_of_catalog:
            repository.remove_reference(reference)
    return removal


def change_of(reference: str, settings: Settings) -> str:
    """A sentence if a served model is another one than before, else ""."""
    return ServedEncoder.of(ServedReference.parse(reference), settings).change


def _listed(added: Iterable[StoredReference], was_run: Sequence[str], on_disk: AbstractSet[str]) -> list[ModelRef]:
    """References in order: users' own, the newest first, then the catalog's, then others, such as other poolings of own
    ones, which one pass gives too. A removed one is back once it has embeddings again.

    Args:
        was_run: as in ``_was_run``; models that were added and not run are newer.
    """
    added = sorted(added, key=lambda stored: stored.checked_at, reverse=True)
    gone = {stored.reference for stored in added if stored.is_removed} - on_disk
    others = {stored.reference for stored in added}.union(was_run, on_disk) - gone - {*ENCODERS, BM25}
    checked = [stored.reference for stored in added if stored.reference in others]
    not_run = [reference for reference in checked if reference not in was_run]
    parsed = {reference: ModelRef.parse(reference) for reference in others}
    newest = (parsed[r] for r in dict.fromkeys([*not_run, *was_run]) if r in parsed)
    user_models = list(filter(is_own, newest))
    rest = [parsed[r] for r in dict.fromkeys([*checked, *sorted(others)]) if r not in user_models]
    return [*user_models, *_of_catalog(), *rest]


def _of_catalog() -> list[ModelRef]:
    return [*map(ModelRef, ENCODERS), RankingRef(BM25)]


def _model(variant: Variant) -> str:
    """The reference under which every version of a model is listed and removed."""
    return version_of(variant.encoder)[0]


def _kind(reference: str) -> str:
    name, with_parameters, _ = reference.partition("?")
    if reference == BM25 or entry_of(name):
        return WITH_PARAMETERS if with_parameters else CATALOG
    scheme, colon, _ = reference.partition(":")
    return scheme if colon and (scheme in SCHEMES or scheme in RANKINGS) else UNKNOWN


def _passes(costs: Iterable[EmbeddingFacts]) -> list[list[EmbeddingFacts]]:
    """Embeddings by forward pass."""
    passes: dict[object, list[EmbeddingFacts]] = {}
    for facts in costs:
        passes.setdefault(facts.forward_pass, []).append(facts)
    return list(passes.values())


def _datasets(passes: Sequence[Sequence[EmbeddingFacts]], runs: Iterable[RunRecord]) -> dict[str, tuple[str, ...]]:
    """Per digest of embeddings, the datasets of its runs and its siblings' runs."""
    of_runs: dict[str, set[str]] = {}
    for run in runs:
        of_runs.setdefault(run.plan.embedding_digest, set()).add(run.plan.dataset)
    datasets = {}
    for group in passes:
        names = set().union(*(of_runs.get(facts.digest, set()) for facts in group))
        datasets.update({facts.digest: tuple(sorted(names)) for facts in group})
    return datasets


def _by_device(speeds: Sequence[Speed], revision: str) -> tuple[Speed, ...]:
    """One speed per device, of the current weights if those encoded anything."""
    by_device: dict[str, Speed] = {}
    for speed in [s for s in speeds if s.revision == revision] or speeds:
        if speed.texts_per_second is not None:
            by_device.setdefault(speed.device, speed)
    return tuple(by_device.values())


def _summary(
    reference: ModelRef,
    settings: Settings,
    added: StoredReference | None,
    runs: Sequence[RunRecord],
    stored: Sequence[StoredEmbeddings],
    costs: Sequence[EmbeddingFacts],
    passes: Sequence[Sequence[EmbeddingFacts]],  # its own
    datasets: Mapping[str, tuple[str, ...]],
    speeds: Sequence[Speed],
) -> EncoderSummary:
    kind = _kind(reference)
    done = tuple(run for run in runs if run.state is RunState.DONE)
    info: EncoderInfo | None
    identity: EncoderIdentity | None
    if reference == BM25:
        ranking = ranking_of(reference, settings)
        description, info, identity = RANKINGS[BM25].description, ranking.info, ranking.identity
    elif kind == CATALOG:
        entry = entry_of(reference)
        description, info = (entry.description, entry.info) if entry else ("", None)
        identity = encoder_of(reference, settings).identity
    else:
        of_catalog = entry_of(reference.partition("?")[0])
        described = of_catalog or SCHEMES.get(kind) or RANKINGS.get(kind)
        description = described.description if described else "Not of this version."
        info = _read(EncoderInfo, added.facts.get("info")) if added else of_catalog.info if of_catalog else None
        identity = _newest_identity(added, done)
    facts_of: list[EncoderInfo | RunRecord] = [info] if info else []
    is_served = bool(info and info.served_by)  # nobody says how large it is
    of_nobody = is_served or bool(info and info.memory_bytes and not info.parameters)
    facts_of += [run for run in done if run.dimension is not None][:1]
    dimensions = [fact.dimension for fact in facts_of] + [facts.dimension for facts in costs]
    return EncoderSummary(
        reference=reference,
        kind=kind,
        description=description,
        info=info,
        identity=identity,
        dimension=next(iter(dimensions), None),
        parameters=None if of_nobody else next((fact.parameters for fact in facts_of), None),
        memory_bytes=None if is_served else next((fact.memory_bytes for fact in facts_of), None),
        runs=done,
        is_running=any(run.state is RunState.RUNNING for run in runs),
        stored=tuple(stored),
        speeds=_by_device(speeds, identity.revision if identity else ""),
        shares_pass_with=tuple(sorted({facts.encoder for group in passes for facts in group} - {reference})),
        datasets={facts.digest: datasets[facts.digest] for facts in costs},
    )


def _newest_identity(added: StoredReference | None, done: Sequence[RunRecord]) -> EncoderIdentity | None:
    """From the last check or run: a folder or a branch of the hub may have changed since."""
    told: list[tuple[datetime, EncoderIdentity]] = []
    if added and (identity := _read(EncoderIdentity, added.facts.get("identity"))):
        told.append((added.checked_at, identity))
    for run in done:
        if identity := identity_of(run):
            told.append((run.started_at, identity))
            break  # newest first
    return max(told, key=lambda item: item[0])[1] if told else None


def identity_of(run: RunRecord) -> EncoderIdentity | None:
    """The encoder that a finished run was computed with; None if another version of Blindspot stored too little.

    If the run encoded by role, the encoder as it treats texts without a role, by the prompt in its reference.
    """
    facts = run.manifest.get("encoder", {})
    identity = _read(EncoderIdentity, facts)
    if identity is None or not facts.get("prompts"):
        return identity
    given = re.search(r"[?&]prompt=([^&]*)", identity.reference)
    return replace(identity, prompt=unquote(given[1]) if given else "", pooling=without_prompt(identity.pooling))


def _read(kind: type[_Facts], stored: Mapping[str, Any] | None) -> _Facts | None:
    """Stored facts, possibly from another version; unknown fields are left out."""
    if not stored:
        return None
    values = {f.name: stored[f.name] for f in fields(kind) if f.name in stored}
    if "libraries" in values:
        values["libraries"] = tuple(values["libraries"])
    if "unused_prompts" in values:
        values["unused_prompts"] = tuple((name, text) for name, text in values["unused_prompts"])
    if "assumed" in values:
        values["assumed"] = tuple(values["assumed"])
    try:
        if values.get("role_prompts"):
            values["role_prompts"] = RolePrompts(**values["role_prompts"])
        return kind(**values)
    except TypeError:  # a version that stored less
        return None
