"""The views of the HEROS page below its profile; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import heros_behaviour, heros_data, heros_orderings, heros_sentences, heros_spread
from core.ui.heros_view import Shown
from core.ui.views import View, choose_view

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
