"""An encoder that takes no time and a dataset with every oddity, for tests of what stands on the pipeline.

Both are real: they enter the catalogs for the length of a test, and everything behind them is the app's own.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pytest

from blindspot.datasets.catalog import DATASETS, DatasetEntry
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import pair_set
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.catalog import ENCODERS, EncoderEntry
from blindspot.types import CancelToken, Float32

D = TypeVar("D", bound=Dataset)

PATIENCE_SECONDS = 300.0


def no_gate(cancel: CancelToken) -> None:
    """Let everything through."""


@dataclass
class GramEncoder:
    """Counts of the character n-grams of a text's letters and digits, so that twins have equal vectors.

    A text without letters is a zero vector.

    Attributes:
        size: n.
        before: called before every chunk of texts; may wait, or raise.
        encoded: how many texts were encoded so far.
        lacks: whether a text has no vector.
        constant: whether all texts have the same vector.
    """

    reference: str = "trigrams"
    size: int = 3
    before: Callable[[CancelToken], None] = no_gate
    encoded: int = 0
    device: str = "cpu"
    info: EncoderInfo = field(default=EncoderInfo("Character n-grams", 96, 0, 0, "", "", ""))
    lacks: Callable[[str], bool] | None = None
    constant: bool = False

    def __post_init__(self) -> None:
        if self.lacks:
            self.info = replace(self.info, is_partial=True)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference, revision="1", pooling=f"counts of {self.size}-grams", libraries=()
        )

    def load(self) -> None:
        """There is nothing to load."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        self.before(cancel)
        out = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            key = "".join(c for c in text.casefold() if c.isalnum())
            for start in range(max(len(key) - self.size + 1, 0)):
                out[row, zlib.crc32(key[start : start + self.size].encode()) % self.info.dimension] += 1.0
        if self.constant:
            out[:] = 0.5
        if self.lacks:
            out[[self.lacks(text) for text in texts]] = np.nan
        self.encoded += len(texts)
        return out


@dataclass
class Gate:
    """Holds an encoder until it is opened, chunk by chunk; ``stubborn`` ones do not look at the cancel token."""

    stubborn: bool = False
    reached: int = 0
    _permits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, cancel: CancelToken) -> None:
        self.reached += 1
        if self.stubborn:
            self._permits.acquire(timeout=PATIENCE_SECONDS)
            return
        while not self._permits.acquire(timeout=0.01):
            cancel.check()

    def open(self, chunks: int = 1) -> None:
        self._permits.release(chunks)


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for something that another thread brings about; fails when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


DOG, DOG_IS, DOG_THE = "A dog runs in the park.", "A dog is running in the park.", "The dog runs through the park."
CAT = "A cat sleeps on the sofa."
QUOTED, COMMA = 'He said "no, never", twice;\nthen left', "=He said „no, never“ two times – then\tleft"

SMALL_PAIRS = pair_set(
    "small-pairs",
    pairs=[
        (DOG, DOG_IS),
        (DOG, DOG_THE),  # a second match
        (DOG_IS, DOG),
        (CAT, CAT),  # a pair of a text with itself, which has twins
        (CAT, DOG),
        (QUOTED, COMMA),
        ("!!", "??"),  # nothing to compare
        ("!!", "!!"),
        ("Rain falls.", "It rains a lot here."),
    ],
    background=[
        "a DOG runs in the park!",  # a twin of a query
        "A dog is running,  in the park",  # a twin of a match
        "a cat sleeps on the SOFA",
        "A cat sleeps on the sofa!",
        "A dog rests in the park.",
        "Rain falls on the park.",
        "…",
        "Nothing of this kind 12345",
    ],
)


def text_pairs(dataset: PairSet) -> list[tuple[str, str]]:
    pairs = zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True)
    return [(dataset.items[query], dataset.items[match]) for query, match in pairs]


def register_encoder(monkeypatch: pytest.MonkeyPatch, encoder: GramEncoder) -> GramEncoder:
    """Give an encoder a place in the catalog for the length of a test."""
    entry = EncoderEntry(encoder.reference, "An encoder of the tests.", encoder.info, lambda _entry, _settings: encoder)
    monkeypatch.setitem(ENCODERS, encoder.reference, entry)
    return encoder


def dataset_entry(dataset: Dataset) -> DatasetEntry:
    """A built-in dataset."""
    return DatasetEntry(
        id=dataset.id,
        title=dataset.id,
        description="A dataset of the tests.",
        kind=dataset.kind,
        unit="sentence",
        size=f"{len(dataset.items)} texts",
        licence="none",
        citation="none",
        url="",
        revision="1",
        files=(),
        load=lambda _id, _paths: dataset,
    )


def register_dataset(monkeypatch: pytest.MonkeyPatch, dataset: D) -> D:
    """Give a dataset a place in the catalog for the length of a test."""
    monkeypatch.setitem(DATASETS, dataset.id, dataset_entry(dataset))
    return dataset
