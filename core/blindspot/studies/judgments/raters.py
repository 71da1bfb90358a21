"""Raters and the random order of their items and cards: the same for a rater who comes back, different for others.

A nickname is no account: everyone who gives it is the same rater. Orders follow from the set, the session and the
nickname by sha256, so nothing has to be stored. (numpy's generators may change with a version: an update in the middle
of a session would shuffle the cards again.)
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata

from blindspot.errors import InputError
from blindspot.studies.judgments.types import Ballot, Item, ItemSet

LONGEST_NAME = 40
BLOCK = 10  # queries whose items raters answer before the next queries
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # invisible letters and marks


def nickname(text: str) -> str:
    """A nickname in NFC with single spaces.

    Raises:
        InputError: it is empty, longer than 40 characters, has invisible characters, or no letter or digit.
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
    if any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs", "Cn"} or c in _BLANK for c in name):
        raise InputError(
            "the nickname has characters that cannot be seen", expected="letters, digits, signs", remedy="type it anew"
        )
    if not any(c.isalnum() for c in name):
        raise InputError(f"the nickname '{shown}' has no letter or digit", expected="at least one", remedy="add one")
    return name


def rater_key(name: str) -> str:
    """The key of a rater: the nickname's spelling, ignoring capitals and look-alike forms of a letter."""
    key = re.sub("[\ufe00-\ufe0f\U000e0100-\U000e01ef]", "", name)  # variation selectors
    for _ in range(3):  # the capital of one form may be another form; a third time changes nothing
        key = unicodedata.normalize("NFKC", key).casefold()
    return unicodedata.normalize("NFKC", key)


def pseudonym(secret: bytes, set_id: str, name: str) -> str:
    """A rater's name in all their votes on a set. Only the server may know the secret: it lets one try nicknames."""
    digest = hmac.new(secret, f"{set_id}\0{rater_key(name)}".encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"rater-{digest.hexdigest()[:12]}"


def item_order(items: ItemSet, ballot: Ballot) -> list[int]:
    """Numbers of all items in the order of a rater.

    All raters of a session go through the queries in the same random blocks of ten, and each through a block's items in
    an order of their own. So colleagues who answer thirty items each have answered the same ones, of all variants;
    otherwise there would be no agreement to measure, and no pairs to compare.
    """
    queries = list(dict.fromkeys(item.query.text for item in items.items))
    together = _shuffled(len(queries), Ballot(ballot.set_id, ballot.session, ""), "queries")
    block = {queries[index]: number // BLOCK for number, index in enumerate(together)}
    order = _shuffled(len(items.items), ballot, "items")
    return [items.items[index].item_no for index in sorted(order, key=lambda p: block[items.items[p].query.text])]


def option_order(item: Item, ballot: Ballot) -> list[int]:
    """Numbers of an item's options in the order of their cards, uniform over all orders."""
    return _shuffled(len(item.options), ballot, f"options of {item.item_no}")


def _shuffled(count: int, ballot: Ballot, what: str) -> list[int]:
    """The numbers below ``count`` in the order of their digests."""
    text = "\0".join([ballot.set_id, ballot.session, rater_key(ballot.rater), what])
    seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return sorted(range(count), key=lambda number: hashlib.sha256(seed + number.to_bytes(8, "big")).digest())
