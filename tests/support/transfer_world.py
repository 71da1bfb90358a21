"""Small transfer tasks, encoders that take no time, and a store with their runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.datasets.kinds.labelled_texts import DEV, TEST, TRAIN, LabelledTexts
from core.datasets.published.labelled_texts import Example, labelled_texts
from core.runs import pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.types import CancelToken, Float32
from tests.conftest import make_settings
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

FOLDS, SPLIT, PAIRS = "toy-folds", "toy-split", "toy-pairs"
MARKED = "it *rains* on [x](http://a) <b>here</b>"
REPEATED = "the red dog runs fast 0"  # stands twice in FOLDS
LEAKED = "a colour so red and warm 0"  # of the test part of SPLIT, and of its training part in another spelling
_WORDS = {
    "animal": "dog cat bird runs sleeps sings".split(),
    "colour": "red green blue warm dark pale".split(),
    "number": "one two three first second last".split(),
}


class LacksPale(GramEncoder):
    """Has no vector for a text with "pale" in it."""

    def encode(self, texts: tuple[str, ...], cancel: CancelToken) -> Float32:  # type: ignore[override]
        out = super().encode(texts, cancel)
        out[["pale" in text for text in texts]] = np.nan
        return out


def _texts(label: str, n: int, seed: int) -> list[str]:
    """Four words of the class and one of another, so that a few are hard."""
    rng = np.random.default_rng([seed, sorted(_WORDS).index(label)])
    other = [word for name, words in _WORDS.items() if name != label for word in words]
    return [f"{' '.join(rng.choice(_WORDS[label], 3))} {' '.join(rng.choice(other, 2))} {i}" for i in range(n)]


def folds() -> LabelledTexts:
    """Two classes without a split; a text twice, and one that is no markdown."""
    examples = [Example(label, text) for label in ("animal", "colour") for text in _texts(label, 30, 1)]
    examples += [Example("animal", REPEATED), Example("animal", REPEATED), Example("colour", MARKED)]
    return labelled_texts(FOLDS, ("animal", "colour"), examples)


def split() -> LabelledTexts:
    """Three classes with a split, in an order that is not the alphabet's; a test text stands in training too."""
    out = []
    for label in ("number", "animal", "colour"):
        for name, n, seed in ((TRAIN, 30, 2), (DEV, 8, 3), (TEST, 14, 4)):
            out += [Example(label, f"{text} {seed}", split=name) for text in _texts(label, n, seed)]
    out += [Example("colour", LEAKED, split=TEST), Example("colour", LEAKED.upper(), split=TRAIN)]
    return labelled_texts(SPLIT, ("number", "animal", "colour"), out)


def pairs() -> LabelledTexts:
    """Two texts each: of one class or not."""
    rng = np.random.default_rng(5)
    out = []
    for i in range(60):
        same = i % 2 == 0
        first = _texts("animal", 40, 6)[i % 40]
        second = _texts("animal" if same else "number", 40, 7)[int(rng.integers(40))]
        name = TRAIN if i < 36 else TEST
        out.append(Example("same" if same else "other", f"{first} {i}", second, name))
    return labelled_texts(PAIRS, ("other", "same"), out)


@contextmanager
def world(folder: Path) -> Iterator[tuple[Settings, Repository]]:
    """Three encoders, one of which lacks some texts, on the tasks; with a perceptron on one task."""
    with pytest.MonkeyPatch.context() as patch:
        for dataset in (folds(), split(), pairs()):
            register_dataset(patch, dataset)
        register_encoder(patch, GramEncoder())
        register_encoder(patch, GramEncoder("bigrams", size=2))
        register_encoder(patch, LacksPale("lacks", info=replace(GramEncoder().info, is_partial=True)))
        settings = make_settings(folder / "cache")
        repository = Repository.at(settings.store)
        if _BUILT:  # by another module's fixture, in this process
            repository.database.close()
            shutil.copytree(_BUILT[0], settings.cache, dirs_exist_ok=True)
            yield settings, repository
            return
        for encoder, dataset_id, classifier in (
            ("trigrams", FOLDS, "logreg"),
            ("bigrams", FOLDS, "logreg"),
            ("trigrams", SPLIT, "logreg"),
            ("bigrams", SPLIT, "logreg"),
            ("trigrams", SPLIT, "mlp"),
            ("bigrams", SPLIT, "mlp"),
            ("lacks", SPLIT, "logreg"),
            ("trigrams", PAIRS, "logreg"),
        ):
            run(encoder, dataset_id, classifier, settings, repository)
        repository.database.close()
        _BUILT.append(settings.cache)
        yield settings, repository


_BUILT: list[Path] = []


def run(encoder: str, dataset: str, classifier: str, settings: Settings, repository: Repository) -> RunRecord:
    """The run, computed or found."""
    request = pipeline.request("transfer", encoder, "none", dataset, {"classifier": classifier}, settings)
    return pipeline.run(request, settings, repository).record
