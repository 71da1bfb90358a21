"""English as the rules need it: words, sentences, inflection, and whether a text is English at all.

Closed lists of words replace a tagger: a tagger trained on CoNLL-2000 would need that corpus (or a model made from it)
on every machine, NLTK's and spaCy's models are downloads, and none is a package here. A rule that only reads listed
words changes fewer texts, but it gives the reason for each text that it passes over, works offline, has no dependency,
and is rarely wrong: yields and precision are in ``docs/guides/make-minimal-pairs.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from unicodedata import name as unicode_name

from blindspot.datasets.perturbations import lexicon

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])")
_END_IN_ANY_CASE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？।۔؟])\s*(?=\S)")
_ABBREVIATIONS = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co|U\.S|U\.K|[A-Z])|\b[ap]\.m)\.$"
)
_VOWELS = frozenset("aeiou")


@dataclass(frozen=True)
class Word:
    """A word of a text and its place, ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


def words(text: str) -> list[Word]:
    """The words of letters in a text; a contraction is one word."""
    return [Word(match[0], match.start(), match.end()) for match in WORD.finditer(text)]


def sentences(text: str, *, any_case: bool = False) -> list[tuple[int, int]]:
    """Start and end of each sentence; abbreviations do not end a sentence.

    ``any_case``: a sentence need not begin with a capital letter or a digit, and ends of other scripts count, too.
    """
    out, start = [], 0
    for match in (_END_IN_ANY_CASE if any_case else _END).finditer(text):
        if not _ABBREVIATIONS.search(text[start : match.start()].rstrip("\"'”’)")):
            out.append((start, match.start()))
            start = match.end()
    return [*out, (start, len(text))]


def starts(text: str) -> frozenset[int]:
    """Places of the first word of every sentence."""
    positions = []
    for start, end in sentences(text):
        if first := WORD.search(text, start, end):
            positions.append(first.start())
    return frozenset(positions)


def is_question(text: str) -> bool:
    return text.rstrip("\"'”’) ").endswith("?")


def replaced(text: str, start: int, end: int, new: str) -> str:
    return f"{text[:start]}{new}{text[end:]}"


def like(new: str, old: str) -> str:
    """``new`` with a capital first letter, or in capitals, if ``old`` is so."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return f"{new[0].upper()}{new[1:]}" if old[0].isupper() else new


def why_not(text: str) -> str:
    """The reason why English rules cannot read a text; "" if they may."""
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return "no letters"
    if script := next((_script(c) for c in letters if _script(c) != "Latin"), ""):
        return f"letters of another script ({script})"
    lower = [word.lower for word in words(text)]
    ours = sum(word in lexicon.ENGLISH for word in lower)
    for language, listed in _foreign().items():
        theirs = sum(word in listed for word in lower)
        if theirs >= 2 and theirs > ours:
            return f"it looks {language}, and the rule is English"
    if len(lower) >= 6 and not ours:
        return "no frequent English word in it, and the rule is English"
    return ""


@cache
def _foreign() -> dict[str, frozenset[str]]:
    return {language: frozenset(listed.split()) for language, listed in lexicon.FOREIGN.items()}


@cache
def _script(letter: str) -> str:
    """``Latin``, ``Cyrillic``, ... by the letter's Unicode name; letters that all scripts share count as Latin."""
    first = unicode_name(letter, "unnamed").split()[0].capitalize()
    return "Latin" if first in {"Latin", "Feminine", "Masculine", "Modifier", "Micro", "Fullwidth"} else first


# --- verbs


def third(base: str) -> str:
    """``goes``, ``tries``, ``works``."""
    if base in {"have", "be"}:
        return {"have": "has", "be": "is"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base[-1] == "y" and base[-2] not in _VOWELS else f"{base}s"


def past(base: str) -> str:
    if base in lexicon.IRREGULAR:
        return lexicon.IRREGULAR[base][0]
    if base in lexicon.DOUBLED:
        return f"{base}{base[-1]}ed"
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if base[-1] == "y" and base[-2] not in _VOWELS else f"{base}ed"


@cache
def bases() -> frozenset[str]:
    return frozenset(lexicon.REGULAR) | frozenset(lexicon.IRREGULAR) - {"be"}


@cache
def pasts() -> dict[str, str]:
    """Base by past form, without forms that equal their base, since nothing tells the two apart."""
    return {past(base): base for base in sorted(bases()) if past(base) != base}


@cache
def thirds() -> dict[str, str]:
    return {third(base): base for base in sorted(bases())}


@cache
def participles() -> frozenset[str]:
    return frozenset({parts[1] for parts in lexicon.IRREGULAR.values()} | {past(base) for base in lexicon.REGULAR})


@cache
def only_past() -> frozenset[str]:
    """Past forms that are not participles: ``went``, not ``walked``."""
    return frozenset(pasts()) - participles()
