"""Neighbors: nearest neighbors of a query in every model, and where models disagree."""

from blindspot.space.neighbours.page import show

show()
