"""Fitted steps of transforms: each is computed in float64 on the output of the previous one, and returns float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from blindspot.errors import InputError
from blindspot.numerics.principal import PrincipalAxes, blocks, column_means, principal_axes, require_finite
from blindspot.numerics.similarity import row_norms
from blindspot.types import Float32, Float64

RANDOM_SEED = 20_190_828
MOST_RANDOM = 8_192  # dimensions of a random projection


class FittedStep(Protocol):
    """A fitted step."""

    @property
    def d_out(self) -> int:
        """Dimension of its output."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """Results of the fit, for the run's manifest: finite numbers by name, or lists of them."""
        ...

    def apply(self, embeddings: Float32) -> Float32:
        """``[n, d] float32`` in, ``[n, d'] float32`` out; the input is not changed."""
        ...


@runtime_checkable
class LinearStep(FittedStep, Protocol):
    """An additive step: its output for a sum is the sum of its outputs for the parts."""

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:
        """``[n, d]`` parts of an embedding in, ``[n, d']`` parts of its transform by ``apply`` out, in float64.

        What the step subtracts from the embedding is split by ``shares [n]``, which add up to 1.
        """
        ...


@dataclass(frozen=True, eq=False)
class Center:
    """Subtract the corpus mean (``mean``: ``[d] float64``). Fact: the mean's length."""

    mean: Float64

    @classmethod
    def fit(cls, corpus: Float32) -> Center:
        return cls(column_means(corpus))

    @property
    def d_out(self) -> int:
        return len(self.mean)

    @property
    def facts(self) -> Mapping[str, float]:
        return {"mean_length": float(np.linalg.norm(self.mean))}

    def apply(self, embeddings: Float32) -> Float32:
        return np.asarray(embeddings - self.mean.astype(np.float32), dtype=np.float32)

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:
        return parts - np.outer(shares, self.mean)


@dataclass(frozen=True, eq=False)
class ZScore:
    """Column by column ``(x - mean) / sd`` (``mean``, ``sd``: ``[d] float64``, population sd of the corpus).

    A constant column (``sd`` 0) does not tell items apart: it becomes 0 for every text, which avoids a division by
    zero. Facts: the number of constant columns, and the smallest and largest sd of the others.
    """

    mean: Float64
    sd: Float64

    @classmethod
    def fit(cls, corpus: Float32) -> ZScore:
        return cls(*mean_and_sd(corpus))

    @property
    def d_out(self) -> int:
        return len(self.mean)

    @property
    def facts(self) -> Mapping[str, float]:
        varying = self.sd[self.sd > 0]
        spread = {"smallest_sd": float(varying.min()), "largest_sd": float(varying.max())} if len(varying) else {}
        return {"constant_columns": len(self.sd) - len(varying), **spread}

    def apply(self, embeddings: Float32) -> Float32:
        return _by_blocks(embeddings, self.d_out, lambda x: np.asarray((x - self.mean) * self._factor))

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:
        return np.asarray((parts - np.outer(shares, self.mean)) * self._factor)

    @property
    def _factor(self) -> Float64:
        return np.divide(1.0, self.sd, out=np.zeros_like(self.sd), where=self.sd > 0)


@dataclass(frozen=True)
class Normalize:
    """Scale every row to unit length; a zero row has no direction and stays zero. Fact: zero rows in the corpus."""

    d_out: int
    zero_rows: int

    @classmethod
    def fit(cls, corpus: Float32) -> Normalize:
        return cls(corpus.shape[1], int(np.count_nonzero(row_norms(corpus) == 0)))

    @property
    def facts(self) -> Mapping[str, float]:
        return {"zero_rows": self.zero_rows}

    def apply(self, embeddings: Float32) -> Float32:
        def unit(x: Float64) -> Float64:
            lengths = np.sqrt(np.einsum("nd,nd->n", x, x))[:, None]
            return np.asarray(np.divide(x, lengths, out=np.zeros_like(x), where=lengths != 0))

        return _by_blocks(embeddings, self.d_out, unit)

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:  # noqa: ARG002 - see LinearStep
        length = np.linalg.norm(parts.sum(axis=0))
        return parts / length if length else np.zeros_like(parts)


