"""Who answers, and in which order they are asked: the same for a rater who comes back, another one for everybody else.

A nickname is no account: whoever gives the same one is the same rater. Orders are drawn from the set, the session and
the nickname, so that nothing needs to be stored and a rater who comes back goes on where they were. They go by sha256
alone: numpy may change what its generators make of a seed from one version to the next, and an update in the middle of
a session would deal the cards anew.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata

from core.errors import InputError
from core.studies.judgement.types import Ballot, Item, ItemSet

LONGEST_NAME = 40
BLOCK = 10  # queries whose items raters answer before they go on to others
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters and marks to Unicode, nothing to the eye


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
    if any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs", "Cn"} or c in _BLANK for c in name):
        raise InputError(
            "the nickname has characters that cannot be seen", expected="letters, digits, signs", remedy="type it anew"
        )
    if not any(c.isalnum() for c in name):
        raise InputError(f"the nickname '{shown}' has no letter or digit", expected="at least one", remedy="add one")
    return name


def rater_key(name: str) -> str:
    """What tells raters apart: spelling counts; capitals, and forms of a letter that look alike, do not."""
    key = "".join(c for c in name if not _is_selector(c))
    for _ in range(3):  # the capital of one form may be another form: twice is enough, a third time changes nothing
        key = unicodedata.normalize("NFKC", key).casefold()
    return unicodedata.normalize("NFKC", key)


def pseudonym(secret: bytes, set_id: str, name: str) -> str:
    """A name in place of a rater's, the same for all their votes on a set, of which nobody can tell the nickname.

    Args:
        secret: known to the server alone: whoever has it can try nicknames.
    """
    digest = hmac.new(secret, f"{set_id}\0{rater_key(name)}".encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"rater-{digest.hexdigest()[:12]}"


def item_order(items: ItemSet, ballot: Ballot) -> list[int]:
    """Numbers of all items in the order in which a rater is asked.

    All raters of a session go through the queries in the same blocks of ten, drawn at random, and each through the
    items of a block in an order of their own. So a few colleagues who answer thirty items each have answered the same
    ones, of all variants: only then there is agreement to measure, and there are pairs to compare.
    """
    queries = list(dict.fromkeys(item.query.text for item in items.items))
    together = _shuffled(len(queries), Ballot(ballot.set_id, ballot.session, ""), "queries")
    block = {queries[place]: number // BLOCK for number, place in enumerate(together)}
    own = _shuffled(len(items.items), ballot, "items")
    return [items.items[place].item_no for place in sorted(own, key=lambda p: block[items.items[p].query.text])]


def option_order(item: Item, ballot: Ballot) -> list[int]:
    """Numbers of an item's options in the order of their cards: uniform over all orders."""
    return _shuffled(len(item.options), ballot, f"options of {item.item_no}")


def _is_selector(c: str) -> bool:
    """Whether a character only chooses among the looks of the one before it."""
    return "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef"


def _shuffled(count: int, ballot: Ballot, what: str) -> list[int]:
    """The numbers below ``count`` in the order of their digests."""
    text = "\0".join([ballot.set_id, ballot.session, rater_key(ballot.rater), what])
    seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return sorted(range(count), key=lambda number: hashlib.sha256(seed + number.to_bytes(8, "big")).digest())
