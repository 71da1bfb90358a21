"""The nouns of human judgement: items that people judge, and their votes (Schnabel et al. 2015, sections 3.3 and 4).

Both tasks have one shape. An item shows a few options; every variant that the item is about has one of them as its
*own*: in the intruder test the intruder that it set among its neighbours, in the comparative task the neighbour that
it found. Who chooses it has voted for the variant. So two variants that ask for the same thing share an item, and
every score is a share of votes for one's own option.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from core.errors import InputError
from core.types import Variant

NOT_ASKED = -1  # in place of an option: the item is not about this variant
DIGITS = 12  # of a set's id


class Task(StrEnum):
    """What raters are asked."""

    INTRUDER = "intruder"  # which of four does not belong with the others? (section 4)
    COMPARATIVE = "comparative"  # which of these is most similar to the query? (section 3.3)


@dataclass(frozen=True)
class Query:
    """A word or sentence whose neighbours are judged; "" where nothing is known of it.

    Attributes:
        part_of_speech: "adjective", "adverb", "noun" or "verb".
        concreteness: "abstract" or "concrete".
        category: of the inventory, for readers.
    """

    text: str
    part_of_speech: str = ""
    concreteness: str = ""
    category: str = ""


@dataclass(frozen=True)
class Item:
    """What a rater sees at once, and what it says about the variants.

    Attributes:
        item_no: within its set, from 0.
        band: of the query by frequency ("rare", "medium", "frequent"), of sentences by length ("short", "medium",
            "long").
        k: rank of the neighbours that are compared; None in the intruder test.
        options: distinct texts in alphabetical order, which says nothing. In the intruder test the query is one.
        own: per variant of the set the number of its own option, or ``NOT_ASKED``.
    """

    item_no: int
    query: Query
    band: str
    k: int | None
    options: tuple[str, ...]
    own: tuple[int, ...]


@dataclass(frozen=True)
class ItemSet:
    """Items that were made together, by one rule from one seed; never changed once stored.

    Attributes:
        manifest: what decided the items and what was left out, as JSON: ``version`` of the rules, ``dataset``,
            ``dataset_digest``, ``metric``, ``inventory`` (its title), ``rule``, ``seed``, ``embeddings`` (a digest per
            variant), ``skipped`` (queries per reason).
    """

    task: Task
    title: str
    variants: tuple[Variant, ...]
    items: tuple[Item, ...]
    manifest: Mapping[str, Any]
    created_at: datetime

    @cached_property
    def set_id(self) -> str:
        """Digest of the task, the variants, the items and the manifest: the same items made again are the same set."""
        content = {
            "task": self.task,
            "variants": [str(v) for v in self.variants],
            "items": [
                [*astuple(i.query), i.band, i.k, list(i.options), list(i.own)]  # its number is its place
                for i in self.items
            ],
            "manifest": dict(self.manifest),
        }
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class SetSummary:
    """A stored set without its items, for lists.

    Attributes:
        raters, votes: over all sessions, "I don't know" included.
    """

    set_id: str
    task: Task
    title: str
    variants: tuple[Variant, ...]
    created_at: datetime
    items: int
    raters: int
    votes: int


@dataclass(frozen=True)
class Vote:
    """A rater's answer to an item.

    Attributes:
        session: name of the session; "" outside of one.
        option: number of the chosen option; None for "I don't know these words".
        seconds: from the item's showing to the answer; None where it was not measured.
        voted_at: UTC.
    """

    session: str
    rater: str
    item_no: int
    option: int | None
    seconds: float | None
    voted_at: datetime


@dataclass(frozen=True)
class Ballot:
    """Who answers which set in which session: what a rater's answers are kept apart by."""

    set_id: str
    session: str
    rater: str


class Recorded(StrEnum):
    """What became of a vote."""

    NEW = "new"
    ALREADY = "already"  # the rater has answered the item before, perhaps in another tab: that answer stands


@dataclass(frozen=True)
class RaterProgress:
    """How far a rater is with a set."""

    rater: str
    answered: int
    unknown: int  # of them "I don't know these words"
    last_at: datetime


@dataclass(frozen=True)
class Session:
    """Several people who judge the same sets under one link.

    Attributes:
        sets: the set of each task that it has; at least one.
        revealed: whether raters may see the results.
    """

    name: str
    sets: Mapping[Task, str]
    revealed: bool
    created_at: datetime


def pick(votes: Sequence[Vote], session: str | None) -> list[Vote]:
    """The votes of one session ("" for those outside of any); None for all."""
    return [vote for vote in votes if session is None or vote.session == session]


# Names of sessions: they stand in links, so they are plain.

LONGEST = 40
_PLAIN = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")


def session_name(text: str) -> str:
    """A session's name as it is kept: without blanks around it.

    Raises:
        InputError: it is empty, longer than 40 characters, or has other characters than A to Z, digits, - and _.
    """
    name = text.strip()
    if _PLAIN.fullmatch(name):
        return name
    shown = name if len(name) <= LONGEST else f"{name[:20]}…"
    raise InputError(
        f"'{shown}' cannot be a session's name" if name else "the session has no name",
        expected=f"1 to {LONGEST} letters (A to Z), digits, - and _: it stands in the link",
        remedy="for example team-meeting",
    )
