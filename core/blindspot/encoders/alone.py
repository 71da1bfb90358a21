"""Texts asked for again, alone: a model cannot be scored if a text's vector depends on the texts beside it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from blindspot.types import CancelToken, Float32

FIRST = 3  # texts of a first call that are asked again; later calls have one each
MOST_APART = 0.08  # length of the difference, as a share: bfloat16 in a padded batch leaves 0.01


@runtime_checkable
class AskedAgain(Protocol):
    """An encoder that asks for some texts again, alone, and raises an error if it gets another vector."""

    def ask(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """As ``Encoder.encode``, but the model gives all vectors now, and no text is asked for again."""
        ...


def rows_to_ask(texts: Sequence[str], *, is_first: bool) -> list[int]:
    """Rows of the texts to ask for again; empty for a single text.

    They are computed from the texts, so that a repeated run asks for the same ones.
    """
    if len(texts) < 2:
        return []
    random = np.random.default_rng(zlib.crc32("\n".join(texts).encode("utf-8", "surrogatepass")))
    rows: list[int] = random.choice(len(texts), min(FIRST if is_first else 1, len(texts)), replace=False).tolist()
    return rows


def apart(first: Float32, second: Float32) -> float:
    """Length of the difference of two vectors, as a share of the second's length; 0 for two zero vectors."""
    difference, length = (float(np.linalg.norm(v.astype(np.float64))) for v in (first - second, second))
    return difference / length if length else (np.inf if difference else 0.0)