@dataclass(frozen=True, eq=False)
class Removal:
    """Subtract ``origin``, then the projections on ``directions``: ``y - (y U) U^T`` with ``y = x - origin``.

    Attributes:
        origin: ``[d] float64``; zeros where nothing is subtracted.
        directions: ``[d, k] float64``, orthonormal columns U.
        facts: the share of the corpus's variance (``abtt``) or squared length (``pcr``) along them.
    """

    origin: Float64
    directions: Float64
    facts: Mapping[str, float]

    @classmethod
    def all_but_the_top(cls, corpus: Float32, k: int) -> Removal:
        """Mu & Viswanath 2018, algorithm 1: the k first principal components of the centered corpus.

        As usual, and unlike the printed last line of the algorithm, this removes the projection of the centered vector:
        the two results differ by a constant vector, and only this one leaves nothing along U.
        """
        mean = column_means(corpus)
        axes = _axes_to_remove("abtt", corpus, mean, k)
        return cls(mean, axes.directions[:, :k].copy(), {"explained_variance_removed": axes.share(k)})

    @classmethod
    def principal_components(cls, corpus: Float32, k: int) -> Removal:
        """Arora, Liang & Ma 2017, algorithm 1 (SIF): the k first right singular vectors, without centering."""
        origin = np.zeros(corpus.shape[1])
        axes = _axes_to_remove("pcr", corpus, origin, k)
        return cls(origin, axes.directions[:, :k].copy(), {"squared_length_removed": axes.share(k)})

    @property
    def d_out(self) -> int:
        return len(self.origin)

    def apply(self, embeddings: Float32) -> Float32:
        return _by_blocks(embeddings, self.d_out, lambda x: self._removed(x - self.origin))

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:
        return self._removed(parts - np.outer(shares, self.origin))

    def _removed(self, y: Float64) -> Float64:
        return np.asarray(y - (y @ self.directions) @ self.directions.T)


@dataclass(frozen=True, eq=False)
class Projection:
    """``(x - origin) W``: other dimensions, fewer or more.

    Attributes:
        origin: ``[d] float64``; zeros where nothing is subtracted.
        weights: ``[d, k] float64``, W.
    """

    origin: Float64
    weights: Float64
    facts: Mapping[str, float]

    @classmethod
    def whiten(cls, corpus: Float32, k: int | None) -> Projection:
        """Whitening (Su et al. 2021, equations 5 to 10), W the first k columns of ``U diag(1/sqrt(lambda))``.

        U and lambda are the eigenvectors and eigenvalues of the corpus's population covariance, largest first: the
        whitened corpus has mean zero and the identity as covariance. A direction with only noise
        (``PrincipalAxes.rank``; MiniLM has three) cannot be scaled to unit variance: without k, all others are kept;
        a k above their number is refused. Scaling all n - 1 directions in which n items can vary makes every two
        items equally distant, so it is refused too. Facts: the share of the variance kept, and the largest over
        the smallest eigenvalue kept.
        """
        items, dimension = corpus.shape
        if k is not None:
            _require_at_most(f"whiten:{k}", k, dimension, dimension)
        if (k or dimension) >= items - 1 > 0:
            fewer = f", or at most whiten:{items - 2}" if items > 2 else ""
            raise InputError(
                f"transform 'whiten{'' if k is None else f':{k}'}' scales {k or dimension} directions to unit "
                f"variance, and {items} items differ in at most {items - 1}: every two would be equally far apart",
                expected=f"more than {(k or dimension) + 1} items{fewer}",
                remedy="fit it on a larger dataset (--fit-on), or keep fewer dimensions",
            )
        mean, axes = _varying_axes("whiten", corpus)
        if k is not None and k > axes.rank:
            raise InputError(
                f"transform 'whiten:{k}' scales {k} directions to unit variance; the {items} items vary along "
                f"{axes.rank} of {dimension}",
                expected=f"at most whiten:{axes.rank}",
            )
        k = axes.rank if k is None else k
        variances = axes.variances[:k]
        facts = {"explained_variance_kept": axes.share(k), "condition": float(variances[0] / variances[-1])}
        return cls(mean, axes.directions[:, :k] / np.sqrt(variances), facts)

    @classmethod
    def pca(cls, corpus: Float32, k: int) -> Projection:
        """PCA, W the first k principal axes of the corpus; nothing is scaled.

        Axes without any variance in the corpus are arbitrary, so k must be below the number of items. Fact: the share
        of the variance kept.
        """
        n, dimension = corpus.shape
        _require_at_most(f"pca:{k}", k, dimension, dimension)
        if k >= n:
            raise InputError(
                f"transform 'pca:{k}' needs more than {k} items, there are {n}",
                expected=f"at most pca:{n - 1}" if n > 1 else "items with different embeddings",
            )
        mean, axes = _varying_axes("pca", corpus)
        return cls(mean, axes.directions[:, :k].copy(), {"explained_variance_kept": axes.share(k)})

    @classmethod
    def random(cls, corpus: Float32, d: int) -> Projection:
        """Random projection, W with independent Gaussian entries of variance 1/d, the same for the same dimensions.

        In expectation, squared lengths and dot products stay the same, with fewer or more dimensions (Johnson &
        Lindenstrauss 1984). Fact: the seed.
        """
        if d > MOST_RANDOM:
            raise InputError(
                f"transform 'random-project:{d}' asks for {d} dimensions", expected=f"at most {MOST_RANDOM}"
            )
        drawn = np.random.default_rng(RANDOM_SEED).standard_normal((corpus.shape[1], d))
        return cls(np.zeros(corpus.shape[1]), drawn / np.sqrt(d), {"seed": RANDOM_SEED})

    @property
    def d_out(self) -> int:
        return int(self.weights.shape[1])

    def apply(self, embeddings: Float32) -> Float32:
        return _by_blocks(embeddings, self.d_out, lambda x: np.asarray((x - self.origin) @ self.weights))

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:
        return np.asarray((parts - np.outer(shares, self.origin)) @ self.weights)


