"""Text functions: keys for equality, word differences, lexical overlap, numbers in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, lru_cache
from unicodedata import category, normalize

import numpy as np

from blindspot.types import Float64, Int64

_PIECES = re.compile(r"\s+|\w+(?:['’-]\w+)*|[^\w\s]")  # together they are the whole text
MOST_WAYS = 20_000  # pairs of equal words of two texts that are aligned one by one: 0.3 s at most
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot)\b|n ?['’] ?t\b", re.IGNORECASE
)

WORDS = 0.9  # share of one-word texts from which on they are words, not sentences


def are_words(texts: Iterable[str]) -> bool:
    """Whether texts are words rather than sentences: nine in ten distinct ones have no white space inside."""
    distinct = set(texts)
    return bool(distinct) and sum(len(text.split()) <= 1 for text in distinct) >= WORDS * len(distinct)


# --- equality, one function per purpose


def caseless(text: str) -> str:
    """A text without case and Unicode form: "É" in one character or in two is "é"."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFD", text).casefold())


def one_form(text: str) -> str:
    """Key of texts that are the same but for their Unicode form."""
    return normalize("NFC", text)


def same_text(text: str) -> str:
    """``caseless`` with runs of white space as one space; for splits, leaks, repetitions and searches."""
    return " ".join(caseless(text).split())


def numbered(*columns: Iterable[str]) -> tuple[Int64, ...]:
    """A number per text, ``[m]`` for each column, in order of appearance: texts that are the ``same_text`` share it.

    Pairs that share a text depend on each other (``numerics.statistics.pairs``), whatever they are used for.
    """
    numbers: dict[str, int] = {}
    return tuple(
        np.array([numbers.setdefault(same_text(text), len(numbers)) for text in column], dtype=np.int64)
        for column in columns
    )


@lru_cache(maxsize=1 << 14)  # the texts of a page, for each of its models
def near_duplicate_key(text: str) -> str:
    """Key of texts that differ only in case, Unicode form, white space, punctuation and invisible characters.

    "" if a text has nothing else. Letters, marks (accents, vowel signs), digits and symbols count, and punctuation that
    is read out: # % & @ § and primes, marks between two digits, a minus or point that begins a number, operators such
    as != and ->. For filtered ranks, neighbor lists of judgments, and texts of a training set.
    """
    out: list[str] = []
    gap = ""  # characters left out since the last one that counts
    for c in caseless(text):
        if _ignored(c):
            gap += c
            continue
        if gap:
            out.append(_read_out(out[-1] if out else "", gap, c))
            gap = ""
        out.append(c)
    return "".join(out)


def containing(texts: Iterable[str], wanted: str) -> list[bool]:
    """Which texts contain ``wanted``, whatever its case and Unicode form."""
    key = caseless(wanted)
    return [key in caseless(text) for text in texts]


def column_key(name: str) -> str:
    """Key of column names: letters and digits, whatever their case."""
    return "".join(c for c in caseless(name) if c.isalnum())


_READ_OUT = frozenset("#%&@§‰‱′″‴⁗٪؉؊﹟﹠﹪﹫＃％＆＠")  # punctuation by Unicode, symbols to a reader
_QUOTES = frozenset("`´")  # symbols by Unicode, quotation marks and apostrophes to a reader
_HYPHENS = frozenset("-‐‑–﹣－")
_OPERATORS = frozenset("!:-/")  # before = or >
_JOINER = "\u200d"  # invisible, but it makes one emoji of several, and another letter in some scripts


@cache
def _ignored(c: str) -> bool:
    """Whether a character does not count by itself."""
    match category(c):
        case "Cc" | "Zs" | "Zl" | "Zp":
            return True
        case "Cf":  # not the tags that tell one flag from another
            return c != _JOINER and not "\U000e0020" <= c <= "\U000e007f"
        case "Mn":  # variation selectors: they only choose among the looks of one character
            return "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef"
        case "Sk":
            return c in _QUOTES
        case kind:
            return kind.startswith("P") and c not in _READ_OUT


