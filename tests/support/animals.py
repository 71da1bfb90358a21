"""Word vectors that lack words, and pairs of the words."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from blindspot.datasets.published.pairs import pair_set

WORDS = "cat dog cow pig hen owl fox ant bee elk".split()
PAIRS = [("cat", "dog"), ("dog", "cat"), ("cow", "pig"), ("hen", "owl"), ("fox", "ant"), ("bee", "elk"), ("cat", "hen")]
ANIMALS = pair_set("animals", PAIRS, [*WORDS, "emu", "yak"])


def write_vectors(path: Path, words: list[str], seed: int) -> str:
    """A GloVe file of random vectors; its reference."""
    draw = np.random.default_rng(seed)
    path.write_text("".join(f"{w} {' '.join(f'{x:.4f}' for x in draw.standard_normal(4))}\n" for w in words))
    return f"vectors:{path}"
