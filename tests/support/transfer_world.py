"""Small transfer tasks, encoders that take no time, and a store with their runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, LabeledTexts
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from tests.support.small_world import GramEncoder
from tests.support.world import World

FOLDS, SPLIT, PAIRS = "toy-folds", "toy-split", "toy-pairs"
MARKED = "it *rains* on [x](http://a) <b>here</b>"
REPEATED = "the red dog runs fast 0"  # stands twice in FOLDS
LEAKED = "a color so red and warm 0"  # of the test part of SPLIT, and of its training part in another spelling
_WORDS = {
    "animal": "dog cat bird runs sleeps sings".split(),
    "color": "red green blue warm dark pale".split(),
    "number": "one two three first second last".split(),
}


def _texts(label: str, n: int, seed: int) -> list[str]:
    """Four words of the class and one of another, so that a few are hard."""
    rng = np.random.default_rng([seed, sorted(_WORDS).index(label)])
    other = [word for name, words in _WORDS.items() if name != label for word in words]
    return [f"{' '.join(rng.choice(_WORDS[label], 3))} {' '.join(rng.choice(other, 2))} {i}" for i in range(n)]


def folds() -> LabeledTexts:
    """Two classes without a split; a text twice, and one that is no markdown."""
    examples = [Example(label, text) for label in ("animal", "color") for text in _texts(label, 30, 1)]
    examples += [Example("animal", REPEATED), Example("animal", REPEATED), Example("color", MARKED)]
    return labeled_texts(FOLDS, ("animal", "color"), examples)


def split() -> LabeledTexts:
    """Three classes with a split, in an order that is not the alphabet's; a test text stands in training too."""
    out = []
    for label in ("number", "animal", "color"):
        for name, n, seed in ((TRAIN, 30, 2), (DEV, 8, 3), (TEST, 14, 4)):
            out += [Example(label, f"{text} {seed}", split=name) for text in _texts(label, n, seed)]
    out += [Example("color", LEAKED, split=TEST), Example("color", LEAKED.upper(), split=TRAIN)]
    return labeled_texts(SPLIT, ("number", "animal", "color"), out)


def pairs() -> LabeledTexts:
    """Two texts each: of one class or not."""
    rng = np.random.default_rng(5)
    out = []
    for i in range(60):
        same = i % 2 == 0
        first = _texts("animal", 40, 6)[i % 40]
        second = _texts("animal" if same else "number", 40, 7)[int(rng.integers(40))]
        name = TRAIN if i < 36 else TEST
        out.append(Example("same" if same else "other", f"{first} {i}", second, name))
    return labeled_texts(PAIRS, ("other", "same"), out)


_BUILT: list[Path] = []


@pytest.fixture(scope="module")
def toys(module_world: World) -> World:
    """Three encoders, one of which lacks some texts, on the tasks; with a perceptron on one task."""
    lacks = GramEncoder("lacks", lacks=lambda text: "pale" in text)
    module_world.add(folds(), split(), pairs(), GramEncoder(), GramEncoder("bigrams", size=2), lacks)
    if _BUILT:  # by another module, in this process
        module_world.repository.database.close()
        shutil.copytree(_BUILT[0], module_world.cache, dirs_exist_ok=True)
        return module_world
    for encoder, dataset, classifier in (
        ("trigrams", FOLDS, "logreg"),
        ("bigrams", FOLDS, "logreg"),
        ("trigrams", SPLIT, "logreg"),
        ("bigrams", SPLIT, "logreg"),
        ("trigrams", SPLIT, "mlp"),
        ("bigrams", SPLIT, "mlp"),
        ("lacks", SPLIT, "logreg"),
        ("trigrams", PAIRS, "logreg"),
    ):
        module_world.run("transfer", encoder, dataset, classifier=classifier)
    module_world.repository.database.close()
    _BUILT.append(module_world.cache)
    return module_world
