"""Pairs made of labeled texts: two texts of one class are the same, two of different classes are not.

Every text is in at most one pair, so that pairs are independent. Half of the pairs are of one class. Half of the others
are random, the other half *hard*: for a random text the one of another class that shares most words with it. Words
decide, not vectors: the pairs are the same for every model. The draw is seeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.errors import InputError
from blindspot.numerics.statistics.resampling import SEED
from blindspot.numerics.thresholds.curves import FEWEST_PAIRS
from blindspot.texts import same_text, words
from blindspot.types import Int32, Int64

MOST_TEXTS = 8_000  # drawn from larger datasets: 4,000 pairs
SAME, RANDOM, HARD = "same class", "different, random", "different, similar words"


@dataclass(frozen=True, eq=False)
class Sampled:
    """Pairs of texts, ``[m]`` each: ``firsts`` and ``seconds`` number rows of the labeled texts."""

    firsts: Int64
    seconds: Int64
    kinds: tuple[str, ...]


def sample(texts: Sequence[str], labels: Int32 | Int64, most: int = MOST_TEXTS, seed: int = SEED) -> Sampled:
    """Make pairs of texts ``[n]`` with labels ``[n]``.

    Texts that repeat an earlier one, but for case and spaces, are left out.

    Raises:
        InputError: there are too few texts, or all have one label.
    """
    rng = np.random.default_rng(seed)
    first_of: dict[str, int] = {}
    for number, text in enumerate(texts):
        first_of.setdefault(same_text(text), number)
    rows = rng.permutation(np.array(list(first_of.values()), dtype=np.int64))[:most]
    if len(rows) < 2 * FEWEST_PAIRS:
        raise InputError(
            f"pairs cannot be made of {len(rows):,} different texts", expected=f"{2 * FEWEST_PAIRS} or more"
        )
    if len(np.unique(labels[rows])) < 2:
        raise InputError("all texts have one label", expected="two or more, to make pairs of different ones")
    # Two texts a pair, and a quarter of the pairs is of each kind of different ones; a text of each class may be left.
    quarter = (len(rows) - len(np.unique(labels[rows]))) // 8
    used = np.zeros(len(rows), dtype=np.bool_)
    label = np.asarray(labels)[rows]
    pairs = [(*pair, HARD) for pair in _hard([texts[row] for row in rows.tolist()], label, used, quarter)]
    pairs += [(*pair, RANDOM) for pair in _different(label, used, quarter)]
    pairs += [(*pair, SAME) for pair in _same(label, used, 2 * quarter)]
    kept = [(int(rows[a]), int(rows[b]), kind) for a, b, kind in pairs]
    kept.sort()
    return Sampled(
        np.array([a for a, _, _ in kept], dtype=np.int64),
        np.array([b for _, b, _ in kept], dtype=np.int64),
        tuple(kind for *_, kind in kept),
    )


def _hard(texts: Sequence[str], label: Int32 | Int64, used: np.ndarray, most: int) -> list[tuple[int, int]]:
    """For each of the first texts, the unused text of another class that shares most words with it."""
    from scipy.sparse import csr_matrix

    number: dict[str, int] = {}
    sets = [sorted({number.setdefault(word, len(number)) for word in words(text)}) for text in texts]
    sizes = np.array([len(texts) for texts in sets], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    has = csr_matrix((np.ones(starts[-1]), np.concatenate([*map(np.array, sets), []]).astype(np.int64), starts))
    pairs: list[tuple[int, int]] = []
    for row in range(len(texts)):
        if len(pairs) == most:
            break
        if used[row] or not sizes[row]:
            continue
        common = (has @ has[row].T).toarray().ravel()
        overlap = common / np.maximum(sizes + sizes[row] - common, 1)
        overlap[used | (label == label[row])] = -1.0
        best = int(np.argmax(overlap))
        if overlap[best] > 0:
            used[[row, best]] = True
            pairs.append((row, best))
    return pairs


def _same(label: Int32 | Int64, used: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Unused texts, which are in random order: each with the next one of its class."""
    waiting: dict[int, int] = {}
    pairs: list[tuple[int, int]] = []
    for row in np.flatnonzero(~used).tolist():
        if len(pairs) == most:
            break
        other = waiting.pop(int(label[row]), None)
        if other is None:
            waiting[int(label[row])] = row
        else:
            used[[row, other]] = True
            pairs.append((other, row))
    return pairs


def _different(label: Int32 | Int64, used: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Unused texts of different classes: each with the next one of another class."""
    waiting: list[int] = []
    pairs: list[tuple[int, int]] = []
    for row in np.flatnonzero(~used).tolist():
        if len(pairs) == most:
            break
        if waiting and label[waiting[0]] != label[row]:  # those that wait are of one class
            pairs.append((waiting.pop(0), row))
        else:
            waiting.append(row)
    used[np.array(pairs, dtype=np.int64).ravel()] = True
    return pairs
