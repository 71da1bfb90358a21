"""Frequency: how much of an encoder's space is about how often a word is used."""

from core import ui
from core.diagnostics import catalog as diagnostics
from core.ui.frequency_parts import gather
from core.ui.frequency_views import look_closer

ENTRY = diagnostics.find("frequency")
picks = ui.page("Frequency", ENTRY.question)
with ui.errors_shown():
    if shown := gather(picks):
        look_closer(shown)
ui.how_computed(ENTRY)
