"""Small HEROS runs: encoders that take no time, datasets of a few lines, and a store of both for the page's views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from tests.conftest import make_settings
from tests.support.small_world import GramEncoder, register_dataset, register_encoder
from tests.support.world import World

SUBJECTS = ("The cat", "A small dog", "My old neighbor", "Nobody here", "The train from Rome", "Her first book")
VERBS = ("is warm", "came late", "likes the rain", "was sold")
GRAMS = ("unigrams", "bigrams", "trigrams", "quadgrams")
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


def run_heros(
    settings: Settings, encoder: str, dataset: str, transform: str = "none", diagnostic: str = "heros"
) -> RunRecord:
    """A run through the whole pipeline."""
    request = requesting.request(diagnostic, encoder, transform, dataset, {}, settings)
    return pipeline.run(request, settings, Repository.at(settings.store)).record


def run_small(
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    dataset: str,
    originals: Sequence[str],
    rewrites: Mapping[str, Sequence[str]],
    *encoders: str,
) -> dict[str, RunRecord]:
    """Register minimal pairs and run the encoders ``unigrams`` to ``quadgrams`` on them; the runs by encoder."""
    register_dataset(monkeypatch, minimal_pair_set(dataset, originals, rewrites))
    for encoder in encoders:
        register_encoder(monkeypatch, GramEncoder(encoder, GRAMS.index(encoder) + 1))
    return {encoder: run_heros(settings, encoder, dataset) for encoder in encoders}


class HerosWorld(World):
    """The shared world with the encoders ``unigrams`` to ``quadgrams``, ``DATASETS``, and its runs by dataset and
    variant."""

    def __init__(self, settings: Settings, patch: pytest.MonkeyPatch) -> None:
        super().__init__(settings, patch)
        self.runs: dict[tuple[str, str], RunRecord] = {}
        self.add(*(GramEncoder(name, size) for size, name in enumerate(GRAMS, 1)))
        self.add(*(minimal_pair_set(name, ORIGINALS, rewrites) for name, rewrites in DATASETS.items()))

    def compute(self, dataset: str, *variants: str) -> None:
        """Run variants (``trigrams~center``) on a dataset."""
        self.runs |= {(dataset, variant): self.run("heros", variant, dataset) for variant in variants}


@contextmanager
def heros_world(folder: Path) -> Iterator[HerosWorld]:
    with pytest.MonkeyPatch.context() as patch:
        yield HerosWorld(make_settings(folder / "cache"), patch)
