"""Scale of a model's similarities: where built-in sentences about different things and built-in paraphrases lie.

A cosine of 0.9 means nothing by itself: in one model unrelated sentences have 0.1, in another 0.8. Transforms are
fitted on the same sentences. Their embeddings are kept as those of any dataset: they are computed once per model.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.encoders import resident
from blindspot.encoders.base import Encoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import encoder_of
from blindspot.errors import BlindspotError, DiskRefused
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import interval, number
from blindspot.runs.embeddings import check_space
from blindspot.settings import Settings, prepare_runtime
from blindspot.transforms.chain import FittedChain, TransformChain
from blindspot.transforms.trained_flows import StoredFlows
from blindspot.types import CancelToken, Float32, Float64, Int64, no_progress
from blindspot.variants import Variant

DATASET = DatasetRef("demo-scored")
PARAPHRASE = 4.5  # score of 5 from which on a pair says the same
FEWEST = 10  # pairs of either kind that a model must have vectors for
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Spread:
    """Similarities of some pairs: the middle 90% and the median."""

    low: float
    median: float
    high: float
    pairs: int

    def in_words(self) -> str:
        return f"{number(self.median, '.3f')} ({interval(Interval(self.low, self.high), '.3f')})"


@dataclass(frozen=True)
class Scale:
    """Where a model has pairs of unrelated sentences, and paraphrases."""

    unrelated: Spread
    paraphrases: Spread

    def place(self, similarity: float) -> float:
        """From 0, as unrelated sentences in the median or less, to 1, as paraphrases in the median or more.

        NaN where the model has paraphrases no nearer than unrelated sentences.
        """
        width = self.paraphrases.median - self.unrelated.median
        if width <= 0:
            return float("nan")
        return min(max((similarity - self.unrelated.median) / width, 0.0), 1.0)

    def in_words(self) -> str:
        return (
            f"Unrelated sentences {self.unrelated.in_words()}, paraphrases {self.paraphrases.in_words()}: median, and "
            f"the middle 90% of {self.unrelated.pairs:,} and {self.paraphrases.pairs:,} built-in pairs."
        )


@dataclass(frozen=True, eq=False)
class Ground:
    """A model's transform, fitted on the built-in sentences, and its scale; None where too few have a vector."""

    chain: FittedChain
    scale: Scale | None


def sentences() -> ScoredPairs:
    """The built-in sentences in pairs."""
    return _sentences()


@lru_cache(maxsize=1)
def _sentences() -> ScoredPairs:
    dataset = fetch.load(DATASET.entry(), Settings.from_environment({}))
    if not isinstance(dataset, ScoredPairs):
        raise BlindspotError(f"{DATASET} has no scored pairs")
    return dataset


def ground_of(variant: Variant, settings: Settings, cancel: CancelToken, *, keeps: bool = True) -> Ground:
    """The ground of a model; its embeddings of the built-in sentences are made if they are not there.

    Args:
        keeps: whether embeddings are also kept on the disk, not only as long as the process runs.

    Raises:
        Cancelled: by ``cancel``.
        BlindspotError: the encoder cannot be loaded, or the transform does not fit.
    """
    check_space(variant)
    prepare_runtime(settings)
    encoder = encoder_of(variant.encoder, settings)
    asked = _Asked(encoder, settings, cancel, keeps and not settings.read_only)
    return _ground(encoder.identity.embedding_digest(sentences().texts_digest), variant.chain, asked)


@dataclass(frozen=True)
class _Asked:
    """What makes the embeddings of a digest; all of them are equal, since the digest is the key."""

    encoder: Encoder = field(compare=False)
    settings: Settings = field(compare=False)
    cancel: CancelToken = field(compare=False)
    keeps: bool = field(compare=False)


@lru_cache(maxsize=64)
def _ground(digest: str, chain: TransformChain, asked: _Asked) -> Ground:
    vectors = _embeddings(digest, asked)
    covered = np.flatnonzero(~np.isnan(vectors).any(axis=1))
    if not len(covered):
        raise BlindspotError(
            f"{asked.encoder.identity.reference} has no vector for any of the {len(vectors):,} built-in sentences",
            expected="a model that reads any text",
        )
    fitted = chain.fit(vectors[covered], StoredFlows(asked.settings.flows))
    return Ground(fitted, _scale(fitted.apply(vectors[covered]), covered))


def _embeddings(digest: str, asked: _Asked) -> Float32:
    data, cache = sentences(), EmbeddingCache(asked.settings.embeddings)
    if (embeddings := cache.read(digest)) is not None:
        return np.array(embeddings.matrix)
    with resident.loaded(asked.encoder, data.texts_digest, data.items) as ready:
        if asked.keeps:
            with suppress(DiskRefused):  # a full disk takes nothing from what is asked for
                return np.array(cache.encode(ready, data.items, data.texts_digest, no_progress, asked.cancel).matrix)
        return ready.encode(data.items, asked.cancel)


def _scale(vectors: Float32, covered: Int64) -> Scale | None:
    data = sentences()
    row = np.full(len(data.items), -1)
    row[covered] = np.arange(len(covered))
    same = data.scores >= PARAPHRASE
    paraphrases = _cosines(vectors, row[data.firsts[same]], row[data.seconds[same]])
    subjects = np.unique(data.firsts)  # one sentence for each thing that is talked about
    upper = np.triu_indices(len(subjects), 1)
    firsts, seconds = subjects[upper[0]], subjects[upper[1]]
    judged = set(zip(data.firsts.tolist(), data.seconds.tolist(), strict=True))
    apart = np.array([(a, b) not in judged and (b, a) not in judged for a, b in zip(firsts, seconds, strict=True)])
    unrelated = _cosines(vectors, row[firsts[apart]], row[seconds[apart]])
    below, above = _spread(unrelated), _spread(paraphrases)
    return None if below is None or above is None else Scale(below, above)


def _cosines(vectors: Float32, firsts: Int64, seconds: Int64) -> Float64:
    """Cosines of the pairs that have two vectors; NaN where one is zero."""
    has_both = (firsts >= 0) & (seconds >= 0)
    unit = units(vectors)
    cosines: Float64 = np.einsum("ij,ij->i", unit[firsts[has_both]], unit[seconds[has_both]])
    return cosines


def units(vectors: Float32) -> Float64:
    """``[n, d] float64`` of length 1; NaN for zero vectors, which have no direction."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit_vectors: Float64 = np.divide(wide, lengths, out=np.full_like(wide, np.nan), where=lengths > 0)
    return unit_vectors


def _spread(similarities: Float64) -> Spread | None:
    similarities_known: Sequence[float] = similarities[~np.isnan(similarities)].tolist()
    if len(similarities_known) < FEWEST:
        return None
    low, median, high = np.quantile(similarities_known, QUANTILES).tolist()
    return Spread(low, median, high, len(similarities_known))
