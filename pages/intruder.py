"""Intruder: do an encoder's neighbours belong together? People look for the one that does not."""

from core import ui
from core.judgement.types import Task
from core.ui import judgement_view

ui.page(
    "Intruder", "Do an encoder's neighbours belong together? People look for the one that does not.", show_jobs=False
)
judgement_view.show(Task.INTRUDER)
