"""The Frequency page and its views; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core import ui
from core.diagnostic import find_diagnostic
from core.diagnostics.frequency.page import bands, hubs, information, neighbours, norms
from core.diagnostics.frequency.page.shown import FrequencyView, gather
from core.ui.widgets.views import View, choose_view

# By their names, which are also in the address; the first is the default.
VIEWS: Mapping[str, View[FrequencyView]] = {
    "classifier": View("How well does a linear classifier tell frequent from rare?", information.show),
    "neighbours": View("How frequent are the nearest neighbours?", neighbours.show),
    "bands": View("Is the encoder worse on rare words?", bands.show),
    "norms": View("Do frequent words have longer vectors?", norms.show),
    "hubs": View("Which items stand among the nearest of too many others?", hubs.show),
}


def show() -> None:
    entry = find_diagnostic("frequency")
    picks = ui.page("Frequency", entry.question)
    with ui.errors_shown():
        if shown := gather(picks):
            choose_view(shown, VIEWS, "Look at", key="frequency_view")
    ui.how_computed(entry)
