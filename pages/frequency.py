"""Frequency: how much of an encoder's space is about how often a word is used."""

from blindspot.diagnostics.frequency.page import show

show()
