"""Dependence of HEROS's originals: those that share a text, as original or rewrite, depend on each other.

In SemAntoNeg an original is another one's rewrite: its 3,152 rows fall into 450 groups that share no text. The vector
of a text affects all rows that have the text, so an interval over rows would be too narrow.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.resampling import components
from blindspot.types import Int64


def of_dataset(dataset: MinimalPairSet) -> Dependence:
    """Dependence of a dataset's originals."""
    return of_numbers(dataset.same_texts[np.column_stack([dataset.originals, *dataset.rewrites.values()])])


def of_numbers(texts: Int64) -> Dependence:
    """Dependence of originals, from the numbers of each original's texts, ``[n, 1 + subsets]``, its own first: equal
    texts share a number (``texts.numbered``)."""
    return _of_bytes(texts.tobytes(), texts.shape[1])


@lru_cache(maxsize=16)  # every run over a dataset asks
def _of_bytes(texts: bytes, columns: int) -> Dependence:
    numbers = np.frombuffer(texts, dtype=np.int64).reshape(-1, columns)
    pairs = np.repeat(numbers[:, 0], columns - 1), numbers[:, 1:].ravel()
    groups = components(*pairs)[:: columns - 1]  # the pairs of an original are in one
    dependence = Dependence.of_groups(groups, Unit.SENTENCES)
    return dependence if dependence.is_of_singles else Dependence.of_groups(groups, Unit.SENTENCE_GROUPS)


def of_singles(n: int) -> Dependence:
    """Dependence of ``n`` originals that share no text."""
    return Dependence.of_groups(np.arange(n, dtype=np.int64), Unit.SENTENCES)
