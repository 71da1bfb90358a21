"""Remarks on texts of a user's file or folder that may not be what was meant; they are taken as written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from unicodedata import category

from blindspot.datasets.user_data import judged
from blindspot.datasets.user_data.columns import MISSING
from blindspot.texts import counted

MANY_TEXTS = 5  # different ones, which do not begin alike by chance
_FEW = 0.1
_LONGEST_NUMBER = 64  # characters; to look at longer texts took most of the time
_LIST = re.compile(r"""\s*\[\s*(["']).*\1\s*\]\s*""", re.DOTALL)
_ESCAPES = {  # the signs with which they begin, and what writes them
    re.compile(
        r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{2,6}|#x[0-9a-fA-F]{2,5});"
        r"|</?(?:a|b|br|code|div|em|i|li|p|pre|span|strong|u|ul)(?:\s[^<>]*=[^<>]*)?\s?/?>"
    ): ("&<", "HTML"),
    re.compile(r"""(?<!\\)\\(?:[nrt](?![a-z])|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|["'])"""): ("\\", "JSON"),
}
_OF_SENTENCES = frozenset("¿ ¡ \" ' “ „ « ( [".split())  # with which texts may begin by chance
_LEAST_CUT = 50  # characters: shorter ones are often of one length
_MOST_CUT = 0.95  # of the texts; if there are more, they may be made so
_ENDS = tuple(".!?\"')]}”’»。！？…")  # of a sentence


def about_texts(of: str, texts: Sequence[str], *, may_be_words: bool = True) -> Iterator[str]:
    """Remarks, a phrase each.

    Args:
        of: whose texts they are: ``of column 'query'``.
        may_be_words: whether texts without a space may be a list of words, of which ``nan`` may be one.
    """
    if not may_be_words or 2 * sum(" " in text.strip() for text in texts) >= len(texts):
        missing = [text.strip() for text in texts if text.strip().casefold() in MISSING]
        if missing:
            yield (
                f"{counted(len(missing), 'text')} {of} that may stand for nothing, taken as written: "
                f"{', '.join(repr(text) for text in dict.fromkeys(missing))}"
            )
        filled = [stripped for text in texts if (stripped := text.strip()).casefold() not in MISSING]
        numbers = [text for text in filled if len(text) <= _LONGEST_NUMBER and judged.is_number(text)]
        if 0 < len(numbers) <= max(len(texts) * _FEW, 1):
            yield f"{counted(len(numbers), 'text')} {of} that is only a number, taken as written: {numbers[0]!r}"
    if texts and all(text[:1] == text[-1:] == "'" and len(text) > 1 for text in map(str.strip, texts)):
        yield f'texts {of} are in single quotes, which are read as part of them; quotes of a table are "'
    elif begun := _beginning(texts):
        yield f"all texts {of} begin with {begun!r}, which is part of them"
    for written, (signs, source) in _ESCAPES.items():
        may_be = (text for text in texts if any(sign in text for sign in signs))
        if escaped := [sign for text in may_be if (sign := written.search(text))]:
            yield (
                f"{counted(len(escaped), 'text')} {of} with characters as in {source}, taken as written: "
                f"'{escaped[0][0]}'"
            )
    lists = list(filter(_LIST.fullmatch, texts))
    if 0 < len(lists) < len(texts):
        yield (
            f"{counted(len(lists), 'text')} {of} written like a list and taken as one text, since others are none: "
            f"{lists[0][:40]!r}"
        )
    if wrong := next(filter(_is_misread, texts), ""):
        yield f"texts {of} seem to be UTF-8 that was read as something else: {wrong[:40]!r}"
    yield from _about_cut(of, texts)


def _about_cut(of: str, texts: Sequence[str]) -> Iterator[str]:
    """A remark on texts that seem to have been cut where they were written: the longest, all of one length, most of
    which do not end like a sentence."""
    different = {text.rstrip("\n") for text in texts}
    measures: dict[str, Callable[[str], int]] = {"characters": len, "bytes": lambda text: len(text.encode())}
    for unit, measure in measures.items():
        lengths = {text: measure(text) for text in different}
        longest = max(lengths.values(), default=0)
        cut = [text for text, length in lengths.items() if length == longest]
        if longest < _LEAST_CUT or not MANY_TEXTS <= len(cut) <= _MOST_CUT * len(different):
            continue
        nearly = [sum(longest - less == length for length in lengths.values()) for less in (1, 2, 3)]
        unfinished = sum(text.endswith(("...", "…")) or not text.rstrip().endswith(_ENDS) for text in cut)
        if len(cut) > 3 * max(nearly) and 2 * unfinished > len(cut):
            yield (
                f"{counted(len(cut), 'text')} {of} are the longest, all of exactly {longest:,} {unit}, and may have "
                f"been cut there: ...{cut[0][-20:]!r}"
            )
            return


def _beginning(texts: Sequence[str]) -> str:
    """What all texts begin with, up to its last sign: a prompt (``query:``), a tag (``<p>``), Python's ``b'``; "" if
    there is nothing of the kind, or if the texts are few."""
    if len(set(texts)) < MANY_TEXTS:
        return ""
    first, last = (end(text.lstrip().replace('"', "'") for text in texts) for end in (min, max))
    shared = [name for name, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    signs = [place for place, letter in enumerate(shared, 1) if category(letter)[0] in "PSC"]  # no vowel signs
    begun = texts[0].lstrip()[: signs[-1]] if signs else ""
    return "" if begun in _OF_SENTENCES else begun


def _is_misread(text: str) -> bool:
    """Whether a text in UTF-8 was decoded as if it were in Windows' encoding, and then saved; or lost letters so."""
    if text.isascii() or "\ufffd" in text:
        return not text.isascii()
    try:
        return not text.encode("cp1252").decode("utf-8").isascii()
    except UnicodeError:
        return False
