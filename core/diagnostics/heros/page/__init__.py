"""The views of the HEROS page below its profile; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core import diagnostic as diagnostics
from core import ui
from core.diagnostics.heros.page import lexical_overlap as heros_data
from core.diagnostics.heros.page import orderings as heros_orderings
from core.diagnostics.heros.page import profile as heros_profile
from core.diagnostics.heros.page import resemblance as heros_behaviour
from core.diagnostics.heros.page import runs as parts
from core.diagnostics.heros.page import sentences as heros_sentences
from core.diagnostics.heros.page import spread as heros_spread
from core.diagnostics.heros.page.shown import Shown
from core.ui.widgets.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "orderings": View(
        "Which rewrite is nearer to the original, and do two encoders differ in it?", heros_orderings.show
    ),
    "sentences": View("On which sentences does it go wrong?", heros_sentences.show),
    "spread": View("How far do sentences differ, and what would a transform change?", heros_spread.show),
    "behaves like": View("Which published encoders does it resemble?", heros_behaviour.show),
    "the data": View("How much do a sentence and its rewrite share?", heros_data.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="heros_view")


# The page heros.


def show() -> None:
    """The page."""
    entry = diagnostics.find("heros")
    picks = ui.page("HEROS", entry.question)
    dataset = parts.dataset_of(entry, picks)
    runs = parts.finished_runs(entry, dataset, picks)
    with ui.errors_shown():
        parts.offer(entry, dataset, picks, runs)
    if runs:
        rows = parts.rows(entry, runs)
        subsets = parts.subsets_of(entry, runs, rows)
        shown = Shown(
            entry, picks, dataset, runs, subsets, rows, ui.variant_styles(run.plan.variant for run in runs), ui.scheme()
        )
        heros_profile.show(shown)
        look_closer(shown)
    ui.how_computed(entry)
