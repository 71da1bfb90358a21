"""Check of the axes: are these the reference's vectors in other axes, or with another origin?

Measured on MiniLM, over 160 texts: after the axes are permuted or negated, cosines between texts differ from the
reference's by 1e-7, and those of other weights (2% noise) by 0.01 or more. Vectors that were centered and normalized
again leave a residual of 1e-3 or less once a constant vector is added; int8 weights leave 0.03, another pooling 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.studies.setup_check.models import apart, cosines, unit
from blindspot.studies.setup_check.results import Result, State
from blindspot.types import Bool, Float32, Float64, Int64

FITS = 0.9995  # median cosine from which nothing else is looked for
ALIKE = 2e-3  # median difference of the cosines between texts, below which only the axes are others
SAME_COLUMN = 0.99  # cosine of a dimension with one of the reference's
SHIFTED = 0.05  # residual with another origin, or scales: at most, and a third of the one without
STEPS = 200  # of alternating least squares
CLOSE = 1e-6  # change of the residual at which they end


def similarities(vectors: Float32) -> Float64:
    """Cosines of all pairs of different texts, ``[n (n - 1) / 2]``, of ``vectors [n, d]``."""
    rows = unit(vectors)
    return np.asarray((rows @ rows.T)[np.triu_indices(len(rows), 1)])


def space(vectors: Float32, theirs: Float32) -> Result:
    """How ``own [n, d]`` and the reference's ``theirs [n, d]`` of the same texts lie to each other."""
    middle = float(np.median(cosines(vectors, theirs)))
    between = similarities(vectors), similarities(theirs)
    differing = float(np.median(np.abs(between[0] - between[1])))
    figures: dict[str, object] = {"median_cosine": middle, "differing": differing}
    if middle >= FITS:
        return Result("space", State.OK, "Axes and origin are the reference's.", "", figures)
    if differing <= ALIKE:
        text = _axes(vectors, theirs, figures)
        advice = (
            "Rankings within these vectors are right, but they must not be mixed with the reference's: undo what "
            "reorders, negates or rotates the dimensions."
        )
        return Result("space", State.WRONG, text, advice, figures)
    plain = float(np.median(apart(unit(vectors), unit(theirs))))
    for with_scales in (False, True):
        fitted = _shifted(vectors, theirs, with_scales=with_scales)
        if fitted.residual > min(SHIFTED, plain / 3):
            continue
        figures |= {"residual": fitted.residual, "shift": fitted.shift}
        if with_scales:
            text = f"Each of the reference's dimensions has another scale and origin (residual {fitted.residual:.1e})"
            advice = "The vectors were standardized: turn that off, or use the transform zscore here."
        else:
            text = f"The reference's less one vector of length {fitted.shift:.2g} (residual {fitted.residual:.1e})"
            advice = "The vectors were centered: turn that off, or use the transform center here."
        return Result("space", State.WRONG, f"{text}, not the published ones.", advice, figures)
    text = "No other axes, origin or scale of the reference's dimensions explains the difference."
    return Result("space", State.OK, text, "", figures)


def _axes(vectors: Float32, theirs: Float32, figures: dict[str, object]) -> str:
    """What was done to the axes, in a sentence."""
    from scipy.optimize import linear_sum_assignment

    alike = unit(vectors.T) @ unit(theirs.T).T
    ours, places = linear_sum_assignment(-np.abs(alike))
    cosine = alike[ours, places]
    if float(np.median(np.abs(cosine))) < SAME_COLUMN:
        return "Cosines between texts are the reference's, but the axes are others: the vectors were rotated."
    moved, negated = int((ours != places).sum()), int((cosine < 0).sum())
    figures |= {"moved": moved, "negated": negated}
    what = [f"{moved:,} are in other places" if moved else "", f"{negated:,} are negated" if negated else ""]
    return (
        "Cosines between texts are the reference's, but the axes are others: of "
        f"{len(cosine):,} dimensions {' and '.join(filter(None, what))}."
    )


@dataclass(frozen=True)
class _Shift:
    residual: float
    shift: float


def _shifted(vectors: Float32, theirs: Float32, *, with_scales: bool) -> _Shift:
    """The best ``theirs = length_i (scales own_i) + origin``: lengths by text, one origin, and scales by dimension if
    asked for (else 1). Alternating least squares."""
    a, b = unit(vectors), unit(theirs)
    lengths, scales = np.ones((len(a), 1)), np.ones(a.shape[1])
    origin, before = np.zeros(a.shape[1]), np.inf
    for _ in range(STEPS):
        scaled = a * scales
        origin = (b - lengths * scaled).mean(axis=0)
        lengths = ((b - origin) * scaled).sum(axis=1, keepdims=True) / (scaled**2).sum(axis=1, keepdims=True)
        if with_scales:
            x = lengths * a
            x, y = x - x.mean(axis=0), b - b.mean(axis=0)
            squares = (x**2).sum(axis=0)
            scales = np.divide((x * y).sum(axis=0), squares, out=np.ones_like(squares), where=squares > 0)
        left = b - origin - lengths * a * scales
        residual = float(np.median(np.linalg.norm(left, axis=1) / np.linalg.norm(b - origin, axis=1)))
        if abs(before - residual) < CLOSE:
            break
        before = residual
    return _Shift(residual, float(np.linalg.norm(origin)))


def constant_columns(vectors: Float32) -> Int64:
    """Numbers of the dimensions that are zero in all ``vectors [n, d]``, where they lie together at one end."""
    zero: Bool = np.asarray(~vectors.any(axis=0))
    used = np.flatnonzero(~zero)
    if not zero.any() or not len(used):
        return np.empty(0, dtype=np.int64)
    is_block = used[-1] - used[0] + 1 == len(used) and (used[0] == 0 or used[-1] == len(zero) - 1)
    return np.flatnonzero(zero).astype(np.int64) if is_block else np.empty(0, dtype=np.int64)
