"""Who answers, and in which order they are asked: the same for a rater who comes back, another one for everybody else.

A nickname is no account: whoever gives the same one is the same rater. Orders are drawn from the set, the session and
the nickname, so that nothing needs to be stored and a rater who comes back goes on where they were.
"""

from __future__ import annotations

import hashlib
import unicodedata

import numpy as np

from core.errors import InputError
from core.judgement.types import Ballot, Item, ItemSet

LONGEST_NAME = 40


def nickname(text: str) -> str:
    """A nickname as it is kept: in NFC, with single spaces.

    Raises:
        InputError: it is empty, longer than 40 characters, or has control characters or nothing that can be read.
    """
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    shown = name if len(name) <= LONGEST_NAME else f"{name[:20]}…"
    if not name:
        raise InputError("there is no nickname", expected="a few letters", remedy="any name will do")
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"the nickname '{shown}' has {len(name)} characters",
            expected=f"at most {LONGEST_NAME}",
            remedy="shorten it",
        )
    if any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs", "Cn"} for c in name):
        raise InputError(
            "the nickname has characters that cannot be seen", expected="letters, digits, signs", remedy="type it anew"
        )
    if not any(c.isalnum() for c in name):
        raise InputError(f"the nickname '{shown}' has no letter or digit", expected="at least one", remedy="add one")
    return name


def rater_key(name: str) -> str:
    """What tells raters apart: spelling counts, capitals do not."""
    return unicodedata.normalize("NFKC", name).casefold()


def item_order(items: ItemSet, ballot: Ballot) -> list[int]:
    """Numbers of all items in the order in which a rater is asked: uniform over all orders."""
    order = _random(ballot, "items").permutation(len(items.items))
    return [items.items[i].item_no for i in order]


def option_order(item: Item, ballot: Ballot) -> list[int]:
    """Numbers of an item's options in the order of their cards: uniform over all orders."""
    return [int(i) for i in _random(ballot, f"options of {item.item_no}").permutation(len(item.options))]


def _random(ballot: Ballot, what: str) -> np.random.Generator:
    text = "\0".join([ballot.set_id, ballot.session, rater_key(ballot.rater), what])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:16], "big"))
