"""Made-up probing tasks in SentEval's format: the length of a sentence, a word that it contains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

_WORDS = "dog cat bird runs sleeps sings red green blue warm dark pale one two three old".split()
_SIZES = {"tr": 60, "va": 20, "te": 20}


def length_lines() -> list[str]:
    """Three ranges of length, 0 to 2, as in ``sentence_length.txt``."""
    rng = np.random.default_rng(1)
    out = []
    for split, n in _SIZES.items():
        for i in range(n):
            label = i % 3
            words = rng.choice(_WORDS, 3 + 4 * label + int(rng.integers(4)))
            out.append(f"{split}\t{label}\t{' '.join(words)} .")
    return out


def word_lines(classes: int, per_class: Sequence[int] = (6, 2, 2)) -> list[str]:
    """One of so many words in each sentence, as in ``word_content.txt``; the word is the class."""
    rng = np.random.default_rng(2)
    out = []
    for split, n in zip(_SIZES, per_class, strict=True):
        for k in range(classes):
            word = "".join("bdfghklmnp"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{k:03d}")
            out += [
                f"{split}\t{word}\t{' '.join([*rng.choice(_WORDS, 2), word, *rng.choice(_WORDS, 2)])}" for _ in range(n)
            ]
    return out


def written(folder: Path, name: str, lines: Sequence[str]) -> str:
    """The reference of a file with these lines."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return f"file:{path}"
