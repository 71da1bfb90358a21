"""Frequency: how much of an encoder's space is about how often a word is used."""

from core.diagnostics.frequency.page import show

show()
