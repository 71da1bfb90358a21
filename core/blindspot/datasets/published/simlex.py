"""SimLex-999 as its authors published it: word pairs with part of speech, scores and the words' concreteness."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.datasets.published.text_lines import lines, parsed
from blindspot.errors import DataCorrupt

HEADER = ("word1", "word2", "POS", "SimLex999", "conc(w1)", "conc(w2)")  # four more columns follow
PARTS_OF_SPEECH = {"A": "adjective", "N": "noun", "V": "verb"}


@dataclass(frozen=True)
class SimLexWord:
    """A word of a pair.

    Attributes:
        part_of_speech: of the pair: "adjective", "noun" or "verb".
        concreteness: mean rating by people, from 1 (abstract) to 5 (concrete).
    """

    text: str
    part_of_speech: str
    concreteness: float


@dataclass(frozen=True)
class SimLexPair:
    """A line of the file; ``score`` is from 0 to 10."""

    words: tuple[SimLexWord, SimLexWord]
    score: float


def read(path: Path) -> list[SimLexPair]:
    """The pairs of the file, tabs between its columns."""
    (_, header), *rows = lines(path) or [(1, "")]
    if tuple(header.split("\t")[: len(HEADER)]) != HEADER:
        raise DataCorrupt(f"{path} begins with '{header[:60]}'", expected=f"the header of SimLex-999: {HEADER}")
    return parsed(path, rows, _pair, "a line of SimLex-999")


def _pair(line: str) -> SimLexPair:
    first, second, letter, score, *concreteness = line.split("\t")[: len(HEADER)]
    part = PARTS_OF_SPEECH[letter]
    word, other = (SimLexWord(w, part, float(c)) for w, c in zip((first, second), concreteness, strict=True))
    return SimLexPair((word, other), float(score))


def load(dataset_id: str, path: Path) -> ScoredPairs:
    """Its pairs and their scores."""
    rows = [(pair.words[0].text, pair.words[1].text, pair.score) for pair in read(path)]
    return scored_pairs(dataset_id, {"SimLex-999": rows})
