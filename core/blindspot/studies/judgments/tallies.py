"""Votes on a set as arrays, for scores, tests and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from blindspot.errors import InputError
from blindspot.studies.judgments.raters import rater_key
from blindspot.studies.judgments.types import NOT_ASKED, Item, ItemSet, Task, Vote
from blindspot.texts import numbered
from blindspot.types import Bool, Float64, Int64
from blindspot.variants import Variant

NO_VOTE, UNKNOWN = -2, -3  # instead of an option; different from NOT_ASKED


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes on n items, all of a set or some, by r raters.

    Attributes:
        raters: nicknames as first given; the same one is the same rater in all sessions.
        chosen: ``[n, r] int64``, number of the option, ``NO_VOTE``, or ``UNKNOWN`` for "I don't know these words".
        repeated: how many answers are left out because the rater answered the item before, in another session.
    """

    task: Task
    variants: tuple[Variant, ...]
    items: tuple[Item, ...]
    raters: tuple[str, ...]
    chosen: Int64
    repeated: int = 0

    @cached_property
    def own(self) -> Int64:
        """Each variant's own option or ``NOT_ASKED``, ``[n, v] int64``."""
        return np.array([item.own for item in self.items], dtype=np.int64).reshape(-1, len(self.variants))

    @cached_property
    def known(self) -> Bool:
        """Which votes count: the rater chose an option, ``[n, r]``."""
        return self.chosen >= 0

    @property
    def votes(self) -> int:
        return int(self.known.sum())

    @property
    def unknown(self) -> int:
        return int((self.chosen == UNKNOWN).sum())

    @cached_property
    def units(self) -> Int64:
        """Number of each item's query, ``[n]`` from 0: items of one query are not independent."""
        return numbered(item.query.text for item in self.items)[0]

    def votes_on(self, variant: int) -> Float64:
        """1 for a vote on an item that is about the variant, else 0; ``[n, r]``."""
        return np.asarray(self.known & (self.own[:, [variant]] != NOT_ASKED), dtype=np.float64)

    def hits_of(self, variant: int) -> Float64:
        """1 for a vote for the variant's own option, else 0; ``[n, r]``."""
        return np.asarray(self.known & (self.chosen == self.own[:, [variant]]), dtype=np.float64)

    def part(self, keep: Bool) -> Tally:
        """The tally of some of the items, ``keep [n]``."""
        items = tuple(item for item, kept in zip(self.items, keep, strict=True) if kept)
        return replace(self, items=items, chosen=self.chosen[keep])


def tally(items: ItemSet, votes: Sequence[Vote]) -> Tally:
    """Votes on a set, which are in order of time: a rater's first answer to an item counts.

    Raises:
        InputError: a vote is for an item or an option that the set does not have.
    """
    row = {item.item_no: row_number for row_number, item in enumerate(items.items)}
    names: dict[str, str] = {}
    for vote in votes:
        names.setdefault(rater_key(vote.rater), vote.rater)
    column = {key: row_number for row_number, key in enumerate(names)}
    chosen = np.full((len(row), len(column)), NO_VOTE, dtype=np.int64)
    repeated = 0
    for vote in votes:
        item_row = row.get(vote.item_no)
        if item_row is None or (vote.option is not None and not 0 <= vote.option < len(items.items[item_row].options)):
            raise InputError(
                f"there is a vote for option {vote.option} of item {vote.item_no} in the set {items.set_id}",
                expected=f"items and options of the set, which has {len(row)} items",
                remedy="bring the set and its votes again from where they were made",
            )
        cell = (item_row, column[rater_key(vote.rater)])
        if chosen[cell] != NO_VOTE:
            repeated += 1
        else:
            chosen[cell] = UNKNOWN if vote.option is None else vote.option
    return Tally(items.task, items.variants, items.items, tuple(names.values()), chosen, repeated)
