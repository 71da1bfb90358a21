"""Trainings step by step: the items they won and lost."""