def _read_out(before: str, gap: str, after: str) -> str:
    """The part of ``gap`` (characters that do not count by themselves) that counts between these two."""
    last = gap[-1]
    if before.isdecimal() and after.isdecimal():
        marks = "".join("\N{MINUS SIGN}" if c in _HYPHENS else c for c in gap if category(c)[0] == "P")
        return marks or (" " if any(c.isspace() for c in gap) else "")
    if after.isdecimal() and (last == "." or last in _HYPHENS):
        left = gap[-2:-1] or before
        if not left or left.isspace() or left in "\"'" or category(left) in {"Ps", "Pi"} or category(left)[0] == "S":
            return "." if last == "." else "\N{MINUS SIGN}"
    return last if after in {"=", ">"} and last in _OPERATORS else ""


# --- word differences


class Change(StrEnum):
    """A part of a text was kept, removed or added."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True)
class Segment:
    """A part of two texts: the first consists of kept and removed parts, the second of kept and added ones."""

    text: str
    change: Change


def word_changes(before: str, after: str) -> tuple[Segment, ...]:
    """The changes from ``before`` to ``after``, word by word; a removed part comes before what replaces it.

    Kept and removed parts make up ``before``, kept and added ones ``after``, letter by letter. Only whole words change,
    so that a typo marks its word. A space between two changed words belongs to them. If texts repeat a few words so
    often that comparing them would take long, everything between their common beginning and end counts as changed.
    """
    pieces, other = _PIECES.findall(before), _PIECES.findall(after)
    out: list[Segment] = []
    removed, added = "", ""
    codes = _alignment(pieces, other)
    for number, (tag, i, j, k, m) in enumerate(codes):
        kept = "".join(pieces[i:j]) if tag == "equal" else ""
        is_between = bool(kept) and kept.isspace() and 0 < number < len(codes) - 1
        if kept and not is_between:
            out += _changed(removed, added)
            out.append(Segment(kept, Change.KEPT))
            removed, added = "", ""
        else:
            removed, added = removed + "".join(pieces[i:j]), added + "".join(other[k:m])
    return _joined([*out, *_changed(removed, added)])


def _alignment(pieces: Sequence[str], other: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """``SequenceMatcher.get_opcodes``, without its minute for a thousand equal words."""
    ways = Counter(piece for piece in pieces if not piece.isspace())
    often = Counter(piece for piece in other if not piece.isspace())
    if sum(count * often[piece] for piece, count in ways.items()) <= MOST_WAYS:
        # Spaces are no anchor: two texts would otherwise be aligned by where their spaces are.
        return SequenceMatcher(str.isspace, pieces, other, autojunk=False).get_opcodes()
    start = _equal_until(pieces, other)
    end = _equal_until(pieces[start:][::-1], other[start:][::-1])
    i, j, k, m = start, len(pieces) - end, start, len(other) - end
    tag = "replace" if i < j and k < m else "delete" if i < j else "insert"
    codes = [("equal", 0, i, 0, k), (tag, i, j, k, m), ("equal", j, len(pieces), m, len(other))]
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _equal_until(pieces: Sequence[str], other: Sequence[str]) -> int:
    """Length of the common beginning, in pieces."""
    return next(
        (i for i, (a, b) in enumerate(zip(pieces, other, strict=False)) if a != b), min(len(pieces), len(other))
    )


Ranges = tuple[tuple[int, int], ...]  # of a text's characters, as (start, end)


def changed_ranges(before: str, after: str) -> tuple[Ranges, Ranges]:
    """What ``word_changes`` removed from ``before``, and what it added to ``after``, without the spaces at its ends."""
    places = {Change.REMOVED: 0, Change.ADDED: 0}
    ranges: dict[Change, list[tuple[int, int]]] = {change: [] for change in places}
    for segment in word_changes(before, after):
        for change in places if segment.change is Change.KEPT else (segment.change,):
            start = places[change]
            places[change] = start + len(segment.text)
            if segment.change is not Change.KEPT and (word := segment.text.strip()):
                first = start + segment.text.index(word)
                ranges[change].append((first, first + len(word)))
    return tuple(ranges[Change.REMOVED]), tuple(ranges[Change.ADDED])


CHANGE_WITHIN, BEFORE_CHANGE = 40, 16  # characters


def from_change(text: str, other: str) -> str:
    """``text`` from a little before its first difference from ``other``, if a narrow cell would not show that.

    Both texts of a pair are cut at the same place.
    """
    first = [ranges[0] for ranges in changed_ranges(other, text) if ranges]
    if not first or max(end for _, end in first) <= CHANGE_WITHIN:
        return text
    start = text.rfind(" ", 0, max(0, min(begin for begin, _ in first) - BEFORE_CHANGE)) + 1
    return f"… {text[start:]}" if start else text


def _changed(removed: str, added: str) -> list[Segment]:
    """Segments of a change; spaces that both sides begin or end with are kept."""
    start = 0
    while start < min(len(removed), len(added)) and removed[start] == added[start] and removed[start].isspace():
        start += 1
    head, removed, added = removed[:start], removed[start:], added[start:]
    end = 0
    while end < min(len(removed), len(added)) and removed[-1 - end] == added[-1 - end] and removed[-1 - end].isspace():
        end += 1
    tail = removed[len(removed) - end :]
    removed, added = removed[: len(removed) - end], added[: len(added) - end]
    parts = ((head, Change.KEPT), (removed, Change.REMOVED), (added, Change.ADDED), (tail, Change.KEPT))
    return [Segment(text, change) for text, change in parts if text]


def _joined(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Adjacent segments of one kind as one."""
    out: list[Segment] = []
    for segment in segments:
        if out and out[-1].change is segment.change:
            out[-1] = Segment(out[-1].text + segment.text, segment.change)
        else:
            out.append(segment)
    return tuple(out)


