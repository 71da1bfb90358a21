"""Vectors that are no coordinates: bits packed into bytes, and bytes of a quantization whose offset is not known.

Scored as numbers they give plausible, wrong ranks. Both are whole numbers in the range of a byte: from 0 on around its
middle, or from -128 to 127 and as often at the ends as in the middle, where quantized coordinates are rare.
"""

from __future__ import annotations

import numpy as np

from blindspot.types import Float32

LEAST_VALUES = 64  # fewer do not show how they are spread
_ROWS = 1024  # are looked at
_LEAST_MEAN = 64.0  # from 0 to 255; counts of words are mostly 0
# Evenly spread from -128 to 127, whole numbers have a standard deviation of 74 and a kurtosis of 1.8. Normal ones that
# end at 127 have one below 55, and about 3.
_LEAST_DEVIATION, _MOST_KURTOSIS = 60.0, 2.2
EXPECTED = "coordinates, which can be compared by their cosine"
REMEDY = (
    "unpack bits with np.unpackbits(x, axis=1).astype(np.float32), of int8 after (x + 128).astype(np.uint8); give "
    "quantized vectors as the float32 ones they were made of; if they are meant as numbers, divide them by 128"
)


def bytes_in_words(matrix: Float32) -> str:
    """What the vectors ``[n, d]`` seem to be, if they are packed bits or bytes with an offset; "" if not."""
    rows = matrix[:_ROWS]
    if rows.size < LEAST_VALUES or not (np.isfinite(rows).all() and (rows == np.rint(rows)).all()):
        return ""
    low, high = float(rows.min()), float(rows.max())
    if low >= 0 and 127 < high <= 255 and rows.mean() >= _LEAST_MEAN:
        span = "0 to 255"
    elif -128 <= low < -96 and 96 < high <= 127 and _is_even(rows):
        span = "-128 to 127"
    else:
        return ""
    d = matrix.shape[1]
    return f"vectors of {d:,} whole numbers from {span}, as packed bits ({8 * d:,} dimensions) or quantized ones are"


def _is_even(rows: Float32) -> bool:
    deviations = rows.astype(np.float64) - rows.mean(dtype=np.float64)
    variance = float((deviations**2).mean())
    return variance > _LEAST_DEVIATION**2 and float((deviations**4).mean()) < _MOST_KURTOSIS * variance**2
