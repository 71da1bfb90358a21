"""Rule that changes one thing in a text, and its two outcomes: the changed text, or why the text was passed over."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from blindspot.datasets.perturbations import english

LONGEST = 4_000  # characters of a text that rules read: a page


class Meaning(StrEnum):
    """What a rule does to the meaning of a text."""

    KEPT = "kept"
    CHANGED = "changed"


@dataclass(frozen=True)
class Changed:
    """A changed text, and the change in words: ``before → after``."""

    text: str
    said: str


@dataclass(frozen=True)
class Passed:
    """Why a rule passed over a text: half a sentence."""

    why: str


@dataclass(frozen=True)
class Context:
    """What a rule may use besides the text.

    Attributes:
        random: seeded with the seed, the kind and the text, so that other texts and other kinds do not matter.
        names: names found in the whole file, by what they name (``names.in_texts``).
    """

    random: random.Random
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Change = Callable[[str, Context], Changed | Passed]


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        name: unique name of the rewrites that it makes.
        kind: what people ask for, such as ``position``; rules that differ only in a number share a kind.
        meaning: whether its rewrites mean what the original does.
        what: the change, in words.
        is_english: whether it reads English words; other texts are passed over.
    """

    name: str
    kind: str
    meaning: Meaning
    what: str
    is_english: bool
    change: Change

    @property
    def keeps(self) -> bool:
        return self.meaning is Meaning.KEPT

    def apply(self, text: str, seed: int = 0, names: Mapping[str, tuple[str, ...]] | None = None) -> Changed | Passed:
        """The changed text, or why there is none; the same for the same text, seed and names."""
        if len(text) > LONGEST:
            return Passed(f"more than {LONGEST:,} characters")
        if self.is_english and (why := english.why_not(text)):
            return Passed(why)
        digest = hashlib.sha256(f"{seed}\0{self.kind}\0{text}".encode(errors="surrogatepass")).digest()
        drawn = random.Random(digest)  # noqa: S311 - no secret
        outcome = self.change(text, Context(drawn, names or {}))
        if isinstance(outcome, Changed) and outcome.text == text:
            return Passed("the change would leave it as it is")
        return outcome
