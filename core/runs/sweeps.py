"""Many runs at once: variants by datasets by diagnostics (DESIGN section 6).

A sweep has no state of its own. It is a list of runs, each of which is found in the store once it is there and whose
embeddings are kept: that is how an interrupted sweep continues.
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

from core import diagnostic as diagnostics
from core import policy
from core.datasets import catalog as datasets
from core.datasets import vector_sources
from core.diagnostic import DiagnosticEntry
from core.encoders import catalog as encoders
from core.errors import InputError, unknown
from core.files.writing import read_limited
from core.runs import pipeline
from core.runs.pipeline import RunRequest
from core.settings import Settings
from core.transforms.chain import TransformChain
from core.types import CancelToken, Progress, no_progress

SUPPORTS = {"common": True, "own": False}  # per word of the user's, whether the support is common
MOST_BYTES = 2**18  # of a file
MOST_DOTS = 500  # in a line: tomllib's time and memory grow with the square of a key's parts
KEYS = ("encoders", "transforms", "datasets", "diagnostics", "support", "fit_on", "params")
DEMO_TRANSFORMS = ("none", "center", "abtt:2", "whiten")
# Without post-processing and with the two kinds that the EvalRank paper counts as models of their own (appendix A).
EVIDENCE_TRANSFORMS = ("none", "abtt:2", "whiten")
EVIDENCE_SIMILARITY = ("stsb-test", "sts16", "str")
EVIDENCE_TASKS = ("cr", "trec")
EVIDENCE_FAMILIES = 6  # below which even the sign of a correlation over families says little


@dataclass(frozen=True)
class Sweep:
    """Variants by datasets by diagnostics, in the user's words.

    Attributes:
        encoders: encoder references.
        transforms: transform chains; every encoder with each of them is a variant.
        datasets: dataset ids or ``file:`` references.
        diagnostics: diagnostic ids; each runs on the datasets of its kind.
        params: values per parameter. Each diagnostic takes those that it has, in all combinations.
        common_support: rank items that all the encoders cover, so that their scores can be compared.
        fit_on: the dataset that transforms are fitted on; "" for each run's own items.
        notes: what whoever asked for a ready sweep should know of it: what it had to do without, and why.
    """

    encoders: tuple[str, ...]
    transforms: tuple[str, ...]
    datasets: tuple[str, ...]
    diagnostics: tuple[str, ...]
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    common_support: bool = True
    fit_on: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expansion:
    """The runs of a sweep.

    Attributes:
        requests: distinct, in the order in which they are best run: every encoder first meets every dataset with the
            first transform, so that one that cannot be used is noticed early and all texts are encoded; then come the
            other transforms, encoder by encoder, so that soon it is known how long each of the rest takes.
        unfit: diagnostic and dataset ids that were left out, because the diagnostic needs another kind of dataset.
    """

    requests: tuple[RunRequest, ...]
    unfit: tuple[tuple[str, str], ...]


def expand(sweep: Sweep, settings: Settings) -> Expansion:
    """All runs of a sweep; everything that can be checked before any work is.

    Raises:
        InputError: an empty list, an unknown id (the nearest is suggested), a parameter that none of the diagnostics
            has, a value that one does not know, an encoder that cannot be used, or no diagnostic fits any dataset.
    """
    _check_not_empty(sweep)
    for reference in sweep.encoders:
        policy.check_encoder(reference, settings)
    for reference in (*sweep.datasets, sweep.fit_on):
        policy.check_dataset(reference, settings)
    entries = {i: diagnostics.find(i) for i in sweep.diagnostics}
    dataset_kinds = {entry.id: entry.kind for entry in map(datasets.find, sweep.datasets)}
    chains = list(dict.fromkeys(str(TransformChain.parse(transform)) for transform in sweep.transforms))
    known = {parameter.name for entry in entries.values() for parameter in entry.parameters}
    for name in sweep.params:
        if not known:
            raise InputError(f"{', '.join(entries)} has no parameters, but '{name}' is given")
        if name not in known:
            raise unknown(f"parameter of {', '.join(entries)}", name, known)

    first: list[RunRequest] = []
    unfit: list[tuple[str, str]] = []
    for dataset, kind in dataset_kinds.items():
        fitting = [entry for entry in entries.values() if entry.dataset_kind is kind]
        unfit += [(entry.id, dataset) for entry in entries.values() if entry not in fitting]
        first += [
            pipeline.request(
                entry.id,
                encoder,
                chains[0],
                dataset,
                params,
                settings,
                sweep.encoders if sweep.common_support else (),
                sweep.fit_on,
            )
            for encoder in dict.fromkeys(map(encoders.canonical, sweep.encoders))
            for entry in fitting
            for params in _combinations(entry, sweep.params)
        ]
    if not first:
        kinds = ", ".join(f"{entry.id} on a {entry.dataset_kind}" for entry in entries.values())
        raise InputError(
            f"nothing to run: none of the diagnostics fits {', '.join(dataset_kinds)}",
            expected=f"datasets of their kinds: {kinds}",
        )
    rest = [
        pipeline.with_transform(request, chain, sweep.fit_on)
        for encoder in dict.fromkeys(request.variant.encoder for request in first)
        for chain in chains[1:]
        for request in first
        if request.variant.encoder == encoder
    ]
    return Expansion(tuple(dict.fromkeys([*first, *rest])), tuple(unfit))


def demo() -> Sweep:
    """All encoders of the catalog with some transforms, on the built-in sentences; needs no network."""
    return Sweep(
        encoders=tuple(encoders.ENCODERS),
        transforms=DEMO_TRANSFORMS,
        datasets=("demo-pairs", "demo-minimal"),
        diagnostics=("evalrank", "heros"),
    )


def evidence(settings: Settings, progress: Progress = no_progress, cancel: CancelToken | None = None) -> Sweep:
    """What the page *Evidence* needs to mean something: EvalRank, geometry, similarity sets and two transfer tasks.

    All encoders of the catalog, which are three families, and small files of word vectors for three more. Those that
    are not in the cache are brought there first, from the mirror or their source; ``notes`` says which could not be
    had, and how many families are left. Word vectors leave some texts out, so that everything runs on the texts that
    all encoders cover: the files that are here decide which those are.

    Raises:
        DataCorrupt: a file of word vectors came that is not what its checksum promises.
        Cancelled: what came so far is kept.
    """
    if not policy.of(settings).own_encoders:
        brought = vector_sources.Brought((), ("a hosted demo has the catalog's encoders only",))
    else:
        brought = vector_sources.bring(settings, progress, cancel)
    families = len({entry.family or entry.id for entry in encoders.ENCODERS.values()}) + len(brought.paths)
    few = [f"{families} families of encoders instead of {EVIDENCE_FAMILIES}"] if families < EVIDENCE_FAMILIES else []
    return Sweep(
        encoders=(*encoders.ENCODERS, *(f"vectors:{path}" for path in brought.paths)),
        transforms=EVIDENCE_TRANSFORMS,
        datasets=("evalrank-sent", *EVIDENCE_SIMILARITY, *EVIDENCE_TASKS),
        diagnostics=("evalrank", "geometry", "similarity", "transfer"),
        notes=(*few, *brought.missing),
    )


def read_toml(path: Path | str) -> Sweep:
    """A sweep of a file: ``encoders``, ``datasets`` and ``diagnostics`` are lists of words (or one word);
    ``transforms``, ``support`` and the table ``params`` may be left out.

    Relative paths in references are relative to the current folder, as everywhere.

    Raises:
        InputError: the file cannot be read, is no TOML, or a key is missing, unknown or holds something else.
    """
    path = Path(path)
    content = _parsed(path)
    for key in content:
        if key not in KEYS:
            raise unknown(f"key in {path}:", key, KEYS)
    for key in ("encoders", "datasets", "diagnostics"):
        if key not in content:
            raise InputError(f"{path} has no '{key}'", expected=f'a list, for example {key} = ["{_EXAMPLES[key]}"]')
    support, params, fit_on = content.get("support", "common"), content.get("params", {}), content.get("fit_on", "")
    if not isinstance(support, str) or support not in SUPPORTS:
        raise InputError(f"{path}: 'support' is {support!r}", expected=f"one of {', '.join(SUPPORTS)}")
    if not isinstance(fit_on, str):
        raise InputError(f"{path}: 'fit_on' is {fit_on!r}", expected="the id of one dataset")
    if not isinstance(params, dict):
        raise InputError(f"{path}: 'params' is {params!r}", expected="a table [params] with a line per parameter")
    return Sweep(
        encoders=_words(path, "encoders", content["encoders"]),
        transforms=_words(path, "transforms", content.get("transforms", "none")),
        datasets=_words(path, "datasets", content["datasets"]),
        diagnostics=_words(path, "diagnostics", content["diagnostics"]),
        params={name: _words(path, f"params.{name}", value) for name, value in params.items()},
        common_support=SUPPORTS[support],
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
    except (ValueError, RecursionError) as error:  # ValueError: no TOML, no UTF-8, a number of thousands of digits
        raise InputError(f"{path} is no TOML: {error}", expected="a file of lines such as encoders = [...]") from error


def _words(path: Path, key: str, value: object) -> tuple[str, ...]:
    """A word, or a list of words."""
    words = value if isinstance(value, list) else [value]
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"{path}: '{key}' holds {word!r}", expected="a string or a list of strings")
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


def _combinations(entry: DiagnosticEntry, params: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """The parameters that a diagnostic has, one value each, in all combinations."""
    own = {p.name: params[p.name] for p in entry.parameters if p.name in params}
    return [dict(zip(own, values, strict=True)) for values in itertools.product(*own.values())]


class Pace:
    """How long the rest of a sweep takes, as far as what was done of it tells."""

    def __init__(self) -> None:
        self._met: set[tuple[str, str]] = set()  # encoder and dataset
        self._seconds: dict[tuple[object, ...], list[float]] = {}

    def note(self, request: RunRequest, seconds: float, *, is_typical: bool) -> None:
        """A run took some seconds; it is typical where it was computed and its texts had been encoded before."""
        self._met.add((request.variant.encoder, request.dataset))
        if is_typical:
            self._seconds.setdefault(_kind(request), []).append(seconds)

    def remaining(self, rest: Sequence[RunRequest]) -> float | None:
        """Seconds that ``rest`` takes, by the median of its like; None while some of it has nothing like it, or has
        texts to encode, which takes a time of its own."""
        known = all((r.variant.encoder, r.dataset) in self._met and _kind(r) in self._seconds for r in rest)
        return sum(median(self._seconds[_kind(r)]) for r in rest) if known else None


def _kind(request: RunRequest) -> tuple[object, ...]:
    """What runs have in common that take about equally long, whatever the encoder."""
    return request.diagnostic, request.dataset, request.params, request.variant.transform
