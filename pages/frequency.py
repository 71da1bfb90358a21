"""Frequency: how much of an encoder's space is about how often a word is used."""

from core import ui
from core.ui.frequency_parts import gather
from core.ui.frequency_views import look_closer

picks = ui.page("Frequency", "How much of the space is about how often a word is used, rather than what it means?")
if shown := gather(picks):
    look_closer(shown)
