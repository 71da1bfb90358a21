"""The views of the page Transfer; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core.ui import transfer_classifiers, transfer_confusion, transfer_items, transfer_tasks
from core.ui.transfer_view import Shown
from core.ui.views import View, choose_view

# By their names, which also stand in the address; the first is the default.
VIEWS: Mapping[str, View[Shown]] = {
    "tasks": View("How well does a simple classifier do on each encoder, task by task?", transfer_tasks.show),
    "classifiers": View("Does the ranking of encoders hold with another classifier?", transfer_classifiers.show),
    "confusion": View("Which classes are taken for which?", transfer_confusion.show),
    "items": View("Which examples does one encoder get right and the other wrong?", transfer_items.show),
}


def look_closer(shown: Shown) -> None:
    """Let the reader choose a view, and show it."""
    choose_view(shown, VIEWS, "Look closer", key="transfer_view")
