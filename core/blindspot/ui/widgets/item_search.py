"""Search in the texts of a dataset; only a few are sent to the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz, process

from blindspot.datasets.kinds.base import Dataset
from blindspot.texts import same_text
from blindspot.ui.resources import cached

MOST_FOUND = 50
LEAST_ALIKE = 60.0  # of 100: below, a spelling has little to do with what was asked for
# A part of a text that is spelled like 900 characters takes a second for 20 texts of 1,000, and lets no other thread
# run meanwhile; one like 64 takes 0.03 ms a text.
MOST_SPELLED, TEXTS_AT_ONCE = 64, 500


class Way(StrEnum):
    """How items were found."""

    CONTAINS = "contain it"
    SPELLED = "are spelled alike"


@dataclass(frozen=True)
class Found:
    """Numbers of the items that match a search, the best first, at most ``MOST_FOUND`` of ``total``.

    By spelling only the shown ones are counted.
    """

    numbers: tuple[int, ...]
    total: int
    way: Way


def find_items(wanted: str, texts: Sequence[str], folded: Sequence[str]) -> Found:
    """Items whose text contains ``wanted`` (as ``same_text``): equal ones first, then those that begin with it, then
    shorter, then earlier ones. Where there is none, those that are spelled most alike, if ``wanted`` is short.

    ``folded`` is ``same_text`` of every text.
    """
    key = same_text(wanted)
    if not key:
        return Found((), 0, Way.CONTAINS)
    hits = [i for i, text in enumerate(folded) if key in text]
    if hits:
        hits.sort(key=lambda i: (texts[i] != wanted, folded[i] != key, not folded[i].startswith(key), len(texts[i]), i))
        return Found(tuple(hits[:MOST_FOUND]), len(hits), Way.CONTAINS)
    if len(key) > MOST_SPELLED:
        return Found((), 0, Way.CONTAINS)
    # Single words are compared as wholes; in a sentence the misspelt word is only a part.
    are_long = sum(map(len, folded)) > 2 * len(key) * len(folded)
    scorer = fuzz.partial_ratio if are_long else fuzz.ratio
    alike: list[tuple[float, int]] = []
    for start in range(0, len(folded), TEXTS_AT_ONCE):
        some = folded[start : start + TEXTS_AT_ONCE]
        best = process.extract(key, some, scorer=scorer, limit=MOST_FOUND, score_cutoff=LEAST_ALIKE)
        alike += [(-score, start + int(item)) for _, score, item in best]
    numbers = tuple(item for _, item in sorted(alike)[:MOST_FOUND])
    return Found(numbers, len(numbers), Way.SPELLED)


NOTHING = "No text contains this or is spelled like it."
NOTHING_LONG = f"No text contains this. Of up to {MOST_SPELLED} characters, similar spellings are found too."


def found_items(dataset: Dataset, wanted: str) -> Found:
    """The items that match; cached."""
    return _found(dataset, wanted)


def title_of(items_found: Found) -> str:
    """How many there are and how they match, for above them."""
    if items_found.way is Way.SPELLED:
        return f"No text contains this; {len(items_found.numbers)} with a similar spelling"
    title = f"{items_found.total:,} texts contain this" if items_found.total > 1 else "1 text contains this"
    return f"{title}; the first {len(items_found.numbers)}" if items_found.total > len(items_found.numbers) else title


@cached(3, shared=True)
def _folded(dataset: Dataset) -> list[str]:
    return [same_text(text) for text in dataset.items]


@cached(100)
def _found(dataset: Dataset, wanted: str) -> Found:
    return find_items(wanted, dataset.items, _folded(dataset))
