"""Sweeps: variants by datasets by diagnostics.

A sweep is a list of runs without state of its own: an interrupted one continues because finished runs are in the store
and embeddings in the cache.
"""

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from blindspot import policy
from blindspot.datasets import vector_sources
from blindspot.datasets.catalog import FAMILIES, DatasetEntry, DatasetRef, find_datasets
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.named import dataset_named
from blindspot.datasets.published.meaning_changes import MEANING_CHANGES
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import Diagnostic, find_diagnostic
from blindspot.encoders.catalog import ENCODERS, passages_of, variant_named
from blindspot.encoders.named import encoder_named
from blindspot.errors import BlindspotError, InputError, unknown
from blindspot.files.writing import read_limited
from blindspot.references import ModelRef
from blindspot.runs import pipeline, requesting
from blindspot.runs.packs import groups
from blindspot.runs.packs.groups import Group, Shard
from blindspot.runs.requests import RunRequest
from blindspot.runs.sending import Sending, sendings
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Progress, no_progress

DEMO, EVIDENCE, MEANING = "demo", "evidence", "meaning"  # ready-made sweeps
COVERED = {"common": True, "own": False}
MOST_BYTES = 2**18  # of a file
MOST_DOTS = 500  # in a line: tomllib needs time and memory quadratic in a key's parts
KEYS = ("encoders", "transforms", "datasets", "diagnostics", "support", "fit_on", "params")
DEMO_TRANSFORMS = ("none", "center", "abtt:2", "whiten")
# No post-processing, and the two kinds that the EvalRank paper counts as models of their own (appendix A).
EVIDENCE_TRANSFORMS = ("none", "abtt:2", "whiten")
EVIDENCE_SIMILARITY = ("stsb-test", "sts16", "str")
EVIDENCE_TASKS = ("cr", "trec")
EVIDENCE_FAMILIES = 6  # with fewer, even the sign of a correlation over families means little


@dataclass(frozen=True)
class Sweep:
    """Variants by datasets by diagnostics.

    Attributes:
        encoders, datasets: references; a family of datasets is all of its members.
        transforms: chains; every encoder with each of them is a variant.
        diagnostics: ids; each runs on the datasets of its kind.
        params: values per parameter; each diagnostic takes its own, in all combinations.
        covered_by_all: rank only items that all encoders cover, so that their scores can be compared.
        fit_on: the dataset that transforms are fitted on; "" for each run's own items.
        notes: for the user: what a ready-made sweep had to do without, and why.
    """

    encoders: tuple[str, ...]
    transforms: tuple[str, ...]
    datasets: tuple[str, ...]
    diagnostics: tuple[str, ...]
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    covered_by_all: bool = True
    fit_on: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expansion:
    """The runs of a sweep.

    Attributes:
        requests: distinct. Encoder by encoder, all datasets with the first transform, so that each is loaded once and
            all texts are encoded; then the other transforms, so that the remaining time is soon known.
        unfit: (diagnostic, dataset) ids left out because the diagnostic needs another kind of dataset.
    """

    requests: tuple[RunRequest, ...]
    unfit: tuple[tuple[str, DatasetRef], ...]


