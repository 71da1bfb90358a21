"""A stand-in for HEROS's file, and encoders whose profiles on it are known beforehand.

The file has HEROS's form (1,000 rows, seven columns, two of them called Negation) and sentences that are made up. An
encoder of ``ProfileEncoder`` gives the originals of the two halves directions of their own, so that ``cos_avg`` is 0,
and every rewrite the cosine with its original that its subset is to have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import SUBSETS
from blindspot.encoders.base import EncoderInfo
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.types import CancelToken, Float32
from tests.conftest import make_settings
from tests.support.heros_world import run_heros
from tests.support.small_world import GramEncoder, register_encoder

HEADER = ("Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation")
HALF = 500


def rows() -> list[tuple[str, ...]]:
    """A thousand rows in the order of ``HEADER``; the first negation is the clause's."""
    return [
        tuple(
            f"Visitor {i} {text} of the old town hall in May."
            for text in (
                "really liked the garden",
                "really loved the garden",
                "really disliked the garden",
                "did not really like the small garden",
                "really painted the garden",
                "really lkied the garden",
                "really not liked the garden",
            )
        )
        for i in range(2 * HALF)
    ]


def write_heros(mirror: Path) -> Path:
    """The file where a mirror has it."""
    path = mirror / "heros" / "heros.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [HEADER, *rows()]), "utf-8")
    return path


@dataclass
class ProfileEncoder(GramEncoder):
    """Knows which text is which rewrite of which original, and how similar that is to be.

    Attributes:
        profile: the cosine by subset.
        places: subset ("" for an original) and number of the original, by text.
    """

    profile: Mapping[str, float] = field(default_factory=dict)
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    info: EncoderInfo = field(default=EncoderInfo("Profiles as ordered", 3, 0, 0, "", "", ""))

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        out = np.zeros((len(texts), 3))
        for row, text in enumerate(texts):
            subset, number = self.places[text]
            cosine = self.profile[subset] if subset else 1.0
            out[row, int(number >= HALF)] = cosine
            out[row, 2] = np.sqrt(1.0 - cosine**2)
        return out.astype(np.float32)


def load_heros(settings: Settings) -> MinimalPairSet:
    dataset = fetch.load(find_dataset("heros"), settings)
    assert isinstance(dataset, MinimalPairSet)
    return dataset


def run_with_profile(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, name: str, profile: Mapping[str, float], dataset: str = "heros"
) -> RunRecord:
    """A HEROS run, through the whole pipeline, whose profile is ``profile``."""
    heros = load_heros(settings)
    columns = {"": heros.originals, **{subset: heros.rewrites[subset] for subset in SUBSETS}}
    places = {heros.items[int(n)]: (subset, i) for subset, numbers in columns.items() for i, n in enumerate(numbers)}
    register_encoder(monkeypatch, ProfileEncoder(reference=name, profile=profile, places=places))
    return run_heros(settings, name, dataset)


def settings_with_heros(folder: Path) -> Settings:
    """A cache with the stand-in downloaded from a mirror."""
    write_heros(folder / "mirror")
    return make_settings(folder / "cache", str(folder / "mirror"))
