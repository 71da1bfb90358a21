"""Rules that negate a sentence, and that take its negation away."""

from __future__ import annotations

import re

from blindspot.datasets.perturbations import english, lexicon
from blindspot.datasets.perturbations.english import Word
from blindspot.datasets.perturbations.rule import Changed, Context, Passed
from blindspot.texts import is_negated

_ADDED = frozenset("only just also merely".split())  # "not only" is no negation
_SURE = frozenset("probably possibly perhaps certainly definitely obviously clearly surely apparently".split())
# Conjunctions of clauses where a negation would be odd ("before you do not leave"), or reverse another clause.
_SUBORDINATE = frozenset(
    "before after when whenever while until than if unless because since as although though".split()
)
_ODD = frozenset("before after until than unless".split())  # also with an auxiliary
_OF_MANY = frozenset([*lexicon.NUMERALS, *lexicon.TENS, *"several many few some all both these those".split()])
_CONTRACTED = {"can't": "can", "won't": "will", "shan't": "shall"}
_AFTER_NOUN = lexicon.DETERMINERS | frozenset("free good last own".split())  # "the will", "a can", "free will"
_POLAR = re.compile(r"\b(?:any|anyone|anything|anywhere|anybody|yet|anymore|either|until|at all|ever)\b", re.IGNORECASE)
_BEFORE_NOT = lexicon.BE | lexicon.MODALS | lexicon.HAVE | lexicon.DO


