"""Features of single texts and of pairs, and their scaling (Conneau and Kiela 2018, SentEval).

``m`` examples, ``n`` texts, ``d`` dimensions, ``f`` features: d, or 2 d of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.types import Float32, Float64, Int32, Int64

_ROWS = 4_096  # at a time: a float64 copy of all features would be too large
_SPARSE = 0.1  # share of values that are not 0, at most
_ROUNDING = 1e-6  # a spread that is smaller, relative to the mean, is float32's rounding


def features(embeddings: Float32 | Float64, firsts: Int32 | Int64, seconds: Int32 | Int64) -> Float32:
    """A text's embedding ``[m, d]``, or for two texts ``[|u - v|, u * v]``, ``[m, 2d]``, as in SentEval.

    Values that are not finite in the embeddings are not finite in the features either.

    Args:
        embeddings: ``[n, d]``.
        firsts, seconds: ``[m]``, the row of each example's first and second text; seconds is ``[0]`` for single texts.
    """
    u = np.asarray(embeddings[firsts], dtype=np.float32)
    if not len(seconds):
        return u
    d = u.shape[1]
    out = np.empty((len(u), 2 * d), dtype=np.float32)
    v = np.asarray(embeddings[seconds], dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        np.abs(u - v, out=out[:, :d])
        np.multiply(u, v, out=out[:, d:])
    return out


def compact(rows: Float32) -> Any:
    """``rows [m, f]``, as a SciPy ``csr_array`` if nine in ten values are 0 (bags of words)."""
    from scipy.sparse import csr_array

    return csr_array(rows) if np.count_nonzero(rows) <= _SPARSE * rows.size else rows


def _dense(rows: Any, which: Int64) -> Float32:
    """A copy of the rows ``which``."""
    part = rows[which]
    vectors: Float32 = part if isinstance(part, np.ndarray) else part.toarray()
    return vectors


@dataclass(frozen=True, eq=False)
class Scaling:
    """Features minus ``mean [f]``, divided by ``spread [f]``, as fitted on a training part.

    Attributes:
        variance: the mean variance of a feature in the training part; 1 where nothing varies.
    """

    mean: Float64
    spread: Float64
    variance: float

    @classmethod
    def fit(cls, rows: Any, training: Int64, *, each: bool) -> Scaling:
        """Fit it on the rows ``training`` of features ``rows [m, f]``, sparse or not.

        Args:
            each: whether to divide each feature by its own standard deviation (z-norm; by 1 if it is constant), or all
                of them by the root of the mean variance.
        """
        slices = [training[first : first + _ROWS] for first in range(0, len(training), _ROWS)]
        mean = np.sum([_dense(rows, part).sum(axis=0, dtype=np.float64) for part in slices], axis=0) / len(training)
        squares = np.sum([((_dense(rows, part) - mean) ** 2).sum(axis=0) for part in slices], axis=0)
        variances = squares / len(training)
        variances[variances <= (_ROUNDING * mean) ** 2] = 0.0  # constant
        variance = float(variances.mean()) or 1.0
        spread = np.sqrt(np.where(variances > 0, variances, 1.0)) if each else np.full(len(mean), np.sqrt(variance))
        return cls(mean, spread, variance)

    def apply(self, rows: Any, which: Int64, *, sparse: bool = False) -> Any:
        """The rows ``which [k]`` of features ``rows [m, f]``, scaled, ``[k, f] float32``.

        Args:
            sparse: whether sparse rows stay sparse, without the mean subtracted: a regression whose intercept is not
                penalized has the same weights.
        """
        if sparse and not isinstance(rows, np.ndarray):
            return rows[which].multiply((1 / self.spread).astype(np.float32)).tocsr()
        out = _dense(rows, which)
        out -= self.mean.astype(np.float32)
        out /= self.spread.astype(np.float32)
        return out
