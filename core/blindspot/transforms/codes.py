"""Codes: embeddings of one byte or one bit per dimension, as ``sentence_transformers.util.quantization`` makes them.

The codes are the same to the last bit. For comparisons they are float32 numbers: codes of a byte as they are, bits as
the signs -1 and 1, which have the cosine ``1 - 2 h / d`` with the Hamming distance ``h`` of ``d`` bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from blindspot.errors import InputError
from blindspot.numerics.principal import require_finite
from blindspot.transforms.steps import FittedStep
from blindspot.types import Float32, Float64, Int8

BUCKETS = 255  # number of parts of a range; its upper end is a code of its own
OFFSET = 128  # the lowest code is -128


@runtime_checkable
class OneSided(FittedStep, Protocol):
    """A step that transforms queries and documents differently, into the same dimension."""

    def apply_to_queries(self, embeddings: Float32) -> Float32:
        """``[q, d] float32`` of queries in, ``[q, d'] float32`` out."""
        ...


@dataclass(frozen=True, eq=False)
class Ranges:
    """The smallest and largest value of each dimension of a corpus, ``[d] float32``."""

    low: Float32
    high: Float32

    @classmethod
    def of(cls, step: str, corpus: Float32) -> Ranges:
        """Raises ``InputError`` for fewer than two rows, and ``BlindspotError`` for NaN or infinite values."""
        if len(corpus) < 2:
            raise InputError(
                f"transform '{step}' takes the ranges of its codes from the items, and there are {len(corpus)}",
                expected="2 items or more",
            )
        low, high = corpus.min(axis=0), corpus.max(axis=0)
        require_finite(np.stack([low, high]).astype(np.float64))
        return cls(np.asarray(low, dtype=np.float32), np.asarray(high, dtype=np.float32))

    @property
    def steps(self) -> Float32:
        """Width of a bucket, ``[d]``; 1 where the corpus is constant."""
        widths = (self.high - self.low) / BUCKETS
        return np.where(widths == 0, 1, widths).astype(np.float32)

    @property
    def facts(self) -> Mapping[str, float]:
        return {
            "constant_columns": int(np.count_nonzero(self.high == self.low)),
            "widest_range": float((self.high - self.low).max()),
        }

    def codes(self, embeddings: Float32) -> Float32:
        """Numbers of buckets, 0 to 255, ``[n, d] float32``; values outside of the range get its ends, and NaN stays."""
        codes = np.clip(np.floor((embeddings - self.low) / self.steps), 0, BUCKETS)
        return np.asarray(codes, dtype=np.float32)

    def decoded(self, codes: Float32) -> Float64:
        """The lower ends of buckets, ``[n, d]``, which sentence-transformers compares with float queries."""
        return np.asarray(codes.astype(np.float64) * self.steps + self.low)


@dataclass(frozen=True, eq=False)
class _OfRanges:
    ranges: Ranges

    @property
    def d_out(self) -> int:
        return len(self.ranges.low)

    @property
    def facts(self) -> Mapping[str, float]:
        return self.ranges.facts


@dataclass(frozen=True, eq=False)
class Bytes(_OfRanges):
    """A byte per dimension, -128 to 127: equal buckets between the smallest and the largest value of the corpus.

    Facts: the number of constant columns, which have the lowest code, and the widest range.
    """

    @classmethod
    def fit(cls, corpus: Float32) -> Bytes:
        return cls(Ranges.of("int8", corpus))

    def codes(self, embeddings: Float32) -> Int8:
        """The codes to store, ``[n, d]``; every value must be a number."""
        return self.apply(embeddings).astype(np.int8)

    def apply(self, embeddings: Float32) -> Float32:
        return np.asarray(self.ranges.codes(embeddings) - OFFSET, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class DecodedBytes(_OfRanges):
    """A byte per dimension, decoded before it is compared (``Ranges.decoded``)."""

    @classmethod
    def fit(cls, corpus: Float32) -> DecodedBytes:
        return cls(Ranges.of("int8-decoded", corpus))

    def apply(self, embeddings: Float32) -> Float32:
        return np.asarray(self.ranges.decoded(self.ranges.codes(embeddings)), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class DocumentBytes(DecodedBytes):
    """A byte per dimension of documents, decoded before the comparison with queries, which stay as they are."""

    @classmethod
    def fit(cls, corpus: Float32) -> DocumentBytes:
        return cls(Ranges.of("int8-docs", corpus))

    def apply_to_queries(self, embeddings: Float32) -> Float32:
        return embeddings


@dataclass(frozen=True)
class Bits:
    """A bit per dimension: whether the value is above 0. It has no facts, since it learns nothing."""

    d_out: int

    @property
    def facts(self) -> Mapping[str, float]:
        return {}

    def codes(self, embeddings: Float32) -> Int8:
        """The codes to store, eight dimensions in a byte, ``[n, ceil(d / 8)]``; every value must be a number."""
        return (np.packbits(embeddings > 0, axis=-1).astype(np.int16) - OFFSET).astype(np.int8)

    def apply(self, embeddings: Float32) -> Float32:
        """Signs, -1 or 1; NaN stays."""
        return np.where(np.isnan(embeddings), np.nan, np.where(embeddings > 0, 1.0, -1.0)).astype(np.float32)


@dataclass(frozen=True)
class DocumentBits(Bits):
    """A bit per dimension of documents, compared as signs with queries, which stay as they are."""

    def apply_to_queries(self, embeddings: Float32) -> Float32:
        return embeddings


@dataclass(frozen=True)
class Rescore:
    """A search with the vectors before this step; the ``depth`` best are compared again with vectors of one step before
    (``blindspot.numerics.ranking.rescoring``). It makes no vectors, and has no facts, since it learns nothing."""

    d_out: int
    depth: int

    @classmethod
    def fit(cls, corpus: Float32, depth: int) -> Rescore:
        return cls(corpus.shape[1], depth)

    @property
    def facts(self) -> Mapping[str, float]:
        return {}

    def apply(self, embeddings: Float32) -> Float32:  # noqa: ARG002 - see FittedStep
        raise InputError(
            f"transform '{RESCORE}:{self.depth}' compares the best of a ranking again, so it has two vectors per text",
            expected=f"the transform without {RESCORE}:{self.depth}, or evalrank or retrieval",
        )


RESCORE = "rescore"

# Bits of a number, by step.
BITS = {"int8": 8, "int8-decoded": 8, "int8-docs": 8, "binary": 1, "binary-docs": 1}
FLOAT_BITS = 32


def bytes_of(steps: tuple[str, ...], dimension: int) -> int:
    """Bytes that a document's vector of ``dimension`` numbers takes after the steps with these names.

    A step that changes the codes (``int8+center``) needs float32 again. The finer vectors for comparing the best again
    are not counted: a search reads few of them, so they can be on disk.
    """
    steps = tuple(step for step in steps if step != RESCORE)
    bits = BITS.get(steps[-1], FLOAT_BITS) if steps else FLOAT_BITS
    return -(-dimension * bits // 8)
