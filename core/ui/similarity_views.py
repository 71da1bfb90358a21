"""The views of the page Similarity; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import similarity_bands, similarity_learned, similarity_pairs, similarity_scores
from core.ui.similarity_view import Shown
from core.ui.views import View, choose_view

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
