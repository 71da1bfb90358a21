"""The views of the Frequency page; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core import diagnostic as diagnostics
from core import ui
from core.diagnostics.frequency.page import bands as frequency_bands
from core.diagnostics.frequency.page import hubs as frequency_hubs
from core.diagnostics.frequency.page import information as frequency_information
from core.diagnostics.frequency.page import neighbours as frequency_neighbours
from core.diagnostics.frequency.page import norms as frequency_norms
from core.diagnostics.frequency.page.shown import Shown
from core.diagnostics.frequency.page.spaces import gather
from core.ui.widgets.views import View, choose_view

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


# The page frequency.


def show() -> None:
    """The page."""
    entry = diagnostics.find("frequency")
    picks = ui.page("Frequency", entry.question)
    with ui.errors_shown():
        if shown := gather(picks):
            look_closer(shown)
    ui.how_computed(entry)
