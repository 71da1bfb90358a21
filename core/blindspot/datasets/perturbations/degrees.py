"""Rules for quantifiers, comparatives and hedges."""

from __future__ import annotations

import re

from blindspot.datasets.perturbations import english, lexicon
from blindspot.datasets.perturbations.rule import Changed, Context, Passed
from blindspot.texts import is_negated

_TIMES = "day|week|month|year|morning|evening|night|spring|summer|autumn|winter|season|" + "|".join(lexicon.WEEKDAYS)
_OF_ALL = r"(?= (?:the|these|those|my|your|his|her|its|our|their)\b)"
_PLURAL = r"(?= (?!of\b)(?:\w+ )?\w+[^s\W]s\b)"
# Patterns and their replacements; the first pattern that fits counts, and groups are kept.
_QUANTIFIERS = (
    (r"(?<!only )(?<!quite )a few|several", "hardly any", rf"(?! (?:{_TIMES}|second|minute|hour|time)s\b)"),
    (r"all of|most of|many of", "none of", r"(?= (?:the|these|those|my|your|his|her|its|our|their|us|them|it|you)\b)"),
    (r"some of|few of", "all of", ""),
    (r"(?<!at )(?<!after )(?<!above )(?<!of )(?<!in )all", "only some of", _OF_ALL),
    (r"(?<!at )(?<!after )(?<!above )(?<!of )(?<!in )(?<!is )(?<!was )(?<!are )(?<!were )all", "few", _PLURAL),
    (r"(?<!the )most", "few", _PLURAL + r"(?! \w+(?:ly|ed|ing|ent|ant|able|ous|ful|ive|al)\b)"),
    (r"(?<!as )(?<!so )(?<!too )(?<!how )(?<!not )(?<!for )many", "few", _PLURAL),
    (r"(?<!quite a )(?<!a )(?<!the )(?<!these )few", "many", _PLURAL),
    (r"(?<!for )some", "all the", _PLURAL),
    (r"a lot of|lots of|plenty of", "hardly any", ""),
    (r"dozens of", "thousands of", ""),
    (r"hundreds of|thousands of", "dozens of", ""),
    (r"everyone", "someone", ""),
    (r"everybody", "somebody", ""),
    (r"everything", "something", ""),
    (r"someone", "everyone", ""),
    (r"somebody", "everybody", ""),
    (r"(?<!virtually )(?<!nearly )(?<!almost )every(?! (?:other|now|so)\b)", "hardly any", rf"(?= (?!{_TIMES})\w)"),
    (r"every", "one", rf"(?= (?:{_TIMES})\b)"),
    (r"each of", "one of", ""),
    (r"always|usually|often", "rarely", ""),
    (r"rarely|seldom|sometimes", "always", ""),
    (r"nearly all|almost all", "hardly any", ""),
    (r"half of|a quarter of|a third of", "all of", ""),
)  # fmt: skip
_COMPARATIVES = {
    "better": "worse", "larger": "smaller", "bigger": "smaller", "higher": "lower", "longer": "shorter",
    "older": "younger", "newer": "older",
    "faster": "slower", "quicker": "slower", "earlier": "later", "stronger": "weaker",
    "warmer": "colder", "hotter": "colder", "heavier": "lighter", "louder": "quieter", "easier": "harder",
    "cheaper": "more expensive", "richer": "poorer", "wider": "narrower", "deeper": "shallower", "taller": "shorter",
    "closer": "farther", "happier": "sadder", "brighter": "darker", "thicker": "thinner", "safer": "riskier",
    "cleaner": "dirtier", "greater": "smaller", "sooner": "later", "busier": "quieter", "simpler": "harder",
    "best": "worst", "largest": "smallest", "biggest": "smallest", "highest": "lowest", "longest": "shortest",
    "oldest": "youngest", "newest": "oldest", "fastest": "slowest", "earliest": "latest", "strongest": "weakest",
    "cheapest": "most expensive", "easiest": "hardest", "heaviest": "lightest", "tallest": "shortest",
    "more": "less", "fewer": "more",
}  # fmt: skip
_OPPOSITES = {new: old for old, new in reversed(_COMPARATIVES.items())} | _COMPARATIVES | {"less": "more"}
_PHRASES = {
    "at least": "at most",
    "at most": "at least",
    "more than": "less than",
    "less than": "more than",
    "closer to": "farther from",
    "farther from": "closer to",
}
_LONG = "ive|ous|ful|ant|ent|able|ible|ing|ed|ult|al|ar|ex"  # ends of adjectives that take "most"
_COMPARATIVE = re.compile(
    rf"\b(?:{'|'.join([*_PHRASES, *_OPPOSITES])}|most(?= (?:\w+ly |)\w+(?:{_LONG})\b))\b",
    re.IGNORECASE,
)
_NO_COMPARISON = re.compile(
    r"\b(?:no (?:longer|more|better|later|sooner|less)|once more|any ?more|any longer|more and more|more or less|"
    r"less and less|at least (?:I|you|he|she|it|we|they|the|that|this|there|for|in|on)|had better|all the best|"
    r"most (?:certainly|definitely|probably)|best[- ](?:man|seller|selling|known|of)|at best|"
    r"at the (?:latest|earliest)|sooner or later|see you later|later on|the more|the less|harder and harder|do my best|"
    r"better off)\b"
    r"|\b(?:my|your|his|her|our|their) best\b|\b(?:later|longer|older|elder)-",
    re.IGNORECASE,
)
# "detained longer" has no opposite "detained shorter".
_ALSO_ADVERBS = ("longer", "higher", "lower", "shorter")
_IS_ADJECTIVE = re.compile(r"\b(?:a|an|the|is|are|was|were|be|been|even|far|its|their) $", re.IGNORECASE)
_CERTAIN = {
    "may": "will", "might": "will", "perhaps": "certainly", "maybe": "certainly", "probably": "certainly",
    "possibly": "certainly", "apparently": "certainly", "presumably": "certainly", "reportedly": "certainly",
    "allegedly": "certainly", "likely to": "certain to",
    "certainly": "perhaps", "definitely": "perhaps", "surely": "perhaps", "undoubtedly": "perhaps",
    "clearly": "perhaps", "obviously": "perhaps", "certain to": "likely to",
}  # fmt: skip
_HEDGE = re.compile(rf"\b(?:{'|'.join(_CERTAIN)})\b", re.IGNORECASE)
_HEDGED_VERB = re.compile(r"(?<=[a-z,] )(?:will|must)(?= (?!not\b)[a-z])|(?<=[a-z] )(?:is|are|was|were)(?= [a-z])")


