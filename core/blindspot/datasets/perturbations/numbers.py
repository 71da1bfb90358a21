"""Rules for numbers and for units."""

from __future__ import annotations

import re

from blindspot.datasets.perturbations import english, lexicon, times
from blindspot.datasets.perturbations.rule import Changed, Context, Passed

_NUMBER = re.compile(
    r"(?<![\w.,:/#-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w:/-]|[.,]\d)"
    r"|(?<![\w.,:/#-])(?<!/ )(?!0\d)\d+(?:\.\d+)?(?! ?/|[\w:]|[.,]\d|-\d)"
)
# "3. Mai", "3 mai 2024", "14 Uhr": in other languages than English, only their form tells dates and times.
_FOREIGN_DATE = re.compile(r"\d+(?:\.(?=\s+\w)|\s+[^\W\d]+\.?\s+\d{4}\b|\s+(?:Uhr|heures|horas|or[ae])\b)")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")  # "the 2012 games"; if it surely is a year, the rule for dates changes it
_PERCENT = re.compile(r" ?(?:%|percent\b|per cent\b)")
_ALL = 100  # percent: more than that often makes no sense
_NUMERAL = "|".join([*lexicon.NUMERALS, *lexicon.TENS])
_WORD = re.compile(rf"\b(?:(?:{'|'.join(lexicon.TENS)})-)?(?:one\b(?<=-one)|{_NUMERAL})\b", re.IGNORECASE)
_FACTORS = (2, 3, 4, 5)
# Singular and plural, each with what replaces it.
_PAIRS = """
kilometer/kilometers mile/miles; meter/meters foot/feet; centimeter/centimeters inch/inches; kilogram/kilograms
pound/pounds; gram/grams kilogram/kilograms; liter/liters gallon/gallons; second/seconds minute/minutes; minute/minutes
hour/hours; hour/hours day/days; day/days week/weeks; week/weeks month/months; month/months year/years; year/years
month/months; dollar/dollars cent/cents; euro/euros cent/cents; cent/cents euro/euros; mile/miles kilometer/kilometers;
foot/feet meter/meters; inch/inches centimeter/centimeters; pound/pounds kilogram/kilograms; gallon/gallons
liter/liters; kilometre/kilometres mile/miles; metre/metres foot/feet; litre/litres gallon/gallons;
ton/tons kilogram/kilograms; decade/decades year/years; percent/percent permille/permille;
million/million billion/billion; billion/billion million/million; thousand/thousand million/million;
hundred/hundred thousand/thousand
"""
_SIGNS = {"km": "mi", "m": "ft", "cm": "in", "kg": "lb", "g": "kg", "mm": "cm", "MB": "GB", "GB": "MB",
          "mph": "km/h", "km/h": "mph", "ms": "s", "ml": "l", "°C": "°F", "°F": "°C", "kWh": "MWh", "MW": "GW",
          "mg": "g", "%": "‰"}  # fmt: skip
_MONEY = {"$": "€", "€": "$", "£": "$"}


def _units() -> dict[str, str]:
    out = dict(_SIGNS)
    for pair in _PAIRS.split(";"):
        old, new = (side.split("/") for side in pair.split())
        out |= dict(zip(old, new, strict=True))
    return out


UNITS = _units()
_WORDS = "|".join(sorted((unit for unit in UNITS if unit not in _SIGNS), key=len, reverse=True))
_SHORT = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))  # after digits alone: "a m" is none
_AFTER_NUMBER = re.compile(
    rf"(?:\d[ -]?|\b(?:{_NUMERAL}|a few|several|a|an|one|half an?|hundred|thousand|million)[ -])"
    rf"(?P<unit>{_WORDS})(?!\w)|\d ?(?P<sign>{_SHORT})(?!\w)"
)
_BEFORE_NUMBER = re.compile(r"[$€£](?=\d)")


def number(text: str, context: Context) -> Changed | Passed:
    """Replace one number, in digits or a word, by another; years, times and parts of names are not numbers here.

    In a text that is not English, only digits are read.
    """
    if not any(c.isalpha() for c in text):
        return Passed("no letters")
    dates, numbers = times.places_of_dates(text), [*_NUMBER.finditer(text)]
    if english.why_not(text):
        dates += [m.span() for m in _FOREIGN_DATE.finditer(text)]
    else:
        numbers += _WORD.finditer(text)
    matches = [m for m in numbers if not any(a <= m.start() < b for a, b in dates)]
    matches = [m for m in matches if m[0] not in {"0", "1"} and not _YEAR.fullmatch(m[0])]
    if not matches:
        return Passed("no number above one")
    match = context.random.choice(sorted(matches, key=lambda m: m.start()))
    old = match[0]
    if old[0].isdigit():
        new = _other_digits(old, context, is_share=bool(_PERCENT.match(text, match.end())))
    else:
        new = english.like(_other_word(old.lower(), context), old)
    return Changed(english.replaced(text, *match.span(), new), f"{old} → {new}")


def _other_digits(old: str, context: Context, *, is_share: bool) -> str:
    """A multiple (half of a share if it would exceed 100), written alike: as many decimals, commas if it had any."""
    decimals = len(old.partition(".")[2])
    number = float(old.replace(",", ""))
    value = number * context.random.choice(_FACTORS)
    if is_share and number <= _ALL < value:
        value = number / 2
    return f"{value:,.{decimals}f}" if "," in old else f"{value:.{decimals}f}"


def _other_word(old: str, context: Context) -> str:
    tens, _, ones = old.rpartition("-")
    listed = lexicon.TENS if tens or ones in lexicon.TENS else lexicon.NUMERALS[:11]
    changed = tens or ones
    new = context.random.choice([word for word in listed if word != changed])
    return f"{new}-{ones}" if tens else new


def unit(text: str, context: Context) -> Changed | Passed:
    """Replace the unit after a number, or the currency before it."""
    named = [(m, "unit" if m["unit"] else "sign") for m in _AFTER_NUMBER.finditer(text)]
    places = [(m.start(which), m.end(which), UNITS[m[which]]) for m, which in named]
    places += [(m.start(), m.end(), _MONEY[m[0]]) for m in _BEFORE_NUMBER.finditer(text)]
    places = [span for span in places if not _needs_other_article(text, span[0], span[2])]
    if not places:
        return Passed("no number with a unit that has a listed counterpart")
    start, end, new = context.random.choice(sorted(places))
    return Changed(english.replaced(text, start, end, new), f"{text[start:end]} → {new}")


def _needs_other_article(text: str, start: int, new: str) -> bool:
    """``a day`` may become ``a week``, but not ``a hour``."""
    before = text[:start].rstrip().rpartition(" ")[2].lower()
    if before in {"a", "an"} and text[start:].startswith(("second", "pound")):
        return True  # an ordinal, or money
    takes_an = new[0] in "aei" or new.startswith("hour")
    return (before == "a" and takes_an) or (before == "an" and not takes_an)
