"""What a rewrite does to the meaning of its original, as far as the name of its subset tells."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase


class Meaning(StrEnum):
    """What a rewrite does to the meaning of its original."""

    KEPT = "kept"
    CHANGED = "changed"
    UNKNOWN = "unknown"  # a subset of a name that says nothing


# The one place that says which subsets keep the meaning; * stands for any ending.
MEANINGS = {
    Meaning.KEPT: ("synonym", "typo", "paraphrase"),
    Meaning.CHANGED: ("antonym", "negation*", "random_mlm", "opposite*"),
}


def meaning_of(subset: str) -> Meaning:
    """Whether a subset's rewrites keep the meaning, as far as its name tells."""
    name = subset.casefold()
    for meaning, patterns in MEANINGS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return meaning
    return Meaning.UNKNOWN
