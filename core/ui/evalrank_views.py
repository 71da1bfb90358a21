"""The views of the EvalRank page below its scores; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import evalrank_kinds, evalrank_pairs, evalrank_trust, evalrank_versus, evalrank_what_if
from core.ui.evalrank_view import Shown
from core.ui.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "pairs": View("Which pairs does it get wrong, and what stands above the mate?", evalrank_pairs.show),
    "A against B": View("Is it really better, or could that be chance?", evalrank_versus.show),
    "kinds of pair": View("On which kinds of pair does the score come about?", evalrank_kinds.show),
    "trust": View("How much of the score is the way of counting, or training on the pairs?", evalrank_trust.show),
    "what if": View("What would another transform or similarity change?", evalrank_what_if.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="view")
