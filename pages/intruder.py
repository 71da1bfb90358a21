"""Intruder: do an encoder's neighbours belong together? People look for the one that does not."""

from core.studies.judgement.page import show_intruder

show_intruder()
