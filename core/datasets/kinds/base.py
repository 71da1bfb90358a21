"""What every kind of dataset has, and the part of a dataset that an encoder covers."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

import numpy as np

from core.types import Bool, Int64, digest_of_strings


class DatasetKind(StrEnum):
    """What a dataset's rows are."""

    PAIR_SET = "pair set"
    MINIMAL_PAIR_SET = "minimal-pair set"
    SCORED_PAIRS = "set of scored pairs"
    VOCABULARY = "vocabulary with frequencies"
    ANALOGIES = "set of analogies"
    CATEGORIES = "set of categories"
    LABELLED_TEXTS = "set of labelled texts"


@dataclass(frozen=True, eq=False)
class Dataset(ABC):
    """What every kind of dataset has.

    Attributes:
        id: dataset id.
        items: the distinct texts, ``n`` of them; everything else speaks of them by their numbers.
    """

    id: str
    items: tuple[str, ...]

    kind: ClassVar[DatasetKind]

    @cached_property
    def texts_digest(self) -> str:
        """Digest of the texts and their order: datasets that share it share their embeddings."""
        return digest_of_strings(self.items)

    @property
    @abstractmethod
    def content_digest(self) -> str:
        """Digest of all that decides a diagnostic's numbers."""


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a dataset whose items all have a vector (DESIGN 4.1, coverage).

    Attributes:
        dataset: that part, its items numbered anew.
        items: ``[k] int64``, the numbers that its items have in the whole.
        support: ``[n] bool``, per item of the whole whether it is in.
    """

    dataset: Dataset
    items: Int64
    support: Bool

    @property
    def digest(self) -> str:
        """Digest of which items are in; "" for all of them."""
        return "" if self.support.all() else hashlib.sha256(np.packbits(self.support).tobytes()).hexdigest()[:16]