def insert(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001, PLR0911 - a reason each
    """Put ``not`` after the first auxiliary, or ``did not`` and the base form in place of the first verb."""
    if is_negated(text):
        return Passed("it is negated already")
    if english.is_question(text):
        return Passed("a question")
    words = english.words(text)
    starts = english.starts(text)
    for number, word in enumerate(words):
        if word.start in starts:
            continue
        before, after = words[number - 1], words[number + 1] if number + 1 < len(words) else None
        if _is_auxiliary(before, word, after) and not _is_subordinate(words[: number + 1], text, _ODD):
            if after is not None and after.lower in _ADDED:
                return Passed("only, just or also after the verb, which a negation would turn around")
            if after is not None and after.lower in _SURE:
                return Passed(f"'{after.lower}' after the verb, which no negation comes before")
            new = "cannot" if word.lower == "can" else f"{word.text} not"
            return Changed(english.replaced(text, word.start, word.end, new), f"{word.text} → {new}")
        if new := _with_do(words, number, text):
            return Changed(english.replaced(text, word.start, word.end, new), f"{word.text} → {new}")
    return Passed("no auxiliary, and no verb of the list where a verb must be")


def _is_auxiliary(before: Word, word: Word, after: Word | None) -> bool:
    if word.lower in lexicon.BE and word.text.islower():
        return True
    if word.lower in lexicon.MODALS and word.text.islower():
        return before.lower not in _AFTER_NOUN and after is not None
    if (
        word.lower in lexicon.HAVE
        and after is not None
        and before.lower not in {"to", "would", "should", "could", "will"}
    ):
        is_participle = after.lower in english.participles() or (after.lower.endswith("ed") and len(after.text) > 5)
        return is_participle and after.lower not in {"read", "cut", "set", "put"}
    return False


def _with_do(words: list[Word], number: int, text: str) -> str:  # noqa: PLR0911 - a guard each
    """``did not go`` for ``went``; "" unless the word must be a finite verb."""
    word, before = words[number], words[number - 1]
    after = words[number + 1] if number + 1 < len(words) else None
    between = text[before.end : word.start]
    follows = after.lower if after is not None and not re.search(r"[^\s\"'“]", text[word.end : after.start]) else ""
    is_used_to = word.lower == "used" and follows == "to"
    if between.strip() or word.is_capital or follows in _ADDED or is_used_to:
        return ""
    if word.lower in lexicon.HAVE and follows not in lexicon.DETERMINERS and not follows[:1].isdigit():
        return ""  # of another tense, unless it has an object
    if _is_subordinate(words[: number + 1], text):
        return ""
    if (
        before.lower in {"i", "we", "they", "you"}
        and word.lower in english.bases()
        and word.lower not in english.pasts()
        and english.past(word.lower) != word.lower
    ):
        return f"do not {word.text}"
    is_subject = before.lower in lexicon.SUBJECTS or before.lower in {"it", "you", "who", "that", "which"}
    is_noun = before.lower not in lexicon.CLOSED or before.lower in {"all", "both", "this"}
    if base := english.pasts().get(word.lower):
        has_object = follows in lexicon.DETERMINERS or follows in lexicon.OBJECTS or follows[:1].isdigit()
        if word.lower in english.only_past() and (is_subject or is_noun):
            return f"did not {base}"
        if is_subject or (is_noun and has_object):
            return f"did not {base}"
    if (base := english.thirds().get(word.lower)) and not before.lower.endswith("s"):
        goes_on = follows in lexicon.DETERMINERS | lexicon.PREPOSITIONS | lexicon.ADVERBS or follows in lexicon.OBJECTS
        alone = not any(later.lower in lexicon.AUXILIARIES for later in words[number + 1 :])
        many = any(earlier.lower in _OF_MANY for earlier in words[max(0, number - 3) : number])  # "two stop signs"
        if before.lower in {"he", "she", "it"} or (is_noun and goes_on and alone and number > 1 and not many):
            return f"does not {base}"
    return ""


def _is_subordinate(words: list[Word], text: str, conjunctions: frozenset[str] = _SUBORDINATE) -> bool:
    """Whether the clause of the last of these words begins with a conjunction; a comma begins another clause."""
    start = text.rfind(",", 0, words[-1].start)
    return any(word.lower in conjunctions for word in words if word.start > start)


def remove(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001, PLR0911 - a reason each
    """Remove the only negation of a text: ``is not``, ``doesn't``, ``never``, ``no longer``."""
    if not is_negated(text):
        return Passed("no negation in it")
    words = english.words(text)
    marks = [n for n, word in enumerate(words) if is_negated(word.text)]
    if len(marks) > 1:
        return Passed("more than one negation")
    if not marks:
        return Passed("a negation that is not one word")
    if english.is_question(text):
        return Passed("a question")
    if polar := _POLAR.search(text):
        return Passed(f"'{polar[0].lower()}', which asks for a negation")
    (number,) = marks
    word = words[number]
    before = words[number - 1] if number else None
    after = words[number + 1] if number + 1 < len(words) else None
    if word.lower.endswith("n't"):
        positive = _CONTRACTED.get(word.lower, word.lower[:-3])
        return _positive(text, word.start, word.end, english.like(positive, word.text), after)
    match word.lower:
        case "cannot":
            return _changed(text, word.start, word.end, english.like("can", word.text))
        case "never" if before is None or before.lower not in {"and", "or"}:
            return _changed(text, word.start, word.end, english.like("always", word.text))
        case "no" if after is not None and after.lower == "longer":
            return _changed(text, word.start, after.end, english.like("still", word.text))
        case "not" if before is not None and before.lower in _BEFORE_NOT and text[before.end : word.start].isspace():
            if after is not None and after.lower in _ADDED:
                return Passed("'not only', which is no negation")
            return _positive(text, before.start, word.end, before.text, after)
    return Passed(f"'{word.lower}', whose opposite is not one word")


def _positive(text: str, start: int, end: int, auxiliary: str, after: Word | None) -> Changed | Passed:
    """The auxiliary without its negation; for ``do``, the verb's own form if the verb is listed."""
    form = auxiliary.lower()
    if form == "ai":
        return Passed("'ain't', whose verb is unclear")
    if form in lexicon.DO and (after is None or after.lower not in english.bases()):
        return _changed(text, start, end, auxiliary)  # "did enjoy": stressed, and a sentence
    if form in lexicon.DO and after is not None and text[end : after.start].isspace():
        verb = {"do": after.lower, "does": english.third(after.lower), "did": english.past(after.lower)}[form]
        return _changed(text, start, after.end, english.like(verb, auxiliary))
    return _changed(text, start, end, auxiliary)


def _changed(text: str, start: int, end: int, new: str) -> Changed:
    return Changed(english.replaced(text, start, end, new), f"{text[start:end]} → {new}")
