"""Rules for dates and times of day, and for before and after."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blindspot.datasets.perturbations import english, lexicon
from blindspot.datasets.perturbations.rule import Changed, Context, Passed

_AMBIGUOUS = ("May", "March", "August")
_MONTHS = "|".join([*lexicon.MONTHS, *(month.lower() for month in lexicon.MONTHS if month not in _AMBIGUOUS)])
_MONTH = re.compile(rf"\b(?:{_MONTHS})\b")
_ANY_MONTH = rf"(?:{'|'.join(lexicon.MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b ?\.?)"
_DAY = re.compile(rf"\b{_ANY_MONTH} (\d{{1,2}})\b|\b(\d{{1,2}}) {_ANY_MONTH}(?!\w)", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(lexicon.WEEKDAYS)})(?=s?\b)", re.IGNORECASE)
_YEAR = re.compile(
    rf"(?:\b(?:in|since|of|by|from|until|before|after|to|and|year|early|late) |\(|, |\b(?:{'|'.join(lexicon.MONTHS)}) )"
    r"((?:1[6-9]|20)\d\d)(?!\w|[-/.,]\d| (?:people|percent|dollars|euros|meters|miles|words|pages))",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<![\w-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\w-])")
_CLOCK = re.compile(r"(?<![\w:.])([01]?\d|2[0-3]):([0-5]\d)(?![\w:])")
_HOUR = re.compile(r"(?<![\w:.,])(1[0-2]|[1-9])(?= ?(?:[ap]m\b|[ap]\.m\.|o['’]clock\b))", re.IGNORECASE)
_DAYPARTS = {"morning": "evening", "evening": "morning", "noon": "midnight", "midnight": "noon"}
_DAYPART = re.compile(r"\b(?:(?:the|at|by|every|\w+day) (morning|evening)|(noon|midnight))\b")
# "before" at the end of a clause has no "after".
_ORDER = re.compile(r"\b(?:(?:before|after)(?=\s+[^\s.!?,;:)])|prior to|previously|subsequently)(?!\w)", re.IGNORECASE)
_OTHER = {
    "before": "after",
    "after": "before",
    "prior to": "after",
    "previously": "subsequently",
    "subsequently": "previously",
}
# Idioms that do not order events in time.
_IDIOM = re.compile(
    r"\b(?:look|looks|looked|looking|named|take|takes|took|sought|ask|asked|run|ran|chase|chased|never|ever|as|well|from"
    r"|time)[ -](?:after|before)\b|\bafter (?:all|another|the other|time|day)\b|\bbefore long\b"
    r"|\bbefore the (?:court|judge|jury)\b"
    r"|\b(?:after|before)-|-(?:after|before)\b",
    re.IGNORECASE,
)


def places_of_dates(text: str) -> list[tuple[int, int]]:
    """Start and end of the numbers that are parts of dates and times."""
    out = [match.span() for pattern in (_ISO, _CLOCK, _HOUR) for match in pattern.finditer(text)]
    out += [match.span(1) for match in _YEAR.finditer(text)]
    return out + [match.span(1 if match[1] else 2) for match in _DAY.finditer(text)]


def date(text: str, context: Context) -> Changed | Passed:
    """Replace a month, weekday, year, day or time of day by another one."""
    dates_in_text: list[tuple[int, int, str]] = []
    for match in _MONTH.finditer(text):
        if match[0] in _AMBIGUOUS and not _is_month(text, match):
            continue
        dates_in_text.append((*match.span(), _other(lexicon.MONTHS, match[0], context)))
    dates_in_text += [(*m.span(), _other(lexicon.WEEKDAYS, m[0], context)) for m in _WEEKDAY.finditer(text)]
    dates_in_text += [(*m.span(), str(_later(int(m[1]), context))) for m in _HOUR.finditer(text)]
    dates_in_text += [(*m.span(1), str(int(m[1]) - context.random.randint(2, 30))) for m in _YEAR.finditer(text)]
    for match in _ISO.finditer(text):
        new_month = context.random.choice([m for m in range(1, 13) if m != int(match[0][5:7])])
        day = min(int(match[0][8:]), 28)
        dates_in_text.append((*match.span(), f"{match[0][:4]}-{new_month:02d}-{day:02d}"))
    for match in _CLOCK.finditer(text):
        hour = int(match[1])
        new_hour = _later(hour, context) if hour <= 12 else hour - context.random.randint(2, 5)
        dates_in_text.append((*match.span(), f"{new_hour}:{match[2]}"))
    for match in _DAYPART.finditer(text):
        part = 1 if match[1] else 2
        dates_in_text.append((*match.span(part), _DAYPARTS[match[part]]))
    if not dates_in_text:
        return Passed("no date or time of day")
    start, end, new = context.random.choice(sorted(dates_in_text))
    return Changed(english.replaced(text, start, end, new), f"{text[start:end]} → {new}")


def _later(hour: int, context: Context) -> int:
    """Another hour from 1 to 12."""
    return (hour + context.random.randint(2, 5) - 1) % 12 + 1


def _other(listed: Sequence[str], old: str, context: Context) -> str:
    new = context.random.choice([each for each in listed if each.lower() != old.lower()])
    return new if old[0].isupper() else new.lower()


def _is_month(text: str, match: re.Match[str]) -> bool:
    """``in May``, ``May 3``, ``3 May``; not ``May I`` or ``a March``."""
    before, after = text[: match.start()].rstrip(), text[match.end() :]
    preposition = before.rpartition(" ")[2].lower() in {
        "in",
        "of",
        "since",
        "until",
        "by",
        "last",
        "next",
        "from",
        "late",
        "early",
    }
    return preposition or bool(re.match(r",? \d", after)) or before[-1:].isdigit()


def before_after(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001 - one way alone
    """Replace the first ``before`` of the text by ``after``, or the other way round."""
    idioms = [match.span() for match in _IDIOM.finditer(text)]
    for match in _ORDER.finditer(text):
        if any(start <= match.start() < end for start, end in idioms):
            continue
        new = english.like(_OTHER[match[0].lower()], match[0])
        return Changed(english.replaced(text, *match.span(), new), f"{match[0]} → {new}")
    return Passed(
        "before and after are not in it, or in no order of time" if idioms else "neither before nor after in it"
    )
