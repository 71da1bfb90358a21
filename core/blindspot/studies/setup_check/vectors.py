"""Checks of the vectors themselves: their length, their dimension, and the precision behind them.

``PRECISIONS``: bounds of the *residual*, the length of the difference between a model's unit vector and its
reference's. Measured on MiniLM's six layers, median over 32 texts (most of any text): float16 1.2e-3 (1.3e-3),
bfloat16 9.2e-3 (1.4e-2); weights rounded to int8 per row 2.9e-2 (4.2e-2), with quantized activations 0.33; to 4 bits
per 32 weights 0.30, per row 0.42; vectors rounded to float16 2e-4, to bfloat16 1.7e-3, to int8 7e-3 with a scale each
and 4.4e-2 with one scale. Rounding errors of layers add up like a random walk: the bounds grow with the root of the
number of layers.
"""

from __future__ import annotations

import numpy as np

from blindspot.studies.setup_check.models import apart, cosines, unit
from blindspot.studies.setup_check.results import Result, State
from blindspot.studies.setup_check.space import constant_columns
from blindspot.types import Float32

COARSEST = "4-bit, or int8 with quantized activations"
PRECISIONS = (
    (3e-5, "float32"),
    (3e-3, "float16"),
    (1.7e-2, "bfloat16"),
    (0.15, "int8"),
    (0.6, COARSEST),
)
TEXTS = " Another prompt, template or suffix than those that were tried leaves as much, too."
PADDED = "The vectors were padded with zeros: cosines are not affected, memory and other dimensions are."
VECTORS = "Vectors are quantized. Expect lower scores, and say so with them; or ask for float32."
WEIGHTS = (
    "Quantized weights and slightly other ones (trained on, averaged, with noise) leave the same residual. Ask the "
    "server for the precision and the revision that it loaded."
)
FINE = ("float32", "float16", "bfloat16")
LAYERS = 6  # of the model on which the bounds were measured
UNIT = 1e-2  # by which a length may differ from 1: bfloat16 rounds to 4e-3
PREFIX = 0.995  # cosine with the first dimensions of the reference
# Of whole steps: int8 has 256 levels, so their number is at most 255.
MOST_STEPS = 300
WHOLE = 0.02  # distance from a whole number
FEWEST_NUMBERS = 64  # of a vector: fewer may lie in steps by chance
LOOKED_AT, SHOWN_BY = 64, 0.9  # vectors, and the share of them that must lie in steps


def length(vectors: Float32, reference: Float32 | None) -> Result:
    """Lengths of ``vectors [n, d]``, compared with the reference's ``[n, D]``."""
    lengths = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1)
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    is_unit = bool(np.abs(lengths - 1).max() < UNIT)
    figures = {"shortest": float(lengths.min()), "longest": float(lengths.max()), "unit": is_unit}
    sentence = "All vectors have length 1." if is_unit else f"Lengths are {lengths.min():.3g} to {lengths.max():.3g}."
    if reference is None:
        around = float(lengths.std() / lengths.mean())
        if not is_unit and lengths.max() < 1 and lengths.min() > 0.3 and around < 0.1:
            advice = (
                "Unit vectors that were cut to fewer dimensions look like this: normalize them again after cutting."
            )
            return Result("length", State.LOOK, sentence, advice, figures)
        more = "" if is_unit else " Cosines are not affected; dot products and Euclidean distances are."
        return Result("length", State.OK, sentence + more, "", figures)
    theirs = np.linalg.norm(np.asarray(reference, dtype=np.float64), axis=1)
    theirs = theirs[np.isfinite(theirs)]
    reference_is_unit = bool(np.abs(theirs - 1).max() < UNIT)
    figures["reference_unit"] = reference_is_unit
    if is_unit == reference_is_unit:
        return Result("length", State.OK, f"{sentence} The reference does the same.", "", figures)
    if is_unit:
        advice = "Use cosine, or turn normalization off if you need dot products or lengths as published."
        more = f"The reference's are {theirs.min():.3g} to {theirs.max():.3g} long."
        return Result("length", State.LOOK, f"{sentence} {more}", advice, figures)
    advice = "Normalize the vectors, or turn normalization on in the server: a search by dot product ranks wrongly."
    return Result("length", State.WRONG, f"{sentence} The reference's all have length 1.", advice, figures)


def _alone(vectors: Float32) -> Result:
    d, idle = vectors.shape[1], len(constant_columns(vectors))
    figures = {"dimension": d, "zero": idle}
    if not idle:
        return Result("dimension", State.OK, f"{d:,} dimensions.", "", figures)
    text = f"{d:,} dimensions, of which {idle:,} at one end are zero in all vectors."
    return Result("dimension", State.LOOK, text, f"{PADDED} Compare with the model's card.", figures)


