"""Rules for a text's surroundings: neutral sentences around it, or half of it cut off."""

from __future__ import annotations

from functools import partial

from blindspot.datasets.perturbations import english
from blindspot.datasets.perturbations.rule import Change, Changed, Context, Passed
from blindspot.texts import counted

PLACES = 10
PADDING = 3  # sentences
FEWEST_WORDS = 6
LONGEST = 1_000  # characters of a text among others, so that it can still be found there
# They say nothing in particular, and nothing about the text beside them.
NEUTRAL = (
    "This text has several parts.",
    "Each part is short.",
    "The parts are in no particular order.",
    "Further sentences follow the same form.",
    "Nothing more needs to be said here.",
    "The page has a wide margin.",
    "The next line is as long as this one.",
    "A reader may go on at any time.",
    "Some lines are there to fill the page.",
    "The letters are black and the paper is white.",
    "This line adds no news.",
    "The list goes on for a while.",
    "The words here are common ones.",
    "Below is another line.",
    "It is written in plain words.",
)


def padding(text: str, context: Context) -> Changed | Passed:
    """Put neutral sentences after the text."""
    if why := _why_not(text):
        return Passed(why)
    added = " ".join(context.random.sample(NEUTRAL, PADDING))
    return Changed(f"{text.rstrip()} {added}", f"{PADDING} neutral sentences after it")


def _at(index: int, text: str, context: Context) -> Changed | Passed:
    """The text as sentence ``index`` of ten; the nine others are neutral, in the same order for all places."""
    if why := _why_not(text):
        return Passed(why)
    others = context.random.sample(NEUTRAL, PLACES - 1)
    among = [*others[: index - 1], text.strip(), *others[index - 1 :]]
    return Changed(" ".join(among), f"place {index} of {PLACES}, among neutral sentences")


def position(index: int) -> Change:
    """The rule for a place from 1 to 10."""
    return partial(_at, index)


def _why_not(text: str) -> str:
    if len(text) > LONGEST:
        return f"more than {LONGEST:,} characters"
    return "" if text.rstrip("\"'”’) \n\t").endswith((".", "!", "?")) else "it does not end as a sentence does"


def truncation(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001 - one way alone
    """Keep only the first half of the words."""
    parts = english.WORD.findall(text)
    spans = text.split()
    if len(parts) < FEWEST_WORDS or len(spans) < FEWEST_WORDS:
        return Passed(f"fewer than {FEWEST_WORDS} words")
    kept = spans[: (len(spans) + 1) // 2]
    end = 0
    for part in kept:
        end = text.index(part, end) + len(part)
    return Changed(text[:end].rstrip(",;:—– "), f"the last {counted(len(spans) - len(kept), 'word')} cut off")
