"""The kinds of files that users bring: a module each, and the table that names them all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.datasets.kinds.base import DatasetKind
from core.datasets.own.columns import OwnFile
from core.datasets.own.labelled_texts import OwnLabelledTexts
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.own.pairs import OwnPairs
from core.datasets.own.scored_pairs import OwnScoredPairs
from core.datasets.own.vocabulary import OwnVocabulary

# The first whose header says so wins; what none's says is read as the first of all.
_CLASSES: tuple[type[OwnFile], ...] = (
    OwnPairs,
    OwnMinimalPairs,
    OwnLabelledTexts,
    OwnScoredPairs,
    OwnVocabulary,
)
OWN_KINDS: Mapping[DatasetKind, type[OwnFile]] = MappingProxyType({each.kind: each for each in _CLASSES})