def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"\b(?:{p})\b{ahead}", re.IGNORECASE), new) for p, new, ahead in _QUANTIFIERS)


_BY_PATTERN = _compiled()
_NEGATIVE = frozenset("none few hardly rarely".split())


def quantifier(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001 - one way alone
    """Change the first quantity or frequency of the text: ``all`` and ``few``, ``often`` and ``rarely``."""
    matches = [(match, new) for pattern, new in _BY_PATTERN for match in pattern.finditer(text)]
    if not matches:
        return Passed("no listed quantifier where one must be")
    match, new = min(matches, key=lambda each: (each[0].start(), -len(each[0][0])))
    if is_negated(text[: match.start()]):
        return Passed("a negation before the quantifier, which would change what it negates")
    if new.split()[0] in _NEGATIVE and is_negated(text[match.end() :]):
        return Passed("a negation after the quantifier, which would become a double one")
    new = english.like(new, match[0])
    return Changed(english.replaced(text, *match.span(), new), f"{match[0]} → {new}")


def comparative(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001 - one way alone
    """The opposite of the first comparative or superlative."""
    idioms = [match.span() for match in _NO_COMPARISON.finditer(text)]
    for match in _COMPARATIVE.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in idioms):
            continue
        old = match[0].lower()
        is_adjective = _IS_ADJECTIVE.search(text[: match.start()]) or text[match.end() :].startswith(" than ")
        if old in _ALSO_ADVERBS and not is_adjective:
            continue
        new = english.like(_PHRASES.get(old) or _OPPOSITES.get(old) or "least", match[0])
        return Changed(english.replaced(text, *match.span(), new), f"{match[0]} → {new}")
    return Passed("a comparative in a fixed phrase" if idioms else "no listed comparative")


def hedge(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001 - one way alone
    """Replace certain by uncertain or the other way round; else put ``perhaps`` after the verb."""
    if english.is_question(text):
        return Passed("a question")
    for match in _HEDGE.finditer(text):
        if match[0] == "May" and match.start() > 0:
            continue  # the month
        new = english.like(_CERTAIN[match[0].lower()], match[0])
        return Changed(english.replaced(text, *match.span(), new), f"{match[0]} → {new}")
    verb = _HEDGED_VERB.search(text)
    if verb is None:
        return Passed("no word of certainty, and no verb that takes one")
    new = {"will": "might", "must": "might"}.get(verb[0], f"{verb[0]} perhaps")
    return Changed(english.replaced(text, *verb.span(), new), f"{verb[0]} → {new}")
