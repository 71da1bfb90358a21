"""The views of the Frequency page; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import (
    frequency_bands,
    frequency_hubs,
    frequency_information,
    frequency_neighbours,
    frequency_norms,
)
from core.ui.frequency_view import Shown
from core.ui.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "classifier": View("How well does a linear classifier tell frequent from rare?", frequency_information.show),
    "neighbours": View("How frequent are the nearest neighbours?", frequency_neighbours.show),
    "bands": View("Is the encoder worse on rare words?", frequency_bands.show),
    "norms": View("Do frequent words have longer vectors?", frequency_norms.show),
    "hubs": View("Which items stand among the nearest of too many others?", frequency_hubs.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look at", key="frequency_view")
