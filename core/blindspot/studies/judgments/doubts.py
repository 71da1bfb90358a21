"""Raters who cannot have read the items: their answers came too fast, or always from the same place on the screen.

A nickname is no account, so one person can be many raters. Nobody is left out for these doubts alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from blindspot.studies.judgments.raters import option_order, rater_key
from blindspot.studies.judgments.types import Ballot, ItemSet, Vote

LEAST_ANSWERS = 5  # with fewer there is no doubt
FAST_SECONDS = 1.5  # too few to read the words of an item and choose one
RARE = 1e-6  # chance of a suspicious pattern


@dataclass(frozen=True)
class Doubt:
    """A rater in doubt.

    Attributes:
        key: ``rater_key`` of the nickname.
        seconds: the median over their answers; None if too few were measured.
        is_fast: whether that is less than reading takes.
        place: the card, from 1, that they chose suspiciously often, ``at_place`` times; None without such a card.
    """

    key: str
    rater: str
    answers: int
    seconds: float | None
    is_fast: bool
    place: int | None
    at_place: int


def doubts(items: ItemSet, votes: Sequence[Vote]) -> list[Doubt]:
    """Raters in doubt, those with the most answers first."""
    by_rater: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_rater[rater_key(vote.rater)].append(vote)
    raters = []
    for key, votes_of_rater in by_rater.items():
        if len(votes_of_rater) < LEAST_ANSWERS:
            continue
        measured = [vote.seconds for vote in votes_of_rater if vote.seconds is not None]
        seconds = median(measured) if len(measured) >= LEAST_ANSWERS else None
        is_fast = seconds is not None and seconds < FAST_SECONDS
        position, at_place = _pattern(items, votes_of_rater)
        if is_fast or position is not None:
            raters.append(
                Doubt(key, votes_of_rater[0].rater, len(votes_of_rater), seconds, is_fast, position, at_place)
            )
    return sorted(raters, key=lambda doubt: (-doubt.answers, doubt.key))


def _pattern(items: ItemSet, votes: Sequence[Vote]) -> tuple[int | None, int]:
    """The card that was chosen more often than chance explains, and how often.

    Cards are shuffled, so a rater who reads chooses each of k places with probability 1/k. The chance of c or more of n
    answers at one place is at most ``k * P(Binomial(n, 1/k) >= c)``.
    """
    from scipy.stats import binom

    places: Counter[int] = Counter()
    fewest = 2**31  # options of an item
    for vote in votes:
        if vote.option is None:
            continue
        item = items.items[vote.item_no]
        order = option_order(item, Ballot(items.set_id, vote.session, vote.rater))
        places[order.index(vote.option) + 1] += 1
        fewest = min(fewest, len(item.options))
    if not places:
        return None, 0
    position, count = places.most_common(1)[0]
    chance = fewest * binom.sf(count - 1, places.total(), 1 / fewest)
    return (position, count) if chance < RARE else (None, 0)
