"""Neighbours: to be written."""

from core import ui

picks = ui.page("Neighbours", "What does an encoder hold for nearest, and where do encoders disagree?")