def expand(sweep: Sweep, settings: Settings) -> Expansion:
    """All runs of a sweep, checked as far as possible without work.

    Raises:
        InputError: an empty list, an unknown id (the nearest is suggested), parameter or value, an unusable encoder,
            no diagnostic fits any dataset, or more runs than a visitor may list.
    """
    _check_not_empty(sweep)
    for reference in sweep.encoders:
        policy.check_encoder(reference, settings)
    for reference in (*(name for name in sweep.datasets if name not in FAMILIES), sweep.fit_on):
        policy.check_dataset(reference, settings)
    entries = {i: find_diagnostic(i) for i in sweep.diagnostics}
    chains = list(dict.fromkeys(str(TransformChain.parse(transform)) for transform in sweep.transforms))
    names = {parameter.name for entry in entries.values() for parameter in entry.parameters}
    for name in sweep.params:
        if not names:
            raise InputError(f"{', '.join(entries)} has no parameters, but '{name}' is given")
        if name not in names:
            raise unknown(f"parameter of {', '.join(entries)}", name, names)

    first: list[RunRequest] = []
    unfit: list[tuple[str, DatasetRef]] = []
    dataset_kinds: dict[str, DatasetKind] = {}
    for reference in sweep.datasets:
        read = _readings(reference, list(entries.values()))
        kinds_read = {dataset.kind for dataset in read}
        dataset_kinds |= {dataset.id: dataset.kind for dataset in read}
        others = [entry.id for entry in entries.values() if entry.dataset_kind not in kinds_read]
        unfit += [(diagnostic, DatasetRef(dataset.id)) for dataset in read for diagnostic in others]
    encoders = list(dict.fromkeys(variant_named(name).encoder for name in sweep.encoders))
    for encoder, (dataset, kind) in itertools.product(encoders, dataset_kinds.items()):
        fitting = [entry for entry in entries.values() if entry.dataset_kind is kind]
        first += [
            requesting.request(
                entry.id,
                encoder,
                _chain(encoder, chains),
                dataset,
                params,
                settings,
                encoders if sweep.covered_by_all else (),
                sweep.fit_on,
            )
            for entry in _able(encoder, fitting, [*entries.values()])
            for params in _combinations(entry, sweep.params)
        ]
    if not first:
        kinds = ", ".join(f"{entry.id} on a {entry.dataset_kind.in_words}" for entry in entries.values())
        raise InputError(
            f"nothing to run: none of the diagnostics fits {', '.join(dataset_kinds)}",
            expected=f"datasets of their kinds: {kinds}",
        )
    policy.of(settings).check_planned(sum(len(chains) if r.variant.encoder.has_vectors else 1 for r in first))
    rest = [
        requesting.with_transform(request, chain, sweep.fit_on)
        for encoder in dict.fromkeys(r.variant.encoder for r in first if r.variant.encoder.has_vectors)
        for chain in chains[1:]
        for request in first
        if request.variant.encoder == encoder
    ]
    return Expansion(tuple(dict.fromkeys([*first, *rest])), tuple(unfit))


def _readings(reference: str, entries: Sequence[Diagnostic]) -> list[DatasetEntry]:
    """The datasets of a reference: members of a family; a user's file as each kind that the diagnostics need and that
    it has a reading of."""
    if not is_own(reference):
        return find_datasets([reference])
    asked = list(dict.fromkeys(DatasetRef(reference).of_kind(entry.dataset_kind) for entry in entries))
    if len(asked) > 1:  # as which kind it may be read is settled
        asked = [other for other in asked if other != reference]
    return find_datasets(asked)


