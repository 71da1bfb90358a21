"""Near-duplicates between lists of texts, exactly: none is missed.

Two texts are near-duplicates if they are equal but for case, Unicode form, white space and punctuation
(``near_duplicate_key``), or if the Levenshtein distance of these keys is at most one edit per ``LETTERS`` letters of
the longer one. Only keys that share a rare trigram are compared: k edits change at most 3k trigrams, so two
near-duplicates share one among the rarest 3k + 1 of either (prefix filtering, Chaudhuri et al. 2006).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from rapidfuzz.distance import Levenshtein

from blindspot.texts import near_duplicate_key
from blindspot.types import CancelToken, Int64

LETTERS = 10  # one edit for so many
GRAM = 3
Gram = tuple[str, int]  # its letters, and how many of the same came before it in the text


def key_of(text: str) -> str:
    """The form in which texts are compared; of texts of nothing but punctuation, the text."""
    return near_duplicate_key(text) or " ".join(text.split())


def near(texts: Sequence[str], others: Iterable[str], cancel: CancelToken | None = None) -> list[bool]:
    """Which of ``texts`` have a near-duplicate among ``others``; raises ``Cancelled``."""
    theirs = list(dict.fromkeys(map(key_of, others)))
    text_keys = set(theirs)
    keys = [key_of(text) for text in texts]
    ours = list(dict.fromkeys(key for key in keys if key not in text_keys))
    duplicates = {ours[number] for number, _ in _similar(ours, theirs, cancel)}
    return [key in text_keys or key in duplicates for key in keys]


def groups(texts: Sequence[str], cancel: CancelToken | None = None) -> Int64:
    """A number for each text, ``[n]`` from 0: near-duplicates, directly or by way of others, share it; raises
    ``Cancelled``."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    keys = [key_of(text) for text in texts]
    distinct = list(dict.fromkeys(keys))
    number_of = {key: number for number, key in enumerate(distinct)}
    pairs = np.array(list(_similar(distinct, distinct, cancel)), dtype=np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(distinct), len(distinct)))
    _, label = connected_components(joined, directed=False)
    return np.asarray(label, dtype=np.int64)[[number_of[key] for key in keys]]


def _similar(ours: Sequence[str], theirs: Sequence[str], cancel: CancelToken | None) -> Iterator[tuple[int, int]]:
    """Places of similar, but not equal, keys of two lists of distinct ones."""
    cancel = cancel or CancelToken()
    counts = Counter[Gram]()
    for key in chain(ours, theirs):
        cancel.check()
        counts.update(_grams(key))
    index = defaultdict[Gram, list[int]](list)
    for number, key in enumerate(theirs):
        cancel.check()
        for gram in _rarest(key, counts):
            index[gram].append(number)
    for number, key in enumerate(ours):
        cancel.check()
        seen: set[int] = set()
        for gram in _rarest(key, counts):
            seen.update(index.get(gram, ()))
        for other in sorted(seen):
            longer = max(len(key), len(theirs[other]))
            if theirs[other] != key and LETTERS * Levenshtein.distance(key, theirs[other]) <= longer:
                yield number, other


def _rarest(key: str, counts: Mapping[Gram, int]) -> list[Gram]:
    """The rarest trigrams of a key, of which a near-duplicate has one; none of a key too short to have any."""
    edits = len(key) // (LETTERS - 1)  # a tenth of the longer key, which has as many letters more
    if not edits:
        return []
    return sorted(_grams(key), key=lambda gram: (counts[gram], gram))[: GRAM * edits + 1]


def _grams(key: str) -> list[Gram]:
    """Trigrams, numbered where they repeat, so that a list is a set."""
    seen: dict[str, int] = {}  # a Counter is slower
    out = []
    for start in range(len(key) - GRAM + 1):
        letters = key[start : start + GRAM]
        before = seen.get(letters, 0)
        out.append((letters, before))
        seen[letters] = before + 1
    return out
