"""Trainings step by step."""

from blindspot.studies.training.page import show

show()
