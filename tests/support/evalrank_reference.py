"""EvalRank written down as slowly and plainly as the definition: Python loops over floats.

Nothing here is taken from ``core``, so that an error there cannot hide in its own test. The inputs are the
float32 embeddings; every operation on them is float64, sums are exact (``math.fsum``).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

TAU = 1e-6
BORDERLINE = 1e-12  # differences this close to tau may fall on either side in float64

Vector = Sequence[float]
Similarity = Callable[[Vector, Vector], float]


def cosine(x: Vector, y: Vector) -> float:
    """The cosine of the angle between two vectors; 0 where one of them is zero."""
    length_x = math.sqrt(math.fsum(a * a for a in x))
    length_y = math.sqrt(math.fsum(b * b for b in y))
    if length_x == 0.0 or length_y == 0.0:
        return 0.0
    return math.fsum(a * b for a, b in zip(x, y, strict=True)) / (length_x * length_y)


def closeness(x: Vector, y: Vector) -> float:
    """``1 / (1 + ||x - y||)``."""
    return 1.0 / (1.0 + math.sqrt(math.fsum((a - b) * (a - b) for a, b in zip(x, y, strict=True))))


SIMILARITIES: dict[str, Similarity] = {"cos": cosine, "l2": closeness}


@dataclass(frozen=True)
class ReferenceCount:
    """One pair: the similarity of query and match, ``g``, ``t``, and whether an item is on tau's very edge."""

    similarity: float
    greater: int
    ties: int
    borderline: bool


def count(vectors: Sequence[Vector], query: int, match: int, metric: str, left_out: set[int]) -> ReferenceCount:
    """``g`` and ``t`` of one pair among all items but the query, the match and those left out."""
    s = SIMILARITIES[metric]
    match_similarity = s(vectors[query], vectors[match])
    greater, ties, borderline = 0, 0, False
    for j in range(len(vectors)):
        if j in (query, match) or j in left_out:
            continue
        difference = s(vectors[query], vectors[j]) - match_similarity
        borderline |= abs(abs(difference) - TAU) < BORDERLINE
        if difference > TAU:
            greater += 1
        elif abs(difference) <= TAU:
            ties += 1
    return ReferenceCount(match_similarity, greater, ties, borderline)


def what_counts(text: str) -> str:
    """Letters, marks, digits and symbols, whatever their case; not for numbers, of which a point or a minus counts."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return "".join(character for character in composed if unicodedata.category(character)[0] in "LMNS")


def filtered_out(texts: Sequence[str], pairs: Sequence[tuple[int, int]], query: int, match: int) -> set[int]:
    """What filtered ranks leave out: the query's other matches, and every twin of the query or of the match."""
    out = set()
    for j in range(len(texts)):
        is_other_match = any(pair_query == query and pair_match == j for pair_query, pair_match in pairs)
        kept = what_counts(texts[j])
        is_twin = kept != "" and kept in (what_counts(texts[query]), what_counts(texts[match]))
        if is_other_match or is_twin:
            out.add(j)
    return out - {query, match}


def ranks_in_every_order(greater: int, ties: int) -> list[int]:
    """The match's rank in each of the ``(ties + 1)!`` orders of the tied items."""
    return [greater + 1 + order.index(0) for order in permutations(range(ties + 1))]  # 0 is the match
