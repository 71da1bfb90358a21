"""State that the parts of the page share: the comparison and its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.figures.theme import Scheme, Style
from blindspot.names import in_address
from blindspot.runs.default_models import place_of
from blindspot.studies.compare.rows import Comparison
from blindspot.ui.page_state import A, B, PageState
from blindspot.ui.pickers import Picks
from blindspot.variants import Variant


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

    @property
    def told(self) -> Comparison:
        """From the side of the headline."""
        return self.found.told

    def state(self, dataset: str, *places: Mapping[str, str]) -> PageState:
        """Of a diagnostic's page with the two models."""
        return PageState(dataset, self.picks.metric, (self.found.a, self.found.b), is_visit=True).at(*places)


def among_of(variants: Sequence[Variant], picks: Picks) -> list[Variant]:
    """The models to choose A and B from: the baseline, then a user's own, the newest first, baselines that nobody would
    deploy last; those of the address in any case."""
    named = {st.query_params.get(key) for key in (A, B)}
    asked = picks.asked_for(variants)
    newest_first = [v for v in reversed(variants) if v in asked or not named.isdisjoint({str(v), in_address(str(v))})]
    return sorted(newest_first, key=lambda variant: (variant != picks.baseline, place_of(variant.encoder)))
