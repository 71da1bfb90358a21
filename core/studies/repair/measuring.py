"""Measures of a repair: held-out triplets, other kinds of change, and the damage to other tasks.

Triplets are compared under the maps themselves. Other tasks are ordinary runs of the diagnostics in a store of their
own, which is deleted: random maps are nobody's results.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, canonical_dataset, find_dataset, title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet, subset_in_words
from blindspot.diagnostic import named_function
from blindspot.diagnostics.heros.training import all_triplets
from blindspot.encoders.base import Encoder
from blindspot.errors import InputError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import holm
from blindspot.numerics.statistics.pairs import Dependence, difference, p_values
from blindspot.runs import pipeline
from blindspot.runs.comparison import Difference
from blindspot.runs.training_data.examples import Triplet
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.repair.examples import Examples, Vectors, vectors_of
from blindspot.studies.repair.fitting import Map, Triplets
from blindspot.studies.repair.results import Ends, Measure, Part
from blindspot.studies.size.grid import entry_of
from blindspot.transforms import repairs
from blindspot.transforms.repairs import Repair
from blindspot.types import CancelToken, Float64, Int64, Progress

# One of each is tested on unless somebody chooses: the first that is on this machine.
DAMAGE = (("evalrank-sent", "demo-pairs"), ("stsb-test", "demo-scored"), ("cranfield", "demo-retrieval"))
NEIGHBOURS = 10
ASKED = 1_000  # texts whose neighbors are compared
DRAWN_SEED = 28_010
_SCORES_AT_ONCE = 8_000_000


@dataclass(frozen=True, eq=False)
class Maps:
    """A repair and what it is compared with: doing nothing, random maps of its size, training on shuffled labels."""

    nothing: Map
    repair: Map
    random: tuple[Map, ...]
    shuffled: tuple[Map, ...]


def usual_tests(dataset: str, settings: Settings) -> tuple[str, ...]:
    """The datasets on this machine that a repair is tested on: minimal pairs, and one of each other task.

    Neither the one that it is trained on nor others with its very sentences.
    """
    here = [name for name, entry in DATASETS.items() if fetch.dataset_state(entry, settings) in _HERE]
    related = {dataset, *(one for one in DATASETS if dataset in (one, DATASETS[one].rewrites))}
    if dataset in DATASETS:
        related.add(DATASETS[dataset].rewrites)
    pairs = [name for name in here if DATASETS[name].kind is DatasetKind.MINIMAL_PAIR_SET]
    tasks = [next((name for name in names if name in here and name not in related), "") for names in DAMAGE]
    return tuple(name for name in (*pairs, *tasks) if name and name not in related)


_HERE = (fetch.DataState.BUILT_IN, fetch.DataState.DOWNLOADED)


def checked_tests(given: Sequence[str], dataset: str, settings: Settings) -> tuple[str, ...]:
    """References to test on, or the usual ones.

    Raises:
        InputError: an unknown dataset, or the one that is trained on.
    """
    found = tuple(dict.fromkeys(map(canonical_dataset, given))) or usual_tests(dataset, settings)
    if dataset in found:
        raise InputError(f"{title_of(dataset)} is what the repair is trained on", expected="other datasets to test on")
    for reference in found:
        find_dataset(reference)
    return found


# --- triplets


def outcomes(found: Map, vectors: Vectors, triplets: Triplets) -> Float64:
    """Per triplet ``[m]``: 1 where the positive is nearer, 0 where the negative is, 0.5 where they are within TAU."""
    leads = found.leads(vectors.matrix, triplets)
    return np.where(np.abs(leads) <= TAU, 0.5, leads > 0)


def of_triplets(
    part: Part, kind: str, maps: Maps, vectors: Vectors, triplets: Triplets, group: Int64, unit: Unit
) -> Measure:
    """The share of triplets in order; ``group [m]`` numbers those that depend on each other."""
    known = Dependence.of_groups(group, unit)
    before, after = (outcomes(one, vectors, triplets) for one in (maps.nothing, maps.repair))
    random, shuffled = (
        np.mean([outcomes(one, vectors, triplets) for one in several], axis=0)
        for several in (maps.random, maps.shuffled)
    )
    p = float(p_values((after - before)[:, np.newaxis], known)[0])
    return Measure(
        part,
        vectors.dataset.id,
        kind,
        len(triplets),
        "triplets",
        float(before.mean()),
        float(after.mean()),
        _ends(difference(after, before, known)),
        float(random.mean()),
        float(shuffled.mean()),
        _ends(difference(after, random, known)),
        _ends(difference(after, shuffled, known)),
        None if np.isnan(p) else p,
    )


def held_out(examples: Examples, maps: Maps) -> Iterator[Measure]:
    """All held-out triplets, then those of each kind of negative if there are several."""
    kinds = list(dict.fromkeys(one.kind for one in examples.tested))
    for kind in ("", *(kinds if len(kinds) > 1 else ())):
        inside = np.array([not kind or one.kind == kind for one in examples.tested])
        triplets = _some(examples.test, inside)
        yield of_triplets(
            Part.HELD_OUT,
            subset_in_words(kind),
            maps,
            examples.vectors,
            triplets,
            examples.component[inside],
            Unit.COMPONENTS,
        )


def other_kinds(
    reference: str, encoder: Encoder, maps: Maps, settings: Settings, progress: Progress, cancel: CancelToken
) -> Iterator[Measure]:
    """The triplets of another set of minimal pairs, by kind of negative.

    Raises:
        InputError: it has no triplets, or the model lacks a vector.
    """
    vectors = vectors_of(find_dataset(reference), encoder, settings, progress, cancel)
    if not isinstance(vectors.dataset, MinimalPairSet):
        raise TypeError(f"{reference} is no set of minimal pairs")
    every = list(all_triplets(vectors.dataset))
    if not vectors.covered.all():
        raise InputError("the model lacks a vector for some of its texts", expected="one for every text")
    by_kind: dict[str, list[Triplet]] = {}
    for one in every:
        if len(set(one.texts)) == len(one.texts):
            by_kind.setdefault(one.kind, []).append(one)
    for kind, given in by_kind.items():
        triplets = vectors.triplets(given)
        yield of_triplets(Part.KINDS, subset_in_words(kind), maps, vectors, triplets, triplets.anchor, Unit.SENTENCES)


def _some(triplets: Triplets, inside: np.ndarray) -> Triplets:
    return Triplets(triplets.anchor[inside], triplets.positive[inside], triplets.negative[inside])


def _ends(found: Estimate) -> Ends:
    return Ends(found.value, found.low, found.high, found.refusal)


# --- damage


@contextmanager
def scratch(random: Repair, settings: Settings) -> Iterator[Repository]:
    """A store of its own, in which a random map can be applied as if it were a repair; both are deleted at the end."""
    repairs.keep(random, settings.repairs)
    try:
        with tempfile.TemporaryDirectory(prefix="blindspot-repair-") as folder:
            repository = Repository.at(Path(folder, "results.duckdb"))
            try:
                yield repository
            finally:
                repository.database.close()
    finally:
        repairs.forget(random, settings.repairs)


def damage(
    reference: str,
    encoder: str,
    repair: Repair,
    random: Repair,
    settings: Settings,
    repository: Repository,
    progress: Progress,
    cancel: CancelToken,
) -> Measure:
    """The main score of a task under the model alone, the repair and a random map.

    Raises:
        InputError: the diagnostic cannot use such a repair, or a score is not made of items.
        BlindspotError: a run failed.
    """
    entry = entry_of(reference)
    runs = []
    for chain in ("none", repair.chain, random.chain):
        request = pipeline.request(entry.id, encoder, chain, reference, {}, settings)
        runs.append(pipeline.run(request, settings, repository, progress, cancel).record)
    found: list[Difference] = named_function(entry.difference)(
        [(runs[1], runs[0]), (runs[2], runs[0]), (runs[1], runs[2])], repository
    )
    over_nothing, _, over_random = found
    score = over_nothing.score
    return Measure(
        Part.DAMAGE,
        reference,
        entry.overview.columns.get(score, over_nothing.label),
        over_nothing.n,
        over_nothing.unit,
        over_nothing.b,
        over_nothing.a,
        _of_difference(over_nothing),
        random=found[1].a,
        over_random=_of_difference(over_random),
        p=over_nothing.p,
    )


def _of_difference(found: Difference) -> Ends:
    if found.interval is None:
        return Ends(found.value, refusal=found.refusal or "it has no interval")
    return Ends(found.value, found.interval.low, found.interval.high)


def neighbours_kept(vectors: Vectors, maps: Maps) -> Measure:
    """The share of a text's nearest neighbors that are still among them, of at most ``ASKED`` texts.

    It does not count in the verdict: a map that changes nothing repairs nothing.
    """
    places = np.flatnonzero(vectors.covered)
    rng = np.random.default_rng(DRAWN_SEED)
    asking = np.sort(rng.choice(places, min(ASKED, len(places)), replace=False))
    k = min(NEIGHBOURS, len(places) - 1)
    own = nearest(maps.nothing, vectors, asking, places, k)

    def kept(other: Map) -> Float64:
        found = nearest(other, vectors, asking, places, k)
        return np.array([len(np.intersect1d(a, b)) / k for a, b in zip(own, found, strict=True)])

    after, random = kept(maps.repair), np.mean([kept(one) for one in maps.random], axis=0)
    known = Dependence.of_groups(np.arange(len(asking), dtype=np.int64), Unit.TEXTS)
    whole = np.ones(len(asking))
    return Measure(
        Part.DAMAGE,
        vectors.dataset.id,
        f"{k} nearest neighbors kept",
        len(asking),
        "texts",
        1.0,
        float(after.mean()),
        _ends(difference(after, whole, known)),
        random=float(random.mean()),
        over_random=_ends(difference(after, random, known)),
        counts=False,
    )


def nearest(found: Map, vectors: Vectors, asking: Int64, places: Int64, k: int) -> Int64:
    """The k most similar other texts of each text that asks, ``[q, k]`` in no order."""
    among = found.documents(vectors.matrix[places]).astype(np.float32)
    asked = found.queries(vectors.matrix[asking]).astype(np.float32)
    out = np.empty((len(asking), k), dtype=np.int64)
    own = np.searchsorted(places, asking)
    at_once = max(1, _SCORES_AT_ONCE // len(places))
    for start in range(0, len(asking), at_once):
        some = slice(start, start + at_once)
        scores = asked[some] @ among.T
        scores[np.arange(len(scores)), own[some]] = -np.inf
        out[some] = places[np.argpartition(scores, len(places) - k, axis=1)[:, len(places) - k :]]
    return out


def corrected(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Measures with p-values after Holm, over all but the held-out ones."""
    tested = [i for i, one in enumerate(measures) if one.part is not Part.HELD_OUT and one.counts and one.p is not None]
    p = holm(np.array([measures[i].p for i in tested], dtype=np.float64)).tolist() if tested else []
    by_place: Mapping[int, float] = dict(zip(tested, p, strict=True))
    return tuple(replace(one, p_corrected=by_place[i]) if i in by_place else one for i, one in enumerate(measures))