# --- words: parts between spaces, as ``near_duplicate_key``: "isn't" is one word, a dash alone none, a plus sign one


def words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, repetitions included."""
    return tuple(word for part in text.split() if (word := near_duplicate_key(part)))


def length(text: str) -> int:
    """The number of words in a text."""
    return len(words(text))


def is_negated(text: str) -> bool:
    """Whether an English text has a word of negation."""
    return _NEGATION.search(text) is not None


def lexical_overlap(queries: Sequence[str], matches: Sequence[str]) -> Float64:
    """Jaccard overlap of the distinct words of ``queries[i]`` and ``matches[i]``, ``[m] float64`` from 0 to 1.

    NaN if neither text has a word.
    """
    words_of: dict[str, frozenset[str]] = {}

    def distinct(text: str) -> frozenset[str]:
        if text not in words_of:
            words_of[text] = frozenset(words(text))
        return words_of[text]

    out = np.full(len(queries), np.nan)
    for i, (query, match) in enumerate(zip(queries, matches, strict=True)):
        a, b = distinct(query), distinct(match)
        if either := len(a | b):
            out[i] = len(a & b) / either
    return out


# --- titles in sentences

_PEOPLE = ("Kendall", "Pearson", "Spearman")


def first_upper(text: str) -> str:
    """A text that begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def in_sentence(title: str) -> str:
    """A score's title within a sentence: ``mean nDCG@10``; names and abbreviations keep their capitals."""
    first = re.split(r"[ ,]", title, maxsplit=1)[0]
    is_name = first in _PEOPLE or not first.isalpha() or not first[1:].islower()
    return title if is_name else f"{title[:1].lower()}{title[1:]}"


# --- numbers in words


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2,000 files``."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def duration(seconds: float) -> str:
    """A length of time for people: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def listed(names: Sequence[str], last: str = "and") -> str:
    """``a, b and c``; ``last``: what comes before the last one."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)
