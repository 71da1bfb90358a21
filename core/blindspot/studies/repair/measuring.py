"""Measures of a repair: held-out triplets, other kinds of change, and the damage to other tasks.

Triplets are compared under the maps themselves. Other tasks are ordinary runs of the diagnostics in a store of their
own, which is deleted: random maps are nobody's results.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetRef, title_of
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet, subset_in_words
from blindspot.diagnostics.heros.dependence import of_dataset
from blindspot.diagnostics.heros.training import all_triplets
from blindspot.encoders.base import Encoder
from blindspot.errors import InputError
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.statistics.compare import PairedTest, compare, corrected, share_by_item
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.intervals import ALPHA
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import headline_tests
from blindspot.runs.training_data.examples import Triplet
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.repair.examples import Examples, Vectors, vectors_of
from blindspot.studies.repair.fitting import Map, Triplets
from blindspot.studies.repair.results import Ends, Measure, Part
from blindspot.studies.size.grid import entry_of
from blindspot.transforms import repairs
from blindspot.transforms.repairs import Repair
from blindspot.types import Bool, CancelToken, Float64, Int64, Progress

# One of each is tested on unless somebody chooses: the first that is on this machine.
DAMAGE = (("evalrank-sent", "demo-pairs"), ("stsb-test", "demo-scored"), ("cranfield", "demo-retrieval"))
FIRST = "before all negatives"
NEIGHBORS = 10
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


def usual_tests(dataset: str, settings: Settings) -> tuple[DatasetRef, ...]:
    """The datasets on this machine that a repair is tested on: minimal pairs, and one of each other task.

    Neither the one that it is trained on nor others with its very sentences.
    """
    here = [name for name, entry in DATASETS.items() if fetch.dataset_state(entry, settings) in _HERE]
    related = {
        dataset,
        *(dataset_id for dataset_id in DATASETS if dataset in (dataset_id, DATASETS[dataset_id].rewrites)),
    }
    if dataset in DATASETS:
        related.add(DATASETS[dataset].rewrites)
    pairs = [name for name in here if DATASETS[name].kind is DatasetKind.MINIMAL_PAIR_SET]
    tasks = [next((name for name in names if name in here and name not in related), "") for names in DAMAGE]
    return tuple(DatasetRef(name) for name in (*pairs, *tasks) if name and name not in related)


_HERE = (fetch.DataState.BUILT_IN, fetch.DataState.DOWNLOADED)


def checked_tests(given: Sequence[DatasetRef], dataset: str, settings: Settings) -> tuple[DatasetRef, ...]:
    """Datasets to test on, or the usual ones.

    Raises:
        InputError: an unknown dataset, or the one that is trained on.
    """
    tests = tuple(dict.fromkeys(given)) or usual_tests(dataset, settings)
    if dataset in tests:
        raise InputError(f"{title_of(dataset)} is what the repair is trained on", expected="other datasets to test on")
    for reference in tests:
        reference.entry()
    return tests


# --- triplets


@dataclass(frozen=True, eq=False)
class Tested:
    """Triplets to compare under maps.

    Attributes:
        rows: ``[m]`` triplets of ``vectors``.
        known: what is independent among them.
    """

    part: Part
    maps: Maps
    vectors: Vectors
    rows: Triplets
    known: Dependence

    def in_order(self, kind: str, inside: Bool) -> Measure:
        """The share of triplets, of those ``inside [m]``, whose positive is nearer; a tie counts half."""
        leads = partial(self._leads, inside=inside)
        return self._measure(kind, "triplets", lambda mapping: in_order(leads(mapping)), self.known.among(inside))

    def first(self, inside: Bool, item: Int64) -> Measure:
        """The share of items whose positive is nearer than all their negatives, of those of the triplets ``inside``.

        Args:
            item: ``[m]``, a number for anchor and positive of each triplet.
        """
        leads, (_, rows, inverse) = partial(self._leads, inside=inside), np.unique(item[inside], True, True)
        dependence = self.known.of_some(np.flatnonzero(inside)[rows])
        return self._measure(FIRST, "items", lambda mapping: is_first(leads(mapping), inverse), dependence)

    def _leads(self, linear: Map, inside: Bool) -> Float64:
        anchor, positive, negative = (
            side[inside] for side in (self.rows.anchor, self.rows.positive, self.rows.negative)
        )
        return linear.leads(self.vectors.matrix, Triplets(anchor, positive, negative))

    def _measure(self, kind: str, items: str, scores: Callable[[Map], Float64], dependence: Dependence) -> Measure:
        before, after = scores(self.maps.nothing), scores(self.maps.repair)
        random, shuffled = (
            np.mean([scores(mapping) for mapping in several], axis=0)
            for several in (self.maps.random, self.maps.shuffled)
        )
        change, over_random, over_shuffled = changes(after, (before, random, shuffled), dependence)
        return Measure(
            self.part,
            self.vectors.dataset.id,
            kind,
            len(before),
            items,
            change.b,
            change.a,
            _ends(change, dependence),
            over_random.b,
            over_shuffled.b,
            _ends(over_random, dependence),
            _ends(over_shuffled, dependence),
            change.p,
        )


def in_order(leads: Float64) -> Float64:
    """Per triplet ``[m]``: 1 where the positive is nearer, 0 where the negative is, 0.5 where they are within TAU."""
    return np.where(np.abs(leads) <= TAU, 0.5, leads > 0)


def is_first(leads: Float64, item: Int64) -> Float64:
    """Per item, from leads ``[m]`` and the number of each one's item, from 0: 0 where a negative is nearer than the
    positive, else a share of the point, as many as there are negatives within TAU of it and the positive itself."""
    lost = np.bincount(item, leads < -TAU) > 0
    return np.where(lost, 0.0, 1 / (1 + np.bincount(item, np.abs(leads) <= TAU)))


def held_out(examples: Examples, maps: Maps) -> Iterator[Measure]:
    """All held-out triplets, then items with several negatives, then the triplets of each kind if there are several."""
    given = examples.tested
    dependence = Dependence.of_groups(examples.component, Unit.TRIPLETS)
    tested = Tested(Part.HELD_OUT, maps, examples.vectors, examples.test, dependence)
    yield tested.in_order("", np.ones(len(given), dtype=np.bool_))
    number = {
        pair: number
        for number, pair in enumerate(dict.fromkeys((triplet.anchor, triplet.positive) for triplet in given))
    }
    item = np.array([number[triplet.anchor, triplet.positive] for triplet in given], dtype=np.int64)
    several = np.bincount(item)[item] > 1
    if several.any():
        yield tested.first(several, item)
    for kind, inside in _kinds(given):
        yield tested.in_order(kind, inside)


def other_kinds_of_the_same(examples: Examples, maps: Maps) -> Iterator[Measure]:
    """The triplets of the same dataset's other kinds that share no text with what was trained on, by kind."""
    given = examples.elsewhere
    rows = examples.vectors.triplets(given)
    dependence = Dependence.of_groups(examples.elsewhere_component, Unit.TRIPLETS)
    tested = Tested(Part.KINDS, maps, examples.vectors, rows, dependence)
    for kind, inside in _kinds(given, even_one=True):
        yield tested.in_order(kind, inside)


