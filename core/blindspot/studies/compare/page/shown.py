"""State of the page that its parts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blindspot.figures.theme import Scheme, Style
from blindspot.studies.compare.rows import Comparison
from blindspot.types import Variant
from blindspot.ui.pickers import Picks, link_to


@dataclass(frozen=True)
class CompareView:
    """A comparison on screen; ``among`` are the models that the reader chose from."""

    picks: Picks
    found: Comparison
    among: tuple[Variant, ...]
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def names(self) -> tuple[str, str]:
        return self.found.a.label, self.found.b.label

    def link(self, dataset: str, address: Mapping[str, str]) -> dict[str, str | list[str]]:
        """Query parameters of a diagnostic's page with the two models."""
        return link_to(dataset, self.picks.metric, [self.found.a, self.found.b], address, is_visit=True)