@dataclass(frozen=True)
class Truncate:
    """Keep the first ``d_out`` columns, as for a Matryoshka embedding (Kusupati et al. 2022). Nothing is rescaled."""

    d_out: int

    @classmethod
    def fit(cls, corpus: Float32, d: int) -> Truncate:
        _require_at_most(f"truncate:{d}", d, corpus.shape[1], corpus.shape[1])
        return cls(d)

    @property
    def facts(self) -> Mapping[str, float]:
        return {}

    def apply(self, embeddings: Float32) -> Float32:
        return np.ascontiguousarray(embeddings[:, : self.d_out], dtype=np.float32)

    def of_parts(self, parts: Float64, shares: Float64) -> Float64:  # noqa: ARG002 - see LinearStep
        return parts[:, : self.d_out]


def mean_and_sd(corpus: Float32) -> tuple[Float64, Float64]:
    """Mean and population standard deviation by column, ``[d] float64`` each.

    The latter is 0 if it is at most the rounding error of float32 at the column's largest value.

    Raises:
        BlindspotError: NaN or infinite values.
    """
    mean = column_means(corpus)
    squares, largest = np.zeros_like(mean), np.zeros_like(mean)
    for _, block in blocks(corpus):
        squares += ((block - mean) ** 2).sum(axis=0)
        largest = np.maximum(largest, np.abs(block).max(axis=0))
    require_finite(squares)
    sd = np.sqrt(squares / len(corpus))
    return mean, np.where(sd > np.finfo(np.float32).eps * largest, sd, 0.0)


def _by_blocks(embeddings: Float32, d_out: int, function: Callable[[Float64], Float64]) -> Float32:
    out = np.empty((len(embeddings), d_out), dtype=np.float32)
    for part, block in blocks(embeddings):
        out[part] = function(block)
    return out


def _require_at_most(name: str, argument: int, limit: int, dimension: int) -> None:
    if argument > limit:
        raise InputError(
            f"transform '{name}' does not fit embeddings of {dimension} dimensions", expected=f"at most {limit}"
        )


def _axes_to_remove(step: str, corpus: Float32, origin: Float64, k: int) -> PrincipalAxes:
    """Principal axes; raises ``InputError`` if nothing but rounding errors is left after removing k of them."""
    dimension = corpus.shape[1]
    _require_at_most(f"{step}:{k}", k, dimension - 1, dimension)
    axes = principal_axes(corpus, origin)
    if k >= axes.rank:
        raise InputError(
            f"transform '{step}:{k}' leaves nothing: the {len(corpus)} items have {axes.rank} direction(s) in all",
            expected=f"at most {step}:{axes.rank - 1}" if axes.rank > 1 else "items with different embeddings",
        )
    return axes


def _varying_axes(step: str, corpus: Float32) -> tuple[Float64, PrincipalAxes]:
    """The mean and the principal axes; raises ``InputError`` if the corpus varies along none."""
    mean = column_means(corpus)
    axes = principal_axes(corpus, mean)
    if axes.rank == 0:
        raise InputError(
            f"transform '{step}' finds no variance in the {len(corpus)} item(s)",
            expected="items with different embeddings",
        )
    return mean, axes
