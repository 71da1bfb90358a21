"""Triplets of a repair: what it is trained on, what decides when to stop, and what it is tested on.

The three share no text, near-duplicates included, and none is a near-duplicate of a text that something else is
evaluated on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, DatasetRef
from blindspot.datasets.kinds.base import Dataset, any_of
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.diagnostic import all_diagnostics
from blindspot.diagnostics.heros.training import all_triplets
from blindspot.encoders.base import Encoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import InputError
from blindspot.names import current
from blindspot.runs import pipeline, requesting
from blindspot.runs.inputs.roles import texts_of
from blindspot.runs.training_data.evaluated import evaluated
from blindspot.runs.training_data.examples import MOST, Triplet, sources, triplets_of
from blindspot.runs.training_data.making import KIND, components_of, made, split
from blindspot.runs.training_data.near_duplicates import key_of, near
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.repair.fitting import FEWEST, Triplets
from blindspot.texts import counted
from blindspot.types import Bool, CancelToken, Float32, Int64, Progress, digest_of_strings

HELD_OUT = 0.3  # share of the examples to test on
TO_STOP = 0.15  # of the others, to decide when to stop
WHATEVER = 2.0  # a margin that no difference of cosines exceeds: whatever the model says of a triplet
WITHOUT = "a text without a vector"


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of a dataset's texts under a model.

    Attributes:
        matrix: ``[n, d] float32``, or by role ``[n + q, d]``.
        covered: ``[n]``, which texts have a vector.
    """

    dataset: Dataset
    matrix: Float32
    covered: Bool

    def triplets(self, given: Sequence[Triplet]) -> Triplets:
        """Rows of triplets of its texts."""
        number = {text: row for row, text in enumerate(self.dataset.items)}
        rows = np.array([[number[text] for text in triplet.texts] for triplet in given], dtype=np.int64).reshape(-1, 3)
        asking = self.dataset.rows_as_queries(rows[:, 0].astype(np.int32), len(self.matrix))
        return Triplets(np.asarray(asking, dtype=np.int64), rows[:, 1], rows[:, 2])

    def has(self, given: Sequence[Triplet]) -> Bool:
        """Which triplets have vectors for all their texts."""
        number = {text: row for row, text in enumerate(self.dataset.items)}
        rows = np.array([[number[text] for text in triplet.texts] for triplet in given], dtype=np.int64).reshape(-1, 3)
        return np.asarray(self.covered[rows].all(axis=1))


def vectors_of(
    entry: DatasetEntry, encoder: Encoder, settings: Settings, progress: Progress, cancel: CancelToken
) -> Vectors:
    """The vectors of a dataset's texts, encoded if need be.

    Raises:
        InputError: no diagnostic compares such texts by vectors, or the model cuts them in passages.
        BlindspotError: the dataset cannot be read, or the model failed.
    """
    dataset = fetch.load(entry, settings, progress, cancel)
    diagnostic = next(
        (
            diagnostic
            for diagnostic in all_diagnostics().values()
            if diagnostic.dataset_kind is entry.kind and diagnostic.has_triplets
        ),
        None,
    )
    if diagnostic is None:
        raise InputError(
            f"a {entry.kind.in_words} has no triplets",
            expected=any_of(source.dataset_kind for source in sources()),
        )
    params = diagnostic.check_params({})
    texts = texts_of(diagnostic, params, encoder, dataset)
    embedded = EmbeddingCache(settings.embeddings).encode(texts.encoder, texts.texts, texts.digest, progress, cancel)
    n = len(dataset.items)
    if len(embedded.matrix) < n or len(dataset.encoded) != n:
        raise InputError("a model that cuts documents in passages", expected="one vector per text")
    return Vectors(dataset, np.asarray(embedded.matrix), np.asarray(embedded.covered[:n]))


@dataclass(frozen=True, eq=False)
class Examples:
    """Triplets of a dataset in three parts, with the vectors of their texts.

    Attributes:
        test: ``tested`` as rows; ``component [t]`` numbers those that share a text.
        elsewhere: triplets of the dataset's other kinds that share no text with what is trained on or stopped by;
            ``elsewhere_component`` as ``component``.
        left_out: how many examples, by reason.
        warning: what could not be left out, or "".
        digest: of what is trained on.
    """

    vectors: Vectors
    train: Triplets
    stop: Triplets
    test: Triplets
    trained: tuple[Triplet, ...]
    tested: tuple[Triplet, ...]
    component: Int64
    elsewhere: tuple[Triplet, ...]
    elsewhere_component: Int64
    components: int
    left_out: Mapping[str, int]
    warning: str
    digest: str


