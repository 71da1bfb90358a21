"""Estimates of what runs will cost: time, memory, disk and downloads.

Speeds come from this store's runs; otherwise they are guesses, marked as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, catalogued, family_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import Cost, Done, Work, all_diagnostics, find_diagnostic
from blindspot.encoders.base import Encoder, EncoderFamily, EncoderInfo, JoinedEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import encoder_of
from blindspot.encoders.roles import info_with_roles
from blindspot.runs.inputs.rankings import ranking_of
from blindspot.runs.requests import RunRequest
from blindspot.runs.sending import Sending, sendings
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository

RECENT = 200  # runs that speeds are taken from
# Guesses for an ordinary laptop
GUESSED_FLOPS = 2e11  # per second, of a transformer
TOKENS_PER_TEXT = 20
TOKENS_PER_WORD = 4  # with special ones
GUESSED_SERVED = 200.0  # texts per second of a server
GUESSED_UNTRAINED = 3_000.0  # texts per second of an encoder without trained weights
COUNTS = ("pairs", "background", "sampled_items")  # metrics that tell the amount of work of a run
SECONDS_PER_RUN = 0.3  # reading, transforming, storing
SECONDS_TO_LOAD = 4.0  # torch and a model's weights
SECONDS_GUESSED = 2.0  # of computing at the guessed speed that count with the measured: small runs are mostly overhead
BASE_MEMORY = 700_000_000  # the process with torch, in bytes
COPIES = 4  # of a matrix while it is transformed and ranked


@dataclass(frozen=True)
class RunEstimate:
    """Cost of one run.

    Attributes:
        is_stored: it costs nothing.
        seconds: None if the dataset's size is unknown.
        memory_bytes, disk_bytes: peak memory; size of its embeddings.
        is_guess: whether the encoder's speed is a guess.
        load_seconds: the part of ``seconds`` in which its model is loaded, for the first run that needs it.
    """

    request: RunRequest
    is_stored: bool
    seconds: float | None
    memory_bytes: int
    disk_bytes: int
    is_guess: bool
    load_seconds: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """Cost of several runs, one after another; ``downloads`` names the missing datasets, ``infos`` the encoders, with
    all prompts that some of the runs do not apply, ``sendings`` what goes to servers."""

    runs: tuple[RunEstimate, ...]
    downloads: tuple[str, ...]
    download_bytes: int
    infos: Mapping[str, EncoderInfo]
    sendings: tuple[Sending, ...] = ()

    @property
    def wanted(self) -> tuple[RunRequest, ...]:
        """The runs that are not stored yet."""
        return tuple(run.request for run in self.runs if not run.is_stored)

    @property
    def downloads_in_words(self) -> str:
        """The missing datasets; of several from one family, only the number."""
        families = {name: family for name in self.downloads if (family := family_of(name))}
        sizes = Counter(family.id for family in families.values())
        names = dict.fromkeys(
            f"{sizes[family.id]} datasets of {family.title}" if family and sizes[family.id] > 2 else name
            for name in self.downloads
            for family in [families.get(name)]
        )
        return ", ".join(names)

    @property
    def seconds(self) -> float:
        return sum(run.seconds or 0.0 for run in self.runs)

    @property
    def memory_bytes(self) -> int:
        return max((run.memory_bytes for run in self.runs if not run.is_stored), default=0)

    @property
    def disk_bytes(self) -> int:
        return sum(run.disk_bytes for run in self.runs)

    @property
    def guessed(self) -> tuple[str, ...]:
        """Encoders whose speed is a guess."""
        return tuple(dict.fromkeys(r.request.variant.encoder for r in self.runs if r.is_guess and not r.is_stored))


def stored_requests(requests: Sequence[RunRequest], repository: Repository) -> set[RunRequest]:
    """The requests that a finished run answers, compared by request: changed files or models are not noticed.

    A run on the texts that all models cover is stored without the others' names if these are all
    texts. It answers a request with them if each of the other encoders has such a run too.
    """
    done = repository.runs(variants=list({r.variant for r in requests}), state=RunState.DONE, current=True, metrics=[])
    stored = {
        RunRequest(p.diagnostic, p.variant, p.dataset, tuple(sorted(p.params.items())), p.covered_by)
        for p in (run.plan for run in done)
        if (entry := all_diagnostics().get(p.diagnostic)) and entry.version == p.diagnostic_version
    }
    whole = {
        (run.plan.variant.encoder, run.plan.dataset)
        for run in done
        if not run.plan.covered_digest and run.coverage.get("items_covered") == run.coverage.get("items", -1)
    }

    def is_answered(request: RunRequest) -> bool:
        if request in stored:
            return True
        everyone = (request.variant.encoder, *request.covered_by)
        return replace(request, covered_by=()) in stored and all((e, request.dataset) in whole for e in everyone)

    return {request for request in requests if is_answered(request)}


def estimate(requests: Sequence[RunRequest], settings: Settings, repository: Repository | None) -> Estimate:
    """Cost of runs, in this order; raises ``InputError`` for an unusable dataset or encoder.

    Args:
        repository: None for what is known before anything is computed, which is the same on every machine: no run is
            stored, no text encoded, and all speeds are guesses.
    """
    stored = stored_requests(requests, repository) if repository else set[RunRequest]()
    entries = {r.dataset: r.dataset.entry() for r in requests}
    speeds = _Speeds.of(repository) if repository else _Speeds({}, {})
    on_disk = EmbeddingCache(settings.embeddings).inventory().embeddings if repository else ()
    encoded = {(stored.facts.encoder, stored.facts.texts) for stored in on_disk}
    loaded: set[str] = set()
    facts: dict[str, EncoderInfo] = {}
    runs = []
    for request in requests:
        entry = entries[request.dataset]
        if not request.variant.encoder.has_vectors:
            runs.append(_of_ranking(request, request in stored, entry, encoded, speeds, settings))
            facts[request.variant.encoder] = ranking_of(request.variant.encoder, settings).info
            continue
        encoder = encoder_of(request.variant.encoder, settings)
        has_queries = entry.kind is DatasetKind.RETRIEVAL
        declared = info_with_roles(encoder) if has_queries else encoder.info
        before = facts.get(request.variant.encoder, declared)
        facts[request.variant.encoder] = max(before, declared, key=lambda info: len(info.unused_prompts))
        memory = BASE_MEMORY + encoder.info.memory_bytes + COPIES * _matrix(entry.texts, encoder.info)
        if request in stored:
            runs.append(RunEstimate(request, True, 0.0, memory, 0, False))
            continue
        seconds, load, disk = SECONDS_PER_RUN + speeds.computing(request, entry, encoder.info), 0.0, 0
        is_guess, further = (
            False,
            find_diagnostic(request.diagnostic).further_texts(_work(entry, encoder.info.dimension)),
        )
        models: dict[str, Encoder] = {request.variant.encoder: encoder}
        if isinstance(encoder, JoinedEncoder) and (request.variant.encoder, entry.texts) not in encoded:
            encoded.add((request.variant.encoder, entry.texts))
            disk = _matrix(entry.texts, encoder.info)
            parts = zip(request.variant.encoder.models, encoder.encoders, strict=True)
            models = dict(parts)
        for reference, model in models.items():
            family = model.family if isinstance(model, EncoderFamily) else ()
            infos = {sibling.identity.reference: sibling.info for sibling in family} or {reference: model.info}
            measured = speeds.encoding(infos)
            is_guess |= not measured
            texts = further + (0 if (reference, entry.texts) in encoded else entry.texts)
            if not texts:
                continue
            encoded |= {(sibling, entry.texts) for sibling in infos}
            seconds += texts / (measured or min(_guessed_speed(info, entry) for info in infos.values()))
            disk += sum(_matrix(entry.texts + further, info) for info in infos.values())
            if model.info.parameters and loaded.isdisjoint(infos):
                load += SECONDS_TO_LOAD
            loaded |= set(infos)
        took = seconds + load if entry.texts else None
        runs.append(RunEstimate(request, False, took, memory, disk, is_guess, load if entry.texts else 0.0))
    wanted = [entries[dataset] for dataset in dict.fromkeys(r.request.dataset for r in runs if not r.is_stored)]
    missing = [e for e in wanted if fetch.dataset_state(e, settings) is fetch.DataState.MISSING]
    size = sum(f.size for e in missing for f in e.files)
    sent = sendings([r.request for r in runs if not r.is_stored], settings)
    return Estimate(tuple(runs), tuple(e.id for e in missing), size, facts, sent)


def _of_ranking(
    request: RunRequest,
    is_stored: bool,
    entry: DatasetEntry,
    encoded: Collection[tuple[str, int]],
    speeds: _Speeds,
    settings: Settings,
) -> RunEstimate:
    """Cost of a ranking without vectors; a fusion costs what its models take to encode and to rank."""
    seconds, memory, disk, is_guess = SECONDS_PER_RUN, BASE_MEMORY, 0, False
    for model in request.variant.encoder.models:
        if not model.has_vectors:
            continue
        info = encoder_of(model, settings).info
        matrix, measured = _matrix(entry.texts, info), speeds.encoding({model: info})
        memory = max(memory, BASE_MEMORY + info.memory_bytes + COPIES * matrix)
        seconds += speeds.computing(request, entry, info)
        if (model, entry.texts) not in encoded:
            seconds += entry.texts / (measured or _guessed_speed(info, entry)) + (
                SECONDS_TO_LOAD if info.parameters else 0
            )
            disk, is_guess = disk + matrix, is_guess or not measured
    if is_stored:
        return RunEstimate(request, True, 0.0, memory, 0, False)
    return RunEstimate(request, False, seconds if entry.texts else None, memory, disk, is_guess)


@dataclass(frozen=True)
class _Speeds:
    """Measured speeds: texts per second by encoder; seconds and units of work by diagnostic and ``Cost.way``."""

    texts_per_second: Mapping[str, float]
    computed: Mapping[tuple[str, str], tuple[float, float]]

    @classmethod
    def of(cls, repository: Repository) -> _Speeds:
        speeds: dict[str, float] = {}
        for speed in repository.speeds():  # most texts first: the device that a model used most
            if (rate := speed.texts_per_second) is not None:
                speeds.setdefault(speed.encoder, rate)
        computed: dict[tuple[str, str], tuple[float, float]] = {}
        for run in repository.runs(state=RunState.DONE, limit=RECENT, metrics=list(COUNTS)):
            if (units := _units_of(run)) and "compute" in run.timings:
                way = _way(find_diagnostic(run.plan.diagnostic).cost, run.plan.params)
                seconds, before = computed.get(key := (run.plan.diagnostic, way), (0.0, 0.0))
                computed[key] = seconds + run.timings["compute"], before + units
        return cls(speeds, computed)

    def encoding(self, infos: Mapping[str, EncoderInfo]) -> float | None:
        """Texts per second of an encoder or a sibling; None if unknown."""
        return next((self.texts_per_second[r] for r in infos if r in self.texts_per_second), None)

    def computing(self, request: RunRequest, entry: DatasetEntry, info: EncoderInfo) -> float:
        """Seconds of the diagnostic itself."""
        cost = find_diagnostic(request.diagnostic).cost
        way = _way(cost, dict(request.params))
        speeds = cost.seconds_per_unit
        guess = speeds.get(way, speeds.get("", max(speeds.values())))
        seconds, units = self.computed.get((request.diagnostic, way), (0.0, 0.0))
        per_unit = (seconds + SECONDS_GUESSED) / (units + SECONDS_GUESSED / guess)
        return per_unit * cost.units(_work(entry, info.dimension))


def _way(cost: Cost, params: Mapping[str, str]) -> str:
    """The parameter value that decides how long a unit of work takes."""
    return params.get(cost.way, "")


def _work(entry: DatasetEntry, dimension: int) -> Work:
    return Work(entry.pairs, entry.texts, dimension, entry.is_split, entry.classes)


def _units_of(run: RunRecord) -> float:
    """Units of work of a stored run; 0 if unknown."""
    entry = all_diagnostics().get(run.plan.diagnostic)
    if entry is None:  # of a version that knew other diagnostics
        return 0.0
    dimension = run.dimension or 0
    dataset_entry = catalogued(run.plan.dataset)  # a user's file may be gone
    work = _work(dataset_entry, dimension) if dataset_entry else None
    return entry.cost.units_of_run(Done(run.metrics, run.coverage, dimension, work))


def _guessed_speed(info: EncoderInfo, entry: DatasetEntry) -> float:
    """Texts per second, assuming two operations per weight and token."""
    if info.served_by:
        return GUESSED_SERVED
    tokens = TOKENS_PER_WORD if entry.unit == "word" else TOKENS_PER_TEXT
    return GUESSED_FLOPS / (2 * info.parameters * tokens) if info.parameters else GUESSED_UNTRAINED


def _matrix(texts: int, info: EncoderInfo) -> int:
    return 4 * texts * info.dimension