def other_kinds(
    reference: DatasetRef, encoder: Encoder, maps: Maps, settings: Settings, progress: Progress, cancel: CancelToken
) -> Iterator[Measure]:
    """The triplets of another set of minimal pairs, by kind.

    Raises:
        InputError: it has no triplets, or the model lacks a vector.
    """
    vectors = vectors_of(reference.entry(), encoder, settings, progress, cancel)
    dataset = vectors.dataset
    if not isinstance(dataset, MinimalPairSet):
        raise TypeError(f"{reference} is no set of minimal pairs")
    given = [triplet for triplet in all_triplets(dataset) if len(set(triplet.texts)) == len(triplet.texts)]
    if not vectors.covered.all():
        raise InputError("the model lacks a vector for some of its texts", expected="one for every text")
    rows = vectors.triplets(given)
    tested = Tested(Part.KINDS, maps, vectors, rows, _dependence(dataset, given))
    for kind, inside in _kinds(given, even_one=True):
        yield tested.in_order(kind, inside)


def _dependence(dataset: MinimalPairSet, given: Sequence[Triplet]) -> Dependence:
    """Of triplets of minimal pairs: as HEROS takes the originals of this dataset, each with all its rewrites."""
    dependence = of_dataset(dataset)
    # Originals of one text share a group.
    group = {
        dataset.items[item]: group_number
        for item, group_number in zip(dataset.originals, dependence.groups.tolist(), strict=True)
    }
    return Dependence.of_groups(np.array([group[triplet.anchor] for triplet in given], dtype=np.int64), dependence.unit)


