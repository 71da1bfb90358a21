"""Kinds of users' files: a module each, and the table of all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.own.columns import OwnFile
from blindspot.datasets.own.labeled_texts import OwnLabeledTexts
from blindspot.datasets.own.minimal_pairs import OwnMinimalPairs
from blindspot.datasets.own.pairs import OwnPairs
from blindspot.datasets.own.probing import OwnProbingTask
from blindspot.datasets.own.retrieval import OwnRetrieval
from blindspot.datasets.own.scored_pairs import OwnScoredPairs
from blindspot.datasets.own.vocabulary import OwnVocabulary

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
