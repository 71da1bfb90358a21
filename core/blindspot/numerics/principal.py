"""Means, second moments and principal directions of a matrix's rows, in float64, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.types import Float32, Float64

# A direction along which the rows spread by less than this share of their length is only noise: vectors of one text
# differ by about 1e-7 between batches, which is also the rounding error of float32.
NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """The eigenvectors of a second moment, largest eigenvalue first.

    Attributes:
        variances: ``[d] float64``, mean squared coordinate of the rows along each direction, descending, >= 0.
        directions: ``[d, d] float64``, orthonormal columns; in each the entry of largest magnitude is positive
            (the first of them where several are equal), so that signs do not depend on the linear algebra library.
        rank: the number of directions with more than noise along them: standard deviation above ``NOISE``
            times the root mean square length of the rows.
    """

    variances: Float64
    directions: Float64
    rank: int

    def share(self, first: int) -> float:
        """The first directions' share of the total variance; the rank must not be 0."""
        return min(1.0, float(self.variances[:first].sum() / self.variances.sum()))


def blocks(matrix: Float32, rows_at_once: int = 8_192) -> Iterator[tuple[slice, Float64]]:
    """The rows of ``[n, d]`` in float64, some at a time, with their slice."""
    for start in range(0, len(matrix), rows_at_once):
        part = slice(start, start + rows_at_once)
        yield part, np.asarray(matrix[part], dtype=np.float64)


def column_means(matrix: Float32) -> Float64:
    """Mean row of ``[n, d]``, as ``[d] float64``."""
    return np.asarray(matrix.mean(axis=0, dtype=np.float64))


def second_moment(matrix: Float32, origin: Float64) -> Float64:
    """``1/n sum (x - origin)(x - origin)^T`` over the rows x of ``[n, d]``, as ``[d, d] float64``.

    With the mean as origin, this is the population covariance.
    """
    total = np.zeros((matrix.shape[1], matrix.shape[1]), dtype=np.float64)
    for _, block in blocks(matrix):
        centred = block - origin
        total += centred.T @ centred
    return total / len(matrix)


def principal_axes(matrix: Float32, origin: Float64) -> PrincipalAxes:
    """Eigenvectors of the second moment around ``origin`` (``[d] float64``): the right singular vectors of x - origin.

    Raises:
        BlindspotError: the rows are not all finite.
    """
    moment = second_moment(matrix, origin)
    require_finite(moment)
    variances, directions = np.linalg.eigh(moment)
    variances = np.maximum(variances[::-1], 0.0)  # rounding makes some of the zeros negative
    directions = directions[:, ::-1]
    directions = directions * signs(directions)
    mean_squared_length = np.trace(moment) + origin @ origin
    rank = int(np.count_nonzero(variances > NOISE**2 * mean_squared_length))
    return PrincipalAxes(variances, directions, rank)


def signs(directions: Float32 | Float64, within: float = 0.0) -> Float64:
    """``[k]``, 1 or -1 for each column of ``[d, k]``: what makes its entry of largest magnitude positive.

    Args:
        within: entries within this share of the largest count as equal to it; the first of them decides. So rounding
            errors cannot flip signs.
    """
    magnitudes = np.abs(directions)
    first = (magnitudes >= (1.0 - within) * magnitudes.max(axis=0)).argmax(axis=0)
    return np.where(np.take_along_axis(directions, first[np.newaxis], axis=0)[0] < 0, -1.0, 1.0)


def require_finite(statistics: Float64) -> None:
    """Raise ``BlindspotError`` if rows have NaN or infinite values."""
    if not np.isfinite(statistics).all():
        raise BlindspotError(
            "the embeddings to fit a transform on have NaN or infinite values",
            expected="finite numbers",
            remedy="use another encoder or transform",
        )
