"""Trainings step by step: which items they won, and which they lost."""
