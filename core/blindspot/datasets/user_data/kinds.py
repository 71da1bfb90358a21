"""Kinds of users' files: one module per kind, and the table of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.columns import OwnFile
from blindspot.datasets.user_data.labeled_texts import OwnLabeledTexts
from blindspot.datasets.user_data.minimal_pairs import OwnMinimalPairs
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.datasets.user_data.probing import OwnProbingTask
from blindspot.datasets.user_data.retrieval import OwnRetrieval
from blindspot.datasets.user_data.scored_pairs import OwnScoredPairs
from blindspot.datasets.user_data.vocabulary import OwnVocabulary

# The first kind that matches the header wins; without a match, a file is read as the first kind of all.
_CLASSES: tuple[type[OwnFile], ...] = (
    OwnPairs,
    OwnMinimalPairs,
    OwnRetrieval,
    OwnProbingTask,
    OwnLabeledTexts,
    OwnScoredPairs,
    OwnVocabulary,
)
OWN_KINDS: Mapping[DatasetKind, type[OwnFile]] = MappingProxyType({each.kind: each for each in _CLASSES})
