"""The views of the Lab; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import lab_grid, lab_rankings, lab_size, lab_verdicts
from core.ui.lab_view import Shown
from core.ui.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "grid": View("What does each encoder score under each setting?", lab_grid.show),
    "ranking": View("How does the ranking of encoders move with each choice?", lab_rankings.ranking),
    "agreement": View("Which choice moves the ranking, and how far?", lab_rankings.agreement),
    "verdicts": View("Is one encoder better than another whatever is chosen?", lab_verdicts.show),
    "size": View("Which encoder is better at equal size?", lab_size.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look at", key="lab_view")
