"""Neighbors: nearest neighbors of a query in every model, and where models disagree."""

from core.space.neighbours.page import show

show()
