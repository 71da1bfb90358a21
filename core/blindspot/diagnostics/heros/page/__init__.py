"""The page HEROS: the profile, and below it the views; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from blindspot import ui
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros.page import heros_view as runs
from blindspot.diagnostics.heros.page import (
    lexical_overlap,
    orderings,
    profile,
    published,
    sentences,
    spread,
    words_alone,
)
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.ui.widgets import missing_runs
from blindspot.ui.widgets.views import View, choose_view

# By their names, which are also in the address; the first is the default.
VIEWS: Mapping[str, View[HerosView]] = {
    "orderings": View("Which rewrite is closer to the original, and do two models differ?", orderings.show),
    "sentences": View("Which sentences does the model get wrong?", sentences.show),
    "words alone": View("What would shared words alone get right, for which kinds of change?", words_alone.show),
    "spread": View("How much do sentences vary, and what does post-processing change?", spread.show),
    "behaves like": View("Which published models does it resemble?", published.show),
    "the data": View("How many words do a sentence and its rewrite share?", lexical_overlap.show),
}


def show() -> None:
    entry = find_diagnostic("heros")
    picks = ui.page("HEROS", entry.question)
    dataset = missing_runs.dataset_shown([entry], picks, runs.DEFAULT)
    finished = runs.finished_runs(entry, dataset, picks)
    with ui.errors_shown():
        runs.offer(entry, dataset, picks, finished)
    if finished:
        rows = runs.rows(entry, tuple(run.run_id for run in finished))
        subsets = runs.subsets_of(entry, finished, rows)
        styles = ui.variant_styles(run.plan.variant for run in finished)
        shown = HerosView(entry, dataset, finished, subsets, rows, styles, ui.scheme())
        profile.show(shown)
        choose_view(shown, VIEWS)
    ui.how_computed(entry)
