"""Probe texts of the set-up check: 200 of our own, the same for every model whose limit is the same.

``PLAIN`` texts are encoded alone and in one batch. Texts that must not get the same vector differ in one frequent word,
so that word vectors tell them apart, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

NUMBER = 200
SEED = 20_261_123
LENGTHS = 20  # texts from one word to twice the limit
LONGEST = 2_048  # words of a text: a longer limit is not looked for

# One token each in the vocabularies of most models, and in most word vectors.
ADJECTIVES = (
    "old new small large red green dark cold warm young quiet heavy early late rich poor free public local wide"
)
NOUNS = (
    "house river city market school train garden window bridge farmer doctor teacher king forest mountain ship horse "
    "letter picture table church island army bank engine court student village summer winter"
)
VERBS = "found left saw kept lost sold built crossed reached bought watched closed opened moved painted"
ENDS = "in the morning|after the war|near the sea|on the road|before the rain|at night|in the south|for the children"
WORDS = tuple(f"{ADJECTIVES} {NOUNS}".split())


class Kind(StrEnum):
    """What a probe is for; the value is shown."""

    PLAIN = "plain"
    TWIN = "differs in one word"
    LENGTH = "length"
    CASE = "upper and lower case"
    ACCENT = "accents"
    NEWLINE = "newlines"
    SPACE = "spaces"
    COMPOSITION = "composed characters"
    EMOJI = "emoji"
    CJK = "Chinese, Japanese, Korean"
    SCRIPT = "other scripts"
    REPEATED = "repeated words"
    TINY = "nearly empty"
    SENTENCE = "sentence"


@dataclass(frozen=True)
class Probe:
    """A text and its kind; ``pair`` is shared by the two texts of a pair, -1 for none."""

    text: str
    kind: Kind
    pair: int = -1

    @property
    def words(self) -> int:
        return len(self.text.split())


WRITTEN = (
    "rain",
    "music",
    "a letter",
    "cold water",
    "She lost her keys again.",
    "The bank closed at noon.",
    "How do I open a window that is stuck?",
    "Bread is cheaper in the village than in the city.",
    "My brother repairs old radios and gives them away.",
    "The train to the south was late because of the snow.",
    "A doctor who does not listen is of little use to anybody.",
    "Nobody in the office knew who had painted the door green.",
    "We walked along the river until it was too dark to see the other side.",
    "If the price of oil goes up, so does the price of nearly everything else.",
    "The farmer sold his last horse in spring, and by summer he wanted it back.",
    "Our teacher said that a good question is worth more than ten answers learned by heart.",
)
CASED = (
    ("Polish the table before the guests come.", "polish the table before the guests come."),
    ("They moved to Turkey last year.", "they moved to turkey last year."),
    ("We met in March and in May.", "we met in march and in may."),
    ("THE WINDOW IS OPEN", "the window is open"),
    ("Apple sold a part of it.", "apple sold a part of it."),
    ("US law is not clear about that.", "us law is not clear about that."),
)
ACCENTED = (
    ("He sent his résumé on Monday.", "He sent his resume on Monday."),
    ("The café is near the sea.", "The cafe is near the sea."),
    ("Año nuevo en Málaga", "Ano nuevo en Malaga"),
    ("Die Häuser über dem Fluß", "Die Hauser uber dem Fluß"),
    ("Zażółć gęślą jaźń", "Zazołc gesla jazn"),
    ("naïve coöperation", "naive cooperation"),
)
BROKEN = (
    ("The first line.\nThe second line.", "The first line. The second line."),
    ("bread\nmilk\neggs", "bread milk eggs"),
    ("A title\n\nand its text", "A title and its text"),
    ("It ends here.\r\nIt goes on.", "It ends here. It goes on."),
)
SPACED = (
    ("  The garden is quiet.  ", "The garden is quiet."),
    ("two  spaces  between  words", "two spaces between words"),
    ("a\ttab", "a tab"),
)
COMPOSED = (
    ("\u00e9clair at night", "e\u0301clair at night"),
    ("\u00c5ngstr\u00f6m", "A\u030angstro\u0308m"),
    ("\ufb01nd the of\ufb01ce", "find the office"),
)
EMOJI = (
    "Great news 🎉",
    "😀",
    "I love it ❤️",
    "🌧️ all day",
    "👩‍👩‍👧‍👦 at the beach",
    "👍🏽",
    "🏳️‍🌈 parade",
    "rain or ☀️?",
)
CJK = (
    "这是一个很短的句子。",
    "我们明天去学校。",
    "日本語の文章です。",
    "東京は今日も雨です。",
    "한국어 문장입니다.",
    "기차가 늦었다.",
    "書",
    "The word 水 means water.",
)
SCRIPTS = (
    "Привет, мир",
    "Поезд опоздал из-за снега.",
    "Καλημέρα σας",
    "مرحبا بالعالم",
    "שלום עולם",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "x² + y² = z²",
)
REPEATED = ("rain rain", "no no no no", "very very very old", "the " * 12 + "end", "ha" * 30, "word " * 40)
TINY = ("a", ".", "?", "7", "-", "ok", "I", "…")


def probes(limit: int) -> tuple[Probe, ...]:
    """The probes for a model that is thought to read so many words; lengths go to twice that, at most ``LONGEST``."""
    rng = np.random.default_rng(SEED)
    out = [Probe(text, Kind.PLAIN) for text in WRITTEN]
    out += [Probe(_sentences(rng, int(n)), Kind.PLAIN) for n in np.linspace(1, 6, 16)]
    number = 0
    for length in (0, 0, 1, 2, 4, 6, 9, 12):
        start = _sentences(rng, length)
        adjective, noun, other = rng.choice(len(NOUNS.split()), 3, replace=False)
        nouns = NOUNS.split()
        for end in (nouns[noun], nouns[other]):
            out.append(Probe(f"{start} The {nouns[adjective]} belongs to the {end}".strip(), Kind.TWIN, number))
        number += 1
    for kind, pairs in (
        (Kind.CASE, CASED),
        (Kind.ACCENT, ACCENTED),
        (Kind.NEWLINE, BROKEN),
        (Kind.SPACE, SPACED),
        (Kind.COMPOSITION, COMPOSED),
    ):
        for pair in pairs:
            out += [Probe(text, kind, number) for text in pair]
            number += 1
    longest = min(2 * limit, LONGEST)
    for n in np.unique(np.geomspace(1, longest, LENGTHS).round()).astype(int):
        out.append(Probe(words(int(n), seed=int(n)), Kind.LENGTH))
    for kind, texts in (
        (Kind.EMOJI, EMOJI),
        (Kind.CJK, CJK),
        (Kind.SCRIPT, SCRIPTS),
        (Kind.REPEATED, REPEATED),
        (Kind.TINY, TINY),
    ):
        out += [Probe(text, kind) for text in texts]
    seen = {probe.text for probe in out}
    while len(out) < NUMBER:
        text = _sentences(rng, 1)
        if text not in seen:
            seen.add(text)
            out.append(Probe(text, Kind.SENTENCE))
    return tuple(out)


def words(n: int, seed: int = 0) -> str:
    """``n`` frequent words in a random order: about a token each."""
    rng = np.random.default_rng([SEED, seed])
    return " ".join(WORDS[i] for i in rng.integers(len(WORDS), size=n))


def _sentences(rng: np.random.Generator, n: int) -> str:
    """``n`` made-up sentences of about ten words."""

    def drawn(among: str, separator: str | None = None) -> str:
        choices = among.split(separator)
        return choices[int(rng.integers(len(choices)))]

    made = []
    for _ in range(n):
        first = f"The {drawn(ADJECTIVES)} {drawn(NOUNS)} {drawn(VERBS)} the {drawn(ADJECTIVES)} {drawn(NOUNS)}"
        made.append(f"{first} {drawn(ENDS, '|')}.")
    return " ".join(made)
