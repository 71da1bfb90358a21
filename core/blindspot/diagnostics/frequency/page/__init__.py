"""The Frequency page and its views; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from blindspot import ui
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.frequency.page import bands, hubs, information, neighbors, norms
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView, gather
from blindspot.ui.widgets.views import View, choose_view

# By their names, which are also in the address; the first is the default.
VIEWS: Mapping[str, View[FrequencyView]] = {
    "classifier": View("Can a linear classifier read word frequency off the vectors?", information.show),
    "neighbors": View("How frequent are the nearest neighbors?", neighbors.show),
    "bands": View("Is the model worse on rare words?", bands.show),
    "norms": View("Do frequent words have longer vectors?", norms.show),
    "hubs": View("Which hubs are among the nearest neighbors of too many others?", hubs.show),
}


def show() -> None:
    entry = find_diagnostic("frequency")
    picks = ui.page("Frequency", entry.question)
    with ui.errors_shown():
        if shown := gather(picks):
            choose_view(shown, VIEWS)
    ui.how_computed(entry)
