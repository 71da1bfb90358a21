"""Rule for named entities: replaces a name by another name of the same file for the same kind of thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from blindspot.datasets.perturbations import english, lexicon
from blindspot.datasets.perturbations.rule import Changed, Context, Passed

PERSON, PLACE, DEMONYM = "person", "place", "people or language"
TITLE_CASE = 0.6  # with this share of capital words, capitals say nothing
_NAME = re.compile(r"\b[A-Z][\w-]*(?:['’](?!s\b)\w+)?(?: (?:of |de |van |von )?[A-Z][\w-]*)*")
_DAYS = [*lexicon.WEEKDAYS, *(f"{day}s" for day in lexicon.WEEKDAYS)]
_NOT_NAMES = frozenset([*lexicon.MONTHS, *_DAYS, *lexicon.TITLES, *lexicon.HOLIDAYS, "I", "OK", "AM", "PM"])
_NEXT = re.compile(r"\s+([a-z][\w-]*)")
_SPEAKS = frozenset("said says asked asks told tells thinks thought wrote writes replied added".split())
_DIRECTIONS = frozenset("north south east west northern southern eastern western".split())


@dataclass(frozen=True)
class Name:
    """A name in a text, ``text[start:end]``, and what it names."""

    text: str
    start: int
    end: int
    names: str


def names_of(text: str) -> list[Name]:
    """The names in a text of which a list or the words beside them tell the kind.

    Other names, such as those of companies and products, cannot be told from titles, events and things without a list;
    exchanging them turned half of the texts from mixed sources into nonsense.
    """
    words = english.words(text)
    if not words or (sum(word.is_capital for word in words) > TITLE_CASE * len(words) and len(words) > 3):
        return []
    starts = english.starts(text)
    return [name for match in _NAME.finditer(text) if (name := _name(text, match, starts))]


def _name(text: str, match: re.Match[str], starts: frozenset[int]) -> Name | None:
    words, start = match[0].split(" "), match.start()
    while words and (words[0] in _NOT_NAMES or (start in starts and words[0] not in _LISTED)):
        start += len(words[0]) + 1
        words = words[1:]
    if (
        not words
        or len(re.split("['’]", words[0])[0]) == 1  # "I'd"
        or words[-1] in _NOT_NAMES
        or any(word.lower() in lexicon.CLOSED - {"of"} for word in words)
    ):
        return None
    name = " ".join(words)
    before = text[:start].rstrip().rpartition(" ")[2]
    after = _NEXT.match(text, start + len(name))
    if before.lower() in _DIRECTIONS or not (kind := _kind(words, before, after[1] if after else "")):
        return None
    return Name(name, start, start + len(name), kind)


_LISTED = lexicon.FIRST_NAMES | lexicon.PLACES | lexicon.DEMONYMS


def _kind(words: list[str], before: str, after: str) -> str:
    """The kind of thing that a name between two words names; "" if the words do not tell."""
    if words[0] in lexicon.FIRST_NAMES or before.rstrip(".") in lexicon.TITLES:
        return PERSON
    if words[-1] in lexicon.PLACES:
        return PLACE
    if words[0] in lexicon.DEMONYMS:
        return DEMONYM if len(words) == 1 else ""
    if after in _SPEAKS:
        return PERSON
    is_one = len(words) == 1 and not words[0].isupper()
    is_whole = not after or after in lexicon.CLOSED  # not "in Iraqi custody"
    return PLACE if before.lower() == "in" and is_one and is_whole else ""


def in_texts(texts: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The distinct names of all texts by what they name, in the order of appearance."""
    out: dict[str, dict[str, None]] = {}
    for name in _all(texts):
        out.setdefault(name.names, {}).setdefault(name.text)
    return {names: tuple(entities) for names, entities in out.items()}


def _all(texts: Iterable[str]) -> Iterator[Name]:
    for text in texts:
        if not english.why_not(text):
            yield from names_of(text)


def entity(text: str, context: Context) -> Changed | Passed:
    """Replace a name by another one of the file, everywhere in the text."""
    entities = names_of(text)
    if not entities:
        return Passed("no name whose kind is clear")
    here = {word for name in entities for word in name.text.split()}
    for name in context.random.sample(entities, len(entities)):
        others = [other for other in context.names.get(name.names, ()) if here.isdisjoint(other.split())]
        others = [other for other in others if not _other_article(text[: name.start], name.text, other)]
        if others:
            new = context.random.choice(others)
            changed = re.sub(rf"\b{re.escape(name.text)}\b", new.replace("\\", r"\\"), text)
            return Changed(changed, f"{name.text} → {new}")
    return Passed("no other name of its kind in the texts")


def _other_article(before: str, old: str, new: str) -> bool:
    """Whether ``a`` or ``an`` comes before, and does not fit both names."""
    is_article = before.rstrip().rpartition(" ")[2].lower() in {"a", "an"}
    return is_article and (old[0] in "AEIOU") != (new[0] in "AEIOU")