def dimension(vectors: Float32, reference: Float32 | None) -> Result:
    """Dimension of ``vectors [n, d]`` and whether they are the first d of the reference's ``[n, D]``."""
    d = vectors.shape[1]
    if reference is None:
        return _alone(vectors)
    idle, full = len(constant_columns(vectors)), reference.shape[1]
    figures: dict[str, object] = {"dimension": d, "reference": full, "prefix": None}
    if d == full:
        return Result("dimension", State.OK, f"{d:,} dimensions, as the reference.", "", figures)
    if idle and d - idle == full:
        used = np.flatnonzero(vectors.any(axis=0))
        figures |= {"zero": idle, "prefix": float(np.median(cosines(vectors[:, used], reference)))}
        text = f"{d:,} dimensions: the reference has {full:,}, and {idle:,} at one end are zero in all vectors."
        return Result("dimension", State.WRONG, text, f"{PADDED} Ask for {full:,} dimensions.", figures)
    if d > full:
        advice = "This is another model than the reference: check the model's name on the server."
        return Result("dimension", State.WRONG, f"{d:,} dimensions; the reference has {full:,}.", advice, figures)
    cut = reference[:, :d]
    alike = float(np.median(cosines(vectors, cut)))
    figures["prefix"] = alike
    return _cut(vectors, reference, alike, figures)


def _cut(vectors: Float32, reference: Float32, alike: float, figures: dict[str, object]) -> Result:
    """Of vectors of fewer dimensions, whose median cosine with the reference's first is ``alike``."""
    d, full = vectors.shape[1], reference.shape[1]
    if alike < PREFIX:
        text = f"{d:,} dimensions; they are not the first of the reference's {full:,} (median cosine {alike:.3f})."
        return Result("dimension", State.WRONG, text, "This looks like another model than the reference.", figures)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    renormalized = bool(np.abs(lengths - 1).max() < UNIT)
    was_unit = bool(np.abs(np.linalg.norm(reference.astype(np.float64), axis=1) - 1).max() < UNIT)
    figures["renormalized"] = renormalized
    text = f"The first {d:,} of the reference's {full:,} dimensions (median cosine {alike:.4f})"
    if was_unit and not renormalized:
        advice = "Normalize after cutting; and cut only models trained for it (Matryoshka)."
        text += f", not normalized again: lengths are {lengths.min():.3g} to {lengths.max():.3g}."
        return Result("dimension", State.WRONG, text, advice, figures)
    advice = "Fine for models trained for it (Matryoshka); others lose much. Ask for all dimensions to compare."
    return Result("dimension", State.LOOK, f"{text}{', normalized again' if renormalized else ''}.", advice, figures)


def grid(vectors: Float32) -> str:
    """The precision that the numbers themselves show, or "": whole steps, or numbers of a narrower type."""
    steps = [_steps(row) for row in vectors[:LOOKED_AT]]
    step_sizes = [n for n in steps if n]
    if len(step_sizes) > SHOWN_BY * len(steps):
        return f"{int(np.median(step_sizes)) + 1} steps"
    if (vectors == vectors.astype(np.float16)).all():
        return "float16"
    if not (np.ascontiguousarray(vectors).view(np.uint32) & 0xFFFF).any():
        return "bfloat16"
    return ""


def _steps(row: Float32) -> int:
    """In how many equal steps of at most ``MOST_STEPS`` the numbers of a vector lie; 0 for none."""
    values = np.unique(row.astype(np.float64))
    if len(values) < 2:
        return 0
    steps = (values - values[0]) / np.diff(values).min()
    is_whole = np.abs(steps - np.rint(steps)).max() < WHOLE
    return round(steps[-1]) if is_whole and steps[-1] <= MOST_STEPS and len(row) >= FEWEST_NUMBERS else 0


def precision(vectors: Float32, best: Float32 | None, layers: int, with_what: str) -> Result:
    """Precision behind ``vectors [n, d]``, from the residual to the best fitting ones of the reference, ``[n, d]``.

    Args:
        best: None without a reference, or where none of its vectors fits.
        layers: of the reference; 0 if unknown.
        with_what: what ``best`` are, in words.
    """
    seen = grid(vectors)
    in_steps = bool(seen) and seen not in FINE
    figures: dict[str, object] = {"numbers": seen or None}
    if best is None:
        unseen = "The numbers show no precision. How the weights are stored is only seen with a reference."
        sentence = f"The numbers are those of {seen}." if seen else unseen
        name, is_fine = "", True
    else:
        residual = apart(unit(vectors), unit(best))
        middle = float(np.median(residual))
        scale = max(1.0, (layers / LAYERS) ** 0.5)
        name = next((n for bound, n in PRECISIONS if middle <= bound * (1.0 if n == "float32" else scale)), "")
        figures |= {"residual": middle, "most": float(residual.max()), "precision": name or None}
        sentence = f"The residual to {with_what} is {middle:.1e} in the median and at most {residual.max():.1e}"
        sentence += f": as much as {name} leaves." if name else ": too much for any precision."
        if name and name not in FINE:
            sentence = f"Something differs, in the numbers or in the weights. {sentence}"
        is_fine = name in FINE
    if in_steps:
        sentence = f"The numbers of a vector lie in {seen}." + (f" {sentence}" if best is not None else "")
        return Result("precision", State.WRONG, sentence, VECTORS, figures)
    if is_fine:
        return Result("precision", State.OK, sentence, "", figures)
    if not name:
        return Result("precision", State.UNCHECKED, sentence, "", figures)
    return Result("precision", State.WRONG, sentence, WEIGHTS + (TEXTS if name == COARSEST else ""), figures)
