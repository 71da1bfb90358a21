"""Rules that leave the words as they are: typos, case, spacing, Unicode form."""

from __future__ import annotations

import re
from unicodedata import normalize

from blindspot.datasets.perturbations import english, lexicon
from blindspot.datasets.perturbations.rule import Changed, Context, Passed

FEWEST_LETTERS = 5  # of a word that gets a typo: shorter words may become other words
_SPACE = re.compile(r"(?<=\S) (?=\S)")
_QUOTED = re.compile(r"(?<!\w)\"([^\"]+)\"(?!\w)")
_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "fi": "ﬁ", "fl": "ﬂ", "ff": "ﬀ"}
_LIGATURE = re.compile("|".join(_LIGATURES))
_UNITED = {ligature: letters for letters, ligature in _LIGATURES.items()}


def typo(text: str, context: Context) -> Changed | Passed:
    """Exchange two letters or double one inside a word, or drop one of two equal letters; the first and the last
    letter stay. Dropping other letters would make other words, such as ``capped`` from ``clapped``."""
    if letters := next((why for why in [english.why_not(text)] if "script" in why), ""):
        return Passed(letters)
    candidates = [
        word
        for word in english.words(text)
        if len(word.text) >= FEWEST_LETTERS and word.text.isalpha() and word.text.islower()
        and word.text not in lexicon.CONFUSABLE | lexicon.CLOSED
    ]  # fmt: skip
    if not candidates:
        return Passed(f"no word of {FEWEST_LETTERS} small letters or more that has no look-alike")
    word = context.random.choice(candidates)
    slips = [(n, how) for n in range(1, len(word.text) - 2) for how in (_exchanged, _dropped, _doubled)]
    made = [how(word.text, n) for n, how in context.random.sample(slips, len(slips))]
    new = next((slip for slip in made if slip != word.text and not _is_word(slip)), "")
    if not new:
        return Passed("every slip would make another word")
    return Changed(english.replaced(text, word.start, word.end, new), f"{word.text} → {new}")


def _exchanged(word: str, n: int) -> str:
    return f"{word[:n]}{word[n + 1]}{word[n]}{word[n + 2 :]}"


def _dropped(word: str, n: int) -> str:
    return f"{word[:n]}{word[n + 1 :]}" if word[n] == word[n + 1] else word


def _doubled(word: str, n: int) -> str:
    return f"{word[: n + 1]}{word[n]}{word[n + 1 :]}"


def _is_word(slip: str) -> bool:
    """Whether it is a listed word: only listed words can be recognized."""
    return slip in lexicon.CONFUSABLE or slip in lexicon.CLOSED or slip in english.bases() or slip in english.pasts()


def case(text: str, context: Context) -> Changed | Passed:
    """Make all letters small, or all capital; not small if a word would have another meaning."""
    lower, upper = text.lower(), text.upper()
    if lower == upper:
        return Passed("its script has no capitals")
    tells = any(word.text in lexicon.CASE_TELLS for word in english.words(text))
    # Letters that cannot be changed back, such as ß or the dotted I, change more than their case.
    options = [
        (changed, what)
        for changed, what in ((lower, "small letters"), (upper, "capitals"))
        if changed != text and changed.casefold() == text.casefold() and len(changed) == len(text)
        and not (tells and what == "small letters")
    ]  # fmt: skip
    if not options:
        return Passed("its letters have no other case that comes back")
    changed, what = context.random.choice(options)
    return Changed(changed, f"all in {what}")


def spacing(text: str, context: Context) -> Changed | Passed:
    """Put two spaces, a tab or a line end in place of one space, or a space before the last punctuation mark."""
    spaces = [match.start() for match in _SPACE.finditer(text)]
    if not spaces:
        return Passed("no space between two words")
    position = context.random.choice(spaces)
    options = [("  ", "two spaces for one"), ("\t", "a tab for a space"), ("\n", "a line end for a space")]
    new, change = context.random.choice([*options, ("", "a space before the last mark")])
    if not new and text[-1] in ".!?" and text[-2:-1].isalnum():
        return Changed(f"{text[:-1]} {text[-1]}", change)
    new, change = (new, change) if new else options[0]
    return Changed(english.replaced(text, position, position + 1, new), change)


def unicode_form(text: str, context: Context) -> Changed | Passed:  # noqa: ARG001, PLR0911 - the first that fits
    """Encode the same characters differently: accents apart or combined, curved or straight quotes, ligatures."""
    apart, composed = normalize("NFD", text), normalize("NFC", text)
    if apart != composed:
        return Changed(composed, "accents in one (NFC)") if text == apart else Changed(apart, "accents apart (NFD)")
    if (curved := _QUOTED.sub(r"“\1”", re.sub(r"(?<=\w)'", "’", text))) != text:
        return Changed(curved, "curved quotes for straight ones")
    if re.search("[‘’“”]", text):
        straight = str.maketrans("‘’“”", "''\"\"")
        return Changed(text.translate(straight), "straight quotes for curved ones")
    if "..." in text:
        return Changed(text.replace("...", "…"), "... → …")
    if letter := next((u for u in _UNITED if u in text), ""):
        return Changed(text.replace(letter, _UNITED[letter]), f"{letter} → {_UNITED[letter]} in two letters or more")
    if _LIGATURE.search(text):
        changed = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)
        return Changed(changed, "ligatures, as in text from PDF files")
    return Passed("no accent, quote, ellipsis or ligature with another form")