def examples_of(
    encoder: Encoder,
    dataset: DatasetRef,
    test_on: Sequence[DatasetRef],
    kinds: Collection[str],
    seed: int,
    settings: Settings,
    repository: Repository,
    progress: Progress,
    cancel: CancelToken,
) -> Examples:
    """The examples of a dataset.

    Of minimal pairs every original with each rewrite that keeps and each that changes its meaning, whatever the model
    says of them; of others each pair with what is nearest to its query, for which the model alone is run. None is
    chosen because the model is wrong about it: what it is wrong about can only get better.

    Args:
        test_on: datasets that the repair is to be tested on.
        kinds: of negatives to take; none means all.

    Raises:
        InputError: too few triplets, or none of a kind; an unknown kind; a model without vectors for half of the texts.
        BlindspotError: a dataset cannot be read, or the model failed.
    """
    entry = dataset.entry()
    vectors = vectors_of(entry, encoder, settings, progress, cancel)
    covered, n = int(np.count_nonzero(vectors.covered)), len(vectors.covered)
    name = current().model(encoder.identity.reference)
    if 2 * covered <= n:
        raise InputError(
            f"{name} has a vector for {covered:,} of the {n:,} texts", expected="a model with vectors for most of them"
        )
    progress("choosing triplets", 0, 1)
    triplets = _triplets(entry, vectors, encoder, settings, repository, progress, cancel)
    has = vectors.has(triplets)
    others = evaluated(entry.id, test_on, (), settings, repository)
    cancel.check()
    there = [triplet for triplet, is_there in zip(triplets, has, strict=True) if is_there]
    data = made(there, others.texts, kinds=kinds, held_out=HELD_OUT, seed=seed, cancel=cancel)
    for part, least, why in ((data.train, FEWEST, "to train on"), (data.held_out, 1, "to test on")):
        if len(part) < least:
            raise InputError(
                f"{counted(len(part), 'triplet')} {why}", expected=f"{least} or more", remedy="take a larger dataset"
            )
    sides = split([triplet.texts for triplet in data.train], TO_STOP, seed, cancel)
    parts = list(zip(data.train, sides.is_held_out, sides.crossing, strict=True))
    train = tuple(triplet for triplet, out, crosses in parts if not out and not crosses)
    stop = tuple(triplet for triplet, out, crosses in parts if out and not crosses)
    trained = (*train, *stop)
    elsewhere = tuple(_apart([triplet for triplet in there if kinds and triplet.kind not in kinds], trained, cancel))
    left_out = {reason: count for reason, count in data.left_out.items() if reason != KIND}
    if without := int(np.count_nonzero(~has)):
        left_out[WITHOUT] = without
    return Examples(
        vectors,
        vectors.triplets(train),
        vectors.triplets(stop),
        vectors.triplets(data.held_out),
        trained,
        data.held_out,
        components_of([triplet.texts for triplet in data.held_out], whole=data.whole),
        elsewhere,
        components_of([triplet.texts for triplet in elsewhere], whole=data.whole),
        data.components,
        left_out,
        others.warning,
        digest_of_strings(
            [
                *(text for triplet in train for text in triplet.texts),
                "",
                *(t for triplet in stop for t in triplet.texts),
            ]
        ),
    )


def _apart(triplets: Sequence[Triplet], trained: Sequence[Triplet], cancel: CancelToken) -> Iterator[Triplet]:
    """Triplets, each once, without texts that are near-duplicates of texts that are trained on."""
    texts = list(dict.fromkeys(text for triplet in triplets for text in triplet.texts))
    used = {text for triplet in trained for text in triplet.texts}
    is_near = dict(zip(texts, near(texts, used, cancel), strict=True))
    seen = set[tuple[str, ...]]()
    for triplet in triplets:
        keys = tuple(map(key_of, triplet.texts))
        if len(set(keys)) == len(keys) and keys not in seen and not any(is_near[text] for text in triplet.texts):
            yield triplet
        seen.add(keys)


def _triplets(
    entry: DatasetEntry,
    vectors: Vectors,
    encoder: Encoder,
    settings: Settings,
    repository: Repository,
    progress: Progress,
    cancel: CancelToken,
) -> Sequence[Triplet]:
    if isinstance(vectors.dataset, MinimalPairSet):
        return list(all_triplets(vectors.dataset))
    diagnostic = next(
        diagnostic
        for diagnostic in all_diagnostics().values()
        if diagnostic.dataset_kind is entry.kind and diagnostic.has_triplets
    )
    request = requesting.request(diagnostic.id, encoder.identity.reference, "none", entry.id, {}, settings)
    run = pipeline.run(request, settings, repository, progress, cancel, keep_embeddings=True).record
    return triplets_of(run, settings, repository, most=MOST, margin=WHATEVER, cancel=cancel)
