"""Rules for roles and for the order of words: the same words, another meaning."""

from __future__ import annotations

import re

from blindspot.datasets.perturbations import english, lexicon, numbers
from blindspot.datasets.perturbations.english import Word
from blindspot.datasets.perturbations.rule import Changed, Context, Passed

FEWEST_WORDS = 4
MOST_IN_PHRASE = 4  # words of a subject or an object
_OF_OBJECT = frozenset("of to that between for with as".split())  # what follows them belongs to the object
_HEADS = lexicon.DETERMINERS | frozenset("every each both two three four five some many all several".split())


def role_swap(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001, PLR0911 - a reason each
    """Exchange subject and object in ``subject, verb, object``; what follows stays in its place."""
    if len(english.sentences(text)) > 1:
        return Passed("more than one sentence")
    if english.is_question(text):
        return Passed("a question")
    if any(mark in text for mark in ",;:"):
        return Passed("more than one clause, by its punctuation")
    words = english.words(text)
    verb = next((n for n in range(1, min(len(words), MOST_IN_PHRASE + 1)) if _is_verb(words, n)), 0)
    if not verb or not _is_phrase(words[:verb], is_first=True):
        return Passed("no simple subject with a listed verb")
    base = english.pasts().get(words[verb].lower) or english.thirds()[words[verb].lower]
    if base in lexicon.SYMMETRIC:
        return Passed(f"'{base}' means the same both ways")
    if base in lexicon.COMPLEMENT:
        return Passed(f"'{base}', whose object may have a complement")
    if base in lexicon.STATES:
        return Passed(f"'{base}', whose subject and object have no roles to exchange")
    end = _end_of_object(words, verb + 1)
    thing = words[verb + 1 : end]
    if not thing or not _is_phrase(thing, is_first=False) or _goes_on(words, end):
        return Passed("no simple object after the verb")
    if thing[-1].lower in numbers.UNITS:
        return Passed("a measure for an object")
    if words[verb].lower in english.thirds() and not (_is_singular(words[:verb]) and _is_singular(thing)):
        return Passed("the verb would have to change, too")
    subject = text[words[0].start : words[verb - 1].end]
    object_ = text[thing[0].start : thing[-1].end]
    if subject.lower() == object_.lower():
        return Passed("subject and object are the same")
    first, last = _as_subject(object_), _as_object(subject, words[0])
    changed = (
        f"{text[: words[0].start]}{first}{text[words[verb - 1].end : thing[0].start]}{last}{text[thing[-1].end :]}"
    )
    return Changed(changed, f"{subject} ⇄ {object_}")


def _is_verb(words: list[Word], number: int) -> bool:
    word = words[number].lower
    return word in english.pasts() or (word in english.thirds() and word not in lexicon.AUXILIARIES)


def _is_phrase(words: list[Word], *, is_first: bool) -> bool:
    """A pronoun, a name, or a determiner and words that are in no closed list."""
    head, *rest = words
    if not rest and head.lower in (lexicon.SUBJECTS if is_first else lexicon.OBJECTS):
        return True
    if not rest and not is_first and head.lower == "her":
        return True
    if head.lower in _HEADS:
        return bool(rest) and all(word.lower not in lexicon.CLOSED and not word.lower.endswith("ly") for word in rest)
    return all(word.is_capital and word.lower not in lexicon.CLOSED for word in words) and (
        not is_first or head.text in lexicon.FIRST_NAMES
    )


def _end_of_object(words: list[Word], start: int) -> int:
    """The number of the first word after the object that begins at ``start``."""
    end = start
    while end < len(words) and end - start < MOST_IN_PHRASE:
        word = words[end]
        if end > start and (word.lower in lexicon.CLOSED or word.lower.endswith("ly")):
            break
        end += 1
        if end - start == 1 and (word.lower in lexicon.OBJECTS or (word.is_capital and not _next_capital(words, end))):
            break
    return end


def _next_capital(words: list[Word], number: int) -> bool:
    return number < len(words) and words[number].is_capital


def _goes_on(words: list[Word], end: int) -> bool:
    """Whether what follows belongs to the object, or is a clause of its own."""
    if end == len(words):
        return False
    after = words[end].lower
    if after in _OF_OBJECT | lexicon.CONJUNCTIONS | lexicon.QUESTION_WORDS:
        return True
    return (after not in lexicon.CLOSED and not after.endswith("ly")) or any(
        word.lower in lexicon.AUXILIARIES or word.lower in {"that", *lexicon.QUESTION_WORDS} for word in words[end:]
    )


def _is_singular(words: list[Word]) -> bool:
    head, last = words[0].lower, words[-1].lower
    if len(words) == 1:
        return words[0].is_capital or head in {"he", "she", "it", "him"}
    return head not in {
        "these",
        "those",
        "two",
        "three",
        "four",
        "five",
        "some",
        "many",
        "all",
        "several",
        "both",
    } and (not last.endswith("s") or last.endswith("ss"))


def _as_subject(phrase: str) -> str:
    subject = "she" if phrase == "her" else lexicon.OBJECTS.get(phrase.lower(), phrase)
    return f"{subject[0].upper()}{subject[1:]}"


def _as_object(phrase: str, head: Word) -> str:
    if (subject := lexicon.SUBJECTS.get(phrase.lower())) is not None:
        return subject
    return phrase if head.text in lexicon.FIRST_NAMES else f"{phrase[0].lower()}{phrase[1:]}"


def word_order(text: str, context: Context) -> Changed | Passed:
    """Put all words in a random order; the punctuation mark at the end stays there."""
    end = len(text.rstrip().rstrip('"”’)').rstrip(".!?"))
    parts = text[:end].split()
    if len(parts) < FEWEST_WORDS or len({part.lower() for part in parts}) < FEWEST_WORDS:
        return Passed(f"fewer than {FEWEST_WORDS} different words")
    if parts[0] not in lexicon.FIRST_NAMES | lexicon.PLACES and not re.match(r"I\b|[A-Z]{2}", parts[0]):
        parts[0] = f"{parts[0][0].lower()}{parts[0][1:]}"
    shuffled = parts
    while sum(a == b for a, b in zip(shuffled, parts, strict=True)) > len(parts) // 3:
        shuffled = context.random.sample(parts, len(parts))
    changed = " ".join(shuffled)
    return Changed(f"{changed[0].upper()}{changed[1:]}{text[end:]}", "all words in a random order")