def _able(model: ModelRef, fitting: Sequence[Diagnostic], asked: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The diagnostics that can run with a model: all with vectors; a ranking is left out of those that need vectors,
    and a model that reads passages of those without documents, unless no other is asked for, when the request says why
    it cannot be made."""
    if (model.has_vectors and not passages_of(model)) or not any(entry.takes_rankings for entry in asked):
        return fitting
    return [entry for entry in fitting if entry.takes_rankings]


def _chain(model: ModelRef, chains: Sequence[str]) -> str:
    """The first transform, or for a ranking, which has nothing to transform, none where that is one of them."""
    return chains[0] if model.has_vectors or "none" not in chains else "none"


def demo() -> Sweep:
    """All catalog encoders with some transforms on the built-in sentences; needs no network."""
    return Sweep(
        encoders=tuple(ENCODERS),
        transforms=DEMO_TRANSFORMS,
        datasets=("demo-pairs", "demo-minimal"),
        diagnostics=("evalrank", "heros"),
    )


def meaning() -> Sweep:
    """All catalog encoders on the published sets that change the meaning of a sentence in a known way."""
    return Sweep(
        encoders=tuple(ENCODERS),
        transforms=("none",),
        datasets=tuple(MEANING_CHANGES),
        diagnostics=("heros", "similarity"),
    )


def evidence(settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None) -> Sweep:
    """What *Do scores predict tasks?* on *Lab* needs: EvalRank, geometry, similarity sets and two transfer tasks.

    All catalog encoders, which are four families, and small files of word vectors for three more, fetched first if
    they are not cached; ``notes`` names missing ones and the number of families left. Word vectors leave texts out, so
    all runs are on the texts that all models cover, which depends on the files that are here.

    Raises:
        DataCorrupt: a file of word vectors has another checksum.
        Cancelled: what was downloaded is kept.
    """
    if not policy.of(settings).own_encoders:
        brought = vector_sources.Brought((), ("a hosted demo has the catalog's encoders only",))
    else:
        brought = vector_sources.bring(settings, progress, cancel)
    families = len({entry.family or entry.id for entry in ENCODERS.values()}) + len(brought.paths)
    few = [f"{families} families of encoders instead of {EVIDENCE_FAMILIES}"] if families < EVIDENCE_FAMILIES else []
    return Sweep(
        encoders=(*ENCODERS, *(f"vectors:{path}" for path in brought.paths)),
        transforms=EVIDENCE_TRANSFORMS,
        datasets=("evalrank-sent", *EVIDENCE_SIMILARITY, *EVIDENCE_TASKS),
        diagnostics=("evalrank", "geometry", "similarity", "transfer"),
        notes=(*few, *brought.missing),
    )


def named(name: str, settings: Settings, progress: Progress = no_progress) -> Sweep:
    """A ready-made sweep by its name, or that of a TOML file by its path; see ``evidence`` and ``read_toml``."""
    if name == EVIDENCE:
        return evidence(settings, progress)
    ready = {DEMO: demo, MEANING: meaning}
    return ready[name]() if name in ready else read_toml(name)


def read_toml(path: Path | str) -> Sweep:
    """A sweep from a file: ``encoders``, ``datasets`` and ``diagnostics`` are words or lists of words; ``transforms``,
    ``support``, ``fit_on`` and the table ``params`` are optional.

    Raises:
        InputError: an unreadable file, invalid TOML, or a missing, unknown or invalid key.
    """
    path = Path(path)
    content = _parsed(path)
    for key in content:
        if key not in KEYS:
            raise unknown(f"key in {path}:", key, KEYS)
    for key in ("encoders", "datasets", "diagnostics"):
        if key not in content:
            raise InputError(f"{path} has no '{key}'", expected=f'a list, for example {key} = ["{_EXAMPLES[key]}"]')
    covered, params, fit_on = content.get("support", "common"), content.get("params", {}), content.get("fit_on", "")
    if not isinstance(covered, str) or covered not in COVERED:
        raise InputError(f"{path}: 'support' is {covered!r}", expected=f"one of {', '.join(COVERED)}")
    if not isinstance(fit_on, str):
        raise InputError(f"{path}: 'fit_on' is {fit_on!r}", expected="the id of one dataset")
    if not isinstance(params, dict):
        raise InputError(f"{path}: 'params' is {params!r}", expected="a table [params] with a line per parameter")
    return Sweep(
        encoders=tuple(map(encoder_named, _words(path, "encoders", content["encoders"]))),
        transforms=_words(path, "transforms", content.get("transforms", "none")),
        datasets=tuple(map(dataset_named, _words(path, "datasets", content["datasets"]))),
        diagnostics=_words(path, "diagnostics", content["diagnostics"]),
        params={name: _words(path, f"params.{name}", value) for name, value in params.items()},
        covered_by_all=COVERED[covered],
        fit_on=fit_on,
    )


_EXAMPLES = {"encoders": "minilm", "datasets": "demo-pairs", "diagnostics": "evalrank"}


def _parsed(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        raise InputError(f"there is no file {path}", expected="a TOML file, or the word demo")
    try:
        text = read_limited(path, MOST_BYTES).decode("utf-8-sig")
        if (dots := max(line.count(".") for line in text.split("\n"))) > MOST_DOTS:
            raise InputError(f"{path} has a line with {dots:,} dots", expected=f"at most {MOST_DOTS}")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: TOML, UTF-8, huge numbers
        raise InputError(f"{path} is no TOML: {error}", expected="a file of lines such as encoders = [...]") from error


def _words(path: Path, key: str, value: object) -> tuple[str, ...]:
    words = value if isinstance(value, list) else [value]
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"{path}: '{key}' is {word!r}", expected="a string or a list of strings")
    return tuple(words)


def _check_not_empty(sweep: Sweep) -> None:
    lists = {
        "encoder": sweep.encoders,
        "transform": sweep.transforms,
        "dataset": sweep.datasets,
        "diagnostic": sweep.diagnostics,
        **{f"value of the parameter {name}": values for name, values in sweep.params.items()},
    }
    for what, values in lists.items():
        if not values:
            raise InputError(f"the sweep names no {what}", expected="at least one")


def _combinations(entry: Diagnostic, params: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """All combinations of the diagnostic's own parameters."""
    grid = {p.name: params[p.name] for p in entry.parameters if p.name in params}
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep, or a shard of it, would do.

    Attributes:
        run_ids: per request the id of the run that the store has, or None.
        groups: of the runs that the store lacks, or of the shard, as workers get them.
        why_no_groups: where there is no estimate: the size of a model is not known here.
        sends: what goes to servers.
    """

    requests: tuple[RunRequest, ...]
    run_ids: tuple[str | None, ...]
    groups: tuple[Group, ...]
    why_no_groups: str
    sends: tuple[Sending, ...]

    @classmethod
    def of(
        cls, requests: Sequence[RunRequest], settings: Settings, repository: Repository, shard: Shard | None = None
    ) -> SweepPlan:
        """The plan of requests, or of a shard of them, which knows nothing of a store."""
        records = [pipeline.find(request, settings, repository) for request in requests]
        ids = tuple(None if record is None else record.run_id for record in records)
        lacking = [request for request, run_id in zip(requests, ids, strict=True) if run_id is None]
        wanted, of_store = (requests, None) if shard else (lacking, repository)
        part, grouped, why_none = shard or Shard(1, 1), tuple[Group, ...](), ""
        try:
            every = groups.of_requests(wanted, settings, part.of, of_store) if wanted else ()
            grouped = groups.shard(every, part.number, part.of)
        except BlindspotError as error:
            why_none = f"no estimate: {error}"
        return cls(tuple(requests), ids, grouped, why_none, tuple(sendings(lacking, settings)))

    def as_json(self) -> dict[str, Any]:
        planned = [r.as_json() | {"run_id": run_id} for r, run_id in zip(self.requests, self.run_ids, strict=True)]
        sends = [{"host": s.host, "texts": s.texts, "tokens": s.tokens, "key_env": s.key_env} for s in self.sends]
        of_groups = [group.as_json() for group in self.groups]
        return {"planned": planned, "groups": of_groups, **({"sends": sends} if sends else {})}


class RemainingTime:
    """Estimates how long the rest of a sweep takes, from the runs done so far."""

    def __init__(self) -> None:
        self._met: set[tuple[str, str]] = set()  # encoder and dataset
        self._seconds: dict[tuple[object, ...], list[float]] = {}

    def note(self, request: RunRequest, seconds: float, *, is_typical: bool) -> None:
        """A run is typical if it was computed and its texts were already encoded."""
        self._met.add((request.variant.encoder, request.dataset))
        if is_typical:
            self._seconds.setdefault(_kind(request), []).append(seconds)

    def remaining(self, rest: Sequence[RunRequest]) -> float | None:
        """Seconds for ``rest`` by medians of similar runs; None if one has no similar run or has texts to encode."""
        is_measured = all((r.variant.encoder, r.dataset) in self._met and _kind(r) in self._seconds for r in rest)
        return sum(median(self._seconds[_kind(r)]) for r in rest) if is_measured else None


def _kind(request: RunRequest) -> tuple[object, ...]:
    """Key of runs that take about equally long, whatever the encoder."""
    return request.diagnostic, request.dataset, request.params, request.variant.transform
