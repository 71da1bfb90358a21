"""Items that people judge, and their votes (Schnabel et al. 2015, sections 3.3 and 4).

An item shows a few options. Every variant that the item is about has one of them as its *own*: in the intruder test
the intruder among its neighbors, in the comparative task the neighbor that it found. To choose it is to vote for the
variant, and every score is a share of votes. Variants that ask for the same thing share an item.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from blindspot.errors import InputError
from blindspot.variants import Variant

NOT_ASKED = -1  # instead of an option: the item is not about this variant
DIGITS = 12  # of a set's id


class Task(StrEnum):
    """What raters are asked."""

    INTRUDER = "intruder"  # which of four does not belong with the others? (section 4)
    COMPARATIVE = "comparative"  # which of these is most similar to the query? (section 3.3)


@dataclass(frozen=True)
class Query:
    """A word or sentence with neighbors to judge; unknown facts about it are ""."""

    text: str
    part_of_speech: str = ""  # adjective, adverb, noun or verb
    concreteness: str = ""  # abstract or concrete
    category: str = ""  # for readers


@dataclass(frozen=True)
class Item:
    """One question to a rater.

    Attributes:
        item_no: within its set, from 0.
        band: of the query: "rare", "medium" or "frequent"; of a sentence "short", "medium" or "long".
        k: rank of the neighbors that are compared; None in the intruder test.
        options: distinct texts in alphabetical order. In the intruder test the query is one.
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
    """Items made together, by one rule from one seed; never changed once stored.

    ``manifest`` is everything that decided the items and what was left out, as JSON (see ``making``).
    """

    task: Task
    title: str
    variants: tuple[Variant, ...]
    items: tuple[Item, ...]
    manifest: Mapping[str, Any]
    created_at: datetime

    @cached_property
    def set_id(self) -> str:
        """Digest of everything but the title and the time: the same items made again are the same set."""
        content = {
            "task": self.task,
            "variants": [str(v) for v in self.variants],
            "items": [
                [*astuple(i.query), i.band, i.k, list(i.options), list(i.own)]  # the order gives its number
                for i in self.items
            ],
            "manifest": dict(self.manifest),
        }
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class SetSummary:
    """A stored set with the numbers of its items, and of raters and votes in all sessions, "I don't know" included."""

    set_id: str
    task: Task
    title: str
    variants: tuple[Variant, ...]
    created_at: datetime
    items: int
    raters: int
    votes: int

    def as_json(self) -> dict[str, Any]:
        return vars(self) | {
            "variants": [str(variant) for variant in self.variants],
            "created_at": self.created_at.isoformat(),
        }


@dataclass(frozen=True)
class Vote:
    """A rater's answer to an item.

    Attributes:
        session: its name; "" outside of one.
        option: the chosen option's number; None for "I don't know these words".
        seconds: from the showing of the item to the answer; None if not measured.
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
    """A rater's answers to a set in a session."""

    set_id: str
    session: str
    rater: str


class Recorded(StrEnum):
    """Whether a vote was stored."""

    NEW = "new"
    ALREADY = "already"  # the rater answered the item before, perhaps in another tab: that answer is kept


@dataclass(frozen=True)
class RaterProgress:
    """How far a rater is with a set."""

    rater: str
    answered: int
    unknown: int  # of them "I don't know these words"
    last_at: datetime


@dataclass(frozen=True)
class Session:
    """Several people who judge the same sets, at most one per task, under one link.

    Raters see the results once these are revealed.
    """

    name: str
    sets: Mapping[Task, str]
    revealed: bool
    created_at: datetime


LONGEST = 40
_PLAIN = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")


def session_name(text: str) -> str:
    """A session's name without surrounding blanks.

    Raises:
        InputError: it is not 1 to 40 characters A to Z, digits, - and _: names are part of links.
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
