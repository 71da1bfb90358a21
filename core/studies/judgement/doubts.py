"""Raters who cannot have read what they answered: by the seconds that they took, and by where on screen they clicked.

Nobody is left out by this alone. A nickname is no account, so that one person can be many raters; what such a person
saves is the reading.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

from core.studies.judgement.raters import option_order, rater_key
from core.studies.judgement.types import Ballot, ItemSet, Vote

LEAST_ANSWERS = 5  # fewer say nothing of a rater
FAST_SECONDS = 1.5  # to read the words of an item, weigh them and point at one
RARE = 1e-6  # a pattern that chance gives one rater in a million


@dataclass(frozen=True)
class Doubt:
    """A rater, and what speaks against them.

    Attributes:
        key: what tells them apart from others.
        seconds: the median over their answers; None where none was measured.
        is_fast: whether that is less than reading takes.
        place: the card, from 1, that they chose again and again although cards are shuffled; None where they did not.
        at_place: how many of their answers were there.
    """

    key: str
    rater: str
    answers: int
    seconds: float | None
    is_fast: bool
    place: int | None
    at_place: int


def doubts(items: ItemSet, votes: Sequence[Vote]) -> list[Doubt]:
    """Raters in doubt, those with most answers first."""
    by_rater: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_rater[rater_key(vote.rater)].append(vote)
    found = []
    for key, own in by_rater.items():
        if len(own) < LEAST_ANSWERS:
            continue
        measured = [vote.seconds for vote in own if vote.seconds is not None]
        seconds = median(measured) if len(measured) >= LEAST_ANSWERS else None
        is_fast = seconds is not None and seconds < FAST_SECONDS
        place, at_place = _pattern(items, own)
        if is_fast or place is not None:
            found.append(Doubt(key, own[0].rater, len(own), seconds, is_fast, place, at_place))
    return sorted(found, key=lambda doubt: (-doubt.answers, doubt.key))


def _pattern(items: ItemSet, votes: Sequence[Vote]) -> tuple[int | None, int]:
    """The card that was chosen far more often than chance puts the same answer there, and how often.

    Cards are shuffled for every rater: whoever reads chooses each of k places with 1/k. With n answers, c of them at
    the most frequent place, that is less likely than ``k * P(Binomial(n, 1/k) >= c)``.
    """
    places: Counter[int] = Counter()
    fewest = 2**31
    for vote in votes:
        if vote.option is None:
            continue
        item = items.items[vote.item_no]
        order = option_order(item, Ballot(items.set_id, vote.session, vote.rater))
        places[order.index(vote.option) + 1] += 1
        fewest = min(fewest, len(item.options))
    if not places:
        return None, 0
    place, count = places.most_common(1)[0]
    return (place, count) if fewest * _at_least(count, places.total(), 1 / fewest) < RARE else (None, 0)


def _at_least(count: int, n: int, p: float) -> float:
    """P(Binomial(n, p) >= count)."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1))
