"""What the views of the Frequency page show: spaces over the same items, and how frequent these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.datasets.word_frequency import Frequencies
from core.figures.theme import Scheme, Style
from core.runs.spaces import Space
from core.types import Variant
from core.ui.pickers import Picks


@dataclass(frozen=True, eq=False)
class Shown:
    """What a view is given.

    Attributes:
        entry: of the dataset; ``entry.unit`` is what one item is called.
        spaces: one per variant, all over the same k items (``spaces[0].items``), those before a transform first.
        frequencies: ``[k]``, row i for item ``spaces[0].items[i]``; NaN where the counts do not have the item.
        after: per variant that the reader also wants to see transformed, that variant; its space is in ``spaces``.
        styles: the look of every variant in ``spaces``.
    """

    picks: Picks
    entry: DatasetEntry
    dataset: Dataset
    spaces: Sequence[Space]
    frequencies: Frequencies
    after: Mapping[Variant, Variant]
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def key(self) -> tuple[str, ...]:
        """Of all that is shown, to keep what follows from it."""
        return (*(space.digest for space in self.spaces), self.frequencies.digest)