def _kinds(given: Sequence[Triplet], *, even_one: bool = False) -> Iterator[tuple[str, Bool]]:
    """Kinds of negatives, and of positives if there are several, in words, with the triplets ``[m]`` of each."""
    for kinds, title, least in (
        ([triplet.kind for triplet in given], "{}", 1 if even_one else 2),
        ([triplet.positive_kind for triplet in given], "{} as positive", 2),
    ):
        distinct = list(dict.fromkeys(kinds))
        if len(distinct) >= least:
            for kind in distinct:
                yield (
                    title.format(subset_in_words(kind)),
                    np.array([kind_here == kind for kind_here in kinds], dtype=np.bool_),
                )


def changes(after: Float64, others: Sequence[Float64], dependence: Dependence) -> list[PairedTest]:
    """Of a score from 0 to 1, ``after [m]``, against each of the others."""
    now = share_by_item("right", after, dependence)
    return compare([(now, share_by_item("right", other, dependence)) for other in others])


def _ends(test: PairedTest, dependence: Dependence | None = None) -> Ends:
    """A difference with its interval.

    Where all items are ``known`` to be alike, it is that of the share of units that can differ, none of n having done
    so (Clopper and Pearson 1934): their mean difference is no larger.
    """
    if dependence is not None and not dependence.refusal and not test.wins and not test.losses:
        most = 1 - (ALPHA / 2) ** (1 / dependence.effective)
        return Ends(0.0, -most, most)
    if test.interval is None:
        return Ends(test.value, refusal=test.refusal or "it has no interval")
    return Ends(test.value, test.interval.low, test.interval.high)


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
    reference: DatasetRef,
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
        request = requesting.request(entry.id, encoder, chain, reference, {}, settings)
        runs.append(pipeline.run(request, settings, repository, progress, cancel).record)
    tests = headline_tests(entry, [(runs[1], runs[0]), (runs[2], runs[0]), (runs[1], runs[2])], repository)
    over_nothing, _, over_random = tests
    score = over_nothing.score
    return Measure(
        Part.DAMAGE,
        reference,
        entry.overview.columns.get(score, over_nothing.label),
        over_nothing.n,
        over_nothing.unit,
        over_nothing.b,
        over_nothing.a,
        _ends(over_nothing),
        random=tests[1].a,
        over_random=_ends(over_random),
        p=over_nothing.p,
    )


def neighbors_kept(vectors: Vectors, maps: Maps) -> Measure:
    """The share of a text's nearest neighbors that are still among them, of at most ``ASKED`` texts.

    It does not count in the verdict: a map that changes nothing repairs nothing.
    """
    places = np.flatnonzero(vectors.covered)
    rng = np.random.default_rng(DRAWN_SEED)
    asking = np.sort(rng.choice(places, min(ASKED, len(places)), replace=False))
    k = min(NEIGHBORS, len(places) - 1)
    before = nearest(maps.nothing, vectors, asking, places, k)

    def kept(other: Map) -> Float64:
        neighbors = nearest(other, vectors, asking, places, k)
        return np.array([len(np.intersect1d(a, b)) / k for a, b in zip(before, neighbors, strict=True)])

    after, random = kept(maps.repair), np.mean([kept(mapping) for mapping in maps.random], axis=0)
    dependence = Dependence.of_groups(vectors.dataset.same_texts[asking], Unit.TEXTS)
    change, over_random = changes(after, (np.ones(len(asking)), random), dependence)
    return Measure(
        Part.DAMAGE,
        vectors.dataset.id,
        f"{k} nearest neighbors kept",
        len(asking),
        "texts",
        change.b,
        change.a,
        _ends(change),
        random=over_random.b,
        over_random=_ends(over_random),
        counts=False,
    )


def nearest(linear: Map, vectors: Vectors, asking: Int64, places: Int64, k: int) -> Int64:
    """The k most similar other texts of each text that asks, ``[q, k]`` in no order."""
    among = linear.documents(vectors.matrix[places]).astype(np.float32)
    asked = linear.queries(vectors.matrix[asking]).astype(np.float32)
    out = np.empty((len(asking), k), dtype=np.int64)
    columns_asked = np.searchsorted(places, asking)
    at_once = max(1, _SCORES_AT_ONCE // len(places))
    for start in range(0, len(asking), at_once):
        some = slice(start, start + at_once)
        scores = asked[some] @ among.T
        scores[np.arange(len(scores)), columns_asked[some]] = -np.inf
        out[some] = places[np.argpartition(scores, len(places) - k, axis=1)[:, len(places) - k :]]
    return out


def with_corrected(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Measures with p-values after Holm, over all but the held-out ones."""
    p = corrected([measure.p if measure.part is not Part.HELD_OUT and measure.counts else None for measure in measures])
    return tuple(replace(measure, p_corrected=p_value) for measure, p_value in zip(measures, p, strict=True))
