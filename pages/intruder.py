"""Intruder: how well a model's neighbors fit together, by people who try to spot the odd one out."""

from blindspot.studies.judgments.page import show_intruder

show_intruder()
