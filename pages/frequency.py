"""Frequency: to be written."""

from core import ui

picks = ui.page("Frequency", "How much of the space is about how often a word is used?")
