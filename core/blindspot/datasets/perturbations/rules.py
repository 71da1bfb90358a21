"""Rules by their names, and the kinds that people ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blindspot.datasets.perturbations import degrees, names, negation, numbers, order, surface, surroundings, times
from blindspot.datasets.perturbations.rule import Change, Meaning, Rule
from blindspot.errors import InputError, unknown


def _rule(kind: str, keeps: bool, what: str, change: Change, *, is_english: bool = True, name: str = "") -> Rule:
    return Rule(name or kind, kind, Meaning.KEPT if keeps else Meaning.CHANGED, what, is_english, change)


_ALL = (
    _rule("number", False, "another number", numbers.number, is_english=False),
    _rule("unit", False, "another unit or currency", numbers.unit),
    _rule("date", False, "another month, weekday, year or time of day", times.date),
    _rule("before_after", False, "before for after, or after for before", times.before_after),
    _rule("entity", False, "a name for another of the file", names.entity),
    _rule("negation_inserted", False, "the sentence negated", negation.insert),
    _rule("negation_removed", False, "its negation removed", negation.remove),
    _rule("quantifier", False, "another quantity or frequency", degrees.quantifier),
    _rule("comparative", False, "the opposite comparative or superlative", degrees.comparative),
    _rule("role_swap", False, "subject and object exchanged", order.role_swap),
    _rule("hedge", False, "certain for uncertain, or uncertain for certain", degrees.hedge),
    _rule("word_order", False, "all words in a random order", order.word_order, is_english=False),
    _rule("truncation", False, "the second half cut off", surroundings.truncation, is_english=False),
    _rule("typo", True, "a typo in one word", surface.typo, is_english=False),
    _rule("case", True, "all small letters, or all capitals", surface.case, is_english=False),
    _rule("spacing", True, "another space, tab or line end", surface.spacing, is_english=False),
    _rule("unicode", True, "the same characters in other codes", surface.unicode_form, is_english=False),
    _rule("padding", True, "neutral sentences after it", surroundings.padding),
    *(
        _rule(
            "position",
            True,
            f"at place {position} of {surroundings.PLACES} among neutral sentences",
            surroundings.position(position),
            name=f"position_{position}",
        )
        for position in range(1, surroundings.PLACES + 1)
    ),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ALL}
KINDS: Mapping[str, tuple[Rule, ...]] = {
    kind: tuple(rule for rule in _ALL if rule.kind == kind) for kind in dict.fromkeys(rule.kind for rule in _ALL)
}


def rules_of(kinds: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of some kinds, in the order of ``KINDS``; of all kinds if none are named.

    Raises:
        InputError: an unknown kind.
    """
    for kind in kinds:
        if not kind.strip():
            raise InputError("an empty name of a kind", expected=f"one of {', '.join(KINDS)}")
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
    return tuple(rule for kind, rules in KINDS.items() if kind in kinds or not kinds for rule in rules)
