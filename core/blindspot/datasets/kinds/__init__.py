"""Kinds of datasets: one module per kind, and the table of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.datasets.kinds.relations import Analogies, Categories, Events, Outliers
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.kinds.vocabulary import Vocabulary

_CLASSES: tuple[type[Dataset], ...] = (
    PairSet,
    MinimalPairSet,
    ScoredPairs,
    Vocabulary,
    Analogies,
    Categories,
    Outliers,
    Events,
    LabeledTexts,
    ProbingTask,
    RetrievalDataset,
    ChunkedSentences,
)
KINDS: Mapping[DatasetKind, type[Dataset]] = MappingProxyType({each.kind: each for each in _CLASSES})
