"""A small store of HEROS runs for tests of the page's views: encoders that take no time, datasets of a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.datasets.published.minimal_pairs import minimal_pair_set
from core.runs import pipeline
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.types import Variant
from tests.conftest import make_settings
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

SUBJECTS = ("The cat", "A small dog", "My old neighbour", "Nobody here", "The train from Rome", "Her first book")
VERBS = ("is warm", "came late", "likes the rain", "was sold")
ORIGINALS = [f"{subject} {verb}" for subject in SUBJECTS for verb in VERBS]


def rewritten(**changes: tuple[str, str]) -> dict[str, list[str]]:
    """Per subset the originals with some letters replaced, every third one twice."""
    return {
        subset: [text.replace(old, new) + (f" {new}" if i % 3 == 0 else "") for i, text in enumerate(ORIGINALS)]
        for subset, (old, new) in changes.items()
    }


SIX = rewritten(
    synonym=("a", "the"),
    antonym=("the", "a"),
    negation_main=(" ", " not "),
    negation_antonym=("a", "un"),
    random_mlm=("e", "x"),
    typo=("i", "y"),
)
DATASETS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "six": SIX,
    "nameless": {"<b>of* my_own": SIX["typo"], "formal>er": SIX["synonym"], "third": SIX["antonym"]},
    "alone": {"synonym": SIX["synonym"]},
    "alike": {"synonym": ORIGINALS, "opposite_1": ORIGINALS},
    "twenty": {f"column_{i}": [f"{text} {i}" for text in ORIGINALS] for i in range(20)},
}


class World:
    """Its settings, and the run of every variant on every dataset that was asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.repository = Repository.at(settings.store)
        self.runs: dict[tuple[str, str], RunRecord] = {}

    @property
    def cache(self) -> Path:
        return self.settings.cache

    def run(self, dataset: str, *variants: str) -> None:
        """Compute variants (``trigrams~center``) on a dataset."""
        for name in variants:
            variant = Variant.parse(name)
            request = pipeline.request("heros", variant.encoder, variant.transform, dataset, {}, self.settings)
            self.runs[dataset, name] = pipeline.run(request, self.settings, self.repository).record


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """With encoders ``unigrams`` to ``quadgrams`` and the datasets in the catalogs."""
    with pytest.MonkeyPatch.context() as patch:
        for size, name in enumerate(("unigrams", "bigrams", "trigrams", "quadgrams"), 1):
            register_encoder(patch, GramEncoder(name, size))
        for name, rewrites in DATASETS.items():
            register_dataset(patch, minimal_pair_set(name, ORIGINALS, rewrites))
        yield World(make_settings(folder / "cache"))
