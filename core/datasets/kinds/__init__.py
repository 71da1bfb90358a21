"""Kinds of datasets: a module each, and the table of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.datasets.kinds.base import Dataset, DatasetKind
from core.datasets.kinds.labelled_texts import LabelledTexts
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.pairs import PairSet
from core.datasets.kinds.relations import Analogies, Categories
from core.datasets.kinds.retrieval import RetrievalDataset
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.datasets.kinds.vocabulary import Vocabulary

_CLASSES: tuple[type[Dataset], ...] = (
    PairSet,
    MinimalPairSet,
    ScoredPairs,
    Vocabulary,
    Analogies,
    Categories,
    LabelledTexts,
    RetrievalDataset,
)
KINDS: Mapping[DatasetKind, type[Dataset]] = MappingProxyType({each.kind: each for each in _CLASSES})
