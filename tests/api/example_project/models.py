"""Two models of a program: functions from texts to vectors."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def words(texts: list[str]) -> Vectors:
    """A bag of words: each word has a direction of its own."""
    return np.stack([_sum_of(text.lower().split()) for text in texts])


def letters(texts: list[str]) -> Vectors:
    """A bag of letters."""
    return np.stack([_sum_of(list(text.lower())) for text in texts])


@cache
def _direction(unit: str) -> NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(unit.encode())).normal(size=64)


def _sum_of(units: list[str]) -> Vectors:
    directions = [_direction(unit) for unit in units]
    return np.sum(directions, axis=0, dtype=np.float32) if directions else np.zeros(64, np.float32)
