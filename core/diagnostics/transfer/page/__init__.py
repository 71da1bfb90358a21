"""The views of the page Transfer; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Mapping

from core import diagnostic as diagnostics
from core import ui
from core.diagnostics.transfer.page import classifiers as transfer_classifiers
from core.diagnostics.transfer.page import confusion as transfer_confusion
from core.diagnostics.transfer.page import items as transfer_items
from core.diagnostics.transfer.page import tasks as transfer_tasks
from core.diagnostics.transfer.page.runs import gather
from core.diagnostics.transfer.page.shown import Shown
from core.ui.widgets.views import View, choose_view

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


# The page transfer.


def show() -> None:
    """The page."""
    entry = diagnostics.find("transfer")
    picks = ui.page(
        "Transfer",
        "How well does a simple classifier do on an encoder's embeddings, and which examples decide between two?",
    )
    with ui.errors_shown():
        if shown := gather(entry, picks):
            look_closer(shown)
    ui.how_computed(entry)
