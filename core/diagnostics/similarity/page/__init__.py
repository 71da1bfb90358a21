"""The views of the page Similarity; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core import diagnostic as diagnostics
from core import ui
from core.diagnostics.similarity.page import bands as similarity_bands
from core.diagnostics.similarity.page import learned as similarity_learned
from core.diagnostics.similarity.page import pairs as similarity_pairs
from core.diagnostics.similarity.page import scores as similarity_scores
from core.diagnostics.similarity.page.runs import gather
from core.diagnostics.similarity.page.shown import Shown
from core.ui.widgets.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "scores": View(
        "How well do similarities follow people's scores, and by which correlation?", similarity_scores.show
    ),
    "pairs": View("Which pairs does an encoder misjudge, and where do two disagree?", similarity_pairs.show),
    "bands": View("Is it right among the most similar pairs too?", similarity_bands.show),
    "learned": View("What could a learned similarity make of the same embeddings?", similarity_learned.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="similarity_view")


# The page similarity.


def show() -> None:
    """The page."""
    entry = diagnostics.find("similarity")
    picks = ui.page(
        "Similarity", "Do an encoder's similarities go up and down with people's, and which pairs does it misjudge?"
    )
    with ui.errors_shown():
        if shown := gather(entry, picks):
            look_closer(shown)
    ui.how_computed(entry)
